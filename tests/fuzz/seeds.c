// SPDX-License-Identifier: GPL-2.0
/* seeds DIR: writes what the fuzzers begin with, DIR/TARGET/NAME, one good input of each kind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <rtrs/proto.h>
#include <rnbd/proto.h>
#include <netinet/in.h>
#include <rds/proto.h>
#include <sys/socket.h>
#include <linux/rds.h>

static const char *top;

/* @head and @body one behind the other */
static void seed(const char *target, const char *name, const void *head, size_t head_len, const void *body,
		 size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, target);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", top, target, name);
	f = fopen(path, "w");
	if (!f || fwrite(head, 1, head_len, f) != head_len || fwrite(body, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void text(const char *target, const char *name, size_t head_len, const char *s)
{
	seed(target, name, "\xd2\x04", head_len, s, strlen(s));
}

static void conn(void)
{
	struct rtrs_conn_req q = { .cid = 1, .cid_num = 3, .recon_cnt = 1, .first_conn = true };
	struct rtrs_conn_rsp r = { .flags = RTRS_CONN_RSP_NEW_RKEY, .geo = { 512, 131072, 126976, 4096 } };
	struct rtrs_msg_conn_req mq;
	struct rtrs_msg_conn_rsp mr;

	memset(q.sess_uuid, 0x11, sizeof(q.sess_uuid));
	memset(q.paths_uuid, 0x22, sizeof(q.paths_uuid));
	rtrs_conn_req_pack(&mq, &q);
	seed("fuzz-rtrs-conn", "request", "", 0, &mq, sizeof(mq));
	q.lean = true;
	rtrs_conn_req_pack(&mq, &q);
	seed("fuzz-rtrs-conn", "request-lean", "", 0, &mq, sizeof(mq));
	rtrs_conn_rsp_pack(&mr, &r);
	seed("fuzz-rtrs-conn", "accept", "", 0, &mr, sizeof(mr));
	r.err = -ENXIO;
	rtrs_conn_rsp_pack(&mr, &r);
	seed("fuzz-rtrs-conn", "reject", "", 0, &mr, sizeof(mr));
}

static void rds(void)
{
	struct rds_hdr h = { .seq = 9, .len = 4, .sport = 5000, .dport = 5001, .ext = { 5, 0, 8, 6, 1, 2, 3, 4 } };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = 4000, .sin_addr.s_addr = 1 };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_addr.s6_addr = { 0xfe, 0x80 }, .sin6_scope_id = 1 };
	unsigned char bytes[RDS_HDR_LEN];
	struct {
		size_t len;
		int level, type;
		__u32 cookie;
	} c = { CMSG_LEN(4), SOL_RDS, RDS_CMSG_ZCOPY_COOKIE, 7 };

	rds_hdr_pack(bytes, &h, 1);
	seed("fuzz-rds", "header", "", 1, bytes, sizeof(bytes));
	seed("fuzz-rds", "cookie", "\1", 1, &c, sizeof(c));
	seed("fuzz-rds", "bind", "\2", 1, &sin, sizeof(sin));
	seed("fuzz-rds", "send", "\4", 1, &sin6, sizeof(sin6));
}

static void info(void)
{
	static const __u8 shape[] = { 7, 1 };	/* 8 chunks of 8 KiB */
	static const __u32 uneven[] = { 3, 3, 2 };
	union {
		struct rtrs_msg_info_rsp m;
		__u8 bytes[8 + 3 * 16];
	} u;
	struct rtrs_msg_info_req q;
	__u32 i;

	rtrs_info_req_pack(&q, "client@server");
	seed("fuzz-rtrs-info", "request", shape, 2, &q, sizeof(q));
	rtrs_info_rsp_pack_head(&u.m, 3);
	for (i = 0; i < 3; i++) {
		struct rtrs_desc d = { 0x10000 * (i + 1), 0x100 + i, 8192 * uneven[i] };

		rtrs_desc_pack((struct rtrs_msg_desc *)(u.bytes + 8 + 16 * i), &d);
	}
	seed("fuzz-rtrs-info", "response", shape, 2, &u, sizeof(u));
}

static void request(void)
{
	static const struct rtrs_geometry g = { 512, 131072, 126976, 4096 };
	struct rtrs_desc d = { 0x1000, 7, 4096 };
	struct { __u32 imm; __u16 depth; __u32 chunk; } __attribute__((packed)) head = {
		rtrs_imm_io_req(&g, 5, 4096 + 32), 512, 131072,
	};
	__u8 m[24];

	rtrs_read_hdr_pack((void *)m, 32, &d, true);
	seed("fuzz-rtrs-request", "read", &head, sizeof(head), m, 24);
	rtrs_write_hdr_pack((void *)m, 32);
	seed("fuzz-rtrs-request", "write", &head, sizeof(head), m, 4);
	rtrs_rkey_rsp_pack((void *)m, 5, 0x1234);
	seed("fuzz-rtrs-request", "rkey", &head, sizeof(head), m, 8);
	head.imm = rtrs_imm_io_req(&g, 0, 32);
	rtrs_read_hdr_pack((void *)m, 32, NULL, false);
	seed("fuzz-rtrs-request", "flush", &head, sizeof(head), m, 8);
	head.imm = rtrs_imm_io_rsp(5, -EIO, true);
	seed("fuzz-rtrs-request", "response", &head, sizeof(head), m, 0);
}

static void rnbd(void)
{
	static const struct { const char *name; __u8 read, op; __u32 flags, bytes, data; } ios[] = {
		{ "read", 1, RNBD_OP_READ, RNBD_F_SYNC, 4096, 4096 },
		{ "write", 0, RNBD_OP_WRITE, RNBD_F_SYNC | RNBD_F_FUA, 4096, 4096 },
		{ "flush", 1, RNBD_OP_FLUSH, RNBD_F_SYNC | RNBD_F_FUA, 0, 0 },
		{ "preflush", 0, RNBD_OP_WRITE, RNBD_F_PREFLUSH | RNBD_F_FUA, 0, 0 },
		{ "discard", 0, RNBD_OP_DISCARD, 0, 4096, 0 },
		{ "secure-erase", 0, RNBD_OP_SECURE_ERASE, 0, 4096, 0 },
		{ "write-zeroes", 0, RNBD_OP_WRITE_ZEROES, RNBD_F_NOUNMAP, 4096, 0 },
	};
	struct rnbd_device_info info = { .nsectors = 1 << 20, .max_hw_sectors = 248, .physical_block_size = 4096,
					 .logical_block_size = 512, .max_segments = 32, .fua = true };
	struct { __u32 data; __u8 read; } __attribute__((packed)) head = { 56, 1 };
	struct rnbd_msg_sess_info s;
	struct rnbd_msg_open_rsp r;
	struct rnbd_msg_close c;
	struct { struct rnbd_msg_open o; struct rnbd_msg_open_claim claim; } claims;
	struct rnbd_msg_open o;
	struct rnbd_msg_io m;
	size_t i;

	rnbd_sess_info_pack(&s, RNBD_MSG_SESS_INFO, 2);
	seed("fuzz-rnbd", "sess-info", &head, sizeof(head), &s, sizeof(s));
	rnbd_open_pack(&o, "/dev/ram0", 1);
	seed("fuzz-rnbd", "open", &head, sizeof(head), &o, sizeof(o));
	memset(&claims, 'c', sizeof(claims));
	claims.o = o;
	claims.o.flags = RNBD_OPEN_CLAIM | RNBD_OPEN_MORE;
	seed("fuzz-rnbd", "open-claim", &head, sizeof(head), &claims, sizeof(claims));
	rnbd_open_rsp_pack(&r, &info);
	seed("fuzz-rnbd", "open-rsp", &head, sizeof(head), &r, sizeof(r));
	rnbd_close_pack(&c, 1);
	seed("fuzz-rnbd", "close", &head, sizeof(head), &c, sizeof(c));
	for (i = 0; i < sizeof(ios) / sizeof(ios[0]); i++) {
		struct rnbd_io io = { .sector = 8, .bytes = ios[i].bytes, .op = ios[i].op, .flags = ios[i].flags };

		head.data = ios[i].data;
		head.read = ios[i].read;
		rnbd_io_pack(&m, &io);
		seed("fuzz-rnbd", ios[i].name, &head, sizeof(head), &m, sizeof(m));
	}
}

static void texts(void)
{
	static const char list[] = "pweb\ns*\nf\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\npold\nsold\nf\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\n"
		"evol0=/dev/ram0\na\1web\nevms/=/dev/vg1\na\2*\ne/=/dev\na\1old";
	static const char paths[] = "/export/%SESSNAME%/disks\0client\0dev/ram0";

	text("fuzz-addr", "ipv4", 2, "ip:10.0.0.1");
	text("fuzz-addr", "ipv6", 2, "ip:fe80::1%eth0");
	text("fuzz-addr", "mapped", 2, "ip:::ffff:10.0.0.1");
	text("fuzz-addr", "gid", 2, "gid:fe80:0000:0000:0000:0002:c903:000a:bcde");
	text("fuzz-addr", "pair", 2, "ip:10.0.0.1,ip:10.0.0.2");
	text("fuzz-addr", "pair6", 2, "ip:2001:db8::1@ip:2001:db8::2");
	text("fuzz-conf", "ini", 0, "[defaults]\nwait = 1s\n[session a] # b\npath = 10.0.0.1@10.0.0.2 dest-port=9\n"
	     "path = host:b\nmp-policy =\n[device d]\nsession = a\ndevice-path = \" \\xff;\"\noptional = yes\n");
	text("fuzz-map-args", "short", 0, "sessname=s device_path=d");
	text("fuzz-map-args", "long", 0,
	     "dest_port=0x4d2 sessname=clt@srv path=ip:10.0.0.1,ip:10.0.0.2 path=gid:fe80::1 device_path=/dev/ram0 "
	     "access_mode=migration nr_poll_queues=-1\n");
	text("fuzz-select", "device", 0, "sda\ns2\n");
	text("fuzz-select", "name", 0, "/dev/rnbd1\ns2\nmlx5_1:1");
	text("fuzz-select", "path", 0, "10.0.1.1@10.0.1.2\na@b\nmlx5_1");
	text("fuzz-select", "session", 0, "a@b\n\nrxe:0:1");
	seed("fuzz-access-list", "list", "", 0, list, sizeof(list) - 1);
	seed("fuzz-export-path", "token", "", 0, paths, sizeof(paths) - 1);
	seed("fuzz-export-path", "root", "", 0, "/\0s\0/dev//ram0", 14);
	seed("fuzz-export-path", "dotdot", "", 0, "/a\0s\0b/../c", 11);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	top = argv[1];
	conn();
	info();
	rds();
	request();
	rnbd();
	texts();
	return 0;
}
