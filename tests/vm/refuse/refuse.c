// SPDX-License-Identifier: GPL-2.0
/*
 * refuse PORT CID [login|ERRNO]: a server of RTRS that accepts the connections of a path up to number CID, refuses that one with
 * this errno, or ENOSPC, and says nothing on the others; with "login" it lets the client in before. What it is sent then arrives,
 * and is not answered. Prints a line for each connection that comes or goes, and for each login.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_verbs.h>

#include <rtrs/proto.h>

#define DEPTH		16
#define IO_SIZE		61440
#define HDR_SIZE	4096
#define RECVS		64	/* more than a path has on its way */

static unsigned int refused, refused_with = ENOSPC;
static bool login;
static struct rdma_cm_id *service, *last;	/* connections of the path that is being made */
static struct {
	unsigned char chunk[DEPTH * (IO_SIZE + HDR_SIZE)];
	struct rtrs_msg_info_req req;
	struct rtrs_msg_info_rsp rsp;
	struct rtrs_msg_desc desc;
} mem;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* All that comes is acknowledged; the first on the service connection is the INFO_REQ. */
static int post_recvs(struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_mr *mr;
	int i;

	if (id == service) {
		mr = rdma_reg_write(id, &mem, sizeof(mem));
		if (!mr || rdma_post_recv(id, NULL, &mem.req, sizeof(mem.req), mr))
			return fail("INFO_REQ");
		id->context = mr;
	}
	for (i = 1; i < RECVS; i++)
		if (ibv_post_recv(id->qp, &wr, &bad))
			return fail("ibv_post_recv");
	return 0;
}

/* Every connection is there, and the INFO_REQ comes next. */
static int let_in(void)
{
	struct ibv_mr *mr = service->context;
	struct rtrs_desc chunks = { .addr = (uintptr_t)mem.chunk, .rkey = mr->rkey, .len = sizeof(mem.chunk) };
	struct ibv_wc wc;
	int tries = 5000;

	while (ibv_poll_cq(service->recv_cq, 1, &wc) != 1)
		if (!--tries || usleep(1000)) {
			printf("no login\n");
			return 0;
		}
	if (wc.status != IBV_WC_SUCCESS)
		return 0;
	rtrs_info_rsp_pack_head(&mem.rsp, 1);
	rtrs_desc_pack(&mem.desc, &chunks);
	if (rdma_post_send(service, NULL, &mem.rsp, rtrs_info_rsp_size(1), mr, 0))
		return fail("INFO_RSP");
	printf("let in\n");
	return 0;
}

static void end(struct rdma_cm_id *id)
{
	printf("gone\n");
	if (id == service)
		service = NULL;
	if (id == last)
		last = NULL;
	rdma_destroy_qp(id);
	if (id->context)
		rdma_dereg_mr(id->context);
	rdma_destroy_id(id);
}

static int answer(struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct rtrs_conn_rsp rsp = {
		.geo = { .queue_depth = DEPTH, .max_io_size = IO_SIZE, .max_hdr_size = HDR_SIZE },
	};
	struct ibv_qp_init_attr qp = {
		.cap = { .max_send_wr = 16, .max_recv_wr = RECVS, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rtrs_msg_conn_rsp msg;
	struct rdma_conn_param param = {
		.private_data = &msg, .private_data_len = sizeof(msg), .rnr_retry_count = 7,
	};
	struct rtrs_conn_req req;

	if (rtrs_conn_req_parse(asked->private_data, asked->private_data_len, &req)) {
		fprintf(stderr, "that is no request of RTRS\n");
		return 1;
	}
	printf("%s %u of %u\n", req.cid == refused ? "refused" : "accepted", req.cid, req.cid_num);
	if (req.cid == refused) {
		rsp.err = -refused_with;
		rtrs_conn_rsp_pack(&msg, &rsp);
		if (rdma_reject(id, &msg, sizeof(msg)))
			return fail("rdma_reject");
		rdma_destroy_id(id);
		return 0;
	}
	rtrs_conn_rsp_pack(&msg, &rsp);
	if (rdma_create_qp(id, NULL, &qp)) {
		perror("rdma_create_qp");	/* the client has given up meanwhile */
		printf("gone\n");
		rdma_destroy_id(id);
		return 0;
	}
	id->context = NULL;
	if (!req.cid)
		service = id;
	if (login && post_recvs(id))
		return 1;
	last = req.cid == req.cid_num - 1 ? id : NULL;
	if (rdma_accept(id, &param)) {
		perror("rdma_accept");	/* the client has given up meanwhile */
		end(id);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *listener;
	int rc = 0;

	login = argc == 4 && !strcmp(argv[3], "login");
	if (argc == 4 && !login)
		refused_with = atoi(argv[3]);
	if (argc < 3 || argc > 4 || !refused_with) {
		fprintf(stderr, "usage: refuse PORT CID [login]\n");
		return 2;
	}
	any.sin_port = htons(atoi(argv[1]));
	refused = atoi(argv[2]);
	setlinebuf(stdout);
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, 16))
		return fail("rdma_listen");
	printf("listens\n");
	while (!rc && !rdma_get_cm_event(channel, &ev)) {
		struct rdma_conn_param asked = ev->param.conn;
		enum rdma_cm_event_type type = ev->event;
		struct rdma_cm_id *id = ev->id;
		uint8_t priv[256] = {};

		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			memcpy(priv, asked.private_data, asked.private_data_len);
			asked.private_data = priv;
		}
		rdma_ack_cm_event(ev);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			rc = answer(id, &asked);
		} else if (type == RDMA_CM_EVENT_ESTABLISHED && login && service && id == last) {
			rc = let_in();
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			rdma_disconnect(id);
			end(id);
		}
	}
	return rc;
}
