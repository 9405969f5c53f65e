// SPDX-License-Identifier: GPL-2.0
/* IO: words, and what fits together. */
#include <rnbd/proto.h>
#include "tap.h"

enum { READ = 1, WRITE = 0 };	/* direction of the RTRS request */

static const __u8 bytes[32] = {
	4, 0, 0, 0, 0x04, 0x03, 0x02, 0x01, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00,
	0x01, 0x03, 0, 0, 0x00, 0x20, 0, 0, 0x0b, 0x0a,
};

static int parse(__u32 rw, __u32 size, size_t data, bool dir, struct rnbd_io *out)
{
	__u8 *m = EXACT(bytes, 32);

	rnbd_put_le32(m + 16, rw);
	rnbd_put_le32(m + 20, size);
	memset(out, 0xff, sizeof(*out));
	NOTE("word 0x%x, size %u, payload %zu, %s", rw, size, data, dir ? "READ" : "WRITE");
	return rnbd_io_parse(m, 32, data, dir, out);
}

static void pack(void)
{
	struct rnbd_io io = {
		.device_id = 0x01020304, .sector = 0x0011223344556677, .bytes = 8192,
		.op = RNBD_OP_WRITE, .flags = RNBD_F_SYNC | RNBD_F_FUA, .prio = 0x0a0b,
	};
	__u8 *m = EXACT(NULL, 32);

	rnbd_io_pack((void *)m, &io);
	MEM(m, bytes, 32);
	io = (struct rnbd_io){ .op = RNBD_OP_FLUSH, .sector = RNBD_FLUSH_SECTOR, .flags = RNBD_F_SYNC | RNBD_F_FUA };
	rnbd_io_pack((void *)m, &io);
	MEM(m + 8, "\xff\xff\xff\xff\xff\xff\xff\xff\x02\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
}

static void every_field(void)
{
	struct rnbd_io io;

	EQ(rnbd_io_parse(EXACT(bytes, 32), 32, 8192, WRITE, &io), 0);
	EQ(io.device_id, 0x01020304);
	EQ(io.sector, 0x0011223344556677);
	EQ(io.bytes, 8192);
	EQ(io.op, RNBD_OP_WRITE);
	EQ(io.flags, RNBD_F_SYNC | RNBD_F_FUA);
	EQ(io.prio, 0x0a0b);
}

/* The words that the in-tree client sends, and what they become. */
static void words(void)
{
	static const struct { __u32 word, size; bool dir; __u8 op; __u32 flags; } c[] = {
		{ 0x100, 4096, READ, RNBD_OP_READ, RNBD_F_SYNC },
		{ 0x001, 4096, WRITE, RNBD_OP_WRITE, 0 },
		{ 0x101, 4096, WRITE, RNBD_OP_WRITE, RNBD_F_SYNC },
		{ 0x301, 4096, WRITE, RNBD_OP_WRITE, RNBD_F_SYNC | RNBD_F_FUA },
		{ 0x302, 0, READ, RNBD_OP_FLUSH, RNBD_F_SYNC },
		{ 0x003, 4096, WRITE, RNBD_OP_DISCARD, 0 },
		{ 0x103, 4096, WRITE, RNBD_OP_DISCARD, RNBD_F_SYNC },
		{ 0x004, 4096, WRITE, RNBD_OP_SECURE_ERASE, 0 },
		{ 0x005, 4096, WRITE, RNBD_OP_WRITE_ZEROES, 0 },
		/* protocol 2.1 and 2.2 */
		{ 0x701, 4096, WRITE, RNBD_OP_WRITE, RNBD_F_SYNC | RNBD_F_FUA | RNBD_F_PREFLUSH },
		{ 0x701, 0, WRITE, RNBD_OP_WRITE, RNBD_F_SYNC | RNBD_F_FUA | RNBD_F_PREFLUSH },
		{ 0x805, 4096, WRITE, RNBD_OP_WRITE_ZEROES, RNBD_F_NOUNMAP },
	};
	struct rnbd_io io;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		size_t data = c[i].op <= RNBD_OP_WRITE ? c[i].size : 0;

		EQ(parse(c[i].word, c[i].size, data, c[i].dir, &io), 0);
		EQ(io.op, c[i].op);
		EQ(io.flags, c[i].flags);
		EQ(io.bytes, c[i].size);
	}
}

/* Every operation with every flag: what means nothing with it does not get through. */
static void flags(void)
{
	static const __u32 meant[RNBD_OP_COUNT] = { 0x100, 0x700, 0x100, 0x100, 0x100, 0x900 };
	struct rnbd_io io;
	__u32 op, bit;

	for (op = 0; op < RNBD_OP_COUNT; op++) {
		__u32 size = op == RNBD_OP_FLUSH ? 0 : 4096;
		size_t data = op <= RNBD_OP_WRITE ? 4096 : 0;

		for (bit = 8; bit < 32; bit++) {
			EQ(parse(op | 1U << bit, size, data, op == RNBD_OP_READ, &io), 0);
			EQ(io.op, op);
			EQ(io.flags, 1U << bit & meant[op]);
		}
		EQ(parse(op | 0xffffff00, size, data, op == RNBD_OP_READ, &io), 0);
		EQ(io.flags, meant[op]);
	}
}

static void unknown(void)
{
	struct rnbd_io io;
	__u32 op;

	for (op = RNBD_OP_COUNT; op < 256; op++) {
		EQ(parse(op, 4096, 4096, READ, &io), -EOPNOTSUPP);
		EQ(parse(op | 0x100, 0, 0, WRITE, &io), -EOPNOTSUPP);
	}
}

/*
 * Operation, size, payload and direction: the request is refused unless they fit
 * together. Sizes and payloads 0, 512, 4096, all of them.
 */
static bool fits(__u32 op, __u32 size, __u32 data, bool dir)
{
	switch (op) {
	case RNBD_OP_READ:
		return dir == READ && size && size == data;
	case RNBD_OP_WRITE:
		return dir == WRITE && size && size == data;
	case RNBD_OP_FLUSH:
		return !size && !data;
	default:
		return dir == WRITE && size && !data;
	}
}

static void combinations(void)
{
	static const __u32 sizes[] = { 0, 512, 4096 };
	struct rnbd_io io;
	__u32 op, s, d;
	int dir;

	for (op = 0; op < RNBD_OP_COUNT; op++)
		for (s = 0; s < 3; s++)
			for (d = 0; d < 3; d++)
				for (dir = 0; dir < 2; dir++)
					EQ(parse(op, sizes[s], sizes[d], dir, &io),
					   fits(op, sizes[s], sizes[d], dir) ? 0 : -EINVAL);
}

/* A write without payload is a flush, if it says so. */
static void empty_write(void)
{
	struct rnbd_io io;
	__u8 *m = EXACT(bytes, 32);

	EQ(parse(0x001, 0, 0, WRITE, &io), -EINVAL);
	EQ(parse(0x101, 0, 0, WRITE, &io), -EINVAL);
	EQ(parse(0x801, 0, 0, WRITE, &io), -EINVAL);
	EQ(parse(0x201, 0, 0, WRITE, &io), 0);
	EQ(parse(0x401, 0, 0, WRITE, &io), 0);
	EQ(parse(0x601, 0, 0, READ, &io), -EINVAL);
	EQ(parse(0x601, 512, 0, WRITE, &io), -EINVAL);
	EQ(parse(0x601, 0, 512, WRITE, &io), -EINVAL);
	memset(m + 8, 0xff, 8);
	rnbd_put_le32(m + 16, 0x401);
	rnbd_put_le32(m + 20, 0);
	EQ(rnbd_io_parse(m, 32, 0, WRITE, &io), 0);
}

/* Of every operation that has a place; @data as large as the size or none. */
static void sizes(void)
{
	static const struct { __u32 size; int want; } c[] = {
		{ 1, -EINVAL }, { 511, -EINVAL }, { 512, 0 }, { 513, -EINVAL }, { 1023, -EINVAL }, { 1024, 0 },
		{ 0xfffffe00, 0 }, { 0xffffffff, -EINVAL }, { 0x80000000, 0 }, { 0x80000100, -EINVAL },
	};
	static const __u8 ops[] = { 0, 1, 3, 4, 5 };
	struct rnbd_io io;
	size_t i, o;

	for (o = 0; o < sizeof(ops); o++)
		for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
			EQ(parse(ops[o], c[i].size, ops[o] <= 1 ? c[i].size : 0, !ops[o], &io), c[i].want);
			/* 4 GiB of payload are not 0 */
			if (ops[o] <= 1)
				EQ(parse(ops[o], c[i].size, c[i].size + (1ULL << 32), !ops[o], &io), -EINVAL);
		}
}

static void sectors(void)
{
	static const struct { __u64 sector; int want; } c[] = {
		{ 0, 0 }, { 1, 0 }, { (1ULL << 54) - 1, 0 }, { 1ULL << 54, -EINVAL }, { 1ULL << 63, -EINVAL },
		{ ~0ULL, -EINVAL },
	};
	struct rnbd_io io;
	__u8 *m = EXACT(bytes, 32);
	size_t i, op;

	for (op = 0; op < RNBD_OP_COUNT; op++)
		for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
			__u32 size = op == RNBD_OP_FLUSH ? 0 : 8192;

			rnbd_put_le64(m + 8, c[i].sector);
			rnbd_put_le32(m + 16, op);
			rnbd_put_le32(m + 20, size);
			NOTE("operation %zu, sector %llu", op, (unsigned long long)c[i].sector);
			EQ(rnbd_io_parse(m, 32, op <= 1 ? 8192 : 0, !op, &io),
			   op == RNBD_OP_FLUSH ? 0 : c[i].want);
			CHECK(io.sector == c[i].sector);
		}
}

/* 24 bytes are the least; only all 32 have a priority in them. */
static void lengths(void)
{
	struct rnbd_io io;
	size_t len;

	for (len = 0; len <= 32; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_io_parse(EXACT(bytes, len), len, 8192, WRITE, &io), len < 24 ? -EINVAL : 0);
		if (len >= 24)
			EQ(io.prio, len < 32 ? 0 : 0x0a0b);
	}
	EQ(rnbd_io_parse(memcpy(EXACT(NULL, 40), bytes, 32), 40, 8192, WRITE, &io), 0);
	EQ(io.prio, 0x0a0b);
}

static void round_trip(void)
{
	static const __u16 prios[] = { 0, 1, 0x6007, 0xffff };
	struct rnbd_io io, got;
	struct rnbd_msg_io m;
	size_t i;

	for (i = 0; i < 4; i++) {
		io = (struct rnbd_io){ .device_id = 0xffffffff - i, .sector = i << 50, .bytes = 512 << i,
				       .op = RNBD_OP_WRITE, .flags = i << 8, .prio = prios[i] };
		memset(&m, 0xa5, sizeof(m));
		rnbd_io_pack(&m, &io);
		EQ(rnbd_io_parse(&m, sizeof(m), io.bytes, WRITE, &got), 0);
		EQ(got.device_id, io.device_id);
		EQ(got.sector, io.sector);
		EQ(got.bytes, io.bytes);
		EQ(got.op, io.op);
		EQ(got.flags, io.flags);
		EQ(got.prio, io.prio);
		MEM(m.padding, (__u8[6]){ 0 }, 6);
		EQ(rnbd_get_le16(&m.hdr.padding), 0);
	}
}

/* Each flag goes to servers of which minor version? 0 is one that tells none. */
static void minors(void)
{
	static const struct { __u32 flags; bool minor[3]; } c[] = {
		{ 0, { true, true, true } },
		{ RNBD_F_SYNC, { true, true, true } },
		{ RNBD_F_FUA, { true, true, true } },
		{ RNBD_F_PREFLUSH, { false, true, true } },
		{ RNBD_F_NOUNMAP, { false, false, true } },
		{ RNBD_F_SYNC | RNBD_F_FUA, { true, true, true } },
		{ RNBD_F_PREFLUSH | RNBD_F_FUA, { false, true, true } },
		{ RNBD_F_PREFLUSH | RNBD_F_NOUNMAP, { false, false, true } },
		{ RNBD_F_ALL, { false, false, true } },
	};
	size_t i;
	__u8 minor;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (minor = 0; minor < 3; minor++) {
			NOTE("flags 0x%x, minor %u", c[i].flags, minor);
			EQ(rnbd_flags_understood(c[i].flags, minor), c[i].minor[minor]);
		}
	EQ(rnbd_flags_understood(RNBD_F_ALL, RNBD_VERSION_MINOR), true);
}

/* Asked for in OPEN, told in OPEN_RSP: byte 46, and the rest stays zero. */
static void io_modes(void)
{
	static const __u8 asked[] = { 0, 0x8, 0x18 }, told[] = { 0, 1, 3 };
	struct rnbd_device_info d = { .logical_block_size = 512, .physical_block_size = 512, .max_segments = 1 };
	__u8 *m = EXACT(NULL, 264), *rsp = EXACT(NULL, 56), mode;
	struct rnbd_open o;

	for (mode = RNBD_IO_ANY; mode <= RNBD_IO_FILE; mode++) {
		NOTE("mode %d", mode);
		rnbd_open_pack((void *)m, "ram0", 1);
		rnbd_open_set_io_mode((void *)m, mode);
		EQ(m[261], asked[mode]);
		EQ(rnbd_open_parse(m, 264, 3, &o), 0);
		EQ(o.io_mode, mode);
		EQ(o.claims || o.more || o.tell_writers, false);
		/* what in-tree clients have there is their memory */
		EQ(rnbd_open_parse(m, 264, 2, &o), 0);
		EQ(o.io_mode, RNBD_IO_ANY);
		d.io_mode = mode;
		rnbd_open_rsp_pack((void *)rsp, &d);
		EQ(rsp[46], told[mode]);
		MEM(rsp + 47, (__u8[9]){ 0 }, 9);
		d.io_mode = 0xff;
		EQ(rnbd_open_rsp_parse(rsp, 56, &d), 0);
		EQ(d.io_mode, mode);
	}
	m[261] = RNBD_OPEN_FILEIO;	/* says nothing by itself */
	EQ(rnbd_open_parse(m, 264, 3, &o), 0);
	EQ(o.io_mode, RNBD_IO_ANY);
}

int main(void)
{
	RUN(pack, "IO: bytes as in the specification, padding zero");
	RUN(every_field, "IO: every field is found");
	RUN(words, "IO: the words of the in-tree client");
	RUN(flags, "IO: each operation keeps only the flags that mean something with it");
	RUN(unknown, "IO: operations 6..255 are refused with EOPNOTSUPP");
	RUN(combinations, "IO: operation, size, payload and direction, all combinations");
	RUN(empty_write, "IO: an empty write must be a flush");
	RUN(sizes, "IO: sizes at their bounds");
	RUN(sectors, "IO: sectors at their bounds");
	RUN(lengths, "IO: every length of the message");
	RUN(minors, "IO: flags that a server of minor version 0, 1 or 2 understands");
	RUN(round_trip, "IO: packed and parsed again");
	RUN(io_modes, "I/O modes: the bits of OPEN and of OPEN_RSP");
	return tap_end();
}
