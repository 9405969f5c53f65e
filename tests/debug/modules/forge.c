// SPDX-License-Identifier: GPL-2.0
/*
 * A client of RTRS that lies about its address. Written to /sys/module/rnbd_forge/parameters/claim, an address is
 * claimed in the connect request of a new session to the parameter "to". The write ends as the request does: with the errno
 * of the reject, or well where it is accepted; then the connection is given up. There is no queue pair.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>
#include <rtrs/proto.h>

#define TIMEOUT_MS	10000

static char *to = "10.0.0.1";
module_param(to, charp, 0600);
MODULE_PARM_DESC(to, "address of the server");

struct forgery {
	struct completion done;
	enum rdma_cm_event_type event;
	int err;
};

static int forge_event(struct rdma_cm_id *id, struct rdma_cm_event *ev)
{
	struct forgery *f = id->context;
	const void *data;
	u8 len = 0;

	f->event = ev->event;
	f->err = ev->status;
	if (ev->event == RDMA_CM_EVENT_REJECTED) {
		data = rdma_consumer_reject_data(id, ev, &len);
		f->err = rtrs_reject_parse(data, len);
	}
	complete(&f->done);
	return 0;
}

/* 0: @want came. @err: of the call that brings it. */
static int await(struct forgery *f, int err, enum rdma_cm_event_type want)
{
	if (err)
		return err;
	if (!wait_for_completion_timeout(&f->done, msecs_to_jiffies(TIMEOUT_MS)))
		return -ETIMEDOUT;
	if (f->event == want)
		return 0;
	return f->err < 0 ? f->err : -EPROTO;
}

static int claim_to(struct rdma_cm_id *id, struct forgery *f, struct sockaddr_storage *server,
		    const struct sockaddr_storage *claim)
{
	struct rtrs_conn_req req = { .cid_num = 2, .recon_cnt = 1, .first_conn = true };
	struct rtrs_msg_conn_req msg;
	struct rdma_conn_param param = {
		.private_data = &msg, .private_data_len = sizeof(msg), .qp_num = 4711,
		.retry_count = 7, .rnr_retry_count = 7,
	};
	int err;

	err = await(f, rdma_resolve_addr(id, NULL, (struct sockaddr *)server, TIMEOUT_MS),
		    RDMA_CM_EVENT_ADDR_RESOLVED);
	err = err ?: await(f, rdma_resolve_route(id, TIMEOUT_MS), RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (err) {
		pr_err("%s is not reached: %d\n", to, err);
		return err;
	}
	generate_random_uuid(req.sess_uuid);
	generate_random_uuid(req.paths_uuid);
	rtrs_conn_req_pack(&msg, &req);
	id->route.addr.src_addr = *claim;
	return await(f, rdma_connect(id, &param), RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static int claim_set(const char *val, const struct kernel_param *kp)
{
	struct sockaddr_storage server, claim;
	struct rdma_cm_id *id;
	struct forgery f = {};
	char text[64];
	int err;

	strscpy(text, val, sizeof(text));
	if (inet_pton_with_scope(&init_net, AF_UNSPEC, to, __stringify(RTRS_DEFAULT_PORT), &server) ||
	    inet_pton_with_scope(&init_net, AF_UNSPEC, strim(text), NULL, &claim) ||
	    server.ss_family != claim.ss_family)
		return -EINVAL;
	init_completion(&f.done);
	id = rdma_create_id(&init_net, forge_event, &f, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = claim_to(id, &f, &server, &claim);
	pr_info("%s at %s: %s, %s, %d\n", strim(text), to, err ? "refused" : "accepted",
		rdma_event_msg(f.event), err);
	rdma_destroy_id(id);
	return err;
}

static const struct kernel_param_ops claim_ops = { .set = claim_set };
module_param_cb(claim, &claim_ops, NULL, 0200);
MODULE_PARM_DESC(claim, "address to claim");

MODULE_DESCRIPTION("Claims the address of another client");
MODULE_LICENSE("GPL");
