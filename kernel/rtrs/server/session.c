// SPDX-License-Identifier: GPL-2.0
/* Sessions: from the first connection of a client to the end of its last path. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "server.h"

static struct rtrs_server_session *session_create(struct rtrs_server *srv, const u8 *uuid)
{
	struct rtrs_server_session *session;

	session = kmem_cache_zalloc(rtrs_server_session_cache, GFP_KERNEL);
	if (!session)
		return NULL;
	session->srv = srv;
	session->id = rtrs_server_nl_id();
	kref_init(&session->ref);
	mutex_init(&session->lock);
	spin_lock_init(&session->fence_lock);
	INIT_LIST_HEAD(&session->paths);
	rtrs_dev_pool_init(&session->devs);
	memcpy(session->uuid, uuid, sizeof(session->uuid));
	rtrs_server_live_get();
	rtrs_census_created(RTRS_CENSUS_SERVER_SESSION);
	return session;
}

static void session_release(struct kref *ref)
{
	struct rtrs_server_session *session = container_of(ref, struct rtrs_server_session, ref);

	rtrs_server_chunks_free(session);
	kvfree(session->slots);
	rtrs_server_mem_give(session, atomic64_read(&session->pinned));
	mutex_destroy(&session->lock);
	mutex_destroy(&session->devs.lock);
	kmem_cache_free(rtrs_server_session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_SERVER_SESSION);
	rtrs_server_live_put();
}

void rtrs_server_session_put(struct rtrs_server_session *session)
{
	kref_put(&session->ref, session_release);
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

/* session->lock held, and a reference. A session without a path goes out of all lookups. */
void rtrs_server_session_reap(struct rtrs_server_session *session)
{
	struct rtrs_server *srv = session->srv;

	lockdep_assert_held(&session->lock);
	if (session->path_count || session->dead)
		return;
	mutex_lock(&srv->lock);
	list_del(&session->entry);
	mutex_unlock(&srv->lock);
	/* Not before the name is free: await_name() has no lock */
	WRITE_ONCE(session->dead, true);
	smp_mb();	/* before the look for who waits */
	wake_up_var(&session->dead);
	rtrs_server_session_put(session);
}

/*
 * Another session of the name that this path comes with, of which no path is left but those being
 * closed; with a reference.
 */
static struct rtrs_server_session *last_session(const struct rtrs_server_path *newcomer)
{
	struct rtrs_server *srv = newcomer->session->srv;
	struct rtrs_server_session *session, *last = NULL;
	struct rtrs_server_path *path;

	mutex_lock(&srv->lock);
	list_for_each_entry(session, &srv->sessions, entry)
		if (session != newcomer->session && !strcmp(session->name, newcomer->name))
			last = session;
	list_for_each_entry(path, &srv->paths, all_entry)
		if (path->session == last && READ_ONCE(path->state) < RTRS_SERVER_PATH_CLOSING)
			last = NULL;
	if (last)
		kref_get(&last->ref);
	mutex_unlock(&srv->lock);
	return last;
}

/* A client that closes a session and opens it again is not told of what we have still to do. */
static void await_name(struct rtrs_server_path *path)
{
	struct rtrs_server_session *last = last_session(path);

	if (!last)
		return;
	wait_var_event_timeout(&last->dead, READ_ONCE(last->dead),
			       msecs_to_jiffies(RTRS_SERVER_LEAVE_MS));
	rtrs_server_session_put(last);
}

/*
 * The name is the first path's, and of one session only. The others must come
 * with the same: they could be anybody's otherwise.
 */
static int claim_name(struct rtrs_server_session *session, const char *name)
{
	struct rtrs_server_session *other;
	int err = 0;

	if (session->name[0])
		return strcmp(session->name, name) ? -EPERM : 0;
	mutex_lock(&session->srv->lock);
	list_for_each_entry(other, &session->srv->sessions, entry)
		if (!strcmp(other->name, name))
			err = -EPERM;
	if (!err)
		strscpy(session->name, name, sizeof(session->name));
	mutex_unlock(&session->srv->lock);
	return err;
}

enum rnbd_session_state rtrs_server_session_state(const struct rtrs_server_session *session)
{
	if (!session->up)
		return RNBD_SESSION_STATE_DISCONNECTED;
	return session->up < session->path_count ? RNBD_SESSION_STATE_DEGRADED :
						   RNBD_SESSION_STATE_CONNECTED;
}

/* session->lock held. Tells netlink if the state is another than it was told. */
void rtrs_server_session_tell(struct rtrs_server_session *session)
{
	enum rnbd_session_state state = rtrs_server_session_state(session);
	int old = session->told;

	lockdep_assert_held(&session->lock);
	if (!session->up || old == state)
		return;
	session->told = state;
	rtrs_server_nl_session_event(session, RNBD_EVENT_CHANGE, old);
}

/* The first path brings up the user of the session and its sysfs device. */
static int first_up(struct rtrs_server_session *session)
{
	const struct rtrs_server_ops *ops = session->srv->ops;
	int err;

	err = ops->session_up(session, session->name, &session->priv);
	if (err)
		return err;
	err = rtrs_server_sysfs_session_add(session);
	if (err)
		ops->session_down(session->priv);
	return err;
}

static void last_down(struct rtrs_server_session *session)
{
	rtrs_server_sysfs_session_del(session);
	session->srv->ops->session_down(session->priv);
	session->priv = NULL;
}

/* Undone by rtrs_server_session_path_down(); nothing is left behind on failure. */
int rtrs_server_session_path_up(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	int err;

	await_name(path);
	wait_var_event_timeout(&session->going_down, !READ_ONCE(session->going_down),
			       msecs_to_jiffies(RTRS_SERVER_LEAVE_MS));
	mutex_lock(&session->lock);
	if (session->going_down) {
		path_err(path, "session '%*pE' still closes its devices\n",
			 (int)strlen(session->name), session->name);
		err = -EBUSY;
		goto out;
	}
	err = claim_name(session, path->name);
	if (err) {
		path_err(path, "session name is another's\n");
		goto out;
	}
	if (!session->up)
		err = first_up(session);
	if (err)
		goto out;
	err = rtrs_server_sysfs_path_add(path);
	if (err) {
		if (!session->up)
			last_down(session);
		goto out;
	}
	path->up = true;
	WRITE_ONCE(session->up, session->up + 1);
	if (session->up == 1) {
		session->told = rtrs_server_session_state(session);
		rtrs_server_nl_session_event(session, RNBD_EVENT_CREATE, session->told);
	} else {
		rtrs_server_session_tell(session);
	}
out:
	mutex_unlock(&session->lock);
	return err;
}

/* No operation of the path runs any more. Does nothing to a path that never was up. */
void rtrs_server_session_path_down(struct rtrs_server_path *path)
{
	struct rtrs_server_session *session = path->session;
	bool last = false;

	mutex_lock(&session->lock);
	if (path->up) {
		path->up = false;
		rtrs_server_sysfs_path_del(path);
		WRITE_ONCE(session->up, session->up - 1);
		last = !session->up;
		if (last) {
			rtrs_server_nl_session_event(session, RNBD_EVENT_DESTROY, session->told);
			WRITE_ONCE(session->going_down, true);
		} else {
			rtrs_server_session_tell(session);
		}
	}
	mutex_unlock(&session->lock);
	if (!last)
		return;

	/* A disk may take for ever to close: who connects meanwhile is to have an answer. */
	last_down(session);
	mutex_lock(&session->lock);
	WRITE_ONCE(session->going_down, false);
	smp_mb();	/* before the look for who waits */
	wake_up_var(&session->going_down);
	mutex_unlock(&session->lock);
}

/*
 * Closes the paths that the session has and waits until they are. The client may be quick to
 * make new ones: they are none of ours. -EINTR: killed, the paths close nevertheless.
 */
int rtrs_server_session_disconnect(struct rtrs_server_session *session)
{
	u32 newest = rtrs_server_nl_id();	/* newer than all that are there */
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
