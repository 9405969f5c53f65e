// SPDX-License-Identifier: GPL-2.0
/*
 * A change puts the new list, and then ends what that would not have let in, under one lock. Who
 * comes meanwhile is asked again under that lock before it is in: a path in
 * rnbd_server_access_path_up(), an opening in rnbd_server_access_confirm(). So nothing outlives a
 * list that does not have it.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "access.h"

static void would_end(struct rnbd_access_change *change, int attr, u32 id, u32 *count)
{
	if ((*count)++ < RNBD_ACCESS_IDS)
		nla_put_u32(change->msg, attr, id);
}

/* The peer of a session is that of its first path that is let in. */
static int judge_path(const struct rtrs_server_guest *guest, void *arg)
{
	struct rnbd_access_change *change = arg;
	struct rnbd_server_session *session = rnbd_server_access_session_by_id(guest->session_id);
	const struct rnbd_access_entry *peer;
	enum rnbd_access_reason reason;

	reason = rnbd_server_access_recognise(&change->to, guest,
					      session ? session->next_peer : "", &peer);
	if (!reason && session && peer)
		strscpy(session->next_peer, peer->name, sizeof(session->next_peer));
	if (reason && change->apply)
		rnbd_server_access_note_path(RNBD_ACCESS_EVENT_REVOKED, guest,
					     session ? session->peer : "", reason);
	else if (reason)
		would_end(change, RNBD_A_ACCESS_ENDED_PATH_ID, guest->path_id, &change->paths);
	return change->apply ? rnbd_server_access_errno(reason) : 0;
}

static void judge_dev(struct rnbd_access_change *change, struct rnbd_server_dev *dev)
{
	const char *peer = dev->session->next_peer;
	struct rnbd_server_right *right = change->right;
	/* a file is open by a list alone */
	bool open = change->to.state == RNBD_ACCESS_STATE_OPEN && dev->bdev;

	if (open || !rnbd_server_access_judge_again(&change->to, peer, dev, right)) {
		if (change->apply)
			rnbd_server_export_name(dev, peer, open ? "" : right->export);
	} else if (change->apply) {
		rnbd_server_access_note_open(RNBD_ACCESS_EVENT_REVOKED, dev,
					     right->reason ?: RNBD_ACCESS_REASON_OTHER);
		rnbd_server_dev_revoke(dev);
	} else {
		would_end(change, RNBD_A_ACCESS_ENDED_EXPORT_ID, dev->nl_id, &change->exports);
	}
}

static void judge_all(struct rnbd_access_change *change)
{
	struct rnbd_server_session *session;
	struct rnbd_server_dev *dev, *next;

	list_for_each_entry(session, &rnbd_server_access_sessions, entry)
		session->next_peer[0] = '\0';
	rtrs_server_judge_paths(rnbd_server_transport, judge_path, change);
	list_for_each_entry(session, &rnbd_server_access_sessions, entry) {
		if (READ_ONCE(session->lost))
			continue;
		mutex_lock(&session->lock);
		list_for_each_entry_safe(dev, next, &session->devs, session_entry)
			judge_dev(change, dev);
		mutex_unlock(&session->lock);
		if (change->apply)
			strscpy(session->peer, session->next_peer, sizeof(session->peer));
	}
}

static void keep_counts(const struct rnbd_access_list *from, struct rnbd_access_list *to)
{
	const struct rnbd_access_entry *peer;
	u32 i;

	for (i = 0; from && to && i < to->peers; i++) {
		peer = rnbd_server_list_peer(from, to->entry[i].name);
		if (peer)
			to->entry[i].denied = peer->denied;
	}
}

static int change_locked(struct rnbd_access_change *change)
{
	struct rnbd_access old = rnbd_server_access;

	change->to.number = old.number;
	if (change->expect && change->expect != old.number)
		return -EAGAIN;
	judge_all(change);
	if (change->dry)
		return 0;
	if ((change->paths || change->exports) && !change->force)
		return -EBUSY;
	change->to.number++;
	change->to.loaded_ns = ktime_get_real_ns();
	keep_counts(old.list, change->to.list);
	rnbd_server_access = change->to;
	rnbd_server_access_note_loaded(&old);
	change->apply = true;
	judge_all(change);
	change->to.list = old.list;	/* to be freed */
	return 0;
}

int rnbd_server_access_change(struct rnbd_access_change *change)
{
	int err = -ENOMEM;

	change->right = kmalloc(sizeof(*change->right), GFP_KERNEL);
	if (change->right) {
		mutex_lock(&rnbd_server_access_lock);
		err = change_locked(change);
		mutex_unlock(&rnbd_server_access_lock);
	}
	kfree(change->right);
	rnbd_server_access_list_free(change->to.list);
	return err;
}
