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

void rnbd_server_access_free(struct rnbd_access_list *list)
{
	if (!list)
		return;
	kvfree(list);
	rtrs_census_destroyed(RTRS_CENSUS_RNBD_SERVER_LIST);
}

void rnbd_server_access_begin(void)
{
	mutex_lock(&rnbd_server_access_lock);
}

void rnbd_server_access_end(void)
{
	mutex_unlock(&rnbd_server_access_lock);
}

void rnbd_server_access_sessions(void (*fn)(struct rnbd_server_session *session, void *arg),
				 void *arg)
{
	struct rnbd_server_session *session;

	lockdep_assert_held(&rnbd_server_access_lock);
	list_for_each_entry(session, &sessions, entry)
		if (!READ_ONCE(session->lost))
			fn(session, arg);
}

/* An IPv4 address as IPv6, as the prefixes have it. */
void rnbd_server_access_addr(const struct sockaddr_storage *from, const u8 *gid,
			     struct rnbd_access_addr *addr)
{
	*addr = (struct rnbd_access_addr){ .has_ip = from->ss_family != AF_IB };
	rtrs_addr_bytes(from, addr->has_ip ? addr->ip : addr->gid);
	if (gid)
		memcpy(addr->gid, gid, sizeof(addr->gid));
	else if (addr->has_ip)
		memcpy(addr->gid, addr->ip, sizeof(addr->gid));	/* as RoCE has it */
}

int rnbd_server_access_find(const struct rnbd_access *access, const struct rnbd_access_addr *addr,
			    const char *session, u32 *peer, enum rnbd_access_reason *reason)
{
	*peer = rnbd_server_list_find_peer(access->list, addr, session);
	if (*peer != RNBD_ACCESS_NOBODY)
		return 0;
	if (session && rnbd_server_list_find_peer(access->list, addr, NULL) != RNBD_ACCESS_NOBODY) {
		*reason = RNBD_ACCESS_REASON_SESSION_NAME;
		return -EACCES;
	}
	*reason = RNBD_ACCESS_REASON_NO_KEY;
	return -ENOKEY;
}

/* Which peer it is; RNBD_ACCESS_NOBODY where there is no list. */
static int recognise(const struct rnbd_access *access, const struct rtrs_server_guest *guest,
		     u32 *peer, enum rnbd_access_reason *reason)
{
	struct rnbd_access_addr addr;

	*peer = RNBD_ACCESS_NOBODY;
	*reason = RNBD_ACCESS_REASON_NONE;
	if (access->state == RNBD_ACCESS_STATE_OPEN)
		return 0;
	if (access->state == RNBD_ACCESS_STATE_CLOSED) {
		*reason = RNBD_ACCESS_REASON_CLOSED;
		return -EACCES;
	}
	if (guest->forged) {
		*reason = RNBD_ACCESS_REASON_ADDRESS_FORGED;
		return -EACCES;
	}
	rnbd_server_access_addr(&guest->addr->src, guest->gid, &addr);
	return rnbd_server_access_find(access, &addr, guest->name, peer, reason);
}

static void note_path(enum rnbd_access_event event, const struct rtrs_server_guest *guest,
		      const char *peer, int err, enum rnbd_access_reason reason)
{
	const struct rnbd_access_note note = {
		.event = event,
		.step = RNBD_ACCESS_STEP_PATH,
		.peer = peer,
		.session = guest->name,
		.addr = guest->addr,
		.err = err,
		.reason = reason,
	};

	rnbd_server_access_note(&note);
}

int rnbd_server_access_admit(const struct rtrs_server_guest *guest)
{
	enum rnbd_access_reason reason;
	u32 peer;
	int err;

	mutex_lock(&rnbd_server_access_lock);
	err = recognise(&rnbd_server_access, guest, &peer, &reason);
	if (err)
		note_path(RNBD_ACCESS_EVENT_DENIED, guest, NULL, err, reason);
	mutex_unlock(&rnbd_server_access_lock);
	return err;
}

void rnbd_server_access_refused(const struct rtrs_server_guest *guest, int err)
{
	mutex_lock(&rnbd_server_access_lock);
	note_path(RNBD_ACCESS_EVENT_DENIED, guest, NULL, err, RNBD_ACCESS_REASON_NAME_TAKEN);
	mutex_unlock(&rnbd_server_access_lock);
}

/* What the sessions of a peer have. */
struct usage {
	const char *peer;
	u32 sessions;
	u32 devices;
	u64 pinned;
};

static void add_usage(struct rnbd_server_session *session, void *arg)
{
	struct usage *usage = arg;

	if (strcmp(session->peer, usage->peer))
		return;
	usage->sessions++;
	usage->devices += READ_ONCE(session->dev_count);
	usage->pinned += rtrs_server_session_pinned(session->transport);
}

/* The session counts already. */
static int check_limits(const struct rnbd_access_peer *peer, enum rnbd_access_reason *reason)
{
	struct usage usage = { .peer = peer->name };

	rnbd_server_access_sessions(add_usage, &usage);
	if (peer->max_sessions && usage.sessions > peer->max_sessions) {
		*reason = RNBD_ACCESS_REASON_LIMIT_SESSIONS;
		return -EUSERS;
	}
	if (peer->max_memory && usage.pinned > peer->max_memory) {
		*reason = RNBD_ACCESS_REASON_LIMIT_MEMORY;
		return -ENOMEM;
	}
	return 0;
}

/*
 * The first path says which peer the session is, the others must be of the same. A session of
 * which no path has come so far has none.
 */
static int join(struct rnbd_server_session *session, const struct rtrs_server_guest *guest,
		enum rnbd_access_reason *reason)
{
	const struct rnbd_access *access = &rnbd_server_access;
	struct rnbd_access_addr addr;
	bool first = !session->peer[0];
	u32 peer;
	int err = recognise(access, guest, &peer, reason);

	if (err || peer == RNBD_ACCESS_NOBODY)
		return err;
	if (!first) {
		peer = rnbd_server_list_peer_by_name(access->list, session->peer);
		rnbd_server_access_addr(&guest->addr->src, guest->gid, &addr);
		if (!rnbd_server_list_is_peer(access->list, peer, &addr, guest->name)) {
			*reason = RNBD_ACCESS_REASON_SESSION_NAME;
			return -EACCES;
		}
	}
	strscpy(session->peer, access->list->peer[peer].name, sizeof(session->peer));
	err = check_limits(&access->list->peer[peer], reason);
	if (err && first)
		session->peer[0] = '\0';
	return err;
}

int rnbd_server_access_path_up(void *priv, const struct rtrs_server_guest *guest)
{
	struct rnbd_server_session *session = priv;
	enum rnbd_access_reason reason;
	int err;

	mutex_lock(&rnbd_server_access_lock);
	err = join(session, guest, &reason);
	note_path(err ? RNBD_ACCESS_EVENT_DENIED : RNBD_ACCESS_EVENT_GRANTED, guest,
		  session->peer, err, reason);
	mutex_unlock(&rnbd_server_access_lock);
	return err;
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

int rnbd_server_access_judge(const struct rnbd_access *access, const char *peer,
			     const char *session, const char *asked, u8 mode,
			     struct rnbd_server_right *right)
{
	struct rnbd_access_answer answer;
	int err;

	right->listed = access->state == RNBD_ACCESS_STATE_LISTED;
	right->fixed = false;
	right->io_mode = RNBD_IO_ANY;
	right->number = access->number;
	right->reason = RNBD_ACCESS_REASON_NONE;
	right->export[0] = '\0';
	if (access->state == RNBD_ACCESS_STATE_CLOSED) {
		right->reason = RNBD_ACCESS_REASON_CLOSED;
		return -EACCES;
	}
	if (!right->listed)
		return rnbd_server_path_compose(&right->path, rnbd_server_search_path, session,
						asked);
	err = rnbd_server_list_judge(access->list,
				     rnbd_server_list_peer_by_name(access->list, peer), asked,
				     mode, &answer);
	if (err) {
		right->reason = err == -EACCES ? RNBD_ACCESS_REASON_ACCESS_MODE :
						 RNBD_ACCESS_REASON_NO_EXPORT;
		return err;
	}
	strscpy(right->export, answer.export->name, sizeof(right->export));
	right->fixed = !answer.export->is_dir;
	right->io_mode = answer.export->io_mode + RNBD_IO_BLOCK;
	if (!right->fixed)
		return rnbd_server_path_compose(&right->path, answer.export->path, session,
						answer.rest);
	strscpy(right->path.text, answer.export->path, sizeof(right->path.text));
	return 0;
}

int rnbd_server_access_open(const struct rnbd_server_session *session,
			    const struct rnbd_open *open, struct rnbd_server_right *right)
{
	int err;

	mutex_lock(&rnbd_server_access_lock);
	err = rnbd_server_access_judge(&rnbd_server_access, session->peer, session->name,
				       open->path, open->access_mode, right);
	mutex_unlock(&rnbd_server_access_lock);
	return err;
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

static int check_devices(const struct rnbd_server_dev *dev)
{
	const struct rnbd_access *access = &rnbd_server_access;
	struct usage usage = { .peer = dev->session->peer };
	u32 peer;

	if (access->state != RNBD_ACCESS_STATE_LISTED)
		return 0;
	peer = rnbd_server_list_peer_by_name(access->list, usage.peer);
	if (peer == RNBD_ACCESS_NOBODY || !access->list->peer[peer].max_devices)
		return 0;
	rnbd_server_access_sessions(add_usage, &usage);
	return usage.devices < access->list->peer[peer].max_devices ? 0 : -EMFILE;
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
	return err ?: check_devices(dev);
}

static void note_open(enum rnbd_access_event event, const struct rnbd_server_dev *dev,
		      enum rnbd_access_reason reason)
{
	const struct rnbd_access_note note = {
		.event = event,
		.step = RNBD_ACCESS_STEP_OPEN,
		.peer = dev->peer,
		.session = dev->session->name,
		.asked = dev->path,
		.export = dev->by,
		.path = dev->where,
		.mode = READ_ONCE(dev->access_mode),
		.reason = reason,
	};

	rnbd_server_access_note(&note);
}

void rnbd_server_access_granted(const struct rnbd_server_dev *dev)
{
	note_open(RNBD_ACCESS_EVENT_GRANTED, dev, RNBD_ACCESS_REASON_NONE);
}

void rnbd_server_access_denied(const struct rnbd_server_session *session,
			       const struct rnbd_open *open, int err, u8 reason)
{
	struct rnbd_access_note note = {
		.event = RNBD_ACCESS_EVENT_DENIED,
		.step = RNBD_ACCESS_STEP_OPEN,
		.peer = session->peer,
		.session = session->name,
		.asked = open->path,
		.mode = open->access_mode,
		.err = err,
		.reason = reason,
	};

	if (!reason)
		note.reason = err == -EMFILE ? RNBD_ACCESS_REASON_LIMIT_DEVICES :
			      err == -EPERM ? RNBD_ACCESS_REASON_WRITER :
					      RNBD_ACCESS_REASON_OTHER;
	mutex_lock(&rnbd_server_access_lock);
	rnbd_server_access_note(&note);
	mutex_unlock(&rnbd_server_access_lock);
}

/**
 * struct sweep - the look at all that is there, by what is to be in force
 * @change: that
 * @right: for the answers
 * @apply: end what is not let in
 */
struct sweep {
	struct rnbd_access_change *change;
	struct rnbd_server_right *right;
	bool apply;
};

static void forget_next(struct rnbd_server_session *session, void *arg)
{
	session->next_peer[0] = '\0';
}

/* By its first path that is let in. */
static int judge_path(const struct rtrs_server_guest *guest, void *arg)
{
	struct sweep *sweep = arg;
	struct rnbd_access_change *change = sweep->change;
	struct rnbd_server_session *session = session_by_id(guest->session_id);
	enum rnbd_access_reason reason;
	struct rnbd_access_addr addr;
	u32 peer;
	int err = recognise(&change->to, guest, &peer, &reason);

	if (!err && peer != RNBD_ACCESS_NOBODY && session && session->next_peer[0]) {
		rnbd_server_access_addr(&guest->addr->src, guest->gid, &addr);
		peer = rnbd_server_list_peer_by_name(change->to.list, session->next_peer);
		if (!rnbd_server_list_is_peer(change->to.list, peer, &addr, guest->name)) {
			reason = RNBD_ACCESS_REASON_SESSION_NAME;
			err = -EACCES;
		}
	} else if (!err && peer != RNBD_ACCESS_NOBODY && session) {
		strscpy(session->next_peer, change->to.list->peer[peer].name,
			sizeof(session->next_peer));
	}
	if (!err)
		return 0;
	if (!sweep->apply) {
		if (change->paths < RNBD_ACCESS_IDS)
			change->path_id[change->paths] = guest->path_id;
		change->paths++;
		return 0;
	}
	note_path(RNBD_ACCESS_EVENT_REVOKED, guest, session ? session->peer : NULL, err, reason);
	return err;
}

static void judge_dev(struct sweep *sweep, struct rnbd_server_dev *dev)
{
	struct rnbd_access_change *change = sweep->change;

	if (change->to.state == RNBD_ACCESS_STATE_OPEN) {
		if (sweep->apply)
			rnbd_server_export_name(dev, "", "");
	} else if (!judge_again(&change->to, dev->session->next_peer, dev, sweep->right)) {
		if (sweep->apply)
			rnbd_server_export_name(dev, dev->session->next_peer, sweep->right->export);
	} else if (sweep->apply) {
		note_open(RNBD_ACCESS_EVENT_REVOKED, dev, sweep->right->reason);
		rnbd_server_dev_revoke(dev);
	} else {
		if (change->exports < RNBD_ACCESS_IDS)
			change->export_id[change->exports] = dev->nl_id;
		change->exports++;
	}
}

static void judge_session(struct rnbd_server_session *session, void *arg)
{
	struct rnbd_server_dev *dev, *next;
	struct sweep *sweep = arg;

	mutex_lock(&session->lock);
	list_for_each_entry_safe(dev, next, &session->devs, session_entry)
		judge_dev(sweep, dev);
	mutex_unlock(&session->lock);
	if (sweep->apply)
		strscpy(session->peer, session->next_peer, sizeof(session->peer));
}

static void sweep_all(struct sweep *sweep)
{
	rnbd_server_access_sessions(forget_next, NULL);
	rtrs_server_judge_paths(rnbd_server_transport, judge_path, sweep);
	rnbd_server_access_sessions(judge_session, sweep);
}

static void keep_counts(const struct rnbd_access_list *from, struct rnbd_access_list *to)
{
	u32 i, peer;

	for (i = 0; from && to && i < to->has.peers; i++) {
		peer = rnbd_server_list_peer_by_name(from, to->peer[i].name);
		if (peer != RNBD_ACCESS_NOBODY)
			to->peer[i].denied = from->peer[peer].denied;
	}
}

static int change_locked(struct rnbd_access_change *change, struct rnbd_server_right *right)
{
	struct sweep sweep = { .change = change, .right = right };
	struct rnbd_access old = rnbd_server_access;

	change->to.number = old.number;
	if (change->expect && change->expect != old.number)
		return -EAGAIN;
	sweep_all(&sweep);
	if (change->dry)
		return 0;
	if ((change->paths || change->exports) && !change->force)
		return -EBUSY;
	change->to.number++;
	change->to.loaded_ns = ktime_get_real_ns();
	keep_counts(old.list, change->to.list);
	rnbd_server_access = change->to;
	rnbd_server_access_loaded(&old, change->loginuid);
	sweep.apply = true;
	sweep_all(&sweep);
	change->to.list = old.list;	/* to be freed */
	return 0;
}

int rnbd_server_access_change(struct rnbd_access_change *change)
{
	struct rnbd_server_right *right = kmalloc(sizeof(*right), GFP_KERNEL);
	int err = -ENOMEM;

	if (right) {
		mutex_lock(&rnbd_server_access_lock);
		err = change_locked(change, right);
		mutex_unlock(&rnbd_server_access_lock);
	}
	kfree(right);
	rnbd_server_access_free(change->to.list);
	change->to.list = NULL;
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
	rnbd_server_access_free(rnbd_server_access.list);
}
