/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RNBD on the wire: the user messages inside RTRS requests. Layouts, constants
 * and the pure functions that turn bytes into typed structures and back. Needs
 * no kernel: the unit tests and fuzzers build it on the host.
 */
#ifndef RNBD_PROTO_H
#define RNBD_PROTO_H

#include <linux/types.h>
#include <linux/errno.h>

/* Wire structures have neither padding nor alignment: they lie anywhere in a chunk. */
#ifndef __packed
#define __packed __attribute__((__packed__))
#endif

#define RNBD_VERSION_MAJOR	2
#define RNBD_VERSION_MINOR	3	/* see rnbd_sess_info_minor() */
#define RNBD_PATH_LEN		255	/* bytes of the path field, NUL included */
#define RNBD_IDENTITY_LEN	16	/* bytes of what names a disk for ever */
#define RNBD_SECTOR_SHIFT	9
#define RNBD_SECTORS_MAX	(1ULL << 54)	/* 2^63 bytes: one too many for a loff_t */

enum rnbd_msg_type {
	RNBD_MSG_SESS_INFO,
	RNBD_MSG_SESS_INFO_RSP,
	RNBD_MSG_OPEN,
	RNBD_MSG_OPEN_RSP,
	RNBD_MSG_IO,
	RNBD_MSG_CLOSE,
};

/* Values of the access_mode byte; enum rnbd_access_mode of the uapi has the same. */
#define RNBD_WIRE_ACCESS_MAX	2

struct rnbd_msg_hdr {
	__le16	type;
	__le16	padding;
} __packed;

struct rnbd_msg_sess_info {
	struct rnbd_msg_hdr hdr;
	__u8	version;
	__u8	minor;		/* negotiated extension; reserved, zero, for in-tree peers */
	__le32	mark;		/* RNBD_MINOR_MARK with a minor number of ours */
	__u8	reserved[26];
} __packed;

/* In-tree clients have memory of theirs there, which would be taken for a minor number. */
#define RNBD_MINOR_OURS	3	/* from here on the mark is there */
#define RNBD_MINOR_MARK	0x64626e72

struct rnbd_msg_open {
	struct rnbd_msg_hdr hdr;
	__u8	access_mode;
	__u8	reserved1;
	__u8	path[RNBD_PATH_LEN];
	__u8	flags;		/* extension, RNBD_OPEN_*; reserved, zero, for in-tree peers */
	__u8	reserved[2];
} __packed;

/*
 * Extension: the server tells in OPEN_RSP who has opened the device for writing. Without this bit
 * the response has zeroes there, as it always had.
 */
#define RNBD_OPEN_TELL_WRITERS	0x1
/* Minor version 3: a struct rnbd_msg_open_claim follows. */
#define RNBD_OPEN_CLAIM		0x2
/* Minor version 3: a struct rnbd_msg_open_rsp_more is to follow the response. */
#define RNBD_OPEN_MORE		0x4
/*
 * Minor version 3: the client asks for an I/O mode, fileio if RNBD_OPEN_FILEIO is set, too, else
 * blockio. A server that knows no modes ignores both bits and sets no RNBD_RSP_IO_MODE.
 */
#define RNBD_OPEN_IO_MODE	0x8
#define RNBD_OPEN_FILEIO	0x10

/*
 * Extension, with RNBD_OPEN_CLAIM: the client had the device open, lost it, and comes back by
 * itself. It wants what it had then, as an OPEN_RSP told it, or to be refused with ESTALE.
 */
struct rnbd_msg_open_claim {
	__le32	start;
	__le32	writers;		/* 0: it did not write */
	__u8	identity[RNBD_IDENTITY_LEN];	/* zeroes: not known */
} __packed;

struct rnbd_msg_open_rsp {
	struct rnbd_msg_hdr hdr;
	__le32	device_id;
	__le64	nsectors;
	__le32	max_hw_sectors;
	__le32	max_write_zeroes_sectors;
	__le32	max_discard_sectors;
	__le32	discard_granularity;
	__le32	discard_alignment;
	__le16	physical_block_size;
	__le16	logical_block_size;
	__le16	max_segments;
	__le16	secure_discard;
	__u8	rotational;
	__u8	cache_policy;
	__u8	io_mode;	/* extension, RNBD_RSP_*, with RNBD_OPEN_MORE */
	__u8	reserved;
	__le32	start;		/* extension, see RNBD_OPEN_TELL_WRITERS */
	__le32	writers;
} __packed;

/* Extension, with RNBD_OPEN_MORE: what else is known of the device; zeroes are not known. */
struct rnbd_msg_open_rsp_more {
	__u8	identity[RNBD_IDENTITY_LEN];
	__le32	boot;
	__le32	diskseq;
	__u8	access_mode;	/* that it is open with, which may be another one than asked for */
	__u8	flags;		/* RNBD_MORE_* */
	__le16	io_min_sectors;
	__le32	io_opt;
} __packed;

/* Always set: an older server, which the client took for a newer one, leaves zeroes. */
#define RNBD_MORE_TOLD		0x1
/* The identity is made of a name that another disk may have later. */
#define RNBD_MORE_WEAK		0x2

/* The server knows I/O modes: it has obeyed. The device is open with fileio, else blockio. */
#define RNBD_RSP_IO_MODE	0x1
#define RNBD_RSP_FILEIO		0x2

/* One more than the values of enum rnbd_io_mode of the uapi. */
#define RNBD_IO_ANY		0	/* none asked for, none told */
#define RNBD_IO_BLOCK		1
#define RNBD_IO_FILE		2

#define RNBD_IO_OPT_MAX		(64U << 20)	/* as much again is read ahead */

#define RNBD_CACHE_FUA		0x1
#define RNBD_CACHE_WRITEBACK	0x2

struct rnbd_msg_io {
	struct rnbd_msg_hdr hdr;
	__le32	device_id;
	__le64	sector;
	__le32	rw;
	__le32	bi_size;
	__le16	prio;
	__u8	padding[6];	/* sent: its presence tells that prio is there */
} __packed;

struct rnbd_msg_close {
	struct rnbd_msg_hdr hdr;
	__le32	device_id;
} __packed;

/*
 * Extension: the server tells a client that takes notices (RTRS) that the size of a device may
 * have changed, by that much of its id. The client asks for it with an OPEN of the path that it has
 * open, whose answer is what holds now. Of others with the same bits it may ask, too.
 * Such an OPEN with rw, of a device that is open for a migration, asks for rw: EPERM while another
 * client may write. Older servers answer with the mode that there is.
 */
#define RNBD_NOTICE_ID_MASK	0xfffffff

/* Operation: bits 0..7 of the rw word. */
enum rnbd_op {
	RNBD_OP_READ,
	RNBD_OP_WRITE,
	RNBD_OP_FLUSH,
	RNBD_OP_DISCARD,
	RNBD_OP_SECURE_ERASE,
	RNBD_OP_WRITE_ZEROES,
	RNBD_OP_COUNT,
};

#define RNBD_OP_MASK		0xff
#define RNBD_F_SYNC		0x100
#define RNBD_F_FUA		0x200
#define RNBD_F_PREFLUSH		0x400	/* protocol 2.1 */
#define RNBD_F_NOUNMAP		0x800	/* protocol 2.2 */
#define RNBD_F_ALL		(RNBD_F_SYNC | RNBD_F_FUA | RNBD_F_PREFLUSH | RNBD_F_NOUNMAP)

#define RNBD_FLUSH_SECTOR	(~0ULL)

/*
 * The accessors are RNBD's own: this header stands without that of RTRS, as the
 * protocol does.
 */
static inline __u16 rnbd_get_le16(const void *p)
{
	const __u8 *b = p;

	return b[0] | b[1] << 8;
}

static inline __u32 rnbd_get_le32(const void *p)
{
	const __u8 *b = p;

	return b[0] | b[1] << 8 | b[2] << 16 | (__u32)b[3] << 24;
}

static inline __u64 rnbd_get_le64(const void *p)
{
	const __u8 *b = p;

	return rnbd_get_le32(b) | (__u64)rnbd_get_le32(b + 4) << 32;
}

static inline void rnbd_put_le16(void *p, __u16 v)
{
	__u8 *b = p;

	b[0] = v & 0xff;
	b[1] = v >> 8;
}

static inline void rnbd_put_le32(void *p, __u32 v)
{
	rnbd_put_le16(p, v & 0xffff);
	rnbd_put_le16((__u8 *)p + 2, v >> 16);
}

static inline void rnbd_put_le64(void *p, __u64 v)
{
	rnbd_put_le32(p, v);
	rnbd_put_le32((__u8 *)p + 4, v >> 32);
}

/* Type of a message, -EINVAL if it is too short to have one. */
static inline int rnbd_msg_type(const void *p, size_t len)
{
	return len < sizeof(struct rnbd_msg_hdr) ? -EINVAL : rnbd_get_le16(p);
}

/* SESS_INFO and its response. @version: the one to use, at most ours. */
static inline int rnbd_sess_info_parse(const void *p, size_t len, __u8 *version)
{
	const struct rnbd_msg_sess_info *m = p;

	if (len < sizeof(*m))
		return -EINVAL;
	*version = m->version < RNBD_VERSION_MAJOR ? m->version : RNBD_VERSION_MAJOR;
	return 0;
}

/*
 * Minor version that both ends speak, from a message that was parsed. The protocol
 * itself negotiates the major number only. As an extension our client announces its
 * minor number in the byte behind it, which has always been sent as zero and ignored;
 * the server answers the smaller one of both there, so that zero is answered by zero,
 * bit by bit as before. 2 (protocol 2.2) promises: RNBD_F_NOUNMAP is obeyed. 3 is ours: OPEN may
 * carry a claim, and is answered with more where it asks for that. A peer that announces nothing
 * may be of any version.
 */
static inline __u8 rnbd_sess_info_minor(const void *p)
{
	const struct rnbd_msg_sess_info *m = p;

	if (m->version < RNBD_VERSION_MAJOR)
		return 0;
	if (m->minor >= RNBD_MINOR_OURS && rnbd_get_le32(&m->mark) != RNBD_MINOR_MARK)
		return RNBD_MINOR_OURS - 1;
	return m->minor < RNBD_VERSION_MINOR ? m->minor : RNBD_VERSION_MINOR;
}

/* Of a message that was packed. */
static inline void rnbd_sess_info_set_minor(struct rnbd_msg_sess_info *m, __u8 minor)
{
	m->minor = minor;
	if (minor >= RNBD_MINOR_OURS)
		rnbd_put_le32(&m->mark, RNBD_MINOR_MARK);
}

/*
 * Does a server of this minor version obey these flags? One that is older than a flag
 * overlooks it, and so may one that announces nothing.
 */
static inline bool rnbd_flags_understood(__u32 flags, __u8 minor)
{
	return (!(flags & RNBD_F_NOUNMAP) || minor >= 2) &&
	       (!(flags & RNBD_F_PREFLUSH) || minor >= 1);
}

static inline void rnbd_sess_info_pack(struct rnbd_msg_sess_info *m, __u16 type, __u8 version)
{
	__builtin_memset(m, 0, sizeof(*m));
	rnbd_put_le16(&m->hdr.type, type);
	m->version = version;
}

/**
 * struct rnbd_claim - what a client knows of a device that it had open
 * @start: as struct rnbd_device_info
 * @writers: the same; 0: it did not write
 * @identity: the same
 */
struct rnbd_claim {
	__u32	start;
	__u32	writers;
	__u8	identity[RNBD_IDENTITY_LEN];
};

/**
 * struct rnbd_open - OPEN, parsed
 * @access_mode: 0 ro, 1 rw, 2 migration
 * @tell_writers: the client wants to know who else writes
 * @claims: it comes back by itself, and has no use for another device than @claim says
 * @more: it wants the longer response
 * @io_mode: RNBD_IO_*
 * @claim: zeroes where there is none
 * @path: device, terminated, not empty
 */
struct rnbd_open {
	__u8	access_mode;
	bool	tell_writers;
	bool	claims;
	bool	more;
	__u8	io_mode;
	struct rnbd_claim claim;
	char	path[RNBD_PATH_LEN];
};

static inline __u8 rnbd_io_mode(bool told, bool fileio)
{
	if (!told)
		return RNBD_IO_ANY;
	return fileio ? RNBD_IO_FILE : RNBD_IO_BLOCK;
}

static inline void rnbd_claim_parse(const void *p, struct rnbd_claim *out)
{
	const struct rnbd_msg_open_claim *m = p;

	out->start = rnbd_get_le32(&m->start);
	out->writers = rnbd_get_le32(&m->writers);
	__builtin_memcpy(out->identity, m->identity, sizeof(out->identity));
}

static inline void rnbd_claim_pack(struct rnbd_msg_open_claim *m, const struct rnbd_claim *claim)
{
	rnbd_put_le32(&m->start, claim->start);
	rnbd_put_le32(&m->writers, claim->writers);
	__builtin_memcpy(m->identity, claim->identity, sizeof(m->identity));
}

/*
 * @minor: what the session speaks; 0 before SESS_INFO. In-tree clients have memory of theirs where
 * the flags are.
 */
static inline int rnbd_open_parse(const void *p, size_t len, __u8 minor, struct rnbd_open *out)
{
	const struct rnbd_msg_open *m = p;
	size_t n = 0;

	if (len < sizeof(*m))
		return -EINVAL;
	while (n < RNBD_PATH_LEN && m->path[n])
		n++;
	if (!n || n == RNBD_PATH_LEN || m->access_mode > RNBD_WIRE_ACCESS_MAX)
		return -EINVAL;
	out->access_mode = m->access_mode;
	out->tell_writers = m->flags & RNBD_OPEN_TELL_WRITERS;
	out->claims = minor >= 3 && m->flags & RNBD_OPEN_CLAIM;
	out->more = minor >= 3 && m->flags & RNBD_OPEN_MORE;
	out->io_mode = rnbd_io_mode(minor >= 3 && m->flags & RNBD_OPEN_IO_MODE,
				    m->flags & RNBD_OPEN_FILEIO);
	__builtin_memset(&out->claim, 0, sizeof(out->claim));
	__builtin_memcpy(out->path, m->path, n + 1);
	if (!out->claims)
		return 0;
	if (len < sizeof(*m) + sizeof(struct rnbd_msg_open_claim))
		return -EINVAL;
	rnbd_claim_parse(m + 1, &out->claim);
	return 0;
}

/* @path must be shorter than RNBD_PATH_LEN. */
static inline void rnbd_open_pack(struct rnbd_msg_open *m, const char *path, __u8 access_mode)
{
	__builtin_memset(m, 0, sizeof(*m));
	rnbd_put_le16(&m->hdr.type, RNBD_MSG_OPEN);
	m->access_mode = access_mode;
	__builtin_memcpy(m->path, path, __builtin_strlen(path));
}

/* Of a message that was packed, for a server of minor version 3. */
static inline void rnbd_open_set_io_mode(struct rnbd_msg_open *m, __u8 io_mode)
{
	if (io_mode != RNBD_IO_ANY)
		m->flags |= RNBD_OPEN_IO_MODE;
	if (io_mode == RNBD_IO_FILE)
		m->flags |= RNBD_OPEN_FILEIO;
}

/**
 * struct rnbd_device_info - what a server tells of a device in OPEN_RSP
 * @device_id: name of the device in IO and CLOSE of this session
 * @nsectors: size in units of 512 bytes
 * @max_hw_sectors: largest I/O in units of 512 bytes
 * @max_write_zeroes_sectors: 0 if not supported
 * @max_discard_sectors: 0 if not supported
 * @discard_granularity: bytes
 * @discard_alignment: bytes
 * @physical_block_size: bytes
 * @logical_block_size: bytes, a power of two from 512 on
 * @max_segments: of the server's device
 * @secure_erase: supported
 * @fua: device takes FUA writes
 * @writeback: device has a volatile cache, flushes matter
 * @start: any number; as long as it stays the same, @writers has counted all
 * @writers: how often the right to write went to another client, from 1 on for one that has it;
 *	0: not told
 * @io_mode: RNBD_IO_*, that the device is open with; RNBD_IO_ANY: not told
 * @more: what follows was told; else it is zero
 * @identity: of the disk, for ever, by its serial number or the like; zeroes: has none
 * @weak: that is only the name that it has now
 * @boot: number of the boot of the server's host; 0: not known
 * @diskseq: number of the disk within that boot
 * @access_mode: that it is open with
 * @io_min: bytes that go well together, 0: not told
 * @io_opt: bytes that go best together, the same
 */
struct rnbd_device_info {
	__u32	device_id;
	__u64	nsectors;
	__u32	max_hw_sectors;
	__u32	max_write_zeroes_sectors;
	__u32	max_discard_sectors;
	__u32	discard_granularity;
	__u32	discard_alignment;
	__u32	physical_block_size;
	__u32	logical_block_size;
	__u32	max_segments;
	bool	secure_erase;
	bool	fua;
	bool	writeback;
	__u32	start;
	__u32	writers;
	__u8	io_mode;
	bool	more;
	__u8	identity[RNBD_IDENTITY_LEN];
	bool	weak;
	__u32	boot;
	__u32	diskseq;
	__u8	access_mode;
	__u32	io_min;
	__u32	io_opt;
};

/*
 * May another client have got the right to write since a client was told @before? With another
 * record nobody knows, nor does a server that tells nothing any more.
 */
static inline bool rnbd_others_wrote(const struct rnbd_device_info *before,
				     const struct rnbd_device_info *now)
{
	if (!before->writers)
		return false;
	return now->start != before->start || now->writers != before->writers;
}

static inline bool rnbd_has_identity(const struct rnbd_device_info *info)
{
	static const __u8 none[RNBD_IDENTITY_LEN];

	return __builtin_memcmp(info->identity, none, sizeof(none));
}

/*
 * Is it another disk than a client was told @before, or less of it? A name that is not for ever
 * stands for the same disk within a boot if its number says so. Where the server tells neither,
 * the size of blocks has to do.
 */
static inline bool rnbd_is_another(const struct rnbd_device_info *before,
				   const struct rnbd_device_info *now)
{
	if (now->nsectors < before->nsectors)
		return true;
	if (!rnbd_has_identity(before) || !rnbd_has_identity(now))
		return now->logical_block_size != before->logical_block_size;
	if (__builtin_memcmp(now->identity, before->identity, sizeof(now->identity)))
		return true;
	return now->weak && now->boot == before->boot && now->diskseq != before->diskseq;
}

/*
 * May what was acknowledged and not flushed be lost since a client was told @before? There is or
 * was a volatile cache, and the server's host was booted, or its disk has begun anew. One that
 * told neither is asked in vain.
 */
static inline bool rnbd_cache_lost(const struct rnbd_device_info *before,
				   const struct rnbd_device_info *now)
{
	return before->more && (before->writeback || now->writeback) &&
	       (now->boot != before->boot || now->diskseq != before->diskseq);
}

/* -EINVAL for a response that no disk can be made of. */
static inline int rnbd_open_rsp_parse(const void *p, size_t len, struct rnbd_device_info *out)
{
	const struct rnbd_msg_open_rsp *m = p;

	if (len < sizeof(*m) || rnbd_get_le16(&m->hdr.type) != RNBD_MSG_OPEN_RSP)
		return -EINVAL;
	out->device_id = rnbd_get_le32(&m->device_id);
	out->nsectors = rnbd_get_le64(&m->nsectors);
	out->max_hw_sectors = rnbd_get_le32(&m->max_hw_sectors);
	out->max_write_zeroes_sectors = rnbd_get_le32(&m->max_write_zeroes_sectors);
	out->max_discard_sectors = rnbd_get_le32(&m->max_discard_sectors);
	out->discard_granularity = rnbd_get_le32(&m->discard_granularity);
	out->discard_alignment = rnbd_get_le32(&m->discard_alignment);
	out->physical_block_size = rnbd_get_le16(&m->physical_block_size);
	out->logical_block_size = rnbd_get_le16(&m->logical_block_size);
	out->max_segments = rnbd_get_le16(&m->max_segments);
	out->secure_erase = rnbd_get_le16(&m->secure_discard) != 0;
	out->fua = m->cache_policy & RNBD_CACHE_FUA;
	out->writeback = m->cache_policy & RNBD_CACHE_WRITEBACK;
	out->start = rnbd_get_le32(&m->start);
	out->writers = rnbd_get_le32(&m->writers);
	out->io_mode = rnbd_io_mode(m->io_mode & RNBD_RSP_IO_MODE, m->io_mode & RNBD_RSP_FILEIO);
	out->more = false;
	__builtin_memset(out->identity, 0, sizeof(out->identity));
	out->weak = false;
	out->boot = 0;
	out->diskseq = 0;
	out->access_mode = 0;
	out->io_min = 0;
	out->io_opt = 0;

	if (out->logical_block_size < 512 || out->logical_block_size > 32768 ||
	    out->logical_block_size & (out->logical_block_size - 1))
		return -EINVAL;
	/* A block size of 64 KiB and more does not fit into its 16 bits. */
	if (out->physical_block_size < out->logical_block_size ||
	    out->physical_block_size & (out->physical_block_size - 1))
		out->physical_block_size = out->logical_block_size;
	if (out->nsectors >= RNBD_SECTORS_MAX)
		return -EINVAL;
	return 0;
}

static inline void rnbd_open_rsp_pack(struct rnbd_msg_open_rsp *m, const struct rnbd_device_info *d)
{
	__u32 pbs = d->physical_block_size > 32768 ? 32768 : d->physical_block_size;

	__builtin_memset(m, 0, sizeof(*m));
	rnbd_put_le16(&m->hdr.type, RNBD_MSG_OPEN_RSP);
	rnbd_put_le32(&m->device_id, d->device_id);
	rnbd_put_le64(&m->nsectors, d->nsectors);
	rnbd_put_le32(&m->max_hw_sectors, d->max_hw_sectors);
	rnbd_put_le32(&m->max_write_zeroes_sectors, d->max_write_zeroes_sectors);
	rnbd_put_le32(&m->max_discard_sectors, d->max_discard_sectors);
	rnbd_put_le32(&m->discard_granularity, d->discard_granularity);
	rnbd_put_le32(&m->discard_alignment, d->discard_alignment);
	rnbd_put_le16(&m->physical_block_size, pbs);
	rnbd_put_le16(&m->logical_block_size, d->logical_block_size);
	rnbd_put_le16(&m->max_segments, d->max_segments > 65535 ? 65535 : d->max_segments);
	rnbd_put_le16(&m->secure_discard, d->secure_erase ? 1 : 0);
	m->cache_policy = (d->fua ? RNBD_CACHE_FUA : 0) | (d->writeback ? RNBD_CACHE_WRITEBACK : 0);
	rnbd_put_le32(&m->start, d->start);
	rnbd_put_le32(&m->writers, d->writers);
	m->io_mode = (d->io_mode == RNBD_IO_ANY ? 0 : RNBD_RSP_IO_MODE) |
		     (d->io_mode == RNBD_IO_FILE ? RNBD_RSP_FILEIO : 0);
}

/* What partitions would lie across blocks with is no hint. */
static inline __u32 rnbd_io_hint(const struct rnbd_device_info *info, __u32 bytes)
{
	return bytes % info->physical_block_size || bytes > RNBD_IO_OPT_MAX ? 0 : bytes;
}

/* Of the longer response, which was asked for; after rnbd_open_rsp_parse(). */
static inline void rnbd_open_rsp_more_parse(const struct rnbd_msg_open_rsp_more *m,
					    struct rnbd_device_info *out)
{
	out->more = m->flags & RNBD_MORE_TOLD && m->access_mode <= RNBD_WIRE_ACCESS_MAX;
	if (!out->more)
		return;
	__builtin_memcpy(out->identity, m->identity, sizeof(out->identity));
	out->weak = m->flags & RNBD_MORE_WEAK;
	out->boot = rnbd_get_le32(&m->boot);
	out->diskseq = rnbd_get_le32(&m->diskseq);
	out->access_mode = m->access_mode;
	out->io_min = rnbd_io_hint(out, rnbd_get_le16(&m->io_min_sectors) << RNBD_SECTOR_SHIFT);
	out->io_opt = rnbd_io_hint(out, rnbd_get_le32(&m->io_opt));
}

static inline void rnbd_open_rsp_more_pack(struct rnbd_msg_open_rsp_more *m,
					   const struct rnbd_device_info *d)
{
	__u32 io_min = d->io_min >> RNBD_SECTOR_SHIFT;

	__builtin_memset(m, 0, sizeof(*m));
	__builtin_memcpy(m->identity, d->identity, sizeof(m->identity));
	rnbd_put_le32(&m->boot, d->boot);
	rnbd_put_le32(&m->diskseq, d->diskseq);
	m->access_mode = d->access_mode;
	m->flags = RNBD_MORE_TOLD | (d->weak ? RNBD_MORE_WEAK : 0);
	rnbd_put_le16(&m->io_min_sectors, io_min > 65535 ? 0 : io_min);
	rnbd_put_le32(&m->io_opt, d->io_opt);
}

/**
 * struct rnbd_io - IO, parsed
 * @device_id: from OPEN_RSP
 * @sector: start in units of 512 bytes
 * @bytes: length on the device
 * @op: what to do, below RNBD_OP_COUNT
 * @flags: RNBD_F_*, those that mean something with @op; the others are cut off
 * @prio: I/O priority, kernel encoding; 0 if the peer sent none
 */
struct rnbd_io {
	__u32	device_id;
	__u64	sector;
	__u32	bytes;
	__u8	op;
	__u32	flags;
	__u16	prio;
};

#define RNBD_MSG_IO_MIN		24	/* without prio and padding */

/**
 * rnbd_io_parse - parse an IO message against the RTRS request that carried it
 * @p: message
 * @len: its bytes; below 32 there is no priority in it
 * @data_len: payload bytes of the RTRS request
 * @is_read: direction of the RTRS request
 * @out: result
 *
 * Return: 0, -EOPNOTSUPP for an operation that is not known, or -EINVAL where
 * operation, direction, payload and length do not fit together
 */
static inline int rnbd_io_parse(const void *p, size_t len, size_t data_len, bool is_read,
				struct rnbd_io *out)
{
	const struct rnbd_msg_io *m = p;
	__u32 rw;

	if (len < RNBD_MSG_IO_MIN)
		return -EINVAL;
	rw = rnbd_get_le32(&m->rw);
	out->device_id = rnbd_get_le32(&m->device_id);
	out->sector = rnbd_get_le64(&m->sector);
	out->bytes = rnbd_get_le32(&m->bi_size);
	out->op = rw & RNBD_OP_MASK;
	out->flags = rw & RNBD_F_ALL;
	out->prio = len >= sizeof(*m) ? rnbd_get_le16(&m->prio) : 0;

	switch (out->op) {
	case RNBD_OP_READ:
		if (!is_read || !data_len || out->bytes != data_len)
			return -EINVAL;
		out->flags &= RNBD_F_SYNC;
		break;
	case RNBD_OP_WRITE:
		out->flags &= RNBD_F_SYNC | RNBD_F_FUA | RNBD_F_PREFLUSH;
		/* Empty: a flush in the clothes of a write (protocol 2.1). */
		if (is_read || out->bytes != data_len ||
		    (!data_len && !(out->flags & (RNBD_F_PREFLUSH | RNBD_F_FUA))))
			return -EINVAL;
		break;
	case RNBD_OP_FLUSH:
		/* Comes with FUA set; with anything but a write the block layer takes offence. */
		out->flags &= RNBD_F_SYNC;
		if (data_len || out->bytes)
			return -EINVAL;
		break;
	case RNBD_OP_DISCARD:
	case RNBD_OP_SECURE_ERASE:
	case RNBD_OP_WRITE_ZEROES:
		out->flags &= out->op == RNBD_OP_WRITE_ZEROES ? RNBD_F_SYNC | RNBD_F_NOUNMAP :
								RNBD_F_SYNC;
		if (is_read || data_len || !out->bytes)
			return -EINVAL;
		break;
	default:
		return -EOPNOTSUPP;
	}
	/* A flush has no place: all ones, or whatever an empty write brings. */
	if (out->bytes && (out->bytes & 511 || out->sector >= RNBD_SECTORS_MAX))
		return -EINVAL;
	return 0;
}

static inline void rnbd_io_pack(struct rnbd_msg_io *m, const struct rnbd_io *io)
{
	__builtin_memset(m, 0, sizeof(*m));
	rnbd_put_le16(&m->hdr.type, RNBD_MSG_IO);
	rnbd_put_le32(&m->device_id, io->device_id);
	rnbd_put_le64(&m->sector, io->sector);
	rnbd_put_le32(&m->rw, io->op | io->flags);
	rnbd_put_le32(&m->bi_size, io->bytes);
	rnbd_put_le16(&m->prio, io->prio);
}

static inline int rnbd_close_parse(const void *p, size_t len, __u32 *device_id)
{
	const struct rnbd_msg_close *m = p;

	if (len < sizeof(*m))
		return -EINVAL;
	*device_id = rnbd_get_le32(&m->device_id);
	return 0;
}

static inline void rnbd_close_pack(struct rnbd_msg_close *m, __u32 device_id)
{
	__builtin_memset(m, 0, sizeof(*m));
	rnbd_put_le16(&m->hdr.type, RNBD_MSG_CLOSE);
	rnbd_put_le32(&m->device_id, device_id);
}

#endif /* RNBD_PROTO_H */
