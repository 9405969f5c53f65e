// SPDX-License-Identifier: GPL-2.0
/*
 * Who may do what. A change puts the new list, and then ends what that would not have let in,
 * under one lock. Who comes meanwhile is asked again under that lock before it is in: a path in
 * rnbd_server_access_path_up(), an opening in rnbd_server_access_confirm(). So nothing outlives
 * a list that does not have it.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "access.h"

DEFINE_MUTEX(rnbd_server_access_lock);	/* of all here, see access.h */
struct rnbd_access rnbd_server_access = { .number = 1 };
static LIST_HEAD(sessions);	/* of struct rnbd_server_session */

static void free_list(struct rnbd_access_list *list)
{
	if (!list)
		return;
	kvfree(list);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_LIST);
}

int rnbd_server_access_errno(enum rnbd_access_reason reason)
{
	static const int errnos[RNBD_ACCESS_REASON_OTHER + 1] = {
		[RNBD_ACCESS_REASON_NO_KEY] = -ENOKEY,
		[RNBD_ACCESS_REASON_NAME_TAKEN] = -EPERM,
		[RNBD_ACCESS_REASON_NO_EXPORT] = -ENOENT,
		[RNBD_ACCESS_REASON_LIMIT_SESSIONS] = -EUSERS,
		[RNBD_ACCESS_REASON_LIMIT_MEMORY] = -ENOMEM,
	};

	return reason ? errnos[reason] ?: -EACCES : 0;
}

struct rnbd_access_usage rnbd_server_access_usage(const char *peer)
{
	struct rnbd_access_usage usage = {};
	struct rnbd_server_session *session;

	lockdep_assert_held(&rnbd_server_access_lock);
	list_for_each_entry(session, &sessions, entry) {
		if (READ_ONCE(session->lost) || strcmp(session->peer, peer))
			continue;
		usage.sessions++;
		usage.devices += READ_ONCE(session->dev_count);
		usage.pinned += rtrs_server_session_pinned(session->transport);
	}
	return usage;
}

enum rnbd_access_reason rnbd_server_access_recognise(const struct rnbd_access *access,
						     const struct rtrs_server_guest *guest,
						     const char *known,
						     const struct rnbd_access_entry **peer)
{
	const struct sockaddr_storage *from = &guest->addr->src;
	const struct rnbd_access_list *list = access->list;

	*peer = NULL;
	if (access->state == RNBD_ACCESS_STATE_OPEN)
		return RNBD_ACCESS_REASON_NONE;
	if (access->state == RNBD_ACCESS_STATE_CLOSED)
		return RNBD_ACCESS_REASON_CLOSED;
	if (guest->forged)
		return RNBD_ACCESS_REASON_ADDRESS_FORGED;
	*peer = *known ? rnbd_server_list_peer(list, known) :
			 rnbd_server_list_find_peer(list, from, guest->gid, guest->name);
	if (*peer && rnbd_server_list_is_peer(*peer, from, guest->gid, guest->name))
		return RNBD_ACCESS_REASON_NONE;
	return rnbd_server_list_find_peer(list, from, guest->gid, NULL) ?
	       RNBD_ACCESS_REASON_SESSION_NAME : RNBD_ACCESS_REASON_NO_KEY;
}

int rnbd_server_access_admit(const struct rtrs_server_guest *guest)
{
	const struct rnbd_access_entry *peer;
	enum rnbd_access_reason reason;

	mutex_lock(&rnbd_server_access_lock);
	reason = rnbd_server_access_recognise(&rnbd_server_access, guest, "", &peer);
	if (reason)
		rnbd_server_access_note_path(RNBD_ACCESS_EVENT_DENIED, guest, "", reason);
	mutex_unlock(&rnbd_server_access_lock);
	return rnbd_server_access_errno(reason);
}

void rnbd_server_access_name_taken(const struct rtrs_server_guest *guest)
{
	mutex_lock(&rnbd_server_access_lock);
	rnbd_server_access_note_path(RNBD_ACCESS_EVENT_DENIED, guest, "",
				     RNBD_ACCESS_REASON_NAME_TAKEN);
	mutex_unlock(&rnbd_server_access_lock);
}

static u64 limit_of(const struct rnbd_access_entry *peer, int type)
{
	return rnbd_server_list_number(peer->nest, type, U64_MAX);
}

/* The session counts already. */
static enum rnbd_access_reason check_limits(const struct rnbd_access_entry *peer)
{
	const struct rnbd_access_usage usage = rnbd_server_access_usage(peer->name);

	if (usage.sessions > limit_of(peer, RNBD_A_ACL_PEER_MAX_SESSIONS))
		return RNBD_ACCESS_REASON_LIMIT_SESSIONS;
	if (usage.pinned > limit_of(peer, RNBD_A_ACL_PEER_MAX_MEMORY_BYTES))
		return RNBD_ACCESS_REASON_LIMIT_MEMORY;
	return RNBD_ACCESS_REASON_NONE;
}

/* A session of which no path has come so far has no peer. */
int rnbd_server_access_path_up(void *priv, const struct rtrs_server_guest *guest)
{
	struct rnbd_server_session *session = priv;
	const struct rnbd_access_entry *peer;
	enum rnbd_access_reason reason;
	bool first;

	mutex_lock(&rnbd_server_access_lock);
	first = !session->peer[0];
	reason = rnbd_server_access_recognise(&rnbd_server_access, guest, session->peer, &peer);
	if (!reason && peer) {
		strscpy(session->peer, peer->name, sizeof(session->peer));
		reason = check_limits(peer);
	}
	rnbd_server_access_note_path(reason ? RNBD_ACCESS_EVENT_DENIED : RNBD_ACCESS_EVENT_GRANTED,
				     guest, session->peer, reason);
	if (reason && first)
		session->peer[0] = '\0';
	mutex_unlock(&rnbd_server_access_lock);
	return rnbd_server_access_errno(reason);
}

/* What it has grown by counts already. */
int rnbd_server_access_grown(void *priv)
{
	const struct rnbd_access *access = &rnbd_server_access;
	const struct rnbd_server_session *session = priv;
	const struct rnbd_access_entry *peer = NULL;
	enum rnbd_access_reason reason = RNBD_ACCESS_REASON_NONE;

	mutex_lock(&rnbd_server_access_lock);
	if (access->state == RNBD_ACCESS_STATE_LISTED && session->peer[0])
		peer = rnbd_server_list_peer(access->list, session->peer);
	if (peer)
		reason = check_limits(peer);
	mutex_unlock(&rnbd_server_access_lock);
	return reason == RNBD_ACCESS_REASON_LIMIT_MEMORY ? -ENOMEM : 0;
}

static struct rnbd_server_session *session_by_id(u32 id)
{
	struct rnbd_server_session *session;

	list_for_each_entry(session, &sessions, entry)
		if (session->id == id && !READ_ONCE(session->lost))
			return session;
	return NULL;
}

void rnbd_server_access_peer_name(u32 session_id, char *name)
{
	struct rnbd_server_session *session;

	mutex_lock(&rnbd_server_access_lock);
	session = session_by_id(session_id);
	strscpy(name, session ? session->peer : "", RTRS_SERVER_PEER_LEN);
	mutex_unlock(&rnbd_server_access_lock);
}

void rnbd_server_access_add(struct rnbd_server_session *session)
{
	mutex_lock(&rnbd_server_access_lock);
	list_add_tail(&session->entry, &sessions);
	mutex_unlock(&rnbd_server_access_lock);
}

void rnbd_server_access_del(struct rnbd_server_session *session)
{
	mutex_lock(&rnbd_server_access_lock);
	list_del(&session->entry);
	mutex_unlock(&rnbd_server_access_lock);
}

static int judge_by_list(const struct rnbd_access_list *list, const char *peer,
			 const char *session, const char *asked, u8 mode,
			 struct rnbd_server_right *right)
{
	const struct rnbd_access_entry *export;
	struct rnbd_access_answer answer;
	const char *path;

	right->reason = rnbd_server_list_judge(list, peer, asked, mode, &answer);
	right->mode = answer.mode;
	export = answer.export;
	if (export)
		strscpy(right->export, export->name, sizeof(right->export));
	if (right->reason)
		return rnbd_server_access_errno(right->reason);
	path = rnbd_server_list_text(export->nest, RNBD_A_ACL_EXPORT_PATH);
	right->fixed = !rnbd_access_is_dir(export);
	right->io_mode = RNBD_IO_BLOCK + rnbd_server_list_number(export->nest,
								 RNBD_A_ACL_EXPORT_IO_MODE, 0);
	if (!right->fixed)
		return rnbd_server_path_compose(&right->path, path, session, answer.rest);
	strscpy(right->path.text, path, sizeof(right->path.text));
	return 0;
}

int rnbd_server_access_judge(const struct rnbd_access *access, const char *peer,
			     const char *session, const char *asked, u8 mode,
			     struct rnbd_server_right *right)
{
	memset(right, 0, offsetof(struct rnbd_server_right, path));
	right->listed = access->state == RNBD_ACCESS_STATE_LISTED;
	right->number = access->number;
	right->mode = -1;
	if (right->listed)
		return judge_by_list(access->list, peer, session, asked, mode, right);
	if (access->state == RNBD_ACCESS_STATE_OPEN)
		return rnbd_server_path_compose(&right->path, rnbd_server_search_path, session,
						asked);
	right->reason = RNBD_ACCESS_REASON_CLOSED;
	return -EACCES;
}

/* In its mode, and files by a list alone. */
static bool fits(const struct rnbd_server_dev *dev, const struct rnbd_server_right *right)
{
	return (right->io_mode == RNBD_IO_ANY || right->io_mode == dev->io_mode) &&
	       (dev->bdev || right->listed);
}

/* What is open may be so still if it is, under another export, the same device. */
static int judge_again(const struct rnbd_access *access, const char *peer,
		       const struct rnbd_server_dev *dev, struct rnbd_server_right *right)
{
	int err = rnbd_server_access_judge(access, peer, dev->session->name, dev->path,
					   READ_ONCE(dev->access_mode), right);

	if (err || (!strcmp(right->path.text, dev->where) && fits(dev, right)))
		return err;
	right->reason = RNBD_ACCESS_REASON_NO_EXPORT;
	return -ENOENT;
}

static int check_devices(const char *name)
{
	const struct rnbd_access_list *list = rnbd_server_access.list;
	const struct rnbd_access_entry *peer = list ? rnbd_server_list_peer(list, name) : NULL;
	u64 limit = peer ? limit_of(peer, RNBD_A_ACL_PEER_MAX_DEVICES) : U64_MAX;

	return rnbd_server_access_usage(name).devices < limit ? 0 : -EMFILE;
}

int rnbd_server_access_confirm(struct rnbd_server_dev *dev, u8 *reason)
{
	struct rnbd_server_right *right;
	int err = 0;

	lockdep_assert_held(&rnbd_server_access_lock);
	if (dev->access_number != rnbd_server_access.number) {
		right = kmalloc(sizeof(*right), GFP_KERNEL);
		if (!right)
			return -ENOMEM;
		err = judge_again(&rnbd_server_access, dev->session->peer, dev, right);
		strscpy(dev->by, right->export, sizeof(dev->by));
		*reason = right->reason;
		kfree(right);
	}
	strscpy(dev->peer, dev->session->peer, sizeof(dev->peer));
	return err ?: check_devices(dev->peer);
}

static void would_end(struct rnbd_access_change *change, int attr, u32 id, u32 *count)
{
	if ((*count)++ < RNBD_ACCESS_IDS)
		nla_put_u32(change->msg, attr, id);
}

/* The peer of a session is that of its first path that is let in. */
static int judge_path(const struct rtrs_server_guest *guest, void *arg)
{
	struct rnbd_access_change *change = arg;
	struct rnbd_server_session *session = session_by_id(guest->session_id);
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

	if (open || !judge_again(&change->to, peer, dev, right)) {
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

	list_for_each_entry(session, &sessions, entry)
		session->next_peer[0] = '\0';
	rtrs_server_judge_paths(rnbd_server_transport, judge_path, change);
	list_for_each_entry(session, &sessions, entry) {
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
	free_list(change->to.list);
	return err;
}

static int state_set(const char *val, const struct kernel_param *kp)
{
	if (sysfs_streq(val, "closed"))
		rnbd_server_access.state = RNBD_ACCESS_STATE_CLOSED;
	else if (!sysfs_streq(val, "open"))
		return -EINVAL;
	return 0;
}

static int state_get(char *page, const struct kernel_param *kp)
{
	static const char *const names[] = { "open", "closed", "listed" };

	return sysfs_emit(page, "%s\n", names[READ_ONCE(rnbd_server_access.state)]);
}

static const struct kernel_param_ops state_ops = {
	.set = state_set,
	.get = state_get,
};

module_param_cb(access, &state_ops, NULL, 0444);
MODULE_PARM_DESC(access,
		 "Who may use the server before it gets an access list: open or closed (default: open)");

void rnbd_server_access_exit(void)
{
	free_list(rnbd_server_access.list);
}
