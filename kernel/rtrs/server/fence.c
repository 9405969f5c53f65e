// SPDX-License-Identifier: GPL-2.0
/*
 * Who uses a slot. Chunks belong to the session, so a request for a slot whose last
 * operation still runs can only be a retry of it on another path: it proves the old
 * path dead. That one is closed, which moves its queue pairs to error, so that nothing
 * late can be written to the chunk; its operation is waited for, its answer dropped; only
 * then the retry runs.
 *
 * A retry may also come before its first attempt, which is in a queue of the network still:
 * nothing of that is known here. Our client tells which path it has lost before it retries, see
 * lost.c.
 *
 * A client that has given up the old operation may have used the slot for another one,
 * whose data and message lay in the chunk while an old read still wrote to it. That read
 * leaves its length to the one that waits, which is refused where it could matter.
 *
 * The word of a slot is 0 (idle), the operation (busy), or the operation with
 * FENCED (fenced: slot->retry runs next). Idle to busy and back is one cmpxchg.
 * The other edges are under session->fence_lock, which also keeps the operation
 * that a word points to: a path that closes passes it for each slot before its
 * operations are freed.
 */
#include "server.h"
#include "trace.h"

#define FENCED		1UL

static struct rtrs_server_slot *slot_of(const struct rtrs_server_op *op)
{
	return &op->path->session->slots[op->slot];
}

static struct rtrs_server_op *word_op(unsigned long word)
{
	return (struct rtrs_server_op *)(word & ~FENCED);
}

static enum rtrs_server_slot_state word_state(unsigned long word)
{
	if (!word)
		return RTRS_SERVER_SLOT_IDLE;
	return word & FENCED ? RTRS_SERVER_SLOT_FENCED : RTRS_SERVER_SLOT_BUSY;
}

/* The operation is the caller's alone. */
static void op_take(struct rtrs_server_op *op, struct rtrs_server_con *con, u32 off)
{
	op->con = con;
	op->off = off;
	op->err = 0;
	op->eager = rtrs_server_new_rkey && rtrs_is_eager(op->path->eager_bytes, off);
	op->clobbered = 0;
	memset(&op->req, 0, sizeof(op->req));
}

/* fence_lock held, the slot was busy a moment ago. */
static enum rtrs_server_slot_verdict enter_busy(struct rtrs_server_slot *slot,
						struct rtrs_server_op *op,
						struct rtrs_server_con *con, u32 off)
{
	enum rtrs_server_slot_verdict verdict;
	struct rtrs_server_op *old;
	unsigned long word;
	bool own;

	for (;;) {
		/* It waited here while its path was lost: it proves nothing of another one. */
		if (READ_ONCE(op->path->state) != RTRS_SERVER_PATH_CONNECTED)
			return RTRS_SERVER_SLOT_REFUSE;
		word = READ_ONCE(slot->word);
		old = word_op(word);
		own = old && (old->path == op->path ||
			      (slot->retry && slot->retry->path == op->path));
		verdict = rtrs_server_slot_judge(word_state(word), own, slot->retry);
		if (verdict == RTRS_SERVER_SLOT_REFUSE)
			return verdict;
		if (verdict == RTRS_SERVER_SLOT_RUN) {
			if (cmpxchg(&slot->word, 0, (unsigned long)op))
				continue;
			op_take(op, con, off);
			return verdict;
		}
		if ((word & FENCED) || cmpxchg(&slot->word, word, word | FENCED) == word)
			break;
	}
	if (verdict == RTRS_SERVER_SLOT_REPLACE) {
		rtrs_server_path_close(slot->retry->path, -ECONNABORTED);
		rtrs_server_op_put(slot->retry->path, 1);
	}
	op_take(op, con, off);
	slot->retry = op;
	trace_rtrs_server_slot_fenced(old->path, op->path, op->slot);
	rtrs_server_path_close(old->path, -ECONNABORTED);
	return verdict;
}

/* RUN: the operation has the slot. REFUSE: it does not. Otherwise it waits and is begun later. */
enum rtrs_server_slot_verdict rtrs_server_fence_enter(struct rtrs_server_op *op,
						      struct rtrs_server_con *con, u32 off)
{
	struct rtrs_server_session *session = op->path->session;
	struct rtrs_server_slot *slot = slot_of(op);
	enum rtrs_server_slot_verdict verdict;
	unsigned long flags;

	if (likely(!cmpxchg(&slot->word, 0, (unsigned long)op))) {
		op_take(op, con, off);
		return RTRS_SERVER_SLOT_RUN;
	}
	spin_lock_irqsave(&session->fence_lock, flags);
	verdict = enter_busy(slot, op, con, off);
	spin_unlock_irqrestore(&session->fence_lock, flags);
	return verdict;
}

/* The operation ended. False: a retry waits, and nothing may be sent. */
bool rtrs_server_fence_leave(struct rtrs_server_op *op)
{
	return cmpxchg(&slot_of(op)->word, (unsigned long)op, 0) == (unsigned long)op;
}

/* The path dies: its retries will not run. */
void rtrs_server_fence_drop_retries(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	u32 i, dropped = 0;

	if (!path->ops)
		return;		/* it was never logged in */
	for (i = 0; i < rtrs_server_geo.queue_depth; i++) {
		struct rtrs_server_slot *slot = &session->slots[i];

		spin_lock_irq(&session->fence_lock);
		if (slot->retry && slot->retry->path == path) {
			slot->retry = NULL;
			dropped++;
		}
		spin_unlock_irq(&session->fence_lock);
	}
	if (dropped)
		rtrs_server_op_put(path, dropped);
}

/* What the read that went before, or one before that, wrote to the chunk of @old's retry. */
static u32 clobbered_by(const struct rtrs_server_op *old)
{
	bool wrote = old->req.is_read && !old->eager;

	return max_t(u32, old->clobbered, wrote ? old->req.data_len : 0);
}

/*
 * Is what counts of the request not the client's any more? With @req NULL that is the header,
 * else all from the data of a write or from the message of a read on. A retry of the same
 * read is not: its message lies behind the data.
 */
bool rtrs_server_fence_spoilt(const struct rtrs_server_op *op, const struct rtrs_request *req)
{
	if (!req)
		return op->clobbered > op->off;
	return op->clobbered > (req->is_read ? req->data_len : 0);
}

/* All operations of the path ended, its queue pairs are in error: its fenced slots go on. */
void rtrs_server_fence_release(struct rtrs_server_path *path,
			       void (*begin)(struct rtrs_server_op *op))
{
	struct rtrs_server_session *session = path->session;
	u32 i;

	if (!path->ops)
		return;
	for (i = 0; i < rtrs_server_geo.queue_depth; i++) {
		struct rtrs_server_slot *slot = &session->slots[i];
		struct rtrs_server_op *retry = NULL;
		unsigned long word;

		spin_lock_irq(&session->fence_lock);
		/* That of another path may change at any time. */
		word = READ_ONCE(slot->word);
		if (word && word_op(word)->path == path) {
			retry = slot->retry;
			slot->retry = NULL;
			if (retry)
				retry->clobbered = clobbered_by(word_op(word));
			WRITE_ONCE(slot->word, (unsigned long)retry);
		}
		spin_unlock_irq(&session->fence_lock);
		if (retry)
			begin(retry);
	}
}
