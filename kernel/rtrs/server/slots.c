// SPDX-License-Identifier: GPL-2.0
/*
 * Grants: a session has chunks for the slots that its client needs, see rtrs_imm_slots(). The
 * client asks for another number; each path registers, or gives back, what the change is about, in
 * the work of its INFO; then the client is told. One question of a session is at work at a time,
 * and a later one changes what it is on its way to.
 *
 * A slot behind the grant is used by nobody: its chunk is not there, and a request for it closes
 * its path. Who uses a slot is fence.c's, whether it is granted or not.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "server.h"

static bool is_up(const struct rtrs_server_path *path)
{
	return READ_ONCE(path->state) == RTRS_SERVER_PATH_CONNECTED && READ_ONCE(path->told_info);
}

/* The first one of a session may have any number: its client may have asked another server. */
static bool is_new(const struct rtrs_server_session *session, u32 number)
{
	return session->question == RTRS_SERVER_NO_QUESTION ||
	       rtrs_slots_newer(number, session->question);
}

/* Its first registrations are under way, of what the session had when they began. */
static bool logs_in(const struct rtrs_server_path *path)
{
	return READ_ONCE(path->state) <= RTRS_SERVER_PATH_CONNECTED && path->want && !is_up(path);
}

static void take_question(struct rtrs_server_session *session)
{
	struct rtrs_server_path *path;
	u32 number, slots, asked;

	list_for_each_entry(path, &session->paths, entry) {
		asked = xchg(&path->asked, 0);
		rtrs_imm_slots_parse(asked, &number, &slots);
		if (!asked || !is_new(session, number))
			continue;
		session->question = number;
		session->target = max(slots, rtrs_slots_first(rtrs_server_geo.queue_depth));
		session->answers = true;
	}
}

static int may_grow(struct rtrs_server_session *session)
{
	const struct rtrs_server_ops *ops = session->srv->ops;
	u32 before = session->chunk_count;
	int err = rtrs_server_chunks_grow(session, session->target);

	if (!err && session->up)
		err = ops->grown(session->priv);
	if (err)
		rtrs_server_chunks_shrink(session, before);
	return err;
}

/*
 * All paths are up, and no slot is in use that the client gives back. Whoever has taken one since
 * finds it beyond path->usable, as the cmpxchg() and this barrier are ordered.
 */
static bool may_shrink(struct rtrs_server_session *session)
{
	struct rtrs_server_path *path;
	u32 i;

	list_for_each_entry(path, &session->paths, entry) {
		if (!is_up(path) || !path->grants)
			return false;
		if (path->usable <= session->target)
			continue;
		WRITE_ONCE(path->shrinks, true);
		WRITE_ONCE(path->usable, session->target);
	}
	smp_mb();	/* usable before the slots */
	for (i = session->target; i < session->granted; i++)
		if (READ_ONCE(session->slots[i].word))
			return false;
	return true;
}

/*
 * Has each path on its way to the target; true: all are there. A path that closes takes no request
 * any more. Its worker passes session->lock before it stops path->info.
 */
static bool paths_fit(struct rtrs_server_session *session)
{
	struct rtrs_server_path *path;
	bool fit = true;

	list_for_each_entry(path, &session->paths, entry) {
		if (!is_up(path))
			continue;
		if (path->misfit && session->target > session->granted) {
			session->target = session->granted;
			return paths_fit(session);
		}
		path->misfit = false;
		if (path->want == session->target && path->fits)
			continue;
		fit = false;
		if (path->want == session->target)
			continue;
		path->fits = false;
		WRITE_ONCE(path->want, session->target);
		mod_delayed_work(path->info.wq, &path->info.work, 0);
	}
	return fit;
}

static void answer(struct rtrs_server_session *session)
{
	u32 payload = rtrs_imm_slots(session->question, session->granted);
	struct rtrs_server_path *path;

	list_for_each_entry(path, &session->paths, entry)
		if (is_up(path) && path->grants)
			rtrs_server_con_send_imm(path->con[0], RTRS_IMM_SLOTS, payload);
}

static void advance(struct rtrs_server_session *session)
{
	struct rtrs_server_path *path;

	list_for_each_entry(path, &session->paths, entry)
		if (logs_in(path))
			return;		/* it kicks us when it is up, or at its end */
	if (session->target > session->granted && may_grow(session))
		session->target = session->granted;
	if (session->target < session->granted && !may_shrink(session))
		session->target = session->granted;
	if (!paths_fit(session))
		return;
	list_for_each_entry(path, &session->paths, entry)
		if (is_up(path))
			WRITE_ONCE(path->usable, session->target);
	WRITE_ONCE(session->granted, session->target);
	rtrs_server_chunks_shrink(session, session->granted);
	session->answers = false;
	answer(session);
}

void rtrs_server_slots_work(struct work_struct *work)
{
	struct rtrs_server_session *session = container_of(work, struct rtrs_server_session,
							   slots_work);

	mutex_lock(&session->lock);
	take_question(session);
	if (session->answers)
		advance(session);
	mutex_unlock(&session->lock);
	rtrs_server_session_put(session);
}

/* The path is up, and is to have other chunks, or a batch is done. */
void rtrs_server_slots_fit(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	u32 want = READ_ONCE(path->want);
	int err;

	if (!is_up(path))
		return;
	err = rtrs_server_regions_fit(path);
	if (err == -EINPROGRESS)
		return;
	if (err && err != -ENOMEM && err != -EINVAL) {
		rtrs_server_path_close(path, err);
		return;
	}
	mutex_lock(&session->lock);
	path->fits = !err && path->want == want;
	path->misfit = err;
	mutex_unlock(&session->lock);
	rtrs_server_slots_kick(session);
}

/* Bytes that the session may come to pin. */
u64 rtrs_server_slots_max(struct rtrs_server_session *session)
{
	u32 depth = rtrs_server_geo.queue_depth;
	struct rtrs_server_path *path;
	u64 bytes = rtrs_server_mem_session(depth) - rtrs_server_mem_session(session->chunk_count);

	list_for_each_entry(path, &session->paths, entry)
		bytes += (depth - path->copy_count) * rtrs_server_mem_copy(path->eager_bytes);
	return bytes + atomic64_read(&session->pinned);
}
