// SPDX-License-Identifier: GPL-2.0
/* The server, and what can be found by way of it: devices, sessions, paths. */
#include <linux/wait.h>
#include "server.h"

static DEFINE_MUTEX(the_server_lock);	/* outside of rtrs_server.lock */
struct rtrs_server *rtrs_server_current;
static DECLARE_WAIT_QUEUE_HEAD(left_wq);

/* -EEXIST: there is another one. */
int rtrs_server_set_current(struct rtrs_server *srv)
{
	int err = -EEXIST;

	mutex_lock(&the_server_lock);
	if (!rtrs_server_current) {
		rtrs_server_current = srv;
		err = 0;
	}
	mutex_unlock(&the_server_lock);
	return err;
}

void rtrs_server_clear_current(void)
{
	mutex_lock(&the_server_lock);
	rtrs_server_current = NULL;
	mutex_unlock(&the_server_lock);
}

/* srv->lock held. NULL: the device is not (or no longer) served. */
struct rtrs_server_dev *rtrs_server_dev_find(struct rtrs_server *srv, struct ib_device *ib_dev)
{
	struct rtrs_server_dev *sdev;

	lockdep_assert_held(&srv->lock);
	list_for_each_entry(sdev, &srv->devs, entry)
		if (sdev->ib_dev == ib_dev)
			return sdev;
	return NULL;
}

/* The device may be gone after the call. */
void rtrs_server_dev_left(struct rtrs_server_path *path)
{
	struct rtrs_server *srv = path->session->srv;

	mutex_lock(&srv->lock);
	WRITE_ONCE(path->sdev->paths, path->sdev->paths - 1);
	path->sdev = NULL;
	wake_up_all(&left_wq);
	mutex_unlock(&srv->lock);
}

/* Until all paths have left the device, which is out of the list. */
void rtrs_server_dev_await(struct rtrs_server *srv, const struct rtrs_server_dev *sdev)
{
	while (!wait_event_timeout(left_wq, !READ_ONCE(sdev->paths), 30 * HZ))
		pr_warn("removal of %s waits for %u paths\n", dev_name(&sdev->ib_dev->dev),
			sdev->paths);

	/* Whoever made it zero is done with it as soon as the lock is ours. */
	mutex_lock(&srv->lock);
	mutex_unlock(&srv->lock);
}

/* The server with its lock held, or NULL. */
struct rtrs_server *rtrs_server_lock(void)
{
	struct rtrs_server *srv;

	mutex_lock(&the_server_lock);
	srv = rtrs_server_current;
	if (srv)
		mutex_lock(&srv->lock);
	else
		mutex_unlock(&the_server_lock);
	return srv;
}

void rtrs_server_unlock(struct rtrs_server *srv)
{
	mutex_unlock(&srv->lock);
	mutex_unlock(&the_server_lock);
}

/* The session with the lowest id above @id that has a path up, referenced; NULL at the end. */
struct rtrs_server_session *rtrs_server_session_next(u32 id)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_session *session, *found = NULL;

	if (!srv)
		return NULL;
	list_for_each_entry(session, &srv->sessions, entry) {
		if (session->id > id && READ_ONCE(session->up)) {
			found = session;
			kref_get(&found->ref);
			break;
		}
	}
	rtrs_server_unlock(srv);
	return found;
}

struct rtrs_server_session *rtrs_server_session_by_name(const char *name)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_session *session, *found = NULL;

	if (!srv)
		return NULL;
	list_for_each_entry(session, &srv->sessions, entry) {
		if (!strcmp(session->name, name) && READ_ONCE(session->up)) {
			found = session;
			kref_get(&found->ref);
			break;
		}
	}
	rtrs_server_unlock(srv);
	return found;
}

/* The path with the lowest id above @id, with a reference; NULL at the end. */
struct rtrs_server_path *rtrs_server_path_next(u32 id)
{
	struct rtrs_server *srv = rtrs_server_lock();
	struct rtrs_server_path *path, *found = NULL;

	if (!srv)
		return NULL;
	list_for_each_entry(path, &srv->paths, all_entry) {
		if (path->id > id) {
			found = path;
			kref_get(&found->ref);
			break;
		}
	}
	rtrs_server_unlock(srv);
	return found;
}
