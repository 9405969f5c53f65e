// SPDX-License-Identifier: GPL-2.0
/* Connections: CM events, completions, plain work requests. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>

#include "peer.h"

#define ARENA_SIZE	(16 * 1024 * 1024)
#define IS_RECV		(1ULL << 63)
#define CM_TIMEOUT_MS	5000

static struct addrinfo *server, *first, *here;
static const char *server_port;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint8_t *arena;
static size_t arena_used;

double peer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int peer_goes_to(const char *addr)
{
	if (server != first)
		freeaddrinfo(server);
	server = first;
	if (!addr)
		return 0;
	if (!getaddrinfo(addr, server_port, NULL, &server))
		return 0;
	printf("%s:%s is no address\n", addr, server_port);
	server = first;
	return 1;
}

int peer_comes_from(const char *addr)
{
	if (here)
		freeaddrinfo(here);
	here = NULL;
	return addr && getaddrinfo(addr, NULL, NULL, &here);
}

int peer_init(const char *addr, const char *port)
{
	server_port = port;
	if (peer_goes_to(addr))
		return 1;
	first = server;
	arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return 1;
	arena_used = 3 * RESULT_SIZE;	/* tx, result, ignored */
	return 0;
}

uint8_t *peer_tx(void)
{
	return arena;
}

/* Buffers that closed connections gave back */
static struct {
	uint8_t *p;
	size_t size;
} spare[4 * CONS_MAX];

static void give_back(uint8_t *p, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(spare) / sizeof(spare[0]); i++)
		if (!spare[i].p) {
			spare[i].p = p;
			spare[i].size = size;
			return;
		}
}

static uint8_t *take(size_t size)
{
	uint8_t *p = arena + arena_used;
	size_t i;

	for (i = 0; i < sizeof(spare) / sizeof(spare[0]); i++)
		if (spare[i].p && spare[i].size == size) {
			p = spare[i].p;
			spare[i].p = NULL;
			return p;
		}
	arena_used += (size + 63) & ~63UL;
	if (arena_used > ARENA_SIZE) {
		printf("arena is full\n");
		exit(1);
	}
	return p;
}

static void nap(void)
{
	usleep(200);
}

static void post_recv(struct conn *con, unsigned int i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(con->recv_buf + (size_t)i * con->recv_size),
		.length = con->recv_size,
		.lkey = mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = IS_RECV | i, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(con->id->qp, &wr, &bad))
		con->dead = true;
}

static void on_recv(struct conn *con, const struct ibv_wc *wc)
{
	unsigned int i = wc->wr_id & 0xffff;
	uint8_t *buf = con->recv_buf + (size_t)i * con->recv_size;
	struct path *p = con->path;
	uint32_t slot, imm, rkey;
	int err;

	if (!(wc->wc_flags & IBV_WC_WITH_IMM)) {
		con->messages++;
		con->msg_len = wc->byte_len;
		memmove(con->recv_buf, buf, wc->byte_len);
		return;	/* the buffer stays as it is, to be read */
	}
	imm = be32toh(wc->imm_data);
	con->imm = imm;
	con->imm_count++;
	if (p && p->answered && (rtrs_imm_type(imm) == RTRS_IMM_IO_RSP ||
				 rtrs_imm_type(imm) == RTRS_IMM_IO_RSP_W_INV) &&
	    !rtrs_imm_io_rsp_parse(imm, &p->geo, &slot, &err)) {
		if (wc->opcode == IBV_WC_RECV &&
		    !rtrs_rkey_rsp_parse(buf, wc->byte_len, slot, &rkey))
			p->chunk[slot].rkey = rkey;
		if (p->flags & RTRS_CONN_RSP_LEAN && p->flags & RTRS_CONN_RSP_NEW_RKEY &&
		    !rtrs_is_eager(p->eager_bytes, p->off[slot]))
			p->chunk[slot].rkey = rtrs_rkey_next(p->chunk[slot].rkey);
		p->answered[slot] = -err;
	}
	post_recv(con, i);
}

static void poll_events(struct conn *con)
{
	struct rdma_cm_event *ev;

	while (!rdma_get_cm_event(con->channel, &ev)) {
		if (ev->event == RDMA_CM_EVENT_DISCONNECTED ||
		    ev->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
			con->dead = true;
		rdma_ack_cm_event(ev);
	}
}

void con_poll(struct conn *con)
{
	struct ibv_wc wc;

	if (!con->id || !con->cq)
		return;
	while (ibv_poll_cq(con->cq, 1, &wc) > 0) {
		if (!(wc.wr_id & IS_RECV)) {
			con->sends++;
			con->send_status = wc.status;
		}
		if (wc.status != IBV_WC_SUCCESS)
			con->dead = true;
		else if (wc.wr_id & IS_RECV)
			on_recv(con, &wc);
	}
	poll_events(con);
}

bool con_wait_dead(struct conn *con, double seconds)
{
	double end = peer_now() + seconds;

	while (con_poll(con), !con->dead && peer_now() < end)
		nap();
	return con->dead;
}

bool con_wait_messages(struct conn *con, unsigned int count, double seconds)
{
	double end = peer_now() + seconds;

	while (con_poll(con), !con->dead && con->messages < count && peer_now() < end)
		nap();
	return con->messages >= count;
}

bool con_wait_sends(struct conn *con, unsigned int count, double seconds)
{
	double end = peer_now() + seconds;

	while (con_poll(con), con->sends < count && peer_now() < end)
		nap();
	return con->sends >= count;
}

/* Next event, which must be @want unless that is negative; NULL else */
static struct rdma_cm_event *next_event(struct conn *con, int want)
{
	double end = peer_now() + CM_TIMEOUT_MS / 1000.0 + 5;
	struct rdma_cm_event *ev;

	while (rdma_get_cm_event(con->channel, &ev)) {
		if (peer_now() > end) {
			printf("no CM event\n");
			return NULL;
		}
		nap();
	}
	if (want >= 0 && (int)ev->event != want) {
		printf("CM event %s\n", rdma_event_str(ev->event));
		rdma_ack_cm_event(ev);
		return NULL;
	}
	return ev;
}

static int step(struct conn *con, int err, int want)
{
	struct rdma_cm_event *ev;

	if (err)
		return -errno;
	ev = next_event(con, want);
	if (!ev)
		return -ETIMEDOUT;
	rdma_ack_cm_event(ev);
	return 0;
}

static int make_qp(struct conn *con)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = RECVS + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	unsigned int i;

	if (!pd) {
		pd = ibv_alloc_pd(con->id->verbs);
		mr = pd ? ibv_reg_mr(pd, arena, ARENA_SIZE,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) : NULL;
		if (!mr)
			return -ENOMEM;
	}
	con->cq = ibv_create_cq(con->id->verbs, 512, NULL, NULL, 0);
	if (!con->cq)
		return -errno;
	attr.send_cq = con->cq;
	attr.recv_cq = con->cq;
	if (rdma_create_qp(con->id, pd, &attr))
		return -errno;
	con->recv_buf = take((size_t)con->recv_size * RECVS);
	for (i = 0; i < RECVS && !con->deaf; i++)
		post_recv(con, i);
	return 0;
}

static int do_connect(struct conn *con, const void *priv, size_t len, struct rtrs_conn_rsp *rsp)
{
	struct rdma_conn_param param = {
		.private_data = priv,
		.private_data_len = len,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_event *ev;
	int err;

	if (rdma_connect(con->id, &param))
		return -errno;
	ev = next_event(con, -1);
	if (!ev)
		return -ETIMEDOUT;
	if (ev->event == RDMA_CM_EVENT_ESTABLISHED)
		err = rtrs_accept_parse(ev->param.conn.private_data,
					ev->param.conn.private_data_len, rsp);
	else if (ev->event == RDMA_CM_EVENT_REJECTED)
		err = rtrs_reject_parse(ev->param.conn.private_data,
					ev->param.conn.private_data_len);
	else
		err = -EPROTO;
	rdma_ack_cm_event(ev);
	return err;
}

int con_open(struct conn *con, const void *priv, size_t len, struct rtrs_conn_rsp *rsp)
{
	struct rtrs_conn_rsp unused;
	int err;

	con->dead = false;
	if (!con->recv_size)
		con->recv_size = 64;
	con->channel = rdma_create_event_channel();
	if (!con->channel || rdma_create_id(con->channel, &con->id, NULL, RDMA_PS_TCP))
		return -errno;
	fcntl(con->channel->fd, F_SETFL, O_NONBLOCK);
	err = step(con, rdma_resolve_addr(con->id, here ? here->ai_addr : NULL, server->ai_addr,
					  CM_TIMEOUT_MS),
		   RDMA_CM_EVENT_ADDR_RESOLVED);
	if (!err)
		err = step(con, rdma_resolve_route(con->id, CM_TIMEOUT_MS),
			   RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!err)
		err = make_qp(con);
	if (!err)
		err = do_connect(con, priv, len, rsp ? rsp : &unused);
	if (err)
		con_close(con);
	return err;
}

void con_close(struct conn *con)
{
	if (con->id) {
		rdma_disconnect(con->id);
		if (con->id->qp)
			rdma_destroy_qp(con->id);
		rdma_destroy_id(con->id);
	}
	if (con->cq)
		ibv_destroy_cq(con->cq);
	if (con->channel)
		rdma_destroy_event_channel(con->channel);
	if (con->recv_buf)
		give_back(con->recv_buf, (size_t)con->recv_size * RECVS);
	con->recv_buf = NULL;
	con->id = NULL;
	con->cq = NULL;
	con->channel = NULL;
	con->dead = true;
}

static enum ibv_wc_status post(struct conn *con, struct ibv_send_wr *wr, uint32_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)arena, .length = len, .lkey = mr->lkey };
	unsigned int sends = con->sends;
	double end = peer_now() + 10;
	struct ibv_send_wr *bad;

	if (!con->id || !con->id->qp || con->dead)
		return IBV_WC_FATAL_ERR;
	wr->sg_list = &sge;
	wr->num_sge = len ? 1 : 0;
	if (ibv_post_send(con->id->qp, wr, &bad))
		return IBV_WC_FATAL_ERR;
	while (con_poll(con), con->sends == sends) {
		if (con->dead)
			return IBV_WC_WR_FLUSH_ERR;
		if (peer_now() > end)
			return IBV_WC_RESP_TIMEOUT_ERR;
		nap();
	}
	return con->send_status;
}

enum ibv_wc_status con_write(struct conn *con, uint64_t addr, uint32_t rkey, uint32_t len)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	return post(con, &wr, len);
}

enum ibv_wc_status con_write_imm(struct conn *con, uint64_t addr, uint32_t rkey, uint32_t len,
				 uint32_t imm)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htobe32(imm),
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	return post(con, &wr, len);
}

enum ibv_wc_status con_imm(struct conn *con, uint32_t imm)
{
	return con_write_imm(con, 0, 0, 0, imm);
}

enum ibv_wc_status con_send(struct conn *con, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	return post(con, &wr, len);
}

uint32_t peer_rkey(void)
{
	return mr ? mr->rkey : 0;	/* the first path makes it */
}

uint8_t *peer_result(void)
{
	return arena + RESULT_SIZE;
}

uint8_t *peer_ignored(void)
{
	return arena + 2 * RESULT_SIZE;
}
