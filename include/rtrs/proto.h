/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RTRS on the wire: layouts, constants and the pure functions that turn bytes
 * into typed structures and back. Nothing else touches raw bytes. Needs no
 * kernel: the unit tests and fuzzers build it on the host.
 *
 * All integers of message bodies are little-endian, the immediate is
 * big-endian (conversion of the immediate is left to the verbs caller; here it
 * is a plain u32). Parsers read only memory they are given the length of and
 * accept any alignment.
 */
#ifndef RTRS_PROTO_H
#define RTRS_PROTO_H

#include <linux/types.h>
#include <linux/errno.h>

/* Wire structures have neither padding nor alignment: they lie anywhere in a chunk. */
#ifndef __packed
#define __packed __attribute__((__packed__))
#endif

#define RTRS_MAGIC		0x1bbd
#define RTRS_VERSION_MAJOR	2
#define RTRS_VERSION		(RTRS_VERSION_MAJOR << 8)
#define RTRS_DEFAULT_PORT	1234

/* Service id of a GID address: this, or-ed with the port. */
#define RTRS_IB_SERVICE_ID	0x00000000013f0000ULL

#define RTRS_UUID_LEN		16
#define RTRS_CONS_MAX		4096	/* connections of a path, service included */
#define RTRS_QUEUE_DEPTH_MAX	65535
#define RTRS_MIN_CHUNK_SIZE	8192
#define RTRS_SERVICE_DEPTH	512	/* heartbeats and control messages on cid 0 */
#define RTRS_WIRE_NAME_LEN	255	/* bytes of the name field of INFO_REQ, NUL included */

#define RTRS_HB_INTERVAL_MS	5000
#define RTRS_HB_MISSED_MAX	5

/* enum rtrs_msg_type - first two bytes of every message body */
enum rtrs_msg_type {
	RTRS_MSG_INFO_REQ,
	RTRS_MSG_INFO_RSP,
	RTRS_MSG_WRITE,
	RTRS_MSG_READ,
	RTRS_MSG_RKEY_RSP,
};

/* Private data of the connect request. */
struct rtrs_msg_conn_req {
	__u8	cma_version;	/* belongs to rdma_cm where the address is a GID */
	__u8	ip_version;
	__le16	magic;
	__le16	version;
	__le16	cid;
	__le16	cid_num;
	__le16	recon_cnt;
	__u8	sess_uuid[RTRS_UUID_LEN];	/* of the path, kept over its reconnects */
	__u8	paths_uuid[RTRS_UUID_LEN];	/* of the session */
	__u8	first_conn;			/* bit 0; a byte, never a bit-field */
	__le32	founding;			/* see RTRS_CONN_REQ_ALONE */
	__u8	reserved[6];
	__u8	flags;
} __packed;

#define RTRS_CONN_REQ_LEAN	0x80	/* the client can do without, see below */

/*
 * Extension: the client has no path left, and may have given up what the last ones brought. The
 * server ends that, and refuses with -EBUSY until it is over. Such attempts are numbered in their
 * order, over all paths of a session; one that comes when a later one has is refused with
 * -EBUSY and ends nothing: the client is not alone any more. 0 is no number.
 */
#define RTRS_CONN_REQ_ALONE	0x40

/* Extension: the client takes RTRS_IMM_NOTICE on this path. It is sent to no other. */
#define RTRS_CONN_REQ_NOTICES	0x20

#define RTRS_CONN_REQ_FENCES	0x10	/* the client asks for RTRS_CONN_RSP_FENCES */
#define RTRS_CONN_REQ_FENCE_CNT	0x08	/* ... and for RTRS_CONN_RSP_FENCE_CNT */
#define RTRS_CONN_REQ_EAGER	0x04	/* the client asks for eager requests, see below */
#define RTRS_CONN_REQ_GRANTS	0x02	/* the client uses granted slots only, see below */

/* Private data of accept and reject. */
struct rtrs_msg_conn_rsp {
	__le16	magic;
	__le16	version;
	__le16	errno_;		/* 0, or a negative errno in two's complement */
	__le16	queue_depth;
	__le32	max_io_size;
	__le32	max_hdr_size;
	__le32	flags;
	__le32	eager_bytes;	/* of a lean path, see below; 0 for none */
	__u8	reserved[32];
} __packed;

#define RTRS_CONN_RSP_NEW_RKEY	0x2		/* every response carries a fresh rkey */
#define RTRS_CONN_RSP_LEAN	0x80000000U	/* ... or goes without, see below */

/*
 * Extension, granted where it was asked for: a client that has lost a path says so over another
 * one before its requests go elsewhere, by RTRS_IMM_FENCE with rtrs_fence_tag() of the lost
 * path. The server closes it, and answers with RTRS_IMM_FENCED and the same tag when its queue
 * pairs take nothing any more: what is still on its way there can neither be run nor change a
 * chunk. A client has one such question under way on a path at a time. In-tree peers have no such
 * thing: what a slow network brings to them late is run late.
 */
#define RTRS_CONN_RSP_FENCES	0x40000000U

/*
 * Extension, granted where it was asked for: in questions over this path rtrs_fence_tag() has the
 * recon_cnt of the lost path, and names no later attempt of it. Without, that is taken for 0.
 */
#define RTRS_CONN_RSP_FENCE_CNT	0x20000000U

/* Granted where it was asked for: see rtrs_imm_slots(). */
#define RTRS_CONN_RSP_GRANTS	0x10000000U

/*
 * Lean paths: two messages for a request. An extension; the in-tree peers send
 * both flags as zero and do not look at the other's.
 *
 * The client asks with RTRS_CONN_REQ_LEAN, on all connections of a path or on
 * none; the server refuses a connection that differs from the first. It grants
 * with RTRS_CONN_RSP_LEAN in its accepts, of which that of cid 0 counts, and never
 * unasked. It holds until the path is closed; a reconnect asks anew. Requests
 * stay as they are. On a lean path
 *
 * - a response is one RDMA WRITE WITH IMM of type RTRS_IMM_IO_RSP: with the data of a
 *   successful READ for its descriptor, else empty. Errors are no exception.
 * - there is no SEND WITH INVALIDATE and no RTRS_IMM_IO_RSP_W_INV. READs have
 *   RTRS_READ_NEED_INVAL clear (set, it means nothing). The client invalidates its
 *   region itself before anybody gets the data.
 * - there is no RKEY_RSP. Where the server has RTRS_CONN_RSP_NEW_RKEY, each response
 *   moves the key of its slot on its path on by rtrs_rkey_next(), at both ends, whatever
 *   its errno: once for each request that was answered, never otherwise. The region has
 *   its new key before the response is on the wire. A request without a response
 *   (dropped for a retry on another path, or with its path) moves nothing: that path is
 *   being closed, and its next INFO_RSP has new keys.
 */
static inline __u32 rtrs_rkey_next(__u32 rkey)
{
	return (rkey & ~0xffU) | ((rkey + 1) & 0xff);
}

/*
 * Eager requests: small ones without a registration. An extension of lean paths: the client
 * asks with RTRS_CONN_REQ_EAGER, and eager_bytes in the accept of cid 0 is the most data of an
 * eager request. Eager requests look like others and go to the chunk of their slot. The server
 * copies what it needs out of the chunk and leaves the region as it is: their responses move no
 * key, whatever their errno. A request that is eager by rtrs_is_eager() and has more data than
 * eager_bytes fails with -EMSGSIZE.
 */
#define RTRS_EAGER_USR_MAX	128	/* room for the user message */

/* @off: of the header in the chunk, which is behind the data and the user message */
static inline bool rtrs_is_eager(__u32 eager_bytes, __u32 off)
{
	return eager_bytes && off <= eager_bytes + RTRS_EAGER_USR_MAX;
}

/*
 * Grants: a session has the memory of the slots that its requests need. An extension, of a client
 * with RTRS_CONN_REQ_GRANTS on all of its paths and a server with RTRS_CONN_RSP_GRANTS. INFO_REQ
 * says how many slots it needs at once, INFO_RSP how many of the first ones have a chunk. The
 * others have an address and a key, and no memory. Grants are a session's.
 *
 * RTRS_IMM_SLOTS of a client, over any of its paths, asks for another number. The client uses no
 * slot from that number on, nor has it a request there, until the answer comes: RTRS_IMM_SLOTS of
 * the server, over each path, with the number of slots that may be used from now on, over all
 * paths. A server that has no memory for more, or still has an operation in a slot that it is to
 * take back, answers with the number that was granted before. Questions are numbered in their
 * order; the first one of a session has any number. The server does nothing on one that is not
 * newer than the last one. Its answer has the number of the question, and the client takes the
 * answer to its last one only: whichever path is lost, both ends agree. A grant moves no key.
 */
static inline __u32 rtrs_imm_slots(__u32 number, __u32 slots)
{
	return (number & 0xfff) << 16 | (slots & 0xffff);
}

static inline void rtrs_imm_slots_parse(__u32 payload, __u32 *number, __u32 *slots)
{
	*number = payload >> 16 & 0xfff;
	*slots = payload & 0xffff;
}

/* Is question @number behind @last? Of 4096 numbers half are. */
static inline bool rtrs_slots_newer(__u32 number, __u32 last)
{
	__u32 ahead = (number - last) & 0xfff;

	return ahead && ahead < 0x800;
}

/* A first grant that is large enough for the control messages and some requests of a client. */
#define RTRS_SLOTS_MIN		16
#define RTRS_SLOTS_SHARE	32

static inline __u32 rtrs_slots_first(__u32 queue_depth)
{
	__u32 first = queue_depth / RTRS_SLOTS_SHARE;

	first = first < RTRS_SLOTS_MIN ? RTRS_SLOTS_MIN : first;
	return first < queue_depth ? first : queue_depth;
}

struct rtrs_msg_info_req {
	__le16	type;
	__u8	name[RTRS_WIRE_NAME_LEN];
	__le16	slots;		/* needed at once, see above */
	__u8	reserved[13];
} __packed;

struct rtrs_msg_desc {
	__le64	addr;
	__le32	rkey;
	__le32	len;
} __packed;

struct rtrs_msg_info_rsp {
	__le16	type;
	__le16	sg_cnt;
	__le32	slots;		/* granted, see above */
	struct rtrs_msg_desc desc[];
} __packed;

struct rtrs_msg_write {
	__le16	type;
	__le16	usr_len;
} __packed;

struct rtrs_msg_read {
	__le16	type;
	__le16	usr_len;
	__le16	flags;
	__le16	sg_cnt;
	struct rtrs_msg_desc desc[];	/* sg_cnt of them, 0 or 1 */
} __packed;

#define RTRS_READ_NEED_INVAL	0x1

struct rtrs_msg_rkey_rsp {
	__le16	type;
	__le16	buf_id;
	__le32	rkey;
} __packed;

#define RTRS_READ_HDR_MAX	(sizeof(struct rtrs_msg_read) + sizeof(struct rtrs_msg_desc))

/* Little-endian access to any address. */
static inline __u16 rtrs_get_le16(const void *p)
{
	const __u8 *b = p;

	return b[0] | b[1] << 8;
}

static inline __u32 rtrs_get_le32(const void *p)
{
	const __u8 *b = p;

	return b[0] | b[1] << 8 | b[2] << 16 | (__u32)b[3] << 24;
}

static inline __u64 rtrs_get_le64(const void *p)
{
	const __u8 *b = p;

	return rtrs_get_le32(b) | (__u64)rtrs_get_le32(b + 4) << 32;
}

static inline void rtrs_put_le16(void *p, __u16 v)
{
	__u8 *b = p;

	b[0] = v & 0xff;
	b[1] = v >> 8;
}

static inline void rtrs_put_le32(void *p, __u32 v)
{
	rtrs_put_le16(p, v);
	rtrs_put_le16((__u8 *)p + 2, v >> 16);
}

static inline void rtrs_put_le64(void *p, __u64 v)
{
	rtrs_put_le32(p, v);
	rtrs_put_le32((__u8 *)p + 4, v >> 32);
}

/**
 * struct rtrs_geometry - what both ends agree on when cid 0 is accepted
 * @queue_depth: slots of the session, 1..65535
 * @chunk_size: bytes of a chunk, max_io_size + max_hdr_size
 * @max_io_size: payload bytes of one request at most
 * @max_hdr_size: bytes of user message and header at most
 */
struct rtrs_geometry {
	__u32	queue_depth;
	__u32	chunk_size;
	__u32	max_io_size;
	__u32	max_hdr_size;
};

/* Bits needed for numbers 0..n-1; 0 for n = 1. */
static inline unsigned int rtrs_bits_for(__u32 n)
{
	return n <= 1 ? 0 : 32 - __builtin_clz(n - 1);
}

#define RTRS_IMM_PAYLOAD_BITS	28
#define RTRS_IMM_PAYLOAD_MASK	((1U << RTRS_IMM_PAYLOAD_BITS) - 1)

/* 0 if slot number and chunk offset fit into the payload of the immediate. */
static inline int rtrs_geometry_check(const struct rtrs_geometry *g)
{
	if (!g->queue_depth || g->queue_depth > RTRS_QUEUE_DEPTH_MAX)
		return -EINVAL;
	if (!g->max_io_size || g->max_hdr_size < RTRS_READ_HDR_MAX)
		return -EINVAL;
	if (g->max_io_size > RTRS_IMM_PAYLOAD_MASK || g->max_hdr_size > RTRS_IMM_PAYLOAD_MASK)
		return -EINVAL;
	if (g->chunk_size != g->max_io_size + g->max_hdr_size)
		return -EINVAL;
	if (rtrs_bits_for(g->queue_depth) + rtrs_bits_for(g->chunk_size) > RTRS_IMM_PAYLOAD_BITS)
		return -EINVAL;
	return 0;
}

/* Immediates: type in bits 31..28, payload below. */
enum rtrs_imm_type {
	RTRS_IMM_IO_REQ		= 0,
	RTRS_IMM_IO_RSP		= 1,
	RTRS_IMM_IO_RSP_W_INV	= 2,
	RTRS_IMM_HB		= 8,
	RTRS_IMM_HB_ACK		= 9,
	RTRS_IMM_NOTICE		= 10,	/* extension, to a client: its payload is the users' */
	RTRS_IMM_FENCE		= 11,	/* extension, to a server: see RTRS_CONN_RSP_FENCES */
	RTRS_IMM_FENCED		= 12,	/* its answer */
	RTRS_IMM_SLOTS		= 13,	/* extension, both ways: see rtrs_imm_slots() */
};

static inline __u32 rtrs_imm_pack(enum rtrs_imm_type type, __u32 payload)
{
	return (__u32)type << RTRS_IMM_PAYLOAD_BITS | (payload & RTRS_IMM_PAYLOAD_MASK);
}

/*
 * Names an attempt of a path. Two may have one: then both are closed, and connect again. What comes
 * late must not close the path that is back: see RTRS_CONN_RSP_FENCE_CNT.
 */
static inline __u32 rtrs_fence_tag(const __u8 *sess_uuid, __u16 recon_cnt)
{
	return (rtrs_get_le32(sess_uuid) + recon_cnt) & RTRS_IMM_PAYLOAD_MASK;
}

static inline __u32 rtrs_imm_type(__u32 imm)
{
	return imm >> RTRS_IMM_PAYLOAD_BITS;
}

static inline __u32 rtrs_imm_io_req(const struct rtrs_geometry *g, __u32 slot, __u32 off)
{
	unsigned int off_bits = RTRS_IMM_PAYLOAD_BITS - rtrs_bits_for(g->queue_depth);

	return rtrs_imm_pack(RTRS_IMM_IO_REQ, (slot << off_bits) + off);
}

/* -EINVAL if the slot or the offset is beyond what was agreed. */
static inline int rtrs_imm_io_req_parse(__u32 imm, const struct rtrs_geometry *g,
					__u32 *slot, __u32 *off)
{
	unsigned int off_bits = RTRS_IMM_PAYLOAD_BITS - rtrs_bits_for(g->queue_depth);
	__u32 payload = imm & RTRS_IMM_PAYLOAD_MASK;

	*slot = payload >> off_bits;
	*off = payload & ((1U << off_bits) - 1);
	return *slot < g->queue_depth && *off < g->chunk_size ? 0 : -EINVAL;
}

#define RTRS_IMM_ERRNO_MAX	511	/* nine bits */

/*
 * Response: slot in bits 0..18, errno in bits 19..27. An errno that does not
 * fit (512 would read as success) goes out as EIO.
 */
static inline __u32 rtrs_imm_io_rsp(__u32 slot, int err, bool inval)
{
	__u32 e = err < 0 ? -(__u32)err : (__u32)err;

	if (e > RTRS_IMM_ERRNO_MAX)
		e = EIO;
	return rtrs_imm_pack(inval ? RTRS_IMM_IO_RSP_W_INV : RTRS_IMM_IO_RSP,
			     (slot & 0x7ffff) | e << 19);
}

/* @err becomes 0 or negative. -EINVAL if the slot is beyond what was agreed. */
static inline int rtrs_imm_io_rsp_parse(__u32 imm, const struct rtrs_geometry *g,
					__u32 *slot, int *err)
{
	*slot = imm & 0x7ffff;
	*err = -(int)((imm & RTRS_IMM_PAYLOAD_MASK) >> 19);
	return *slot < g->queue_depth ? 0 : -EINVAL;
}

/**
 * struct rtrs_conn_req - connect request, parsed
 * @cid: number of this connection, below @cid_num
 * @cid_num: connections of the path, 1..4096
 * @recon_cnt: attempts of this path, from 1
 * @first_conn: the server may make the session
 * @lean: the client asks for a lean path
 * @alone: the client has no other path
 * @notices: the client takes RTRS_IMM_NOTICE
 * @fences: the client asks for RTRS_IMM_FENCE
 * @fence_cnt: the client asks for RTRS_CONN_RSP_FENCE_CNT
 * @eager: the client asks for eager requests
 * @grants: the client uses the slots only that it was granted
 * @founding: number of this attempt of a client that is alone, 0 for none
 * @sess_uuid: identity of the path
 * @paths_uuid: identity of the session
 */
struct rtrs_conn_req {
	__u16	cid;
	__u16	cid_num;
	__u16	recon_cnt;
	bool	first_conn;
	bool	lean;
	bool	alone;
	bool	notices;
	bool	fences;
	bool	fence_cnt;
	bool	eager;
	bool	grants;
	__u32	founding;
	__u8	sess_uuid[RTRS_UUID_LEN];
	__u8	paths_uuid[RTRS_UUID_LEN];
};

static inline int rtrs_conn_req_parse(const void *p, size_t len, struct rtrs_conn_req *out)
{
	const struct rtrs_msg_conn_req *m = p;

	if (!p || len < sizeof(*m) || rtrs_get_le16(&m->magic) != RTRS_MAGIC ||
	    rtrs_get_le16(&m->version) >> 8 != RTRS_VERSION_MAJOR)
		return -ECONNRESET;
	out->cid = rtrs_get_le16(&m->cid);
	out->cid_num = rtrs_get_le16(&m->cid_num);
	if (out->cid_num > RTRS_CONS_MAX || out->cid >= out->cid_num)
		return -ECONNRESET;
	out->recon_cnt = rtrs_get_le16(&m->recon_cnt);
	out->first_conn = m->first_conn & 1;
	out->lean = m->flags & RTRS_CONN_REQ_LEAN;
	out->alone = m->flags & RTRS_CONN_REQ_ALONE;
	out->notices = m->flags & RTRS_CONN_REQ_NOTICES;
	out->fences = m->flags & RTRS_CONN_REQ_FENCES;
	out->fence_cnt = m->flags & RTRS_CONN_REQ_FENCE_CNT;
	out->eager = m->flags & RTRS_CONN_REQ_EAGER;
	out->grants = m->flags & RTRS_CONN_REQ_GRANTS;
	out->founding = rtrs_get_le32(&m->founding);
	__builtin_memcpy(out->sess_uuid, m->sess_uuid, RTRS_UUID_LEN);
	__builtin_memcpy(out->paths_uuid, m->paths_uuid, RTRS_UUID_LEN);
	return 0;
}

static inline void rtrs_conn_req_pack(struct rtrs_msg_conn_req *m, const struct rtrs_conn_req *r)
{
	__builtin_memset(m, 0, sizeof(*m));
	rtrs_put_le16(&m->magic, RTRS_MAGIC);
	rtrs_put_le16(&m->version, RTRS_VERSION);
	rtrs_put_le16(&m->cid, r->cid);
	rtrs_put_le16(&m->cid_num, r->cid_num);
	rtrs_put_le16(&m->recon_cnt, r->recon_cnt);
	__builtin_memcpy(m->sess_uuid, r->sess_uuid, RTRS_UUID_LEN);
	__builtin_memcpy(m->paths_uuid, r->paths_uuid, RTRS_UUID_LEN);
	m->first_conn = r->first_conn ? 1 : 0;
	m->flags = (r->lean ? RTRS_CONN_REQ_LEAN : 0) | (r->alone ? RTRS_CONN_REQ_ALONE : 0) |
		   (r->notices ? RTRS_CONN_REQ_NOTICES : 0) |
		   (r->fences ? RTRS_CONN_REQ_FENCES : 0) |
		   (r->fence_cnt ? RTRS_CONN_REQ_FENCE_CNT : 0) |
		   (r->eager ? RTRS_CONN_REQ_EAGER : 0) |
		   (r->grants ? RTRS_CONN_REQ_GRANTS : 0);
	rtrs_put_le32(&m->founding, r->founding);
}

/**
 * struct rtrs_conn_rsp - accept or reject, parsed
 * @err: 0 (accept) or the negative errno of the server
 * @flags: RTRS_CONN_RSP_*, others are ignored
 * @eager_bytes: as in the message; meaningful as @geo
 * @geo: sizes; meaningful in the accept of cid 0 only
 */
struct rtrs_conn_rsp {
	int	err;
	__u32	flags;
	__u32	eager_bytes;
	struct rtrs_geometry geo;
};

/* Accept: -ECONNRESET for anything that is not a success of our major version. */
static inline int rtrs_accept_parse(const void *p, size_t len, struct rtrs_conn_rsp *out)
{
	const struct rtrs_msg_conn_rsp *m = p;

	if (!p || len < sizeof(*m) || rtrs_get_le16(&m->magic) != RTRS_MAGIC ||
	    rtrs_get_le16(&m->version) >> 8 != RTRS_VERSION_MAJOR || rtrs_get_le16(&m->errno_))
		return -ECONNRESET;
	out->err = 0;
	out->flags = rtrs_get_le32(&m->flags);
	out->eager_bytes = rtrs_get_le32(&m->eager_bytes);
	out->geo.queue_depth = rtrs_get_le16(&m->queue_depth);
	out->geo.max_io_size = rtrs_get_le32(&m->max_io_size);
	out->geo.max_hdr_size = rtrs_get_le32(&m->max_hdr_size);
	out->geo.chunk_size = out->geo.max_io_size + out->geo.max_hdr_size;
	return 0;
}

/* Reject: the errno that the server gave, -ECONNRESET if it gave none. Never 0. */
static inline int rtrs_reject_parse(const void *p, size_t len)
{
	const struct rtrs_msg_conn_rsp *m = p;
	int err;

	if (!p || len < sizeof(*m))
		return -ECONNRESET;
	err = (__s16)rtrs_get_le16(&m->errno_);
	/* From 512 on they are for the kernel alone. */
	return err < 0 && err > -512 ? err : -ECONNRESET;
}

static inline void rtrs_conn_rsp_pack(struct rtrs_msg_conn_rsp *m, const struct rtrs_conn_rsp *r)
{
	__builtin_memset(m, 0, sizeof(*m));
	rtrs_put_le16(&m->magic, RTRS_MAGIC);
	rtrs_put_le16(&m->version, RTRS_VERSION);
	rtrs_put_le16(&m->errno_, (__u16)r->err);
	if (r->err)
		return;
	rtrs_put_le16(&m->queue_depth, r->geo.queue_depth);
	rtrs_put_le32(&m->max_io_size, r->geo.max_io_size);
	rtrs_put_le32(&m->max_hdr_size, r->geo.max_hdr_size);
	rtrs_put_le32(&m->flags, r->flags);
	rtrs_put_le32(&m->eager_bytes, r->eager_bytes);
}

/* 0 if @name is fit for a session: not empty, at most 254 bytes, no '/' and no '.'. */
static inline int rtrs_name_check(const char *name, size_t len)
{
	size_t i;

	if (!len || len > RTRS_WIRE_NAME_LEN - 1)
		return -EINVAL;
	for (i = 0; i < len; i++)
		if (!name[i] || name[i] == '/' || name[i] == '.')
			return -EINVAL;
	return 0;
}

/* Writes the terminated session name of an INFO_REQ to @name (255 bytes). */
static inline int rtrs_info_req_parse(const void *p, size_t len, char *name)
{
	const struct rtrs_msg_info_req *m = p;
	size_t n = 0;

	if (len < sizeof(*m) || rtrs_get_le16(&m->type) != RTRS_MSG_INFO_REQ)
		return -EINVAL;
	while (n < RTRS_WIRE_NAME_LEN && m->name[n])
		n++;
	if (n == RTRS_WIRE_NAME_LEN || rtrs_name_check((const char *)m->name, n))
		return -EINVAL;
	__builtin_memcpy(name, m->name, n);
	name[n] = '\0';
	return 0;
}

/* @name must have passed rtrs_name_check(). */
static inline void rtrs_info_req_pack(struct rtrs_msg_info_req *m, const char *name)
{
	__builtin_memset(m, 0, sizeof(*m));
	rtrs_put_le16(&m->type, RTRS_MSG_INFO_REQ);
	__builtin_memcpy(m->name, name, __builtin_strlen(name));
}

/**
 * struct rtrs_desc - a region that the peer may write to
 * @addr: start
 * @rkey: key
 * @len: bytes
 */
struct rtrs_desc {
	__u64	addr;
	__u32	rkey;
	__u32	len;
};

static inline void rtrs_desc_parse(const struct rtrs_msg_desc *m, struct rtrs_desc *out)
{
	out->addr = rtrs_get_le64(&m->addr);
	out->rkey = rtrs_get_le32(&m->rkey);
	out->len = rtrs_get_le32(&m->len);
}

static inline void rtrs_desc_pack(struct rtrs_msg_desc *m, const struct rtrs_desc *d)
{
	rtrs_put_le64(&m->addr, d->addr);
	rtrs_put_le32(&m->rkey, d->rkey);
	rtrs_put_le32(&m->len, d->len);
}

static inline size_t rtrs_info_rsp_size(__u32 regions)
{
	return sizeof(struct rtrs_msg_info_rsp) + regions * sizeof(struct rtrs_msg_desc);
}

/* Writes the head; the caller packs @regions descriptors behind it. */
static inline void rtrs_info_rsp_pack_head(struct rtrs_msg_info_rsp *m, __u16 regions)
{
	__builtin_memset(m, 0, sizeof(*m));
	rtrs_put_le16(&m->type, RTRS_MSG_INFO_RSP);
	rtrs_put_le16(&m->sg_cnt, regions);
}

/**
 * rtrs_info_rsp_parse - turn the regions of an INFO_RSP into chunks
 * @p: message
 * @len: bytes received
 * @g: geometry agreed on; checked before
 * @chunk: @g->queue_depth entries, filled; len is the chunk size
 *
 * Regions need not divide the queue depth evenly: a server whose last region is
 * shorter is understood.
 *
 * Return: 0, or -EINVAL if the regions do not yield exactly queue_depth chunks
 */
static inline int rtrs_info_rsp_parse(const void *p, size_t len, const struct rtrs_geometry *g,
				      struct rtrs_desc *chunk)
{
	const struct rtrs_msg_info_rsp *m = p;
	__u32 regions, i, n = 0;

	if (len < sizeof(*m) || rtrs_get_le16(&m->type) != RTRS_MSG_INFO_RSP)
		return -EINVAL;
	regions = rtrs_get_le16(&m->sg_cnt);
	if (!regions || regions > g->queue_depth || len < rtrs_info_rsp_size(regions))
		return -EINVAL;
	for (i = 0; i < regions; i++) {
		struct rtrs_desc d;
		__u32 off;

		rtrs_desc_parse(&m->desc[i], &d);
		if (!d.len || d.len % g->chunk_size || d.addr + d.len < d.addr)
			return -EINVAL;
		for (off = 0; off < d.len; off += g->chunk_size) {
			if (n == g->queue_depth)
				return -EINVAL;
			chunk[n].addr = d.addr + off;
			chunk[n].rkey = d.rkey;
			chunk[n].len = g->chunk_size;
			n++;
		}
	}
	return n == g->queue_depth ? 0 : -EINVAL;
}

/* Slots granted by an INFO_RSP that was parsed; 0 if they are more than there are. */
static inline __u32 rtrs_info_rsp_slots(const void *p, const struct rtrs_geometry *g)
{
	const struct rtrs_msg_info_rsp *m = p;
	__u32 slots = rtrs_get_le32(&m->slots);

	return slots <= g->queue_depth ? slots : 0;
}

/**
 * struct rtrs_request - header of a WRITE or READ, parsed
 * @is_read: READ; the response carries data
 * @need_inval: client asks for SEND_WITH_INV of @desc.rkey
 * @has_desc: READ with a place for its result
 * @data_len: payload bytes at the start of the chunk
 * @usr_len: bytes of user message behind the payload
 * @desc: where the result of a READ goes; len is at most @data_len
 */
struct rtrs_request {
	bool	is_read;
	bool	need_inval;
	bool	has_desc;
	__u32	data_len;
	__u32	usr_len;
	struct rtrs_desc desc;
};

/**
 * rtrs_request_parse - parse the header that a request immediate points at
 * @p: copy of the header, taken before: the chunk may change under us
 * @len: bytes in @p; up to RTRS_READ_HDR_MAX, less at the end of a chunk
 * @off: offset of the header in its chunk
 * @out: result
 *
 * Return: 0, or -EINVAL, and the path must be closed
 */
static inline int rtrs_request_parse(const void *p, size_t len, __u32 off,
				     struct rtrs_request *out)
{
	const struct rtrs_msg_read *m = p;
	__u16 type, sg_cnt;

	__builtin_memset(out, 0, sizeof(*out));
	if (len < sizeof(struct rtrs_msg_write))
		return -EINVAL;
	type = rtrs_get_le16(&m->type);
	out->usr_len = rtrs_get_le16(&m->usr_len);
	if (out->usr_len > off || (type != RTRS_MSG_WRITE && type != RTRS_MSG_READ))
		return -EINVAL;
	out->data_len = off - out->usr_len;
	if (type == RTRS_MSG_WRITE)
		return 0;

	out->is_read = true;
	if (len < sizeof(*m))
		return -EINVAL;
	sg_cnt = rtrs_get_le16(&m->sg_cnt);
	if (sg_cnt > 1 || len < sizeof(*m) + sg_cnt * sizeof(m->desc[0]))
		return -EINVAL;
	if (!sg_cnt)
		return 0;
	out->has_desc = true;
	out->need_inval = rtrs_get_le16(&m->flags) & RTRS_READ_NEED_INVAL;
	rtrs_desc_parse(&m->desc[0], &out->desc);
	if (!out->desc.len || out->desc.len > out->data_len)
		return -EINVAL;
	return 0;
}

static inline void rtrs_write_hdr_pack(struct rtrs_msg_write *m, __u16 usr_len)
{
	rtrs_put_le16(&m->type, RTRS_MSG_WRITE);
	rtrs_put_le16(&m->usr_len, usr_len);
}

/* @desc NULL: a read without data (flush). Returns the bytes written at @m. */
static inline size_t rtrs_read_hdr_pack(struct rtrs_msg_read *m, __u16 usr_len,
					const struct rtrs_desc *desc, bool need_inval)
{
	rtrs_put_le16(&m->type, RTRS_MSG_READ);
	rtrs_put_le16(&m->usr_len, usr_len);
	rtrs_put_le16(&m->flags, desc && need_inval ? RTRS_READ_NEED_INVAL : 0);
	rtrs_put_le16(&m->sg_cnt, desc ? 1 : 0);
	if (!desc)
		return sizeof(*m);
	rtrs_desc_pack(&m->desc[0], desc);
	return RTRS_READ_HDR_MAX;
}

/* -EINVAL if the message is not an RKEY_RSP for @slot. */
static inline int rtrs_rkey_rsp_parse(const void *p, size_t len, __u32 slot, __u32 *rkey)
{
	const struct rtrs_msg_rkey_rsp *m = p;

	if (len < sizeof(*m) || rtrs_get_le16(&m->type) != RTRS_MSG_RKEY_RSP ||
	    rtrs_get_le16(&m->buf_id) != slot)
		return -EINVAL;
	*rkey = rtrs_get_le32(&m->rkey);
	return 0;
}

static inline void rtrs_rkey_rsp_pack(struct rtrs_msg_rkey_rsp *m, __u16 slot, __u32 rkey)
{
	rtrs_put_le16(&m->type, RTRS_MSG_RKEY_RSP);
	rtrs_put_le16(&m->buf_id, slot);
	rtrs_put_le32(&m->rkey, rkey);
}

#endif /* RTRS_PROTO_H */
