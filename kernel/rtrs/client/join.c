// SPDX-License-Identifier: GPL-2.0
/* A path that has been connected joins the others of its session. */
#include "connect.h"
#include "path-state.h"

int rtrs_client_path_twice(const struct rtrs_path_addr *addr, struct netlink_ext_ack *extack)
{
	char dst[RTRS_ADDR_STRLEN];

	rtrs_addr_print(&addr->dst, dst, sizeof(dst));
	return rtrs_fail_by(extack, RNBD_REFUSAL_SESSION, -EEXIST,
			    "%s: the session would have this path twice", dst);
}

static bool name_is_unique(struct rtrs_client_session *session, const struct rtrs_client_path *path)
{
	const struct rtrs_client_path_set *set;
	bool unique = true;
	unsigned int i;

	mutex_lock(&session->lock);
	set = rtrs_client_path_set_locked(session);
	for (i = 0; i < set->count; i++)
		if (set->path[i] != path && !strcmp(set->path[i]->name, path->name))
			unique = false;
	mutex_unlock(&session->lock);
	return unique;
}

static u32 path_usr_len(const struct rtrs_client_path *path)
{
	return min_t(u32, RTRS_CLIENT_USR_MAX, path->geo.max_hdr_size - RTRS_READ_HDR_MAX);
}

/* While the session is opened its limits are the least of its paths'. */
static void session_take_limits(struct rtrs_client_attrs *attrs,
				const struct rtrs_client_path *path)
{
	WRITE_ONCE(attrs->queue_depth, min(attrs->queue_depth, path->geo.queue_depth));
	WRITE_ONCE(attrs->max_io_size, min(attrs->max_io_size, path->max_io_size));
	WRITE_ONCE(attrs->max_segments, min(attrs->max_segments, path->max_segments));
	WRITE_ONCE(attrs->max_usr_len, min(attrs->max_usr_len, path_usr_len(path)));
}

/* Requests of the session's limits go by any path. They change only when none is up. */
int rtrs_client_session_join(struct rtrs_client_path *path, struct netlink_ext_ack *extack)
{
	struct rtrs_client_session *session = path->session;
	struct rtrs_client_attrs *attrs = &session->attrs;

	if (!name_is_unique(session, path))
		return rtrs_client_path_twice(&path->addr, extack);
	if (!attrs->queue_depth) {
		*attrs = (struct rtrs_client_attrs){
			.queue_depth = path->geo.queue_depth,
			.max_io_size = path->max_io_size,
			.max_segments = path->max_segments,
			.max_usr_len = path_usr_len(path),
			.io_cons = session->io_cons,
			.poll_cons = session->poll_cons,
		};
		return 0;
	}
	if (!session->opened || path->founds)
		session_take_limits(attrs, path);
	if (path->geo.queue_depth < attrs->queue_depth)
		return rtrs_fail(extack, -EMSGSIZE, "server has %u slots, the session needs %u",
				 path->geo.queue_depth, attrs->queue_depth);
	if (path->max_io_size < attrs->max_io_size || path->max_segments < attrs->max_segments ||
	    path_usr_len(path) < attrs->max_usr_len)
		return rtrs_fail(extack, -EMSGSIZE,
				 "path carries %u bytes in %u segments, the session %u in %u",
				 path->max_io_size, path->max_segments, attrs->max_io_size,
				 attrs->max_segments);
	return 0;
}

int rtrs_client_path_up(struct rtrs_client_path *path)
{
	struct rtrs_client_session *session = path->session;
	int err = 0;

	rtrs_hb_reset(&path->hb);
	rtrs_hb_set(&path->hb, READ_ONCE(session->settings.hb_interval_ms),
		    READ_ONCE(session->settings.hb_misses));
	spin_lock_bh(&session->state_lock);
	/* What the last path has left is ended by a founder alone. */
	if (path->founds && session->founder != path)
		err = -ESTALE;
	else if (!path->founds && !session->connected)
		err = -EBUSY;
	path->epoch = session->losses;
	/* Of one that joins others, it is theirs. */
	if (!session->connected)
		WRITE_ONCE(session->granted, path->granted);
	if (!err && !rtrs_client_path_move_locked(path, RTRS_CLIENT_PATH_CONNECTED, 0))
		err = path->last_error ?: -ECONNABORTED;
	if (!err) {
		path->attempts = 0;
		path->was_up = true;
		path->making = false;
		rtrs_client_path_clear_busy(path);
		if (session->connected == 1)
			rtrs_client_paths_wake(session, true);
	}
	if (session->founder == path)
		session->founder = NULL;
	spin_unlock_bh(&session->state_lock);
	/* Lost in this moment: then it does not start, or is stopped after it. */
	if (!err)
		rtrs_hb_start(&path->hb);
	return err;
}
