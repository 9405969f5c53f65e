// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of clients. IO goes straight to the device; OPEN and CLOSE, which
 * block, go to the queue of their session. The message was copied by the
 * transport before it came here, and is parsed once.
 */
#include <linux/slab.h>
#include "server.h"
#include "trace.h"

/**
 * struct rnbd_server_ctl - an OPEN or a CLOSE on its way
 * @work: in the queue of the session
 * @session: where it came from
 * @op: to be answered
 * @reply: where the answer to OPEN goes
 * @open: what to open
 * @close_id: what to close
 * @closer: where the CLOSE waits for that
 */
struct rnbd_server_ctl {
	struct work_struct work;
	struct rnbd_server_session *session;
	struct rtrs_server_op *op;
	void *reply;
	union {
		struct rnbd_open open;
		struct {
			u32 close_id;
			struct rnbd_server_closer *closer;
		};
	};
};

static struct kmem_cache *ctl_cache;

/*
 * Room for a reply in the chunk, zeroed as far as the client may read: what it
 * held before is nobody's business. The message itself may lie in it, its copy does not.
 */
static bool reply_fits(const struct rtrs_server_request *req, size_t size)
{
	if (!req->is_read || req->data_len < size)
		return false;
	memset(req->data, 0, req->data_len);
	return true;
}

static int handle_sess_info(struct rnbd_server_session *session,
			    const struct rtrs_server_request *req)
{
	struct rnbd_msg_sess_info *rsp;
	u8 version;
	int err;

	err = rnbd_sess_info_parse(req->usr, req->usr_len, &version);
	if (err)
		return err;
	if (!reply_fits(req, sizeof(struct rnbd_msg_sess_info)))
		return -EINVAL;
	WRITE_ONCE(session->version, version);
	rsp = req->data;
	rnbd_sess_info_pack(rsp, RNBD_MSG_SESS_INFO_RSP, version);
	rsp->minor = rnbd_sess_info_minor(req->usr);
	return 0;
}

static void run_open(struct work_struct *work)
{
	struct rnbd_server_ctl *ctl = container_of(work, struct rnbd_server_ctl, work);
	struct rnbd_device_info info;
	int err;

	err = rnbd_server_dev_open(ctl->session, &ctl->open, &info);
	if (err)
		pr_info_ratelimited("session %*pE: open \"%*pE\" as %s: %pe\n",
				    (int)strlen(ctl->session->name), ctl->session->name,
				    (int)strlen(ctl->open.path), ctl->open.path,
				    rnbd_server_access_name(ctl->open.access_mode), ERR_PTR(err));
	else
		rnbd_open_rsp_pack(ctl->reply, &info);
	rtrs_server_respond(ctl->op, err);
	kmem_cache_free(ctl_cache, ctl);
}

static void run_close(struct work_struct *work)
{
	struct rnbd_server_ctl *ctl = container_of(work, struct rnbd_server_ctl, work);

	/* What is not open is closed. */
	if (!rnbd_server_dev_close_id(ctl->session, ctl->close_id, ctl->closer)) {
		kfree(ctl->closer);
		rtrs_server_respond(ctl->op, 0);
	}
	kmem_cache_free(ctl_cache, ctl);
}

static struct rnbd_server_ctl *new_ctl(struct rnbd_server_session *session,
				       const struct rtrs_server_request *req, work_func_t fn)
{
	struct rnbd_server_ctl *ctl = kmem_cache_alloc(ctl_cache, GFP_KERNEL);

	if (!ctl)
		return NULL;
	INIT_WORK(&ctl->work, fn);
	ctl->session = session;
	ctl->op = req->op;
	ctl->reply = req->data;
	return ctl;
}

static int queue_open(struct rnbd_server_session *session, const struct rtrs_server_request *req)
{
	struct rnbd_server_ctl *ctl = new_ctl(session, req, run_open);
	int err;

	if (!ctl)
		return -ENOMEM;
	err = rnbd_open_parse(req->usr, req->usr_len, &ctl->open);
	if (!err && !reply_fits(req, sizeof(struct rnbd_msg_open_rsp)))
		err = -EINVAL;
	if (err) {
		kmem_cache_free(ctl_cache, ctl);
		return err;
	}
	queue_work(session->wq, &ctl->work);
	return -EIOCBQUEUED;
}

static int queue_close(struct rnbd_server_session *session, const struct rtrs_server_request *req)
{
	struct rnbd_server_ctl *ctl;
	u32 id;
	int err;

	err = rnbd_close_parse(req->usr, req->usr_len, &id);
	if (err || req->is_read)
		return -EINVAL;
	ctl = new_ctl(session, req, run_close);
	if (!ctl)
		return -ENOMEM;
	ctl->close_id = id;
	ctl->closer = kmalloc(sizeof(*ctl->closer), GFP_KERNEL);
	if (!ctl->closer) {
		kmem_cache_free(ctl_cache, ctl);
		return -ENOMEM;
	}
	ctl->closer->op = req->op;
	queue_work(session->wq, &ctl->work);
	return -EIOCBQUEUED;
}

void rnbd_server_msg_request(void *priv, const struct rtrs_server_request *req)
{
	struct rnbd_server_session *session = priv;
	int type = rnbd_msg_type(req->usr, req->usr_len);
	int err = -EINVAL;

	switch (type) {
	case RNBD_MSG_IO:
		rnbd_server_io_request(session, req);
		return;
	case RNBD_MSG_SESS_INFO:
		err = handle_sess_info(session, req);
		break;
	case RNBD_MSG_OPEN:
		err = queue_open(session, req);
		break;
	case RNBD_MSG_CLOSE:
		err = queue_close(session, req);
		break;
	}
	if (err == -EIOCBQUEUED)
		return;
	if (err)
		pr_info_ratelimited("session %*pE: message of type %d and %u bytes: %pe\n",
				    (int)strlen(session->name), session->name, type, req->usr_len,
				    ERR_PTR(err));
	rtrs_server_respond(req->op, err);
}

int __init rnbd_server_msg_init(void)
{
	ctl_cache = KMEM_CACHE(rnbd_server_ctl, 0);
	return ctl_cache ? 0 : -ENOMEM;
}

void rnbd_server_msg_exit(void)
{
	kmem_cache_destroy(ctl_cache);
}
