// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions, found by name. The first mapping connects a session, the last unmap
 * closes it. sessions_lock is never held meanwhile: the process that connects or
 * closes a session owns it by the state, and others wait, killable, for a change
 * of that state.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include "client.h"

static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);

static void session_set_state(struct rnbd_client_session *session,
			      enum rnbd_client_session_state state)
{
	lockdep_assert_held(&sessions_lock);
	smp_store_release(&session->state, state);	/* pairs with session_event() */
	wake_up_all(&session->wait);
}

/* Takes the session out of the list: its name is free again. */
static void session_gone(struct rnbd_client_session *session)
{
	mutex_lock(&sessions_lock);
	list_del(&session->entry);
	session_set_state(session, RNBD_CLIENT_SESSION_GONE);
	mutex_unlock(&sessions_lock);
	rnbd_client_session_put(session);
}

/*
 * Ends the transport. No device is left, so no request and no waiter for a control
 * message is. The orphan work may run (stopped first), and events (the transport
 * waits for them).
 */
static void session_disconnect(struct rnbd_client_session *session)
{
	rnbd_client_msg_session_stop(session);
	rnbd_client_recover_stop(session);
	cancel_work_sync(&session->revalidate_work);
	cancel_delayed_work_sync(&session->slots_work);		/* nor requests to start this */
	cancel_delayed_work_sync(&session->expire_work);	/* no device is left to start it */
	rtrs_client_close(session->rtrs);
}

static void session_back(struct rnbd_client_session *session)
{
	mutex_lock(&session->lock);
	session->down = false;
	mutex_unlock(&session->lock);
}

/* Process context, no locks held. */
static void session_event(void *priv, enum rtrs_client_event event, int err)
{
	struct rnbd_client_session *session = priv;
	/* Pairs with session_set_state(). In other states the session has no device. */
	bool ready = smp_load_acquire(&session->state) == RNBD_CLIENT_SESSION_READY;

	switch (event) {
	case RTRS_CLIENT_DISCONNECTED:
		rnbd_client_dev_lost(session, err);
		break;
	case RTRS_CLIENT_RECONNECTED:
		session_back(session);
		if (ready)
			rnbd_client_recover(session);
		break;
	case RTRS_CLIENT_SETTINGS:
		if (ready)
			rnbd_client_park_settings(session);
		break;
	}
}

static u32 session_devices(void *priv)
{
	struct rnbd_client_session *session = priv;

	return READ_ONCE(session->users) - READ_ONCE(session->held);
}

static bool session_held(void *priv)
{
	struct rnbd_client_session *session = priv;

	return READ_ONCE(session->held);
}

static const struct rtrs_client_ops rtrs_ops = {
	.owner		= THIS_MODULE,
	.event		= session_event,
	.devices	= session_devices,
	.held		= session_held,
	.notice		= rnbd_client_notice,
	.granted	= rnbd_client_slots_granted,
};

/* Makes the tag set, by the limits of the transport. */
static int session_setup(struct rnbd_client_session *session, struct netlink_ext_ack *extack)
{
	struct rtrs_client_attrs attrs;
	int err;

	err = rnbd_client_session_limits(session, extack);
	if (err)
		return err;
	rtrs_client_query(session->rtrs, &attrs);
	session->io_cons = attrs.io_cons;
	session->poll_cons = attrs.poll_cons;
	err = rnbd_client_queue_init(session, rnbd_client_io_slots(attrs.queue_depth),
				     rnbd_client_spare_slots(attrs.queue_depth));
	if (err)
		return rtrs_fail(extack, err, "no memory for %u requests",
				 rnbd_client_io_slots(attrs.queue_depth));
	return 0;
}

static int session_connect(struct rnbd_client_session *session,
			   const struct rnbd_client_map_args *args,
			   struct netlink_ext_ack *extack)
{
	struct rtrs_client_params params = {
		.name = args->session,
		.path = args->path,
		.path_count = args->path_count,
		.io_cons = args->connections,
		.poll_cons = args->poll_queues == RNBD_CLIENT_POLL_ANY ? 0 : args->poll_queues,
		.timeout_ms = args->timeout_ms,
	};
	struct rtrs_client_session *rtrs;
	unsigned int timeout_ms;
	int err;

	rtrs_client_settings_init(&params.settings);
	if (args->settings)
		params.settings = *args->settings;
	params.settings.policy = args->policy;

	rtrs = rtrs_client_open(&params, &rtrs_ops, session, extack);
	if (IS_ERR(rtrs))
		return PTR_ERR(rtrs);
	session->rtrs = rtrs;
	session->id = rtrs_client_session_id(rtrs);

	err = session_setup(session, extack);
	if (err)
		goto err_disconnect;
	timeout_ms = args->timeout_ms ?: rnbd_client_timeout_ms(session);
	err = rnbd_client_msg_sess_info(session, timeout_ms);
	if (err) {
		if (!rnbd_client_msg_failed(err, timeout_ms, extack))
			rtrs_fail(extack, err, "the server refuses the session: error %d", err);
		goto err_disconnect;
	}
	return 0;

err_disconnect:
	session_disconnect(session);
	return err;
}

static struct rnbd_client_session *session_find(const char *name)
{
	struct rnbd_client_session *session;

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(session, &sessions, entry)
		if (!strcmp(session->name, name))
			return session;
	return NULL;
}

/* Removes a held session. Module exit waits for this work, which may close the last session. */
static void session_remove_work(struct work_struct *work)
{
	struct rnbd_client_session *session =
		container_of(work, struct rnbd_client_session, remove_work);

	rnbd_client_session_leave(session);
	complete_all(&session->removed);
	rnbd_client_session_put(session);
}

/* A new session in state CONNECTING: the caller owns it. */
static struct rnbd_client_session *session_create(const char *name)
{
	struct rnbd_client_session *session = rnbd_client_session_alloc();

	lockdep_assert_held(&sessions_lock);
	if (!session)
		return NULL;
	session->state = RNBD_CLIENT_SESSION_CONNECTING;
	session->users = 1;
	INIT_WORK(&session->remove_work, session_remove_work);
	init_completion(&session->removed);
	init_waitqueue_head(&session->wait);
	strscpy(session->name, name, sizeof(session->name));
	mutex_init(&session->lock);
	INIT_LIST_HEAD(&session->devs);
	INIT_DELAYED_WORK(&session->expire_work, rnbd_client_park_expired);
	rnbd_client_recover_init(session);
	INIT_WORK(&session->revalidate_work, rnbd_client_revalidate_work);
	INIT_DELAYED_WORK(&session->slots_work, rnbd_client_slots_work);
	rnbd_client_msg_session_init(session);
	list_add_tail(&session->entry, &sessions);
	return session;
}

/*
 * Returns the session of the name with one user more; or, with *created, a new one
 * that the caller has to connect; or, with *wait, one that another process connects
 * or closes: with a reference instead of a user.
 */
static struct rnbd_client_session *session_find_or_create(const struct rnbd_client_map_args *args,
							  bool *created, bool *wait,
						  struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session = session_find(args->session);

	*created = *wait = false;
	if (!session) {
		if (!args->path_count)
			return ERR_PTR(rtrs_fail(extack, -ENXIO,
						 "no such session; to make it a path is needed"));
		session = session_create(args->session);
		*created = true;
		return session ?: ERR_PTR(-ENOMEM);
	}
	if (session->state != RNBD_CLIENT_SESSION_READY) {
		*wait = true;
	} else if (args->settings) {
		return ERR_PTR(rtrs_fail_by(extack, RNBD_REFUSAL_SESSION, -EEXIST,
					    "session %.40s exists; set its settings by themselves",
					    session->name));
	} else if (args->poll_queues != RNBD_CLIENT_POLL_ANY &&
		   args->poll_queues != session->poll_cons) {
		return ERR_PTR(rtrs_fail(extack, -EINVAL, "the session has %u poll queues, not %u",
					 session->poll_cons, args->poll_queues));
	} else {
		WRITE_ONCE(session->users, session->users + 1);
	}
	if (*wait)
		rnbd_client_session_get(session);
	return session;
}

static bool session_is_busy(const struct rnbd_client_session *session)
{
	enum rnbd_client_session_state state = READ_ONCE(session->state);

	return state == RNBD_CLIENT_SESSION_CONNECTING || state == RNBD_CLIENT_SESSION_CLOSING;
}

/* As session_find_or_create(), behind other processes that connect or close the session. */
static struct rnbd_client_session *session_obtain(const struct rnbd_client_map_args *args,
						  bool *created, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	bool wait;
	int err;

	do {
		if (mutex_lock_killable(&sessions_lock))
			return ERR_PTR(rtrs_fail(extack, -EINTR, "interrupted"));
		session = session_find_or_create(args, created, &wait, extack);
		mutex_unlock(&sessions_lock);
		if (IS_ERR(session) || !wait)
			return session;
		err = wait_event_killable(session->wait, !session_is_busy(session));
		rnbd_client_session_put(session);
	} while (!err);
	return ERR_PTR(rtrs_fail(extack, -EINTR, "interrupted"));
}

/* Connects the session that the caller has created: it is READY then, or GONE. */
static int session_bring_up(struct rnbd_client_session *session,
			    const struct rnbd_client_map_args *args, bool held,
			    struct netlink_ext_ack *extack)
{
	int err = session_connect(session, args, extack);

	if (err) {
		session_gone(session);
		return err;
	}
	mutex_lock(&sessions_lock);
	WRITE_ONCE(session->held, held);
	session_set_state(session, RNBD_CLIENT_SESSION_READY);
	mutex_unlock(&sessions_lock);
	return 0;
}

struct rnbd_client_session *rnbd_client_session_join(const struct rnbd_client_map_args *args,
						     struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	bool created;
	int err;

	session = session_obtain(args, &created, extack);
	if (IS_ERR(session) || !created)
		return session;
	err = session_bring_up(session, args, false, extack);
	return err ? ERR_PTR(err) : session;
}

struct rnbd_client_session *rnbd_client_session_add(const struct rnbd_client_map_args *args,
						    struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	bool created;
	int err;

	if (!args->path_count)
		return ERR_PTR(rtrs_fail(extack, -EINVAL, "a session needs a path"));
	session = session_obtain(args, &created, extack);
	if (IS_ERR(session))
		return session;
	if (!created) {
		rnbd_client_session_leave(session);
		return ERR_PTR(rtrs_fail_by(extack, RNBD_REFUSAL_SESSION, -EEXIST,
					    "session %.40s exists", args->session));
	}
	rnbd_client_session_get(session);
	err = session_bring_up(session, args, true, extack);
	if (err) {
		rnbd_client_session_put(session);
		return ERR_PTR(err);
	}
	return session;
}

int rnbd_client_session_fill(struct rnbd_client_session *session, struct sk_buff *msg)
{
	int err = -ENODEV;

	mutex_lock(&sessions_lock);
	if (session->state == RNBD_CLIENT_SESSION_READY)
		err = rtrs_client_session_fill(msg, session->rtrs);
	mutex_unlock(&sessions_lock);
	return err;
}

static struct rnbd_client_session *session_find_held(u32 id, const char *name,
						     struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(session, &sessions, entry) {
		if ((id && session->id != id) || (name && strcmp(session->name, name)) ||
		    session->state != RNBD_CLIENT_SESSION_READY)
			continue;
		if (!session->held)
			return ERR_PTR(rtrs_fail(extack, -EINVAL,
						 "it ends when its last device is unmapped"));
		if (session->users > 1)
			return ERR_PTR(rtrs_fail(extack, -EBUSY, "%u devices are mapped over it",
						 session->users - 1));
		return session;
	}
	return ERR_PTR(rtrs_fail(extack, -ENOENT, "no such session on this client"));
}

int rnbd_client_session_del(u32 id, const char *name, struct netlink_ext_ack *extack)
{
	struct rnbd_client_session *session;
	int err = 0;

	if (mutex_lock_killable(&sessions_lock))
		return rtrs_fail(extack, -EINTR, "interrupted");
	session = session_find_held(id, name, extack);
	if (!IS_ERR(session)) {
		WRITE_ONCE(session->held, false);
		/* One for the work, one for us */
		rnbd_client_session_get(session);
		rnbd_client_session_get(session);
	}
	mutex_unlock(&sessions_lock);
	if (IS_ERR(session))
		return PTR_ERR(session);
	queue_work(rnbd_client_remove_wq, &session->remove_work);
	if (wait_for_completion_killable(&session->removed))
		err = rtrs_fail(extack, -EINTR, "interrupted; it goes by itself");
	rnbd_client_session_put(session);
	return err;
}

void rnbd_client_session_leave(struct rnbd_client_session *session)
{
	mutex_lock(&sessions_lock);
	WRITE_ONCE(session->users, session->users - 1);
	if (session->users) {
		mutex_unlock(&sessions_lock);
		return;
	}
	session_set_state(session, RNBD_CLIENT_SESSION_CLOSING);
	mutex_unlock(&sessions_lock);

	session_disconnect(session);
	session_gone(session);
}
