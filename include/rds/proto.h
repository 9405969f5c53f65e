/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDS on the wire: layouts, constants and the pure functions that turn bytes into typed
 * structures and back. Needs no kernel: the unit tests and fuzzers build it on the host. All
 * integers are big-endian; any alignment will do.
 */
#ifndef RDS_PROTO_H
#define RDS_PROTO_H

#include <linux/types.h>
#include <linux/errno.h>

#define RDS_HDR_LEN		48
#define RDS_EXT_LEN		16	/* bytes of the extension area at the end of a header */
#define RDS_HDR_CSUM_AT		30
#define RDS_HDR_EXT_AT		32
#define RDS_MSG_MAX		(1U << 20)	/* payload bytes */
#define RDS_MAP_PORTS		65536
#define RDS_MAP_LEN		(RDS_MAP_PORTS / 8)

#define RDS_PORT_PING		0	/* a message to this port is answered with a pong */
#define RDS_PORT_PROBE		1	/* a ping from this port asks for the number of paths */
#define RDS_PORT_FIRST		2	/* the first that a socket may have */

/* Flags of a header. A map has this one flag and no other. */
#define RDS_HDR_MAP		0x01
#define RDS_HDR_ACK_REQUIRED	0x02
#define RDS_HDR_RETRANSMITTED	0x04

/**
 * struct rds_hdr - header of a message
 * @seq: number of the message on its path, from 1; 0 for a map
 * @ack: RDMA: number of the last message that was received
 * @len: payload bytes
 * @sport: port of the sender
 * @dport: port of the receiver
 * @flags: RDS_HDR_*
 * @credit: RDMA: receive buffers that the sender offers
 * @ext: extension area, see rds_ext_parse()
 */
struct rds_hdr {
	__u64 seq;
	__u64 ack;
	__u32 len;
	__u16 sport;
	__u16 dport;
	__u8 flags;
	__u8 credit;
	__u8 ext[RDS_EXT_LEN];
};

static inline __u64 rds_get_be(const __u8 *p, unsigned int bytes)
{
	__u64 v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static inline void rds_put_be(__u8 *p, unsigned int bytes, __u64 v)
{
	while (bytes--) {
		p[bytes] = (__u8)v;
		v >>= 8;
	}
}

/* RFC 1071 over a header, its field for the checksum taken as zero */
static inline __u16 rds_hdr_csum(const void *hdr)
{
	const __u8 *p = hdr;
	__u32 sum = 0;
	unsigned int i;

	for (i = 0; i < RDS_HDR_LEN; i += 2)
		if (i != RDS_HDR_CSUM_AT)
			sum += (__u32)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)~sum;
}

/* A header without a checksum is accepted. */
static inline int rds_hdr_csum_ok(const void *hdr)
{
	__u16 have = (__u16)rds_get_be((const __u8 *)hdr + RDS_HDR_CSUM_AT, 2);

	return !have || have == rds_hdr_csum(hdr);
}

/**
 * rds_hdr_pack() - bytes of a header
 * @buf: RDS_HDR_LEN bytes, all of which are written
 * @h: header
 * @csum: with a checksum (RDMA), else 0 (TCP)
 */
static inline void rds_hdr_pack(void *buf, const struct rds_hdr *h, int csum)
{
	__u8 *p = buf;
	unsigned int i;

	rds_put_be(p, 8, h->seq);
	rds_put_be(p + 8, 8, h->ack);
	rds_put_be(p + 16, 4, h->len);
	rds_put_be(p + 20, 2, h->sport);
	rds_put_be(p + 22, 2, h->dport);
	p[24] = h->flags;
	p[25] = h->credit;
	rds_put_be(p + 26, 6, 0);
	for (i = 0; i < RDS_EXT_LEN; i++)
		p[RDS_HDR_EXT_AT + i] = h->ext[i];
	if (csum)
		rds_put_be(p + RDS_HDR_CSUM_AT, 2, rds_hdr_csum(p));
}

/**
 * rds_hdr_parse() - a header out of bytes of a peer
 * @buf: bytes
 * @len: how many there are
 * @h: result, of no use after an error
 *
 * Return: 0; -EINVAL: fewer than a header has; -EMSGSIZE: the message would be longer than any
 * may be.
 */
static inline int rds_hdr_parse(const void *buf, __u64 len, struct rds_hdr *h)
{
	const __u8 *p = buf;
	unsigned int i;

	if (len < RDS_HDR_LEN)
		return -EINVAL;
	h->seq = rds_get_be(p, 8);
	h->ack = rds_get_be(p + 8, 8);
	h->len = (__u32)rds_get_be(p + 16, 4);
	h->sport = (__u16)rds_get_be(p + 20, 2);
	h->dport = (__u16)rds_get_be(p + 22, 2);
	h->flags = p[24];
	h->credit = p[25];
	for (i = 0; i < RDS_EXT_LEN; i++)
		h->ext[i] = p[RDS_HDR_EXT_AT + i];
	return h->len > RDS_MSG_MAX ? -EMSGSIZE : 0;
}

/* Also without RDS_MAP_LEN bytes behind it; such a map is to be ignored. */
static inline int rds_hdr_is_map(const struct rds_hdr *h)
{
	return h->flags == RDS_HDR_MAP;
}

/* enum rds_ext_type - what an extension is. The length of its data follows from the type. */
enum rds_ext_type {
	RDS_EXT_END		= 0,
	RDS_EXT_VERSION		= 1,	/* be32, obsolete */
	RDS_EXT_RDMA_DONE	= 2,	/* be32 key */
	RDS_EXT_RDMA_DEST	= 3,	/* be32 key, be32 offset */
	RDS_EXT_PATHS		= 5,	/* be16 number of paths */
	RDS_EXT_GENERATION	= 6,	/* be32, another one after each start of the peer */
	/* Of this implementation. Others stop reading at types that they have no room for. */
	RDS_EXT_ABILITIES	= 32,	/* RDS_ABLE_*, in the header of a map over TCP */
	RDS_EXT_PATH		= 33,	/* u8 number of the path, there as well */
};

#define RDS_ABLE_ACK		0x01	/* acknowledges messages in headers */

/**
 * struct rds_ext - the extensions of a header
 * @has: bit for each type that was there
 * @done_key: RDS_EXT_RDMA_DONE
 * @dest_key: RDS_EXT_RDMA_DEST
 * @dest_offset: RDS_EXT_RDMA_DEST
 * @paths: RDS_EXT_PATHS
 * @generation: RDS_EXT_GENERATION
 * @abilities: RDS_EXT_ABILITIES
 * @path: RDS_EXT_PATH
 */
struct rds_ext {
	__u64 has;
	__u32 done_key;
	__u32 dest_key;
	__u32 dest_offset;
	__u16 paths;
	__u32 generation;
	__u8 abilities;
	__u8 path;
};

/*
 * Bytes of data of a type; 0: a type whose length nobody knows, so nothing behind it can be read.
 */
static inline unsigned int rds_ext_data_len(__u8 type)
{
	switch (type) {
	case RDS_EXT_VERSION:
	case RDS_EXT_RDMA_DONE:
	case RDS_EXT_GENERATION:
		return 4;
	case RDS_EXT_RDMA_DEST:
		return 8;
	case RDS_EXT_PATHS:
		return 2;
	case RDS_EXT_ABILITIES:
	case RDS_EXT_PATH:
		return 1;
	default:
		return 0;
	}
}

/**
 * rds_ext_parse() - the extensions of a header
 * @area: RDS_EXT_LEN bytes
 * @e: result
 *
 * Reads up to the end mark, a type that is not known, or data that do not fit. There is no
 * error: what a peer added for others is skipped.
 */
static inline void rds_ext_parse(const __u8 *area, struct rds_ext *e)
{
	unsigned int at = 0, len;

	*e = (struct rds_ext){ 0 };
	while (at < RDS_EXT_LEN) {
		__u8 type = area[at];
		const __u8 *data = area + at + 1;

		len = rds_ext_data_len(type);
		if (!len || at + 1 + len > RDS_EXT_LEN)
			break;
		if (type == RDS_EXT_RDMA_DONE) {
			e->done_key = (__u32)rds_get_be(data, 4);
		} else if (type == RDS_EXT_RDMA_DEST) {
			e->dest_key = (__u32)rds_get_be(data, 4);
			e->dest_offset = (__u32)rds_get_be(data + 4, 4);
		} else if (type == RDS_EXT_PATHS) {
			e->paths = (__u16)rds_get_be(data, 2);
		} else if (type == RDS_EXT_GENERATION) {
			e->generation = (__u32)rds_get_be(data, 4);
		} else if (type == RDS_EXT_ABILITIES) {
			e->abilities = *data;
		} else if (type == RDS_EXT_PATH) {
			e->path = *data;
		}
		e->has |= 1ULL << type;
		at += 1 + len;
	}
}

/**
 * rds_ext_add() - one extension more
 * @area: RDS_EXT_LEN bytes, zero behind @used
 * @used: bytes that are taken; moved on
 * @type: RDS_EXT_*
 * @value: data, as a number
 *
 * Return: 0, or -ENOSPC.
 */
static inline int rds_ext_add(__u8 *area, unsigned int *used, __u8 type, __u64 value)
{
	unsigned int len = rds_ext_data_len(type);

	if (!len || *used + 1 + len > RDS_EXT_LEN)
		return -ENOSPC;
	area[*used] = type;
	rds_put_be(area + *used + 1, len, value);
	*used += 1 + len;
	return 0;
}

#endif /* RDS_PROTO_H */
