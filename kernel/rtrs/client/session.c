// SPDX-License-Identifier: GPL-2.0
/* Sessions: open, close, paths that are added or removed, changes of settings. */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rtrs/aside.h>
#include "connect.h"
#include "notify.h"

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

static int session_publish(struct rtrs_client_session *session, struct netlink_ext_ack *extack)
{
	struct rtrs_client_session *other;
	unsigned long id;
	int err = 0;

	mutex_lock(&rtrs_client_lock);
	xa_for_each(&rtrs_client_sessions, id, other) {
		if (!strcmp(other->name, session->name)) {
			err = rtrs_fail_by(extack, RNBD_REFUSAL_SESSION, -EEXIST,
					   "session %.40s is open already", session->name);
			goto out;
		}
	}
	err = xa_err(xa_store(&rtrs_client_sessions, session->id, session, GFP_KERNEL));
	if (err)
		goto out;
	spin_lock_bh(&session->state_lock);
	rtrs_client_events->session_event(session, RNBD_EVENT_CREATE, 0);
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
	rtrs_client_events->session_event(session, RNBD_EVENT_DESTROY, 0);
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
	session->id = rtrs_new_id();
	strscpy(session->name, params->name, sizeof(session->name));
	get_random_bytes(session->uuid, sizeof(session->uuid));
	session->uuid[6] = (session->uuid[6] & 0x0f) | 0x40;
	session->uuid[8] = (session->uuid[8] & 0x3f) | 0x80;
	session->ops = ops;
	session->priv = priv;
	session->settings = params->settings;
	session->port = rtrs_addr_port(&params->path[0].dst) ?: RTRS_DEFAULT_PORT;
	session->io_cons = params->io_cons ?: num_online_cpus();
	session->poll_cons = params->poll_cons;
	session->state = RNBD_SESSION_STATE_RECONNECTING;
	mutex_init(&session->admin);
	mutex_init(&session->fence);
	mutex_init(&session->lock);
	spin_lock_init(&session->state_lock);
	rtrs_dev_pool_init(&session->devs);
	INIT_WORK(&session->event_work, rtrs_client_session_event_work);
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

static int addr_check(const struct rtrs_path_addr *addr, struct netlink_ext_ack *extack)
{
	char dst[RTRS_ADDR_STRLEN];

	if (!rtrs_addr_len(&addr->dst))
		return rtrs_fail(extack, -EINVAL, "a path has no server address");
	rtrs_addr_print(&addr->dst, dst, sizeof(dst));
	if (addr->src.ss_family != AF_UNSPEC && addr->src.ss_family != addr->dst.ss_family)
		return rtrs_fail(extack, -EINVAL, "%s: the path has addresses of two families",
				 dst);
	return 0;
}

static int params_check(const struct rtrs_client_params *params, struct netlink_ext_ack *extack)
{
	unsigned int io_cons = params->io_cons ?: num_online_cpus();
	unsigned int i, j;
	int err;

	if (rtrs_name_check(params->name, strlen(params->name)))
		return rtrs_fail(extack, -EINVAL,
				 "a session name has 1 to 254 bytes and neither '/' nor '.'");
	if (!params->path_count || params->path_count > RTRS_PATHS_MAX)
		return rtrs_fail(extack, -EINVAL, "a session has 1 to %d paths", RTRS_PATHS_MAX);
	if (io_cons > RTRS_CONS_MAX || params->poll_cons > RTRS_CONS_MAX ||
	    io_cons + params->poll_cons + 1 > RTRS_CONS_MAX)
		return rtrs_fail(extack, -EINVAL, "a path has at most %d connections",
				 RTRS_CONS_MAX);
	for (i = 0; i < params->path_count; i++) {
		err = addr_check(&params->path[i], extack);
		if (err)
			return err;
		for (j = 0; j < i; j++)
			if (same_path(&params->path[i], &params->path[j]))
				return rtrs_client_path_twice(&params->path[i], extack);
	}
	return rtrs_client_settings_check(&params->settings, extack);
}

static void path_publish(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;

	spin_lock_bh(&session->state_lock);
	rtrs_client_events->path_event(path, RNBD_EVENT_CREATE, 0);
	rtrs_client_session_update(session);
	spin_unlock_bh(&session->state_lock);
}

/* Takes over the caller's reference to @path, if it succeeds. */
static int session_insert(struct rtrs_client_session *session, struct rtrs_client_path *path,
			  struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&rtrs_client_lock);
	mutex_lock(&session->lock);
	if (session->closing)
		err = rtrs_fail(extack, -ENODEV, "session %.40s is being closed", session->name);
	else if (rtrs_client_path_set_locked(session)->count >= RTRS_PATHS_MAX)
		err = rtrs_fail(extack, -EINVAL, "a session has 1 to %d paths", RTRS_PATHS_MAX);
	else
		err = rtrs_client_path_set_add(session, path);
	if (!err) {
		err = xa_err(xa_store(&rtrs_client_paths, path->id, path, GFP_NOIO));
		if (err)
			rtrs_client_path_set_del(session, path);
	}
	mutex_unlock(&session->lock);
	mutex_unlock(&rtrs_client_lock);
	if (!err)
		path_publish(path);
	return err;
}

/* Takes a path that is down out of its session. Netlink and submitters may still see it. */
static void session_del_path(struct rtrs_client_session *session, struct rtrs_client_path *path)
{
	mutex_lock(&rtrs_client_lock);
	mutex_lock(&session->lock);
	xa_erase(&rtrs_client_paths, path->id);
	rtrs_client_path_set_del(session, path);
	mutex_unlock(&session->lock);
	mutex_unlock(&rtrs_client_lock);
	WARN_ON_ONCE(!rtrs_client_path_move(path, RTRS_CLIENT_PATH_DEAD, 0));
	spin_lock_bh(&session->state_lock);
	rtrs_client_events->path_event(path, RNBD_EVENT_DESTROY, 0);
	spin_unlock_bh(&session->state_lock);
	synchronize_rcu();
	complete_all(&path->gone);
	rtrs_client_path_put(path);
}

/* Removes a path that is being closed. A task that waits for it in one of its files gives up. */
static void session_remove_work(struct work_struct *work)
{
	struct rtrs_client_path *path = container_of(work, struct rtrs_client_path, remove_work);
	struct rtrs_client_session *session = path->session;

	mutex_lock(&session->admin);
	/* Else session_teardown() does it. */
	if (!READ_ONCE(session->closing)) {
		rtrs_client_files->del_path(path);
		rtrs_client_path_close(path);
		session_del_path(session, path);
	}
	mutex_unlock(&session->admin);
	rtrs_client_path_put(path);
	rtrs_client_session_put(session);
}

/* On an error *@out may be set: a path that failed, which the caller has to remove. */
static int session_add_path(struct rtrs_client_session *session, const struct rtrs_path_addr *addr,
			    unsigned int timeout_ms, struct netlink_ext_ack *extack,
			    struct rtrs_client_path **out)
{
	struct rtrs_client_path *path;
	unsigned int noio;
	int err;

	*out = NULL;
	path = rtrs_client_path_create(session, addr, timeout_ms);
	if (!path)
		return -ENOMEM;
	INIT_WORK(&path->remove_work, session_remove_work);
	err = session_insert(session, path, extack);
	if (err) {
		/* Readers may have seen it in the path set. */
		synchronize_rcu();
		rtrs_client_path_put(path);
		return err;
	}
	*out = path;
	/* Path workers, which I/O waits for, need the same locks of rdma_cm. */
	noio = memalloc_noio_save();
	err = rtrs_client_connect(path, extack);
	memalloc_noio_restore(noio);
	if (err)
		rtrs_client_path_not_made(path);
	return err ?: rtrs_client_files->add_path(path);
}

static int session_lock_admin(struct rtrs_client_session *session, struct netlink_ext_ack *extack)
{
	if (mutex_lock_killable(&session->admin))
		return rtrs_fail(extack, -EINTR, "interrupted");
	return 0;
}

int rtrs_client_session_add_path(struct rtrs_client_session *session,
				 const struct rtrs_path_addr *addr, unsigned int timeout_ms,
				 struct netlink_ext_ack *extack, struct rtrs_client_path **out)
{
	struct rtrs_client_path *path;
	int err;

	err = addr_check(addr, extack) ?: session_lock_admin(session, extack);
	if (err)
		return err;
	err = session_add_path(session, addr, timeout_ms, extack, &path);
	if (path)
		rtrs_client_path_get(path);
	mutex_unlock(&session->admin);
	if (err && path)
		rtrs_client_session_remove_path(path, NULL);
	if (!err && out)
		*out = path;
	else if (path)
		rtrs_client_path_put(path);
	return err;
}

int rtrs_client_session_remove_path(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	if (rtrs_client_path_close_begin(path, true)) {
		rtrs_client_session_get(path->session);
		rtrs_client_path_get(path);
		queue_work(rtrs_client_remove_wq, &path->remove_work);
	}
	if (wait_for_completion_state(&path->gone, RTRS_WAIT_STATE))
		return rtrs_fail(extack, -EINTR, "interrupted; %s goes by itself", path->name);
	return 0;
}

/* No other task adds or removes a path behind this; a task that connects one gives up. */
static void session_freeze(struct rtrs_client_session *session)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;

	mutex_lock(&session->lock);
	WRITE_ONCE(session->closing, true);
	set = rtrs_client_path_set_locked(session);
	for (i = 0; i < set->count; i++)
		rtrs_client_path_close_begin(set->path[i], true);
	mutex_unlock(&session->lock);
	mutex_lock(&session->admin);
	mutex_unlock(&session->admin);
}

/*
 * Ends a session, also after an open that failed. Netlink sees the session until it is
 * unpublished. The removal of files waits for sysfs handlers. Our caller has stopped
 * events. Path workers run until rtrs_client_path_close() has returned.
 */
static void session_teardown(struct rtrs_client_session *session)
{
	struct rtrs_client_path_set *set;
	unsigned int i;

	session_freeze(session);
	mutex_lock(&session->lock);
	set = rtrs_client_path_set_locked(session);
	mutex_unlock(&session->lock);
	for (i = 0; i < set->count; i++)
		rtrs_client_files->del_path(set->path[i]);
	for (i = 0; i < set->count; i++)
		rtrs_client_path_close(set->path[i]);
	for (i = set->count; i > 0; i--) {
		mutex_lock(&session->lock);
		set = rtrs_client_path_set_locked(session);
		mutex_unlock(&session->lock);
		session_del_path(session, set->path[i - 1]);
	}
	/* Behind the paths: a writer of add_path may wait for its path to be gone. */
	rtrs_client_files->del_session(session);
	session_unpublish(session);
	rtrs_client_session_put(session);
}

/* Begins to send events, if each path is connected at this moment. */
static int session_opened(struct rtrs_client_session *session, unsigned int paths,
			  struct netlink_ext_ack *extack)
{
	spin_lock_bh(&session->state_lock);
	session->opened = session->connected == paths;
	session->told_up = true;
	session->told_losses = session->losses;
	session->changed = false;
	spin_unlock_bh(&session->state_lock);
	if (!session->opened)
		return rtrs_fail(extack, -ECONNRESET, "a path was lost while others connected");
	return 0;
}

static struct rtrs_client_session *session_open(const struct rtrs_client_params *params,
						const struct rtrs_client_ops *ops, void *priv,
						struct netlink_ext_ack *extack)
{
	unsigned int timeout_ms = params->timeout_ms ?: params->settings.connect_ms, i;
	struct rtrs_client_session *session;
	struct rtrs_client_path *path;
	int err;

	err = params_check(params, extack);
	if (err)
		return ERR_PTR(err);
	session = session_alloc(params, ops, priv);
	if (!session)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&session->admin);	/* no other task adds a path before those of @params */
	err = session_publish(session, extack);
	if (err) {
		mutex_unlock(&session->admin);
		rtrs_client_session_put(session);
		return ERR_PTR(err);
	}
	err = rtrs_client_files->add_session(session);
	for (i = 0; i < params->path_count && !err; i++)
		err = session_add_path(session, &params->path[i], timeout_ms, extack, &path);
	if (!err)
		err = session_opened(session, params->path_count, extack);
	mutex_unlock(&session->admin);
	if (err) {
		session_teardown(session);
		return ERR_PTR(err);
	}
	rtrs_client_files->announce(session);
	return session;
}

struct rtrs_client_session *rtrs_client_open(const struct rtrs_client_params *params,
					     const struct rtrs_client_ops *ops, void *priv,
					     struct netlink_ext_ack *extack)
{
	struct rtrs_client_session *session;

	if (!try_module_get(ops->owner))
		return ERR_PTR(rtrs_fail(extack, -ENODEV, "module %s is being unloaded",
					 module_name(ops->owner)));
	session = session_open(params, ops, priv, extack);
	if (IS_ERR(session))
		module_put(ops->owner);
	return session;
}
EXPORT_SYMBOL_GPL(rtrs_client_open);

void rtrs_client_close(struct rtrs_client_session *session)
{
	struct module *owner = session->ops->owner;

	spin_lock_bh(&session->state_lock);
	session->opened = false;
	spin_unlock_bh(&session->state_lock);
	cancel_work_sync(&session->event_work);
	session_teardown(session);
	module_put(owner);
}
EXPORT_SYMBOL_GPL(rtrs_client_close);

int rtrs_client_query(struct rtrs_client_session *session, struct rtrs_client_attrs *attrs)
{
	*attrs = session->attrs;
	attrs->epoch = READ_ONCE(session->losses);
	return READ_ONCE(session->connected) ? 0 : -ENOTCONN;
}
EXPORT_SYMBOL_GPL(rtrs_client_query);

u32 rtrs_client_granted(const struct rtrs_client_session *session)
{
	return READ_ONCE(session->granted);
}
EXPORT_SYMBOL_GPL(rtrs_client_granted);

static int send_question(struct rtrs_client_session *session, u32 payload)
{
	const struct rtrs_client_path_set *set;
	int err = -ENOTCONN;
	unsigned int i;

	rcu_read_lock();
	set = rcu_dereference(session->paths);
	for (i = 0; i < set->count && err; i++)
		if (rtrs_client_path_connected(set->path[i]) && set->path[i]->grants)
			err = rtrs_client_con_send_imm(set->path[i]->con[0], RTRS_IMM_SLOTS,
						       payload);
	rcu_read_unlock();
	return err;
}

int rtrs_client_want(struct rtrs_client_session *session, u32 slots)
{
	u32 payload;

	spin_lock_bh(&session->state_lock);
	WRITE_ONCE(session->granted, min(session->granted, slots));
	payload = rtrs_imm_slots(++session->question, slots);
	session->question &= 0xfff;
	spin_unlock_bh(&session->state_lock);
	return send_question(session, payload);
}
EXPORT_SYMBOL_GPL(rtrs_client_want);

u32 rtrs_client_session_id(const struct rtrs_client_session *session)
{
	return session->id;
}
EXPORT_SYMBOL_GPL(rtrs_client_session_id);

/* Readers hold no lock: each field is consistent, two may not fit. */
static void settings_store(struct rtrs_client_settings *to, const struct rtrs_client_settings *from)
{
	WRITE_ONCE(to->policy, from->policy);
	WRITE_ONCE(to->max_reconnects, from->max_reconnects);
	WRITE_ONCE(to->hb_interval_ms, from->hb_interval_ms);
	WRITE_ONCE(to->hb_misses, from->hb_misses);
	WRITE_ONCE(to->reconnect_ms, from->reconnect_ms);
	WRITE_ONCE(to->reconnect_max_ms, from->reconnect_max_ms);
	WRITE_ONCE(to->connect_ms, from->connect_ms);
	WRITE_ONCE(to->io_ms, from->io_ms);
	WRITE_ONCE(to->no_path_ms, from->no_path_ms);
	WRITE_ONCE(to->lost_writes, from->lost_writes);
}

int rtrs_client_settings_set(struct rtrs_client_session *session,
			     const struct rtrs_client_settings *settings,
			     struct netlink_ext_ack *extack)
{
	const struct rtrs_client_path_set *set;
	unsigned int i;
	int err;

	lockdep_assert_held(&session->lock);
	err = rtrs_client_settings_check(settings, extack);
	if (err)
		return err;
	settings_store(&session->settings, settings);
	set = rtrs_client_path_set_locked(session);
	for (i = 0; i < set->count; i++) {
		rtrs_hb_set(&set->path[i]->hb, settings->hb_interval_ms, settings->hb_misses);
		rtrs_client_path_settings_changed(set->path[i]);
	}
	rtrs_client_session_changed(session);
	return 0;
}
