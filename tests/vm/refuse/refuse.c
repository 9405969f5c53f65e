// SPDX-License-Identifier: GPL-2.0
/*
 * refuse PORT CID: a server of RTRS that accepts the connections of a path up to number CID, refuses that one with ENOSPC, and
 * says nothing on the others. Prints a line for each connection that comes or goes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include <rtrs/proto.h>

static unsigned int refused;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int answer(struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct rtrs_conn_rsp rsp = {
		.geo = { .queue_depth = 16, .max_io_size = 61440, .max_hdr_size = 4096 },
	};
	struct ibv_qp_init_attr qp = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
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
		rsp.err = -ENOSPC;
		rtrs_conn_rsp_pack(&msg, &rsp);
		if (rdma_reject(id, &msg, sizeof(msg)))
			return fail("rdma_reject");
		rdma_destroy_id(id);
		return 0;
	}
	rtrs_conn_rsp_pack(&msg, &rsp);
	if (rdma_create_qp(id, NULL, &qp))
		return fail("rdma_create_qp");
	return rdma_accept(id, &param) ? fail("rdma_accept") : 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_event *ev;
	struct rdma_cm_id *listener;
	int rc = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: refuse PORT CID\n");
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
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			printf("gone\n");
			rdma_disconnect(id);
			rdma_destroy_qp(id);
			rdma_destroy_id(id);
		}
	}
	return rc;
}
