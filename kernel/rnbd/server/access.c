// SPDX-License-Identifier: GPL-2.0
/* Who may do what. Changes are in access-change.c. */
#include <linux/slab.h>
#include "access.h"

struct rnbd_access_usage rnbd_server_access_usage(const char *peer)
{
	struct rnbd_access_usage usage = {};
	struct rnbd_server_session *session;

	lockdep_assert_held(&rnbd_server_access_lock);
	list_for_each_entry(session, &rnbd_server_access_sessions, entry) {
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

struct rnbd_server_session *rnbd_server_access_session_by_id(u32 id)
{
	struct rnbd_server_session *session;

	list_for_each_entry(session, &rnbd_server_access_sessions, entry)
		if (session->id == id && !READ_ONCE(session->lost))
			return session;
	return NULL;
}

void rnbd_server_access_peer_name(u32 session_id, char *name)
{
	struct rnbd_server_session *session;

	mutex_lock(&rnbd_server_access_lock);
	session = rnbd_server_access_session_by_id(session_id);
	strscpy(name, session ? session->peer : "", RTRS_SERVER_PEER_LEN);
	mutex_unlock(&rnbd_server_access_lock);
}

void rnbd_server_access_add(struct rnbd_server_session *session)
{
	mutex_lock(&rnbd_server_access_lock);
	list_add_tail(&session->entry, &rnbd_server_access_sessions);
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

int rnbd_server_access_judge_again(const struct rnbd_access *access, const char *peer,
				   const struct rnbd_server_dev *dev,
				   struct rnbd_server_right *right)
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
		err = rnbd_server_access_judge_again(&rnbd_server_access, dev->session->peer, dev,
						     right);
		strscpy(dev->by, right->export, sizeof(dev->by));
		*reason = right->reason;
		kfree(right);
	}
	strscpy(dev->peer, dev->session->peer, sizeof(dev->peer));
	return err ?: check_devices(dev->peer);
}
