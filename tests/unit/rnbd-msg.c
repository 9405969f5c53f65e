// SPDX-License-Identifier: GPL-2.0
/* SESS_INFO, OPEN, OPEN_RSP and CLOSE. */
#include <rnbd/proto.h>
#include "tap.h"

static void type(void)
{
	static const __u8 m[4] = { 0xfe, 0xca, 0xff, 0xff };
	size_t len;

	for (len = 0; len < 4; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_msg_type(EXACT(m, len), len), -EINVAL);
	}
	EQ(rnbd_msg_type(EXACT(m, 4), 4), 0xcafe);
	EQ(rnbd_msg_type(EXACT("\4\0\0\0", 4), 4), RNBD_MSG_IO);
	EQ(rnbd_msg_type(EXACT("\0\0\0\0", 4), 4), RNBD_MSG_SESS_INFO);
}

static void sess_info(void)
{
	__u8 *m = EXACT(NULL, 36), want[36] = { 0 }, got;
	size_t len;
	int v;

	rnbd_sess_info_pack((void *)m, RNBD_MSG_SESS_INFO, 2);
	want[4] = 2;
	MEM(m, want, 36);
	rnbd_sess_info_pack((void *)m, RNBD_MSG_SESS_INFO_RSP, 1);
	want[0] = 1;
	want[4] = 1;
	MEM(m, want, 36);
	/* the lower version of the two is spoken */
	for (v = 0; v < 256; v++) {
		m[4] = v;
		NOTE("version %d", v);
		EQ(rnbd_sess_info_parse(m, 36, &got), 0);
		EQ(got, v < 2 ? v : 2);
	}
	/* so it is with the minor one, where the peer announces any: older ones never do */
	EQ(m[5], 0);
	for (v = 0; v < 256; v++) {
		NOTE("minor %d", v);
		m[4] = 2;
		m[5] = v;
		/* what in-tree clients have in their memory is none of ours */
		memset(m + 6, 0xaa, 30);
		EQ(rnbd_sess_info_minor(m), v < 2 ? v : 2);
		rnbd_sess_info_set_minor((void *)m, v);
		EQ(rnbd_sess_info_minor(m), v < 3 ? v : 3);
		m[4] = 3;
		EQ(rnbd_sess_info_minor(m), v < 3 ? v : 3);
		m[4] = 1;
		EQ(rnbd_sess_info_minor(m), 0);
	}
	for (len = 0; len < 36; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_sess_info_parse(EXACT(m, len), len, &got), -EINVAL);
	}
}

static int parse_open(const char *path, size_t n, __u8 mode, struct rnbd_open *out)
{
	__u8 *m = EXACT(NULL, 264);

	memset(m, 0, 264);
	m[0] = RNBD_MSG_OPEN;
	m[4] = mode;
	memcpy(m + 6, path, n);
	NOTE("path of %zu bytes, mode %u", n, mode);
	return rnbd_open_parse(m, 264, 3, out);
}

static void open_pack(void)
{
	__u8 *m = EXACT(NULL, 264), want[264] = { 2, 0, 0, 0, 1 };
	char x[255];

	memcpy(want + 6, "ram0", 4);
	rnbd_open_pack((void *)m, "ram0", 1);
	MEM(m, want, 264);
	memset(x, 'x', 254);
	x[254] = '\0';
	memcpy(want + 6, x, 255);
	want[4] = 2;
	rnbd_open_pack((void *)m, x, 2);
	MEM(m, want, 264);
	/* a shorter one over a longer one leaves nothing of it */
	rnbd_open_pack((void *)m, "", 0);
	memset(want + 4, 0, 260);
	MEM(m, want, 264);
}

static void open_parse(void)
{
	struct rnbd_open open, *o = &open;
	char x[255];
	int mode;

	memset(x, 'x', 255);
	EQ(parse_open("/dev/ram0", 9, 1, o), 0);
	STR(o->path, "/dev/ram0");
	EQ(o->access_mode, 1);
	EQ(parse_open("a", 1, 0, o), 0);
	STR(o->path, "a");
	EQ(parse_open(x, 254, 0, o), 0);
	EQ(strlen(o->path), 254);
	/* not terminated, empty */
	EQ(parse_open(x, 255, 0, o), -EINVAL);
	EQ(parse_open("", 0, 0, o), -EINVAL);
	EQ(parse_open("\0ab", 3, 0, o), -EINVAL);
	EQ(parse_open("ab\0cd", 5, 0, o), 0);
	STR(o->path, "ab");
	/* what the path means is not looked at here */
	EQ(parse_open("../\xff\n", 5, 0, o), 0);
	for (mode = 0; mode < 256; mode++) {
		EQ(parse_open("a", 1, mode, o), mode <= 2 ? 0 : -EINVAL);
		if (mode <= 2)
			EQ(o->access_mode, mode);
	}
}

static void open_short(void)
{
	struct rnbd_msg_open m;
	struct rnbd_open o;
	size_t len;

	rnbd_open_pack(&m, "ram0", 1);
	for (len = 0; len < 264; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_open_parse(EXACT(&m, len), len, 3, &o), -EINVAL);
	}
	EQ(rnbd_open_parse(EXACT(&m, 264), 264, 3, &o), 0);
}

static void open_claim(void)
{
	static const __u8 want[24] = { 4, 3, 2, 1, 8, 7, 6, 5, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
				       0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf };
	struct rnbd_claim claim = { .start = 0x01020304, .writers = 0x05060708 };
	struct rnbd_open open, *o = &open;
	__u8 m[288];
	size_t len;
	int flags;

	memcpy(claim.identity, want + 8, 16);
	rnbd_open_pack((void *)m, "ram0", 1);
	rnbd_claim_pack((void *)(m + 264), &claim);
	MEM(m + 264, want, 24);
	for (flags = 0; flags < 8; flags++) {
		m[261] = flags;
		for (len = 264; len <= 288; len++) {
			NOTE("flags %d, %zu bytes", flags, len);
			memset(o, 0xff, sizeof(*o));
			EQ(rnbd_open_parse(EXACT(m, len), len, 3, o), flags & 2 && len < 288 ? -EINVAL : 0);
			EQ(o->tell_writers, flags & 1);
			EQ(o->claims, flags >> 1 & 1);
			EQ(o->more, flags >> 2 & 1);
			/* what was not sent is nothing */
			if (!(flags & 2))
				MEM(&o->claim, (__u8[24]){ 0 }, 24);
			tap_drop();
		}
		if (flags & 2)
			MEM(&o->claim, &claim, sizeof(claim));
	}
	/* of a client that knows of no such flags they are not even looked at */
	EQ(rnbd_open_parse(EXACT(m, 264), 264, 2, o), 0);
	EQ(o->claims || o->more, false);
}

/* What was acknowledged and not flushed may be lost */
static void cache_lost(void)
{
	const struct rnbd_device_info before = { .more = true, .boot = 7, .diskseq = 3 };
	struct rnbd_device_info old, now;
	int v;

	/* v: 1 had a cache, 2 has one, 4 another boot, 8 another number, 16 it was told before, 32 it is told now */
	for (v = 0; v < 64; v++) {
		NOTE("%#x", v);
		old = now = before;
		old.writeback = v & 1;
		now.writeback = v & 2;
		now.boot += !!(v & 4);
		now.diskseq += !!(v & 8);
		if (!(v & 16))
			memset(&old.more, 0, sizeof(old) - offsetof(struct rnbd_device_info, more));
		if (!(v & 32))
			memset(&now.more, 0, sizeof(now) - offsetof(struct rnbd_device_info, more));
		EQ(rnbd_cache_lost(&old, &now), v & 3 && v & 16 && (v & 12 || !(v & 32)));
		tap_drop();
	}
}

static const struct rnbd_device_info info = {
	.device_id = 0x01020304, .nsectors = 0x0011223344556677, .max_hw_sectors = 0x05060708,
	.max_write_zeroes_sectors = 0x090a0b0c, .max_discard_sectors = 0x0d0e0f10,
	.discard_granularity = 0x11121314, .discard_alignment = 0x15161718,
	.physical_block_size = 4096, .logical_block_size = 512, .max_segments = 0x191a,
	.secure_erase = true, .fua = true, .writeback = false,
};

static const __u8 info_bytes[56] = {
	3, 0, 0, 0, 0x04, 0x03, 0x02, 0x01, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00,
	0x08, 0x07, 0x06, 0x05, 0x0c, 0x0b, 0x0a, 0x09, 0x10, 0x0f, 0x0e, 0x0d,
	0x14, 0x13, 0x12, 0x11, 0x18, 0x17, 0x16, 0x15, 0x00, 0x10, 0x00, 0x02, 0x1a, 0x19, 0x01, 0x00,
	0x00, 0x01,
};

/* With the value of so many bits at @off replaced. */
static int parse_info(size_t off, int width, __u64 value, struct rnbd_device_info *out)
{
	__u8 *m = EXACT(info_bytes, 56);

	switch (width) {
	case 8:
		m[off] = value;
		break;
	case 16:
		rnbd_put_le16(m + off, value);
		break;
	case 64:
		rnbd_put_le64(m + off, value);
		break;
	}
	memset(out, 0, sizeof(*out));
	NOTE("offset %zu = 0x%llx", off, (unsigned long long)value);
	return rnbd_open_rsp_parse(m, 56, out);
}

static void open_rsp_pack(void)
{
	struct rnbd_device_info d = info;
	__u8 *m = EXACT(NULL, 56);

	rnbd_open_rsp_pack((void *)m, &d);
	MEM(m, info_bytes, 56);
	d.fua = false;
	d.writeback = true;
	d.secure_erase = false;
	rnbd_open_rsp_pack((void *)m, &d);
	EQ(m[45], 2);
	EQ(m[42], 0);
	d.fua = true;
	rnbd_open_rsp_pack((void *)m, &d);
	EQ(m[45], 3);
	/* what does not fit into 16 bits must not become small */
	d.physical_block_size = 32768;
	d.max_segments = 65535;
	rnbd_open_rsp_pack((void *)m, &d);
	EQ(rnbd_get_le16(m + 36), 32768);
	EQ(rnbd_get_le16(m + 40), 65535);
	d.physical_block_size = 65536;
	d.max_segments = 65536;
	rnbd_open_rsp_pack((void *)m, &d);
	EQ(rnbd_get_le16(m + 36), 32768);
	EQ(rnbd_get_le16(m + 40), 65535);
	d.physical_block_size = 0xffffffff;
	d.max_segments = 0xffffffff;
	rnbd_open_rsp_pack((void *)m, &d);
	EQ(rnbd_get_le16(m + 36), 32768);
	EQ(rnbd_get_le16(m + 40), 65535);
	/* nothing but the bytes above is ever set */
	MEM(m + 46, (__u8[10]){ 0 }, 10);
	EQ(m[44], 0);
}

static void open_rsp_parse(void)
{
	struct rnbd_device_info d;

	EQ(parse_info(0, 8, 3, &d), 0);
	EQ(d.device_id, info.device_id);
	EQ(d.nsectors, info.nsectors);
	EQ(d.max_hw_sectors, info.max_hw_sectors);
	EQ(d.max_write_zeroes_sectors, info.max_write_zeroes_sectors);
	EQ(d.max_discard_sectors, info.max_discard_sectors);
	EQ(d.discard_granularity, info.discard_granularity);
	EQ(d.discard_alignment, info.discard_alignment);
	EQ(d.physical_block_size, 4096);
	EQ(d.logical_block_size, 512);
	EQ(d.max_segments, info.max_segments);
	EQ(d.secure_erase, true);
	EQ(d.fua, true);
	EQ(d.writeback, false);
}

static void open_rsp_short(void)
{
	struct rnbd_device_info d;
	size_t len;
	__u32 t;

	for (len = 0; len < 56; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_open_rsp_parse(EXACT(info_bytes, len), len, &d), -EINVAL);
	}
	for (t = 0; t < 65536; t += t < 300 ? 1 : 251)
		EQ(parse_info(0, 16, t, &d), t == 3 ? 0 : -EINVAL);
}

static void open_rsp_blocks(void)
{
	struct rnbd_device_info d;
	__u32 v;

	/* logical: a power of two, 512 and more */
	for (v = 0; v < 65536; v++) {
		bool good = v >= 512 && !(v & (v - 1));

		EQ(parse_info(38, 16, v, &d), good ? 0 : -EINVAL);
		/* the device was opened: its id is needed to close it again */
		EQ(d.device_id, info.device_id);
		if (good)
			EQ(d.logical_block_size, v);
		if (good)
			CHECK(d.physical_block_size >= v);
		tap_drop();
	}
	/* physical: where it makes no sense, as the logical one */
	for (v = 0; v < 65536; v++) {
		bool good = v >= 512 && !(v & (v - 1));

		EQ(parse_info(36, 16, v, &d), 0);
		EQ(d.physical_block_size, good ? v : 512);
		tap_drop();
	}
}

static void open_rsp_bounds(void)
{
	struct rnbd_device_info d;
	int v;

	EQ(parse_info(8, 64, 0, &d), 0);
	EQ(d.nsectors, 0);
	EQ(parse_info(8, 64, (1ULL << 54) - 1, &d), 0);
	EQ(d.nsectors, (1LL << 54) - 1);
	/* 2^63 bytes do not fit into a loff_t */
	EQ(parse_info(8, 64, 1ULL << 54, &d), -EINVAL);
	EQ(parse_info(8, 64, ~0ULL, &d), -EINVAL);
	for (v = 0; v < 256; v++) {
		EQ(parse_info(45, 8, v, &d), 0);
		EQ(d.fua, v & 1);
		EQ(d.writeback, v >> 1 & 1);
	}
	EQ(parse_info(42, 16, 0, &d), 0);
	EQ(d.secure_erase, false);
	EQ(parse_info(42, 16, 0xffff, &d), 0);
	EQ(d.secure_erase, true);
	EQ(parse_info(42, 16, 0x100, &d), 0);
	EQ(d.secure_erase, true);
	/* rotational and reserved bytes: not looked at */
	for (v = 44; v < 56; v++)
		if (v != 45)
			EQ(parse_info(v, 8, 0xff, &d), 0);
}

static void open_rsp_more(void)
{
	static const __u8 want[32] = { 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
				       4, 3, 2, 1, 8, 7, 6, 5, 2, 3, 0x80, 0, 0, 0, 3, 0 };
	struct rnbd_device_info d = { .weak = true, .boot = 0x01020304, .diskseq = 0x05060708, .access_mode = 2,
				     .io_min = 65536, .io_opt = 196608 }, out;
	__u8 *m = EXACT(NULL, 32);

	memcpy(d.identity, want, 16);
	rnbd_open_rsp_more_pack((void *)m, &d);
	MEM(m, want, 32);
	EQ(parse_info(0, 8, 3, &out), 0);
	EQ(out.more, false);
	rnbd_open_rsp_more_parse((void *)m, &out);
	MEM(out.identity, want, 16);
	EQ(out.weak, true);
	EQ(out.boot, d.boot);
	EQ(out.diskseq, d.diskseq);
	EQ(out.access_mode, 2);
	EQ(out.io_min, d.io_min);
	EQ(out.io_opt, d.io_opt);
	d.weak = false;
	d.io_min = 65536 << 9;				/* does not fit into 16 bits */
	d.io_opt = out.physical_block_size + 512;	/* no multiple of it */
	rnbd_open_rsp_more_pack((void *)m, &d);
	EQ(m[25], 1);
	rnbd_open_rsp_more_parse((void *)m, &out);
	EQ(out.weak, false);
	EQ(out.io_min | out.io_opt, 0);
	d.io_opt = (64 << 20) + 4096;			/* more than anybody has */
	rnbd_open_rsp_more_pack((void *)m, &d);
	rnbd_open_rsp_more_parse((void *)m, &out);
	EQ(out.io_min | out.io_opt, 0);
	/* an access mode that there is not; an older server, which knows nothing of it */
	m[24] = 3;
	rnbd_open_rsp_more_parse((void *)m, &out);
	EQ(out.more, false);
	memset(m, 0, 32);
	rnbd_open_rsp_more_parse((void *)m, &out);
	EQ(out.more, false);
}

/* What a client that comes back by itself must see */
static void others_wrote(void)
{
	const struct rnbd_device_info before = { .start = 7, .writers = 3 };
	struct rnbd_device_info now = before, none = { .start = 7 };

	EQ(rnbd_others_wrote(&before, &now), false);
	now.writers = 4;
	EQ(rnbd_others_wrote(&before, &now), true);
	now.writers = 2;
	EQ(rnbd_others_wrote(&before, &now), true);
	/* another record: nobody knows, whatever it has counted */
	now.start = 8;
	for (now.writers = 1; now.writers < 5; now.writers++)
		EQ(rnbd_others_wrote(&before, &now), true);
	/* a server that tells nothing any more */
	EQ(rnbd_others_wrote(&before, &none), true);
	/* there was nothing to be told of, or nobody who told */
	EQ(rnbd_others_wrote(&none, &now), false);
}

static void another_disk(void)
{
	const struct rnbd_device_info before = { .nsectors = 100, .logical_block_size = 512, .more = true,
						 .identity = { 1 }, .boot = 5, .diskseq = 9 };
	struct rnbd_device_info now = before, silent = before, weak = before;

	EQ(rnbd_is_another(&before, &now), false);
	/* larger and of other blocks, but the same; smaller */
	now.nsectors = 101;
	now.logical_block_size = 4096;
	now.diskseq = 10;
	EQ(rnbd_is_another(&before, &now), false);
	now.nsectors = 99;
	EQ(rnbd_is_another(&before, &now), true);
	now = before;
	now.identity[15] = 1;
	EQ(rnbd_is_another(&before, &now), true);
	/* a name stands for the same disk if its number says so, or nobody can know */
	weak.weak = true;
	now = weak;
	EQ(rnbd_is_another(&weak, &now), false);
	now.diskseq = 10;
	EQ(rnbd_is_another(&weak, &now), true);
	now.boot = 6;
	EQ(rnbd_is_another(&weak, &now), false);
	/* a server that tells no identity, before or now */
	memset(silent.identity, 0, sizeof(silent.identity));
	now = before;
	EQ(rnbd_is_another(&silent, &now), false);
	EQ(rnbd_is_another(&before, &silent), false);
	now.logical_block_size = 4096;
	EQ(rnbd_is_another(&silent, &now), true);
	now.logical_block_size = 512;
	now.nsectors = 99;
	EQ(rnbd_is_another(&silent, &now), true);
}

static void close_(void)
{
	static const __u8 want[8] = { 5, 0, 0, 0, 0x04, 0x03, 0x02, 0x01 };
	__u8 *m = EXACT(NULL, 8);
	__u32 id = 0;
	size_t len;

	rnbd_close_pack((void *)m, 0x01020304);
	MEM(m, want, 8);
	EQ(rnbd_close_parse(m, 8, &id), 0);
	EQ(id, 0x01020304);
	for (len = 0; len < 8; len++) {
		NOTE("%zu bytes", len);
		EQ(rnbd_close_parse(EXACT(want, len), len, &id), -EINVAL);
	}
	rnbd_close_pack((void *)m, 0xffffffff);
	EQ(rnbd_close_parse(m, 8, &id), 0);
	EQ(id, 0xffffffff);
}

int main(void)
{
	RUN(type, "type of a message");
	RUN(sess_info, "SESS_INFO: bytes, version, length");
	RUN(open_pack, "OPEN: bytes as in the specification, the rest zero");
	RUN(open_parse, "OPEN: path and access mode at their bounds");
	RUN(open_short, "OPEN: every shorter length is refused");
	RUN(open_claim, "OPEN: a claim is there if its flag says so, and else nothing");
	RUN(cache_lost, "writes that were not flushed are lost with another boot or disk, where there is a cache");
	RUN(open_rsp_pack, "OPEN_RSP: bytes as in the specification, the rest zero, 16 bits saturate");
	RUN(open_rsp_parse, "OPEN_RSP: every field is found");
	RUN(open_rsp_short, "OPEN_RSP: every shorter length and every other type is refused");
	RUN(open_rsp_blocks, "OPEN_RSP: every block size of 16 bits");
	RUN(open_rsp_bounds, "OPEN_RSP: size, cache policy, secure erase at their bounds");
	RUN(open_rsp_more, "OPEN_RSP: what follows it where that was asked for");
	RUN(others_wrote, "others wrote: another count, or another record");
	RUN(another_disk, "another disk: identity, number of a mere name, size, blocks where nothing else is told");
	RUN(close_, "CLOSE: bytes, length");
	return tap_end();
}
