/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDS over RDMA, beyond what all transports share: the private data of a connection request and
 * of its reply, the versions, the fragments of a message. As rds/proto.h: pure functions that the
 * unit tests and fuzzers build on the host.
 */
#ifndef RDS_RDMA_PROTO_H
#define RDS_RDMA_PROTO_H

#include <rds/proto.h>

#define RDS_RDMA_PORT4		18634
#define RDS_RDMA_PORT6		16385

#define RDS_FRAG_LEN		4096	/* payload bytes of a fragment, at most */
#define RDS_FRAGS_MAX		(RDS_MSG_MAX / RDS_FRAG_LEN)

#define RDS_PRIV_LEN4		32
#define RDS_PRIV_LEN6		56	/* all that a request has room for */

#define RDS_VERSION(major, minor)	((major) << 8 | (minor))
#define RDS_VERSION_3_1		RDS_VERSION(3, 1)
#define RDS_VERSION_4_0		RDS_VERSION(4, 0)
#define RDS_VERSION_4_1		RDS_VERSION(4, 1)
#define RDS_MINORS		0x0003	/* mask of those of version 4 that there are */

#define RDS_REJECT_REASON	28	/* of the connection manager: the consumer says why */
#define RDS_REJECT_BUSY		1	/* what it says: in host order; or a negative errno */

/* In the first reserved byte, which other implementations leave 0 */
#define RDS_PRIV_ABLE_CREDIT	0x01	/* grants credits if the other end does */

/**
 * struct rds_priv - private data of a request or a reply
 * @saddr: address of the sender; IPv4 as mapped to IPv6
 * @daddr: address of the receiver
 * @version: RDS_VERSION()
 * @minors: mask of minor versions
 * @tos: type of service
 * @able: RDS_PRIV_ABLE_*
 * @ack: number of the last message that was received
 * @credit: receive buffers that the sender offers; 0: it grants none
 */
struct rds_priv {
	__u8 saddr[16];
	__u8 daddr[16];
	__u16 version;
	__u16 minors;
	__u8 tos;
	__u8 able;
	__u64 ack;
	__u32 credit;
};

static inline void rds_priv_addr_get(__u8 *addr, const __u8 *p, int v6)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		addr[i] = v6 ? p[i] : i >= 12 ? p[i - 12] : i >= 10 ? 0xff : 0;
}

static inline void rds_priv_addr_put(__u8 *p, const __u8 *addr, int v6)
{
	unsigned int i;

	for (i = v6 ? 0 : 12; i < 16; i++)
		*p++ = addr[i];
}

/**
 * rds_priv_pack() - bytes of private data
 * @buf: RDS_PRIV_LEN6 bytes, or RDS_PRIV_LEN4 if not @v6; all of them are written
 * @v6: with addresses of IPv6
 * @d: private data
 *
 * Return: how many bytes.
 */
static inline unsigned int rds_priv_pack(void *buf, int v6, const struct rds_priv *d)
{
	unsigned int len = v6 ? RDS_PRIV_LEN6 : RDS_PRIV_LEN4, addr = v6 ? 16 : 4;
	__u8 *p = buf;

	rds_priv_addr_put(p, d->saddr, v6);
	rds_priv_addr_put(p + addr, d->daddr, v6);
	p += 2 * addr;
	rds_put_be(p, 2, d->version);
	rds_put_be(p + 2, 2, d->minors);
	p[4] = d->tos;
	p[5] = d->able;
	rds_put_be(p + 6, 2, 0);
	rds_put_be(p + 8, 8, d->ack);
	/* With the padding behind it */
	rds_put_be(p + 16, 8, (__u64)d->credit << 32);
	return len;
}

/**
 * rds_priv_parse() - private data out of bytes of a peer
 * @buf: bytes
 * @len: how many there are
 * @v6: with addresses of IPv6
 * @d: result, of no use after an error
 *
 * Return: 0; -EINVAL: too few.
 */
static inline int rds_priv_parse(const void *buf, unsigned int len, int v6, struct rds_priv *d)
{
	unsigned int addr = v6 ? 16 : 4;
	const __u8 *p = buf;

	if (len < (v6 ? RDS_PRIV_LEN6 : RDS_PRIV_LEN4))
		return -EINVAL;
	rds_priv_addr_get(d->saddr, p, v6);
	rds_priv_addr_get(d->daddr, p + addr, v6);
	p += 2 * addr;
	d->version = (__u16)rds_get_be(p, 2);
	d->minors = (__u16)rds_get_be(p + 2, 2);
	d->tos = p[4];
	d->able = p[5];
	d->ack = rds_get_be(p + 8, 8);
	d->credit = (__u32)rds_get_be(p + 16, 4);
	return 0;
}

/**
 * rds_version_answer() - the version of a connection, for the end that was asked
 * @d: of the request
 *
 * Return: version; 0: there is none that both ends have. The connection manager gives 56 zeros to
 * a request that had no private data: a version of 0 is none.
 */
static inline __u16 rds_version_answer(const struct rds_priv *d)
{
	if (d->version >> 8 == 4 && d->minors & RDS_MINORS)
		return d->minors & 2 ? RDS_VERSION_4_1 : RDS_VERSION_4_0;
	return d->version == RDS_VERSION_3_1 ? RDS_VERSION_3_1 : 0;
}

/* The same for the end that has asked for 3.1; @d: of the reply */
static inline __u16 rds_version_agreed(const struct rds_priv *d)
{
	if (!(d->version >> 8))
		return RDS_VERSION_4_1;
	return d->version >= RDS_VERSION_3_1 ? d->version : 0;
}

/**
 * rds_frame_parse() - the header of a frame
 * @buf: bytes
 * @len: how many there are
 * @h: result, of no use after an error
 *
 * Return: 0; -EINVAL, -EMSGSIZE: as rds_hdr_parse(); -EBADMSG: the checksum is wrong.
 */
static inline int rds_frame_parse(const void *buf, __u64 len, struct rds_hdr *h)
{
	int err = rds_hdr_parse(buf, len, h);

	return err ? err : rds_hdr_csum_ok(buf) ? 0 : -EBADMSG;
}

/* An acknowledgment alone */
static inline int rds_frame_is_ack(const struct rds_hdr *h)
{
	return !h->sport && !h->dport && !h->len && !h->flags;
}

/**
 * rds_frag_take() - what a frame adds to a message
 * @first: header of its first frame
 * @done: bytes of it that are there
 * @h: header of this frame, which may be @first
 * @have: bytes of payload that the frame has
 *
 * Return: how many of them belong to the message; -EPROTO: it is a frame of another one, or is too
 * short.
 */
static inline int rds_frag_take(const struct rds_hdr *first, __u32 done, const struct rds_hdr *h,
				__u32 have)
{
	__u32 want = first->len - done;

	if (want > RDS_FRAG_LEN)
		want = RDS_FRAG_LEN;
	if (h->seq != first->seq || h->len != first->len || h->sport != first->sport ||
	    h->dport != first->dport || have < want)
		return -EPROTO;
	return (int)want;
}

#endif /* RDS_RDMA_PROTO_H */
