// SPDX-License-Identifier: GPL-2.0
/* Sessions: open, close, and the state that follows from their paths. */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rtrs/nl.h>
#include "client.h"

DEFINE_MUTEX(rtrs_client_lock);	/* see client.h */
DEFINE_XARRAY(rtrs_client_sessions);
DEFINE_XARRAY(rtrs_client_paths);

static struct kmem_cache *session_cache;

int rtrs_client_session_init(void)
{
	session_cache = KMEM_CACHE(rtrs_client_session, 0);
	return session_cache ? 0 : -ENOMEM;
}

void rtrs_client_session_exit(void)
{
	kmem_cache_destroy(session_cache);
}

static void session_release(struct kref *ref)
{
	struct rtrs_client_session *session = container_of(ref, struct rtrs_client_session, ref);

	kfree(rcu_dereference_protected(session->paths, true));
	free_percpu(session->cursor);
	kmem_cache_free(session_cache, session);
	rtrs_census_destroyed(RTRS_CENSUS_CLIENT_SESSION);
}

void rtrs_client_session_get(struct rtrs_client_session *session)
{
	kref_get(&session->ref);
}

void rtrs_client_session_put(struct rtrs_client_session *session)
{
	kref_put(&session->ref, session_release);
}

static void session_event(struct work_struct *work)
{
	struct rtrs_client_session *session =
		container_of(work, struct rtrs_client_session, event_work);

	if (session->ops->event)
		session->ops->event(session->priv, RTRS_CLIENT_DISCONNECTED,
				    READ_ONCE(session->lost_err));
}

static enum rnbd_session_state derive_state(struct rtrs_client_session *session)
{
	const struct rtrs_client_path_set *set;
	unsigned int i, trying = 0, count;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	count = set->count;
	for (i = 0; i < count; i++)
		if (rtrs_client_nl_path_state(set->path[i]->state) <= RNBD_PATH_STATE_RECONNECTING)
			trying++;
	rcu_read_unlock();

	if (session->connected)
		return session->connected == count ? RNBD_SESSION_STATE_CONNECTED :
						     RNBD_SESSION_STATE_DEGRADED;
	return trying ? RNBD_SESSION_STATE_RECONNECTING : RNBD_SESSION_STATE_DISCONNECTED;
}

/* Under state_lock: a path has changed its state, or the path set has changed. */
static void session_update(struct rtrs_client_session *session)
{
	unsigned int old = session->state;

	lockdep_assert_held(&session->state_lock);
	session->state = derive_state(session);
	if (session->state != old)
		rtrs_client_nl_session_event(session, RNBD_EVENT_CHANGE, old);
}

void rtrs_client_session_changed(struct rtrs_client_session *session)
{
	spin_lock_bh(&session->state_lock);
	rtrs_client_nl_session_event(session, RNBD_EVENT_CHANGE, session->state);
	spin_unlock_bh(&session->state_lock);
}

void rtrs_client_session_path_moved(struct rtrs_client_session *session, unsigned int old,
				    unsigned int state, int err)
{
	lockdep_assert_held(&session->state_lock);
	if (state == RTRS_CLIENT_PATH_CONNECTED)
		session->connected++;
	if (old == RTRS_CLIENT_PATH_CONNECTED && !--session->connected && session->opened) {
		WRITE_ONCE(session->lost_err, err);
		queue_work(rtrs_client_event_wq, &session->event_work);
	}
	session_update(session);
}

static int session_publish(struct rtrs_client_session *session, struct netlink_ext_ack *extack)
{
	struct rtrs_client_session *other;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each(&rtrs_client_sessions, id, other) {
		if (!strcmp(other->name, session->name)) {
			err = rtrs_fail(extack, -EEXIST, "session %.40s is open already",
					session->name);
			goto out;
		}
	}
	err = xa_err(xa_store(&rtrs_client_sessions, session->id, session, GFP_KERNEL));
	if (err)
		goto out;
	spin_lock_bh(&session->state_lock);
	rtrs_client_nl_session_event(session, RNBD_EVENT_CREATE, 0);
	spin_unlock_bh(&session->state_lock);
out:
	mutex_unlock(&rtrs_client_lock);
	return err;
}

static void session_unpublish(struct rtrs_client_session *session)
{
	mutex_lock(&rtrs_client_lock);
	xa_erase(&rtrs_client_sessions, session->id);
	spin_lock_bh(&session->state_lock);
	rtrs_client_nl_session_event(session, RNBD_EVENT_DESTROY, 0);
	spin_unlock_bh(&session->state_lock);
	mutex_unlock(&rtrs_client_lock);
}

static struct rtrs_client_session *session_alloc(const struct rtrs_client_params *params,
						 const struct rtrs_client_ops *ops, void *priv)
{
	struct rtrs_client_session *session;

	session = kmem_cache_zalloc(session_cache, GFP_KERNEL);
	if (!session)
		return NULL;
	rtrs_census_created(RTRS_CENSUS_CLIENT_SESSION);
	kref_init(&session->ref);
	session->id = rtrs_nl_new_id();
	strscpy(session->name, params->name, sizeof(session->name));
	get_random_bytes(session->uuid, sizeof(session->uuid));
	session->uuid[6] = (session->uuid[6] & 0x0f) | 0x40;
	session->uuid[8] = (session->uuid[8] & 0x3f) | 0x80;
	session->ops = ops;
	session->priv = priv;
	session->policy = params->policy;
	session->max_reconnects = -1;
	session->timeout_ms = params->timeout_ms ?: RTRS_CLIENT_TIMEOUT_MS;
	session->io_cons = params->io_cons ?: num_online_cpus();
	session->poll_cons = params->poll_cons;
	session->state = RNBD_SESSION_STATE_RECONNECTING;
	mutex_init(&session->lock);
	spin_lock_init(&session->state_lock);
	INIT_WORK(&session->event_work, session_event);
	session->cursor = alloc_percpu(u32);
	if (!session->cursor || rtrs_client_path_set_init(session)) {
		rtrs_client_session_put(session);
		return NULL;
	}
	return session;
}

static bool same_path(const struct rtrs_path_addr *a, const struct rtrs_path_addr *b)
{
	if (!rtrs_addr_equal(&a->dst, &b->dst))
		return false;
	if (a->src.ss_family == AF_UNSPEC || b->src.ss_family == AF_UNSPEC)
		return a->src.ss_family == b->src.ss_family;
	return rtrs_addr_equal(&a->src, &b->src);
}

static int path_exists(const struct rtrs_path_addr *addr, struct netlink_ext_ack *extack)
{
	char dst[RTRS_ADDR_STRLEN];

	rtrs_addr_print(&addr->dst, dst, sizeof(dst));
	return rtrs_fail(extack, -EEXIST, "%s: the session would have this path twice", dst);
}

static int params_check(const struct rtrs_client_params *params, struct netlink_ext_ack *extack)
{
	unsigned int io_cons = params->io_cons ?: num_online_cpus();
	unsigned int i, j;

	if (rtrs_name_check(params->name, strlen(params->name)))
		return rtrs_fail(extack, -EINVAL,
				 "a session name has 1 to 254 bytes and neither '/' nor '.'");
	if (!params->path_count || params->path_count > RTRS_PATHS_MAX)
		return rtrs_fail(extack, -EINVAL, "a session has 1 to %d paths", RTRS_PATHS_MAX);
	if (io_cons > RTRS_CONS_MAX || params->poll_cons > RTRS_CONS_MAX ||
	    io_cons + params->poll_cons + 1 > RTRS_CONS_MAX)
		return rtrs_fail(extack, -EINVAL, "a path has at most %d connections",
				 RTRS_CONS_MAX);
	if (rtrs_client_policy_check(params->policy))
		return rtrs_fail(extack, -EOPNOTSUPP, "there is no such path policy");
	for (i = 0; i < params->path_count; i++) {
		const struct rtrs_path_addr *addr = &params->path[i];

		if (!rtrs_addr_len(&addr->dst))
			return rtrs_fail(extack, -EINVAL, "path %u has no server address", i + 1);
		if (addr->src.ss_family != AF_UNSPEC &&
		    addr->src.ss_family != addr->dst.ss_family)
			return rtrs_fail(extack, -EINVAL,
					 "the addresses of path %u are of two families", i + 1);
		for (j = 0; j < i; j++)
			if (same_path(addr, &params->path[j]))
				return path_exists(addr, extack);
	}
	return 0;
}

/* What the first path offers is the session's; the others must fit. */
static int session_join(struct rtrs_client_session *session, struct rtrs_client_path *path,
			struct netlink_ext_ack *extack)
{
	struct rtrs_client_attrs *attrs = &session->attrs;
	u32 max_usr_len = min_t(u32, RTRS_CLIENT_USR_MAX,
				path->geo.max_hdr_size - RTRS_READ_HDR_MAX);
	const struct rtrs_client_path_set *set;
	unsigned int i;

	mutex_lock(&session->lock);
	set = rtrs_client_path_set_locked(session);
	for (i = 0; i < set->count && strcmp(set->path[i]->name, path->name); i++)
		;
	mutex_unlock(&session->lock);
	if (set->path[i] != path)
		return path_exists(&path->addr, extack);
	if (path->first) {
		attrs->queue_depth = path->geo.queue_depth;
		attrs->max_io_size = path->max_io_size;
		attrs->max_segments = path->max_segments;
		attrs->max_usr_len = max_usr_len;
		attrs->io_cons = session->io_cons;
		attrs->poll_cons = session->poll_cons;
		return 0;
	}
	if (path->geo.queue_depth != attrs->queue_depth)
		return rtrs_fail(extack, -EINVAL, "queue depth %u differs from the first path's %u",
				 path->geo.queue_depth, attrs->queue_depth);
	attrs->max_io_size = min(attrs->max_io_size, path->max_io_size);
	attrs->max_segments = min(attrs->max_segments, path->max_segments);
	attrs->max_usr_len = min(attrs->max_usr_len, max_usr_len);
	return 0;
}

static void path_publish(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;

	spin_lock_bh(&session->state_lock);
	rtrs_client_nl_path_event(path, RNBD_EVENT_CREATE, 0);
	session_update(session);
	spin_unlock_bh(&session->state_lock);
}

static int session_add_path(struct rtrs_client_session *session, const struct rtrs_path_addr *addr,
			    bool first, struct netlink_ext_ack *extack)
{
	struct rtrs_client_path *path;
	int err;

	path = rtrs_client_path_create(session, addr, first);
	if (!path)
		return -ENOMEM;
	mutex_lock(&rtrs_client_lock);
	mutex_lock(&session->lock);
	err = rtrs_client_path_set_add(session, path);
	if (!err) {
		err = xa_err(xa_store(&rtrs_client_paths, path->id, path, GFP_KERNEL));
		if (err)
			rtrs_client_path_set_del(session, path);
	}
	mutex_unlock(&session->lock);
	mutex_unlock(&rtrs_client_lock);
	if (err) {
		synchronize_rcu();
		rtrs_client_path_put(path);
		return err;
	}
	path_publish(path);

	/* From here on the path set holds the reference. */
	err = rtrs_client_connect(path, extack);
	if (err)
		return err;
	err = session_join(session, path, extack);
	if (err)
		return err;
	return rtrs_client_sysfs_add_path(path);
}

/* Takes one path out of its session. It is down; netlink and submitters may still look at it. */
static void session_del_path(struct rtrs_client_session *session, struct rtrs_client_path *path)
{
	mutex_lock(&rtrs_client_lock);
	mutex_lock(&session->lock);
	xa_erase(&rtrs_client_paths, path->id);
	rtrs_client_path_set_del(session, path);
	mutex_unlock(&session->lock);
	mutex_unlock(&rtrs_client_lock);
	rtrs_client_path_move(path, RTRS_CLIENT_PATH_DEAD, 0);
	spin_lock_bh(&session->state_lock);
	rtrs_client_nl_path_event(path, RNBD_EVENT_DESTROY, 0);
	spin_unlock_bh(&session->state_lock);
	synchronize_rcu();
	rtrs_client_path_put(path);
}

/*
 * The end of a session, of an open that failed as well. Nobody changes the path
 * set but us. Netlink sees the session until it is unpublished; sysfs handlers
 * are waited for by the removal of their files; events were stopped by our
 * caller. Path workers run until rtrs_client_path_close() has returned.
 */
static void session_teardown(struct rtrs_client_session *session)
{
	struct rtrs_client_path_set *set;
	unsigned int i;

	mutex_lock(&session->lock);
	set = rtrs_client_path_set_locked(session);
	mutex_unlock(&session->lock);
	for (i = 0; i < set->count; i++)
		rtrs_client_sysfs_del_path(set->path[i]);
	rtrs_client_sysfs_del_session(session);

	/* All at once first: each may have to wait for its peer. */
	for (i = 0; i < set->count; i++)
		if (rtrs_client_path_move(set->path[i], RTRS_CLIENT_PATH_CLOSING, 0))
			queue_work(rtrs_client_wq, &set->path[i]->down_work);
	for (i = 0; i < set->count; i++)
		rtrs_client_path_close(set->path[i]);
	for (i = set->count; i > 0; i--) {
		mutex_lock(&session->lock);
		set = rtrs_client_path_set_locked(session);
		mutex_unlock(&session->lock);
		session_del_path(session, set->path[i - 1]);
	}
	session_unpublish(session);
	rtrs_client_session_put(session);
}

/* Every path is connected, at this very moment; from now on events are told. */
static int session_opened(struct rtrs_client_session *session, unsigned int paths,
			  struct netlink_ext_ack *extack)
{
	spin_lock_bh(&session->state_lock);
	session->opened = session->connected == paths;
	spin_unlock_bh(&session->state_lock);
	if (!session->opened)
		return rtrs_fail(extack, -ECONNRESET, "a path was lost while others connected");
	return 0;
}

struct rtrs_client_session *rtrs_client_open(const struct rtrs_client_params *params,
					     const struct rtrs_client_ops *ops, void *priv,
					     struct netlink_ext_ack *extack)
{
	struct rtrs_client_session *session;
	unsigned int i;
	int err;

	err = params_check(params, extack);
	if (err)
		return ERR_PTR(err);
	session = session_alloc(params, ops, priv);
	if (!session)
		return ERR_PTR(-ENOMEM);
	err = session_publish(session, extack);
	if (err) {
		rtrs_client_session_put(session);
		return ERR_PTR(err);
	}
	err = rtrs_client_sysfs_add_session(session);
	for (i = 0; i < params->path_count && !err; i++)
		err = session_add_path(session, &params->path[i], !i, extack);
	if (!err)
		err = session_opened(session, params->path_count, extack);
	if (err) {
		session_teardown(session);
		return ERR_PTR(err);
	}
	rtrs_client_sysfs_announce(session);
	return session;
}
EXPORT_SYMBOL_GPL(rtrs_client_open);

void rtrs_client_close(struct rtrs_client_session *session)
{
	spin_lock_bh(&session->state_lock);
	session->opened = false;
	spin_unlock_bh(&session->state_lock);
	cancel_work_sync(&session->event_work);
	session_teardown(session);
}
EXPORT_SYMBOL_GPL(rtrs_client_close);

int rtrs_client_query(struct rtrs_client_session *session, struct rtrs_client_attrs *attrs)
{
	*attrs = session->attrs;
	return READ_ONCE(session->connected) ? 0 : -ENOTCONN;
}
EXPORT_SYMBOL_GPL(rtrs_client_query);

u32 rtrs_client_session_id(const struct rtrs_client_session *session)
{
	return session->id;
}
EXPORT_SYMBOL_GPL(rtrs_client_session_id);
