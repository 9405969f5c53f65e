// SPDX-License-Identifier: GPL-2.0
/* Paths: the handshake, and requests as a proper client makes them. */
#include <stdlib.h>
#include <unistd.h>
#include <sys/random.h>

#include "peer.h"

#define INFO_LEN	sizeof(struct rtrs_msg_info_req)

const char *path_new_name(void)
{
	static unsigned int n;
	static char name[64];

	snprintf(name, sizeof(name), "hostile-%d-%u", getpid(), n++);
	return name;
}

void path_init(struct path *p, unsigned int cons)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->cons = cons;
	p->req.cid_num = cons;
	p->req.recon_cnt = 1;
	p->req.first_conn = true;
	if (getrandom(p->req.sess_uuid, RTRS_UUID_LEN, 0) < 0 ||
	    getrandom(p->req.paths_uuid, RTRS_UUID_LEN, 0) < 0)
		abort();
	for (i = 0; i < CONS_MAX; i++) {
		p->con[i].path = p;
		p->con[i].recv_size = i ? 64 : rtrs_info_rsp_size(QUEUE_DEPTH_MAX);
	}
}

void path_beside(struct path *p, const struct path *first)
{
	path_init(p, 2);
	memcpy(p->req.paths_uuid, first->req.paths_uuid, RTRS_UUID_LEN);
	p->req.first_conn = false;
}

int path_connect(struct path *p, unsigned int cid)
{
	struct rtrs_msg_conn_req msg;
	struct rtrs_conn_rsp rsp;
	int err;

	p->req.cid = cid;
	rtrs_conn_req_pack(&msg, &p->req);
	err = con_open(&p->con[cid], &msg, sizeof(msg), &rsp);
	if (err || cid)
		return err;
	if (rtrs_geometry_check(&rsp.geo) || rsp.geo.queue_depth > QUEUE_DEPTH_MAX) {
		printf("geometry of the accept\n");
		return -EPROTO;
	}
	p->geo = rsp.geo;
	p->flags = rsp.flags;
	p->eager_bytes = rsp.eager_bytes;
	p->chunk = calloc(p->geo.queue_depth, sizeof(*p->chunk));
	p->answered = calloc(p->geo.queue_depth, sizeof(*p->answered));
	p->off = calloc(p->geo.queue_depth, sizeof(*p->off));
	return p->chunk && p->answered && p->off ? 0 : -ENOMEM;
}

int path_connect_all(struct path *p)
{
	unsigned int i;
	int err;

	for (i = 0; i < p->cons; i++) {
		err = path_connect(p, i);
		if (err) {
			printf("connection %u: %s\n", i, strerror(-err));
			return 1;
		}
	}
	return 0;
}

int path_connect_to(struct path *p, const char *addr)
{
	int err;

	WANT(peer_goes_to(addr), 0);
	err = path_connect_all(p);
	WANT(peer_goes_to(NULL), 0);
	return err;
}

int path_info(struct path *p, const char *name)
{
	struct conn *con = &p->con[0];

	rtrs_info_req_pack((struct rtrs_msg_info_req *)peer_tx(), name);
	con_send(con, INFO_LEN);
	if (!con_wait_messages(con, 1, 10))
		return con->dead ? CLOSED : SILENT;
	p->info_len = con->msg_len;
	if (rtrs_info_rsp_parse(con->recv_buf, con->msg_len, &p->geo, p->chunk)) {
		printf("INFO_RSP of %u bytes\n", con->msg_len);
		return SILENT;
	}
	return 0;
}

int path_up(struct path *p, unsigned int cons)
{
	path_init(p, cons);
	WANT(path_connect_all(p), 0);
	WANT(path_info(p, path_new_name()), 0);
	return 0;
}

void path_down(struct path *p)
{
	unsigned int i;

	for (i = 0; i < CONS_MAX; i++)
		con_close(&p->con[i]);
	free(p->chunk);
	free(p->answered);
	free(p->off);
	p->chunk = NULL;
	p->answered = NULL;
	p->off = NULL;
}

bool path_wait_closed(struct path *p)
{
	unsigned int i;

	for (i = 0; i < p->cons; i++)
		if (p->con[i].id && !con_wait_dead(&p->con[i], 15)) {
			printf("connection %u is still there\n", i);
			return false;
		}
	return true;
}

static uint32_t build_header(struct path *p, const struct request *r, void *hdr)
{
	struct rtrs_desc desc = {
		.addr = (uintptr_t)(r->ignored ? peer_ignored() : peer_result()),
		.rkey = peer_rkey(),
		.len = r->desc_len ? r->desc_len : r->data_len,
	};
	struct rtrs_msg_read *m = hdr;
	uint32_t len;

	if (!r->read) {
		rtrs_write_hdr_pack(hdr, r->usr_len);
		return sizeof(struct rtrs_msg_write);
	}
	if (r->sg_cnt == 0 || (r->sg_cnt < 0 && !r->data_len))
		return rtrs_read_hdr_pack(m, r->usr_len, NULL, false);
	len = rtrs_read_hdr_pack(m, r->usr_len, &desc, r->need_inval);
	if (r->sg_cnt > 0)
		rtrs_put_le16(&m->sg_cnt, r->sg_cnt);
	(void)p;
	return len;
}

/* Data, user message, header, in one write that begins with the first of them that there is. */
void request_send(struct path *p, const struct request *r)
{
	struct rtrs_desc *chunk = &p->chunk[r->slot];
	uint32_t start = r->read ? r->data_len : 0;
	uint8_t *tx = peer_tx();
	uint32_t len = 0;

	if (!r->read && r->data_len) {
		memcpy(tx, r->data, r->data_len);
		len += r->data_len;
	}
	memcpy(tx + len, r->usr, r->usr_len);
	len += r->usr_len;
	len += build_header(p, r, tx + len);
	memset(peer_result(), 0xa5, RESULT_SIZE);
	p->answered[r->slot] = SILENT;
	p->off[r->slot] = r->data_len + r->usr_len;
	con_write_imm(&p->con[r->cid], chunk->addr + start, chunk->rkey, len,
		      rtrs_imm_io_req(&p->geo, r->slot, r->data_len + r->usr_len));
}

int request_wait(struct path *p, const struct request *r, double seconds)
{
	struct conn *con = &p->con[r->cid];
	double end = peer_now() + seconds;

	while (con_poll(con), p->answered[r->slot] == SILENT && peer_now() < end) {
		if (con->dead)
			return CLOSED;
		usleep(200);
	}
	return p->answered[r->slot];
}

int request(struct path *p, const struct request *r)
{
	request_send(p, r);
	return request_wait(p, r, 10);
}

void header_send(struct path *p, uint32_t slot, uint32_t off, const void *hdr, uint32_t len)
{
	struct rtrs_desc *chunk = &p->chunk[slot];

	memcpy(peer_tx(), hdr, len);
	p->answered[slot] = SILENT;
	p->off[slot] = off;
	con_write_imm(&p->con[p->cons - 1], chunk->addr + off, chunk->rkey, len,
		      rtrs_imm_io_req(&p->geo, slot, off));
}

int path_works(struct path *p)
{
	struct rnbd_msg_sess_info msg, *rsp = (struct rnbd_msg_sess_info *)peer_result();
	struct request r = {
		.read = true,
		.usr = &msg,
		.usr_len = sizeof(msg),
		.data_len = sizeof(msg),
		.sg_cnt = -1,
	};
	static const uint8_t zero[sizeof(rsp->reserved)];

	rnbd_sess_info_pack(&msg, RNBD_MSG_SESS_INFO, 2);
	for (r.cid = 0; r.cid < p->cons; r.cid++) {
		WANT_FOR(request(p, &r), 0, "connection %u", r.cid);
		WANT(rnbd_get_le16(&rsp->hdr.type), RNBD_MSG_SESS_INFO_RSP);
		WANT(rsp->version, 2);
		WANT(rsp->minor, 0); /* we announced none */
		WANT(memcmp(rsp->reserved, zero, sizeof(zero)), 0);
		WANT(peer_result()[sizeof(*rsp)], 0xa5);
	}
	return 0;
}
