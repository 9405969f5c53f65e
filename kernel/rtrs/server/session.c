// SPDX-License-Identifier: GPL-2.0
/* Sessions: from the first connection of a client to the end of its last path. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/slab.h>
#include "notify.h"
#include "server.h"

static void down_work(struct work_struct *work);

static struct rtrs_server_session *session_create(struct rtrs_server *srv, const u8 *uuid)
{
	struct rtrs_server_session *session;

	session = kmem_cache_zalloc(rtrs_server_session_cache, GFP_KERNEL);
	if (!session)
		return NULL;
	session->srv = srv;
	session->id = rtrs_new_id();
	kref_init(&session->ref);
	mutex_init(&session->lock);
	spin_lock_init(&session->fence_lock);
	INIT_LIST_HEAD(&session->paths);
	INIT_LIST_HEAD(&session->waiting);
	INIT_WORK(&session->down_work, down_work);
	INIT_WORK(&session->slots_work, rtrs_server_slots_work);
	rtrs_dev_pool_init(&session->devs);
	memcpy(session->uuid, uuid, sizeof(session->uuid));
	rtrs_server_live_get();
	rtrs_census_created(RTRS_CENSUS_SERVER_SESSION);
	return session;
}

/*
 * The session of a connect request, with a reference, made if it may be: search
 * and insertion are one step. It is empty until the first path comes.
 */
struct rtrs_server_session *rtrs_server_session_lookup(struct rtrs_server *srv,
						       const struct rtrs_conn_req *req)
{
	struct rtrs_server_session *session;

	mutex_lock(&srv->lock);
	if (srv->closing) {
		session = ERR_PTR(-ECONNRESET);
		goto out;
	}
	list_for_each_entry(session, &srv->sessions, entry) {
		if (!memcmp(session->uuid, req->paths_uuid, sizeof(session->uuid))) {
			kref_get(&session->ref);
			goto out;
		}
	}
	if (!req->first_conn) {
		session = ERR_PTR(-ENXIO);
		goto out;
	}
	session = session_create(srv, req->paths_uuid);
	if (!session) {
		session = ERR_PTR(-ENOMEM);
		goto out;
	}
	kref_get(&session->ref);	/* of the list */
	list_add_tail(&session->entry, &srv->sessions);
out:
	mutex_unlock(&srv->lock);
	return session;
}

/*
 * Another session that has the name which this path comes with, and of which no path is left but
 * those being closed; with a reference.
 */
static struct rtrs_server_session *namesake(const struct rtrs_server_path *newcomer)
{
	struct rtrs_server *srv = newcomer->session->srv;
	struct rtrs_server_session *session, *last = NULL;
	struct rtrs_server_path *path;

	mutex_lock(&srv->lock);
	list_for_each_entry(session, &srv->sessions, entry)
		if (session != newcomer->session && session->named &&
		    !strcmp(session->name, newcomer->name))
			last = session;
	list_for_each_entry(path, &srv->paths, all_entry)
		if (path->session == last && READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING)
			last = NULL;
	if (last)
		kref_get(&last->ref);
	mutex_unlock(&srv->lock);
	return last;
}

/* The name is free when the last path has stopped: operations of the other one may go on. */
static int await_name(struct rtrs_server_path *path)
{
	struct rtrs_server_session *other = namesake(path);
	int err = 0;

	if (!other)
		return 0;
	mutex_lock(&other->lock);
	if (other->named && time_before(jiffies, path->info_until)) {
		rtrs_server_wait(other, &path->info, path->info_until);
		err = -EINPROGRESS;
	}
	mutex_unlock(&other->lock);
	rtrs_server_session_put(other);
	return err;
}

/*
 * The name is the first path's, and of one session only. The others must come
 * with the same: they could be anybody's otherwise.
 */
static int claim_name(struct rtrs_server_session *session, const char *name)
{
	struct rtrs_server_session *other;
	int err = 0;

	if (session->name[0] && strcmp(session->name, name))
		return -EPERM;
	if (session->named)
		return 0;
	mutex_lock(&session->srv->lock);
	list_for_each_entry(other, &session->srv->sessions, entry)
		if (other->named && !strcmp(other->name, name))
			err = -EPERM;
	if (!err) {
		strscpy(session->name, name, sizeof(session->name));
		session->named = true;
	}
	mutex_unlock(&session->srv->lock);
	return err;
}

/*
 * session->lock need not be held, but nobody else is about to do the same. The user closes what is
 * open, and tells when it has: down_work(). @last, if any, ends then.
 */
static void begin_down(struct rtrs_server_session *session, struct rtrs_server_path *last)
{
	kref_get(&session->ref);
	session->last = last;
	session->going_down = true;
	session->srv->ops->session_down(session->priv);
}

void rtrs_server_session_closed(struct rtrs_server_session *session)
{
	queue_work(rtrs_server_close_wq, &session->down_work);
}
EXPORT_SYMBOL_GPL(rtrs_server_session_closed);

static void down_work(struct work_struct *work)
{
	struct rtrs_server_session *session = container_of(work, struct rtrs_server_session,
							   down_work);
	struct rtrs_server_path *last;

	mutex_lock(&session->lock);
	last = session->last;
	session->last = NULL;
	session->priv = NULL;
	session->going_down = false;
	rtrs_server_wake(session);
	mutex_unlock(&session->lock);
	if (last)
		rtrs_server_path_end(last);
	rtrs_server_session_put(session);
}

/* The first path brings up the user of the session and its sysfs device. */
static int first_up(struct rtrs_server_session *session)
{
	int err;

	err = session->srv->ops->session_up(session, session->name, &session->priv);
	if (err)
		return err;
	err = rtrs_server_files->add_session(session);
	if (err)
		begin_down(session, NULL);
	return err;
}

/* session->lock held. The name is nobody's until a path comes up again. */
static void first_down(struct rtrs_server_session *session)
{
	rtrs_server_files->del_session(session);
	mutex_lock(&session->srv->lock);
	session->named = false;
	mutex_unlock(&session->srv->lock);
}

/* The user hears of the path last: it is in sysfs, and cannot fail any more. */
static int tell_user(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	struct rtrs_server_guest guest;
	int err;

	err = rtrs_server_files->add_path(path);
	if (err)
		return err;
	rtrs_server_guest_of(path, &guest);
	err = session->srv->ops->path_up(session->priv, &guest);
	if (err)
		rtrs_server_files->del_path(path);
	return err;
}

/* Before it claims the name, which may be that of another client. */
static int admit(struct rtrs_server_path *path)
{
	const struct rtrs_server_ops *ops = path->session->srv->ops;
	struct rtrs_server_guest guest;
	int err;

	smp_store_release(&path->named, true); /* pairs with rtrs_server_guest_of() */
	rtrs_server_guest_of(path, &guest);
	err = ops->admit(&guest);
	if (err)
		return err;
	err = claim_name(path->session, path->name);
	if (err) {
		path_err(path, "session name is another's\n");
		ops->name_taken(&guest);
	}
	return err;
}

static int path_up(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	int err;

	err = admit(path);
	if (err)
		return err;
	if (!session->up)
		err = first_up(session);
	if (err)
		return err;
	err = tell_user(path);
	if (err) {
		if (!session->up) {
			first_down(session);
			begin_down(session, NULL);
		}
		return err;
	}
	if (!session->up) {
		WRITE_ONCE(session->granted, path->want);
		session->target = path->want;
		session->question = RTRS_SERVER_NO_QUESTION;
		session->answers = false;
	}
	path->up = true;
	path->serving = true;
	session->serving++;
	if ((s32)(path->founding - session->founding) > 0)
		session->founding = path->founding;
	WRITE_ONCE(session->up, session->up + 1);
	if (session->up == 1) {
		session->told = rtrs_server_session_state(session);
		rtrs_server_events->session_event(session, RNBD_EVENT_CREATE, session->told);
	} else {
		rtrs_server_session_tell(session);
	}
	return 0;
}

/*
 * Undone by _path_off() and _path_down(); nothing is left behind on failure. A client that closes a
 * session and opens it again is not told of what we have still to do: -EINPROGRESS, path->info runs
 * again when that is over.
 */
int rtrs_server_session_path_up(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	int err;

	if (!path->info_until)
		path->info_until = (jiffies + msecs_to_jiffies(RTRS_SERVER_LEAVE_MS)) | 1;
	err = await_name(path);
	if (err)
		return err;
	mutex_lock(&session->lock);
	if (!session->up && path->beside) {
		/* An empty session it would be: its client is to hear of the last path's end. */
		path_err(path, "the last path is lost meanwhile\n");
		err = -ENXIO;
	} else if (session->up || (!session->serving && !session->going_down)) {
		err = path_up(path);
	} else if (time_before(jiffies, path->info_until)) {
		rtrs_server_wait(session, &path->info, path->info_until);
		err = -EINPROGRESS;
	} else {
		path_err(path, "session '%*pE' still closes its devices\n",
			 (int)strlen(session->name), session->name);
		err = -EBUSY;
	}
	mutex_unlock(&session->lock);
	return err;
}

/*
 * The path takes no request any more; what it took may be under way for ever. It still counts
 * among those that serve: session_down() does not come meanwhile.
 */
void rtrs_server_session_path_off(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	const struct rtrs_server_ops *ops = session->srv->ops;
	bool last = false;

	mutex_lock(&session->lock);
	WRITE_ONCE(path->stopped, true);
	if (path->up) {
		path->up = false;
		rtrs_server_remember(path);
		rtrs_server_files->del_path(path);
		WRITE_ONCE(session->up, session->up - 1);
		last = !session->up;
		if (last) {
			WRITE_ONCE(session->granted, 0);
			session->answers = false;
			rtrs_server_events->session_event(session, RNBD_EVENT_DESTROY,
							  session->told);
			first_down(session);
		} else {
			rtrs_server_session_tell(session);
		}
	}
	rtrs_server_wake(session);
	mutex_unlock(&session->lock);
	if (!last)
		return;
	session->vanished = ops->opens && ops->opens(session->priv);
	ops->session_lost(session->priv);
}

/*
 * No operation of the path runs any more. False: the path ends when the user of the session has
 * closed all, and a disk may take for ever for that.
 */
bool rtrs_server_session_path_down(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	bool last = false;

	mutex_lock(&session->lock);
	if (path->serving) {
		path->serving = false;
		session->serving--;
		last = !session->serving;
		session->going_down = last;
	}
	mutex_unlock(&session->lock);
	if (last)
		begin_down(session, path);
	return !last;
}

/*
 * Closes the paths that the session has and waits until they are. The client may be quick to
 * make new ones: they are none of ours. -EINTR: killed, the paths close nevertheless.
 */
int rtrs_server_session_disconnect(struct rtrs_server_session *session)
{
	u32 newest = rtrs_new_id();	/* newer than all that are there */
	struct rtrs_server_path *path, *last;
	int err;

	do {
		last = NULL;
		if (mutex_lock_killable(&session->lock))
			return -EINTR;
		list_for_each_entry(path, &session->paths, entry) {
			if (path->id > newest)
				continue;
			rtrs_server_path_close(path, -ECONNABORTED);
			last = path;
		}
		if (last)
			kref_get(&last->ref);
		mutex_unlock(&session->lock);
		if (!last)
			return 0;
		err = rtrs_server_path_wait(last);
		rtrs_server_path_put(last);
	} while (!err);
	return err;
}

/*
 * Who closes a path waits for its operations before the connections go, and this counts as one. The
 * list is that of the server: session->lock is held while a path makes its connections.
 */
int rtrs_server_notify(struct rtrs_server_session *session, u32 what)
{
	struct rtrs_server_path *path;
	int ret = -EOPNOTSUPP, err;

	mutex_lock(&session->srv->lock);
	list_for_each_entry(path, &session->srv->paths, all_entry) {
		if (path->session != session || !path->notices || !READ_ONCE(path->told_info) ||
		    READ_ONCE(path->state) != RTRS_SERVER_PATH_CONNECTED ||
		    !percpu_ref_tryget_live(&path->inflight))
			continue;
		err = rtrs_server_con_send_imm(path->con[0], RTRS_IMM_NOTICE, what);
		if (err && err != -EAGAIN)
			rtrs_server_path_close(path, -EIO);
		ret = 0;
		percpu_ref_put(&path->inflight);	/* no operation: it was not counted */
	}
	mutex_unlock(&session->srv->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(rtrs_server_notify);

u64 rtrs_server_session_pinned(const struct rtrs_server_session *session)
{
	return atomic64_read(&session->pinned);
}
EXPORT_SYMBOL_GPL(rtrs_server_session_pinned);

u32 rtrs_server_session_id(const struct rtrs_server_session *session)
{
	return session->id;
}
EXPORT_SYMBOL_GPL(rtrs_server_session_id);

void rtrs_server_session_client(const struct rtrs_server_session *session, uuid_t *client)
{
	import_uuid(client, session->uuid);
}
EXPORT_SYMBOL_GPL(rtrs_server_session_client);
