// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages. A process sends a message and waits for the answer with a
 * time-out. The message outlives a waiter that gave up: its slot and its buffers
 * belong to the transport until it is done. If such an OPEN succeeds, a CLOSE
 * follows. Messages about one device are sent one after the other, so that a late
 * CLOSE never closes what a later OPEN has opened.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "client.h"

/**
 * struct rnbd_client_msg - a control message and its answer
 * @ref: one of the waiter, one of the transport
 * @session: alive until the message is done
 * @entry: in session->msgs or session->orphans, under session->msg_lock
 * @bit: in session->ctrl_busy
 * @depth: slots of the session in @epoch
 * @epoch: epoch of the session in which the message is sent
 * @type: enum rnbd_msg_type
 * @waiting: the waiter has not given up; under session->msg_lock
 * @finished: @err and @rsp are valid; under session->msg_lock
 * @known: this OPEN is for a device that is open as @device_id: it only asks for what is new
 * @device_id: id of the device, for @known
 * @err: result
 * @done: for the waiter
 * @path: path of the device that the message is about, or empty
 * @usr: the message
 * @usr_len: bytes of @usr
 * @rsp_len: bytes of @rsp, 0 for none
 * @sg: @rsp
 * @rsp: the answer; target of DMA
 */
struct rnbd_client_msg {
	struct kref ref;
	struct rnbd_client_session *session;
	struct list_head entry;
	u32 bit;
	u32 depth;
	u32 epoch;
	enum rnbd_msg_type type;
	bool waiting;
	bool finished;
	bool known;
	u32 device_id;
	int err;
	struct completion done;
	char path[RNBD_PATH_LEN];
	union {
		struct rnbd_msg_sess_info sess_info;
		struct {
			struct rnbd_msg_open open;
			struct rnbd_msg_open_claim claim;
		} __packed;
		struct rnbd_msg_close close;
	} usr;
	u32 usr_len;
	u32 rsp_len;
	struct scatterlist sg;
	union {
		struct rnbd_msg_sess_info sess_info;
		struct {
			struct rnbd_msg_open_rsp open;
			struct rnbd_msg_open_rsp_more more;
		} __packed;
	} rsp ____cacheline_aligned;
};

static struct kmem_cache *msg_cache;

static void msg_release(struct kref *ref)
{
	struct rnbd_client_msg *msg = container_of(ref, struct rnbd_client_msg, ref);

	kmem_cache_free(msg_cache, msg);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_CLIENT_MSG);
}

static void msg_put(struct rnbd_client_msg *msg)
{
	kref_put(&msg->ref, msg_release);
}

static struct rnbd_client_msg *msg_alloc(struct rnbd_client_session *session,
					 enum rnbd_msg_type type, const char *path)
{
	struct rnbd_client_msg *msg = kmem_cache_zalloc(msg_cache, GFP_KERNEL);
	struct rtrs_client_attrs attrs;

	if (!msg)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_RNBD_CLIENT_MSG);
	kref_init(&msg->ref);
	msg->session = session;
	msg->type = type;
	msg->waiting = true;
	rtrs_client_query(session->rtrs, &attrs);
	msg->epoch = attrs.epoch;
	msg->depth = attrs.queue_depth;
	init_completion(&msg->done);
	if (path)
		strscpy(msg->path, path, sizeof(msg->path));
	return msg;
}

/* Gives @msg a slot. False while another message about its device is in flight, or none is free. */
static bool msg_take_slot(struct rnbd_client_msg *msg)
{
	struct rnbd_client_session *session = msg->session;
	const u32 count = rnbd_client_ctrl_slots(msg->depth);
	struct rnbd_client_msg *other;
	bool taken = false;
	u32 bit;

	spin_lock_irq(&session->msg_lock);
	if (msg->path[0]) {
		list_for_each_entry(other, &session->msgs, entry)
			if (!strcmp(other->path, msg->path))
				goto unlock;
		list_for_each_entry(other, &session->orphans, entry)
			if (!strcmp(other->path, msg->path))
				goto unlock;
	}
	bit = find_first_zero_bit(&session->ctrl_busy, count);
	if (bit < count) {
		__set_bit(bit, &session->ctrl_busy);
		msg->bit = bit;
		list_add_tail(&msg->entry, &session->msgs);
		taken = true;
	}
unlock:
	spin_unlock_irq(&session->msg_lock);
	return taken;
}

/* Ends a message: takes it from its list and frees its slot. Under session->msg_lock. */
static void msg_finish(struct rnbd_client_msg *msg, int err)
{
	struct rnbd_client_session *session = msg->session;

	lockdep_assert_held(&session->msg_lock);
	msg->err = err;
	msg->finished = true;
	list_del(&msg->entry);
	__clear_bit(msg->bit, &session->ctrl_busy);
	wake_up_all(&session->msg_wait);
}

/* Whether a successful OPEN has opened something: not where the server names what was open. */
static bool msg_opened_device(const struct rnbd_client_msg *msg)
{
	return !msg->known || rnbd_get_le32(&msg->rsp.open.device_id) != msg->device_id;
}

/* Softirq or process context. */
static void msg_done(void *priv, int err)
{
	struct rnbd_client_msg *msg = priv;
	struct rnbd_client_session *session = msg->session;
	unsigned long flags;
	bool late, orphan;

	spin_lock_irqsave(&session->msg_lock, flags);
	late = !msg->waiting && !err && msg->type == RNBD_MSG_OPEN;
	orphan = late && msg_opened_device(msg) && !session->closing;
	/* The answer has the present size of the disk: have it asked for again. */
	if (late && !msg_opened_device(msg))
		rnbd_client_stale(session, msg->device_id);
	if (orphan) {
		list_move_tail(&msg->entry, &session->orphans);
		/* WQ_MEM_RECLAIM: a later OPEN may wait for this CLOSE, and I/O for that OPEN. */
		queue_work(rnbd_client_wq, &session->orphan_work);
	} else {
		msg_finish(msg, err);
		complete(&msg->done);
	}
	spin_unlock_irqrestore(&session->msg_lock, flags);
	if (!orphan)
		msg_put(msg);
}

/* Takes over a reference. 0: msg_done() will be called; else the message has ended. */
static int msg_submit(struct rnbd_client_msg *msg)
{
	struct rtrs_client_request req = {
		.slot = msg->bit,
		.epoch = msg->epoch,
		.con = RTRS_CLIENT_CON_SERVICE,
		.is_read = msg->rsp_len,
		.usr = &msg->usr,
		.usr_len = msg->usr_len,
		.data_len = msg->rsp_len,
		.done = msg_done,
		.priv = msg,
	};
	int err;

	if (msg->rsp_len) {
		sg_init_one(&msg->sg, &msg->rsp, msg->rsp_len);
		req.sgl = &msg->sg;
		req.sg_count = 1;
	}
	err = rtrs_client_submit(msg->session->rtrs, &req);
	if (err) {
		spin_lock_irq(&msg->session->msg_lock);
		msg_finish(msg, err);
		spin_unlock_irq(&msg->session->msg_lock);
		msg_put(msg);
	}
	return err;
}

/* Turns each OPEN that succeeded behind its waiter's time-out into a CLOSE, in the same slot. */
static void orphan_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(work, struct rnbd_client_session, orphan_work);
	struct rnbd_client_msg *msg;

	spin_lock_irq(&session->msg_lock);
	while (!list_empty(&session->orphans)) {
		msg = list_first_entry(&session->orphans, struct rnbd_client_msg, entry);
		list_move_tail(&msg->entry, &session->msgs);
		if (session->closing) {
			msg_finish(msg, -ECONNABORTED);
			msg_put(msg);
			continue;
		}
		spin_unlock_irq(&session->msg_lock);

		msg->type = RNBD_MSG_CLOSE;
		rnbd_close_pack(&msg->usr.close, rnbd_get_le32(&msg->rsp.open.device_id));
		msg->usr_len = sizeof(msg->usr.close);
		msg->rsp_len = 0;
		msg_submit(msg);

		spin_lock_irq(&session->msg_lock);
	}
	spin_unlock_irq(&session->msg_lock);
}

/* Sends a message and waits for its answer. The caller keeps its reference. */
static int msg_run(struct rnbd_client_msg *msg, unsigned int timeout_ms)
{
	struct rnbd_client_session *session = msg->session;
	unsigned long limit = msecs_to_jiffies(timeout_ms);
	bool finished;
	long left;
	int err;

	left = wait_event_killable_timeout(session->msg_wait, msg_take_slot(msg), limit);
	if (left <= 0)
		return left ? -EINTR : -ETIMEDOUT;
	kref_get(&msg->ref);
	err = msg_submit(msg);
	if (err)
		return err;
	left = wait_for_completion_killable_timeout(&msg->done, limit);

	spin_lock_irq(&session->msg_lock);
	msg->waiting = false;
	finished = msg->finished;
	spin_unlock_irq(&session->msg_lock);
	if (finished)
		return msg->err;
	return left ? -EINTR : -ETIMEDOUT;
}

/* Notes the version, unless the session was lost since: the next server may be another one. */
static int note_server_version(struct rnbd_client_session *session,
			       const struct rnbd_client_msg *msg)
{
	u8 version;
	int err = rnbd_sess_info_parse(&msg->rsp.sess_info, msg->rsp_len, &version);

	if (err)
		return err;
	mutex_lock(&session->lock);
	if (rnbd_client_epoch_is(session, msg->epoch)) {
		session->version = version;
		session->minor = rnbd_sess_info_minor(&msg->rsp.sess_info);
	} else {
		err = -ECONNABORTED;
	}
	mutex_unlock(&session->lock);
	return err;
}

int rnbd_client_msg_sess_info(struct rnbd_client_session *session, unsigned int timeout_ms)
{
	struct rnbd_client_msg *msg = msg_alloc(session, RNBD_MSG_SESS_INFO, NULL);
	int err;

	if (!msg)
		return -ENOMEM;
	rnbd_sess_info_pack(&msg->usr.sess_info, RNBD_MSG_SESS_INFO, RNBD_VERSION_MAJOR);
	rnbd_sess_info_set_minor(&msg->usr.sess_info, RNBD_VERSION_MINOR);
	msg->usr_len = sizeof(msg->usr.sess_info);
	msg->rsp_len = sizeof(msg->rsp.sess_info);
	err = msg_run(msg, timeout_ms);
	if (!err)
		err = note_server_version(session, msg);
	msg_put(msg);
	return err;
}

/* To a server that knows what is behind the OPEN that all know. */
static void msg_extend_open(struct rnbd_client_msg *msg, const struct rnbd_client_dev *dev,
			    bool by_itself)
{
	struct rnbd_claim claim = { .start = dev->info.start, .writers = dev->info.writers };

	msg->usr.open.flags |= RNBD_OPEN_MORE;
	rnbd_open_set_io_mode(&msg->usr.open, dev->io_mode);
	msg->rsp_len += sizeof(msg->rsp.more);
	if (!by_itself)
		return;
	memcpy(claim.identity, dev->info.identity, sizeof(claim.identity));
	rnbd_claim_pack(&msg->usr.claim, &claim);
	msg->usr.open.flags |= RNBD_OPEN_CLAIM;
	msg->usr_len += sizeof(msg->usr.claim);
}

/* What the answer to an OPEN says of the device. */
static int msg_read_open(const struct rnbd_client_msg *msg, const struct rnbd_client_dev *dev,
			 struct rnbd_device_info *info)
{
	int err = rnbd_open_rsp_parse(&msg->rsp.open, msg->rsp_len, info);

	if (!err && msg->rsp_len > sizeof(msg->rsp.open))
		rnbd_open_rsp_more_parse(&msg->rsp.more, info);
	if (err) {
		pr_warn_ratelimited("%s: session %s: bad answer to OPEN of %s\n", dev->name,
				    dev->session->name, dev->path);
		return err;
	}
	/* In-tree servers have memory of theirs there. */
	if (!info->more)
		info->io_mode = RNBD_IO_ANY;
	/* blockio is what a server does that knows no modes. */
	return dev->io_mode == RNBD_IO_FILE && info->io_mode != RNBD_IO_FILE ? -EOPNOTSUPP : 0;
}

int rnbd_client_msg_open(struct rnbd_client_dev *dev, u8 access_mode, unsigned int timeout_ms,
			 bool by_itself, struct rnbd_device_info *info, u32 *epoch)
{
	struct rnbd_client_msg *msg = msg_alloc(dev->session, RNBD_MSG_OPEN, dev->path);
	int err;

	if (!msg)
		return -ENOMEM;
	*epoch = msg->epoch;
	rnbd_open_pack(&msg->usr.open, dev->path, access_mode);
	msg->usr.open.flags = RNBD_OPEN_TELL_WRITERS;
	msg->usr_len = sizeof(msg->usr.open);
	msg->rsp_len = sizeof(msg->rsp.open);
	if (dev->session->minor >= 3)
		msg_extend_open(msg, dev, by_itself);
	msg->known = test_bit(RNBD_CLIENT_DEV_OPEN, &dev->flags);
	msg->device_id = READ_ONCE(dev->device_id);
	err = msg_run(msg, timeout_ms);
	if (!err) {
		err = msg_read_open(msg, dev, info);
		if (err && msg_opened_device(msg))
			rnbd_client_msg_close(dev, rnbd_get_le32(&msg->rsp.open.device_id),
					      msg->epoch);
	}
	msg_put(msg);
	return err;
}

int rnbd_client_msg_close(struct rnbd_client_dev *dev, u32 device_id, u32 epoch)
{
	return rnbd_client_msg_close_within(dev, device_id, epoch,
					    rnbd_client_timeout_ms(dev->session));
}

int rnbd_client_msg_close_within(struct rnbd_client_dev *dev, u32 device_id, u32 epoch,
				 unsigned int timeout_ms)
{
	struct rnbd_client_msg *msg = msg_alloc(dev->session, RNBD_MSG_CLOSE, dev->path);
	int err;

	if (!msg)
		return -ENOMEM;
	msg->epoch = epoch;
	rnbd_close_pack(&msg->usr.close, device_id);
	msg->usr_len = sizeof(msg->usr.close);
	err = msg_run(msg, timeout_ms);
	msg_put(msg);
	return err;
}

bool rnbd_client_msg_failed(int err, unsigned int timeout_ms, struct netlink_ext_ack *extack)
{
	switch (err) {
	case -ETIMEDOUT:
		rtrs_fail(extack, err, "the server did not answer within %u ms", timeout_ms);
		return true;
	case -ECONNABORTED:
		rtrs_fail(extack, err, "the session is disconnected");
		return true;
	case -EINTR:
		rtrs_fail(extack, err, "interrupted");
		return true;
	case -ENOMEM:
		rtrs_fail(extack, err, "no memory, here or on the server");
		return true;
	}
	return false;
}

void rnbd_client_msg_session_init(struct rnbd_client_session *session)
{
	spin_lock_init(&session->msg_lock);
	INIT_LIST_HEAD(&session->msgs);
	INIT_LIST_HEAD(&session->orphans);
	INIT_WORK(&session->orphan_work, orphan_work);
	init_waitqueue_head(&session->msg_wait);
}

void rnbd_client_msg_session_stop(struct rnbd_client_session *session)
{
	spin_lock_irq(&session->msg_lock);
	session->closing = true;
	spin_unlock_irq(&session->msg_lock);
	/* What is left in the list is ended by the work itself; msg_done() adds no more. */
	flush_work(&session->orphan_work);
}

int __init rnbd_client_msg_init(void)
{
	msg_cache = kmem_cache_create("rnbd_client_msg", sizeof(struct rnbd_client_msg), 0,
				      SLAB_HWCACHE_ALIGN, NULL);
	return msg_cache ? 0 : -ENOMEM;
}

void rnbd_client_msg_exit(void)
{
	kmem_cache_destroy(msg_cache);
}
