// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of clients. IO goes straight to the device; OPEN and CLOSE, which
 * block, go to the queue of their session. A CLOSE has begun there before an
 * OPEN that came behind it; disks are opened side by side, but for those of
 * one path. The message was copied by the transport before it came here, and
 * is parsed once.
 */
#include <linux/slab.h>
#include "server.h"
#include "trace.h"

/**
 * struct rnbd_server_ctl - an OPEN or a CLOSE on its way
 * @begin: its turn has come
 * @entry: an OPEN, in session->opening
 * @wait: its work opens the disk
 * @since: jiffies at which it came
 * @session: where it came from
 * @op: to be answered
 * @reply: where the answer to OPEN goes, the longer one where it was asked for
 * @open: what to open
 * @close_id: what to close
 * @closer: where the CLOSE waits for that
 */
struct rnbd_server_ctl {
	struct work_struct begin;
	struct list_head entry;
	struct rnbd_server_wait wait;
	unsigned long since;
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

#define OPEN_WAIT_MS		4000
#define OPEN_WAIT_LOST_MS	120

#define USED_HERE	": this host uses it, mounted, as swap, or below dm, md or a program; 'lsblk' tells"

#define OTHER_IO_MODE	": it is open with the other io_mode, and has one at a time"

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
	WRITE_ONCE(session->minor, rnbd_sess_info_minor(req->usr));
	rsp = req->data;
	rnbd_sess_info_pack(rsp, RNBD_MSG_SESS_INFO_RSP, version);
	rnbd_sess_info_set_minor(rsp, session->minor);
	return 0;
}

static size_t reply_size(const struct rnbd_open *open)
{
	return sizeof(struct rnbd_msg_open_rsp) +
	       (open->more ? sizeof(struct rnbd_msg_open_rsp_more) : 0);
}

static void put_reply(const struct rnbd_server_ctl *ctl, struct rnbd_device_info *info)
{
	struct rnbd_msg_open_rsp *rsp = ctl->reply;

	if (!ctl->open.more)
		info->io_mode = RNBD_IO_ANY;
	rnbd_open_rsp_pack(rsp, info);
	if (ctl->open.more)
		rnbd_open_rsp_more_pack((void *)(rsp + 1), info);
}

/*
 * CLOSE and OPEN of a path come one after the other, but a close goes on behind its message, and
 * so does what is left of a session: the disk is free in the end. An OPEN waits for that, for some
 * seconds, and looks again only when somebody is through: that costs more than all else, and those
 * who wait for a disk that hangs may be many. A client that has lost its session asks again
 * by itself, and has other disks to open meanwhile: it is told earlier.
 */
static bool waits(struct rnbd_server_ctl *ctl, int err)
{
	unsigned long until = ctl->since + msecs_to_jiffies(err == -EALREADY ? OPEN_WAIT_LOST_MS :
							    OPEN_WAIT_MS);

	if (!ctl->wait.busy)
		return false;
	if (time_before(jiffies, until)) {
		rnbd_server_export_wait(&ctl->wait, until);
		return true;
	}
	rnbd_server_export_wait_end(&ctl->wait);
	return false;
}

/* The first in session->opening with the path of @ctl; under session->lock. */
static struct rnbd_server_ctl *first_of_path(const struct rnbd_server_ctl *ctl)
{
	struct rnbd_server_ctl *first;

	lockdep_assert_held(&ctl->session->lock);
	list_for_each_entry(first, &ctl->session->opening, entry)
		if (!strcmp(first->open.path, ctl->open.path))
			return first;
	return NULL;
}

/* In the order of the session: what an OPEN finds open, no CLOSE of before is about to close. */
static void begin_open(struct work_struct *work)
{
	struct rnbd_server_ctl *ctl = container_of(work, struct rnbd_server_ctl, begin);
	struct rnbd_server_session *session = ctl->session;

	mutex_lock(&session->lock);
	if (!first_of_path(ctl))
		queue_delayed_work(session->open_wq, &ctl->wait.work, 0);
	list_add_tail(&ctl->entry, &session->opening);
	mutex_unlock(&session->lock);
}

/* The next one of this path has its turn. */
static void end_open(struct rnbd_server_ctl *ctl)
{
	struct rnbd_server_session *session = ctl->session;
	struct rnbd_server_ctl *next;

	mutex_lock(&session->lock);
	list_del(&ctl->entry);
	next = first_of_path(ctl);
	if (next)
		queue_delayed_work(session->open_wq, &next->wait.work, 0);
	mutex_unlock(&session->lock);
}

static void run_open(struct work_struct *work)
{
	struct rnbd_server_ctl *ctl = container_of(to_delayed_work(work), struct rnbd_server_ctl,
						   wait.work);
	struct rnbd_device_info info;
	const char *why = "";
	int err = -EBUSY;

	if (rnbd_server_export_wait_end(&ctl->wait)) {
		err = rnbd_server_dev_open(ctl->session, &ctl->open, &info, &ctl->wait);
		if (waits(ctl, err))
			return;
	}
	if (err == -ETXTBSY)
		why = USED_HERE;
	if (err == -EMEDIUMTYPE)
		why = OTHER_IO_MODE;
	if (err == -EALREADY || *why)
		err = -EBUSY;
	if (err)
		rnbd_server_access_denied(&ctl->wait, &ctl->open, err);
	if (err)
		pr_info_ratelimited("session %*pE: open \"%*pE\" as %s: %pe%s\n",
				    (int)strlen(ctl->session->name), ctl->session->name,
				    (int)strlen(ctl->open.path), ctl->open.path,
				    rnbd_server_access_name(ctl->open.access_mode), ERR_PTR(err),
				    why);
	else
		put_reply(ctl, &info);
	end_open(ctl);
	rtrs_server_respond(ctl->op, err);
	kmem_cache_free(ctl_cache, ctl);
}

static void run_close(struct work_struct *work)
{
	struct rnbd_server_ctl *ctl = container_of(work, struct rnbd_server_ctl, begin);

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
	INIT_WORK(&ctl->begin, fn);
	INIT_DELAYED_WORK(&ctl->wait.work, run_open);
	INIT_LIST_HEAD(&ctl->wait.entry);
	ctl->wait.wq = session->open_wq;
	ctl->wait.session = session;
	ctl->wait.busy = false;
	ctl->wait.reason = 0;
	ctl->wait.from = rtrs_server_op_addr(req->op);
	ctl->since = jiffies;
	ctl->session = session;
	ctl->op = req->op;
	ctl->reply = req->data;
	return ctl;
}

static int queue_open(struct rnbd_server_session *session, const struct rtrs_server_request *req)
{
	struct rnbd_server_ctl *ctl = new_ctl(session, req, begin_open);
	int err;

	if (!ctl)
		return -ENOMEM;
	err = rnbd_open_parse(req->usr, req->usr_len, READ_ONCE(session->minor), &ctl->open);
	if (!err && !reply_fits(req, reply_size(&ctl->open)))
		err = -EINVAL;
	if (err) {
		kmem_cache_free(ctl_cache, ctl);
		return err;
	}
	queue_work(session->wq, &ctl->begin);
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
	queue_work(session->wq, &ctl->begin);
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
