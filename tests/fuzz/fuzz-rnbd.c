// SPDX-License-Identifier: GPL-2.0
/* Messages of RNBD, of a client and of a server. Input: payload of the request and its direction, message. */
#include <rnbd/proto.h>
#include "fuzz.h"

struct head {
	uint32_t data_len;
	uint8_t is_read;
} __attribute__((packed));

static void sess_info(const uint8_t *p, size_t size)
{
	struct rnbd_msg_sess_info m;
	uint8_t version, zero[sizeof(m.reserved)] = { 0 };

	if (rnbd_sess_info_parse(p, size, &version))
		return;
	accepted++;
	MUST(version <= RNBD_VERSION_MAJOR && version <= p[4]);
	rnbd_sess_info_pack(&m, RNBD_MSG_SESS_INFO_RSP, version);
	MUST(m.version == version && !m.minor && !memcmp(m.reserved, zero, sizeof(zero)));
}

static void open_(const uint8_t *p, size_t size)
{
	struct rnbd_msg_open m;
	struct rnbd_open o;
	size_t n;

	if (rnbd_open_parse(p, size, 3, &o))
		return;
	accepted++;
	n = strnlen(o.path, sizeof(o.path));
	MUST(n && n < sizeof(o.path));
	MUST(o.access_mode <= RNBD_WIRE_ACCESS_MAX);
	rnbd_open_pack(&m, o.path, o.access_mode);
	MUST(m.access_mode == p[4] && !memcmp(m.path, p + 6, n + 1));
	if (o.claims) {
		struct rnbd_msg_open_claim claim;

		MUST(size >= sizeof(m) + sizeof(claim));
		rnbd_claim_pack(&claim, &o.claim);
		MUST(!memcmp(&claim, p + sizeof(m), sizeof(claim)));
	}
}

static void open_rsp(const uint8_t *p, size_t size)
{
	struct rnbd_device_info d, again;
	struct rnbd_msg_open_rsp m;

	if (rnbd_open_rsp_parse(p, size, &d))
		return;
	accepted++;
	MUST(d.logical_block_size >= 512 && d.logical_block_size <= 32768);
	MUST(!(d.logical_block_size & (d.logical_block_size - 1)));
	MUST(d.physical_block_size >= d.logical_block_size);
	MUST(!(d.physical_block_size & (d.physical_block_size - 1)));
	MUST((int64_t)(d.nsectors << RNBD_SECTOR_SHIFT) >= 0);
	MUST(d.nsectors << RNBD_SECTOR_SHIFT >> RNBD_SECTOR_SHIFT == d.nsectors);
	rnbd_open_rsp_pack(&m, &d);
	MUST(!memcmp((uint8_t *)&m + 4, p + 4, 32));
	MUST(!memcmp((uint8_t *)&m + 38, p + 38, 4));
	MUST(!rnbd_open_rsp_parse(&m, sizeof(m), &again));
	MUST(again.physical_block_size == d.physical_block_size && again.secure_erase == d.secure_erase);
	MUST(again.fua == d.fua && again.writeback == d.writeback);
}

static void io_(const uint8_t *p, size_t size, const struct head *h)
{
	struct rnbd_io io, again;
	struct rnbd_msg_io m;
	bool has_data;
	int err = rnbd_io_parse(p, size, h->data_len, h->is_read & 1, &io);

	MUST(err == 0 || err == -EINVAL || err == -EOPNOTSUPP);
	if (err)
		return;
	accepted++;
	MUST(size >= RNBD_MSG_IO_MIN);
	MUST(io.op < RNBD_OP_COUNT);
	has_data = io.op == RNBD_OP_READ || io.op == RNBD_OP_WRITE;
	MUST(has_data ? io.bytes == h->data_len : !h->data_len);
	MUST(io.op == RNBD_OP_FLUSH || (h->is_read & 1) == (io.op == RNBD_OP_READ));
	MUST(io.bytes % 512 == 0);
	MUST(!(io.flags & ~RNBD_F_ALL));
	MUST(io.op == RNBD_OP_WRITE || !(io.flags & (RNBD_F_FUA | RNBD_F_PREFLUSH)));
	MUST(!io.bytes || (io.sector << 9) + io.bytes > io.sector << 9);
	MUST(io.bytes || io.op == RNBD_OP_FLUSH || io.flags & (RNBD_F_FUA | RNBD_F_PREFLUSH));
	rnbd_io_pack(&m, &io);
	MUST(!memcmp((uint8_t *)&m + 4, p + 4, 12));
	MUST(!memcmp((uint8_t *)&m + 20, p + 20, 4));
	MUST(!rnbd_io_parse(&m, sizeof(m), h->data_len, h->is_read & 1, &again));
	MUST(again.flags == io.flags && again.prio == io.prio && again.op == io.op);
}

static void close_(const uint8_t *p, size_t size)
{
	struct rnbd_msg_close m;
	uint32_t id;

	if (rnbd_close_parse(p, size, &id))
		return;
	accepted++;
	rnbd_close_pack(&m, id);
	MUST(!memcmp((uint8_t *)&m + 4, p + 4, 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head h;
	uint8_t *p;
	int type;

	if (!take(&data, &size, &h, sizeof(h)))
		return 0;
	p = exact(data, size);
	type = rnbd_msg_type(p, size);
	MUST(type >= -EINVAL && type <= 65535 && (type >= 0) == (size >= 4));
	switch (type) {
	case RNBD_MSG_SESS_INFO:
	case RNBD_MSG_SESS_INFO_RSP:
		sess_info(p, size);
		break;
	case RNBD_MSG_OPEN:
		open_(p, size);
		break;
	case RNBD_MSG_IO:
		io_(p, size, &h);
		break;
	case RNBD_MSG_CLOSE:
		close_(p, size);
		break;
	}
	open_rsp(p, size);
	free(p);
	return 0;
}
