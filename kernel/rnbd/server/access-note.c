// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of decisions: each has the next number, so that a gap is a loss. Anybody can be
 * refused as often as he likes: these are told up to a rate, and the next event says how many
 * were not.
 */
#include <linux/timekeeping.h>
#include <rtrs/nl.h>
#include "access.h"

#define DENIED_NS	(NSEC_PER_SEC / 20)	/* between two refusals, on average */
#define DENIED_RESERVE	10			/* that may come at once */

u64 rnbd_server_access_seq;
u64 rnbd_server_access_denials;
static u32 suppressed;
static u64 credit_ns = DENIED_NS * DENIED_RESERVE;
static u64 credit_at;

static const char *const reason_name[] = {
	[RNBD_ACCESS_REASON_CLOSED] = "closed",
	[RNBD_ACCESS_REASON_NO_KEY] = "no-key",
	[RNBD_ACCESS_REASON_ADDRESS_FORGED] = "address-forged",
	[RNBD_ACCESS_REASON_SESSION_NAME] = "session-name",
	[RNBD_ACCESS_REASON_NAME_TAKEN] = "name-taken",
	[RNBD_ACCESS_REASON_LIMIT_SESSIONS] = "limit-sessions",
	[RNBD_ACCESS_REASON_LIMIT_DEVICES] = "limit-devices",
	[RNBD_ACCESS_REASON_LIMIT_MEMORY] = "limit-memory",
	[RNBD_ACCESS_REASON_NO_EXPORT] = "no-export",
	[RNBD_ACCESS_REASON_ACCESS_MODE] = "access-mode",
	[RNBD_ACCESS_REASON_DIRECTORY] = "directory",
	[RNBD_ACCESS_REASON_WRITER] = "writer",
	[RNBD_ACCESS_REASON_OTHER] = "other",
};

static bool may_tell_denied(const char *name)
{
	struct rnbd_access_list *list = rnbd_server_access.list;
	struct rnbd_access_entry *peer = list ? rnbd_server_list_peer(list, name) : NULL;
	u64 now = ktime_get_ns();

	rnbd_server_access_denials++;
	if (peer)
		peer->denied++;
	credit_ns = min(credit_ns + (now - credit_at), DENIED_NS * DENIED_RESERVE);
	credit_at = now;
	if (credit_ns < DENIED_NS) {
		suppressed++;
		return false;
	}
	credit_ns -= DENIED_NS;
	return true;
}

static int put_known(struct sk_buff *skb, int attr, const char *text)
{
	return text && *text ? nla_put_string(skb, attr, text) : 0;
}

/* What all events begin with. NULL: nobody is told. @peer is "" where it is not known. */
static struct sk_buff *begin(enum rnbd_access_event event, const char *peer, const char *session,
			     enum rnbd_access_reason reason, int err, void **hdr)
{
	struct sk_buff *skb;

	lockdep_assert_held(&rnbd_server_access_lock);
	if (event == RNBD_ACCESS_EVENT_DENIED) {
		if (!may_tell_denied(peer))
			return NULL;
		pr_info("session %*pE denied: %s\n", (int)strlen(session ?: "-"), session ?: "-",
			reason_name[reason]);
	}
	rnbd_server_access_seq++;
	skb = rtrs_nl_event_begin(RNBD_CMD_ACCESS_NTF, hdr);
	if (!skb)
		return NULL;
	err = nla_put_u32(skb, RNBD_A_ACCESS_EVENT, event) ?:
	      nla_put_u64_64bit(skb, RNBD_A_ACCESS_SEQ, rnbd_server_access_seq,
				RNBD_A_ACCESS_PAD) ?:
	      nla_put_u64_64bit(skb, RNBD_A_ACCESS_TIME_NS, ktime_get_real_ns(),
				RNBD_A_ACCESS_PAD) ?:
	      nla_put_u32(skb, RNBD_A_ACCESS_NUMBER, rnbd_server_access.number) ?:
	      (suppressed ? nla_put_u32(skb, RNBD_A_ACCESS_SUPPRESSED, suppressed) : 0) ?:
	      put_known(skb, RNBD_A_ACCESS_PEER_NAME, peer) ?:
	      put_known(skb, RNBD_A_ACCESS_SESSION_NAME, session) ?:
	      (reason ? nla_put_u32(skb, RNBD_A_ACCESS_REASON, reason) : 0) ?:
	      (err ? nla_put_s32(skb, RNBD_A_ACCESS_ERROR, err) : 0);
	if (!err)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

/* @err: of what was put */
static void send(struct sk_buff *skb, void *hdr, int err)
{
	if (err) {
		nlmsg_free(skb);
		return;
	}
	suppressed = 0;
	rtrs_nl_event_send(skb, hdr, RNBD_CMD_ACCESS_NTF);
}

static int put_way(struct sk_buff *skb, enum rnbd_access_step step,
		   const struct rtrs_path_addr *from)
{
	return nla_put_u32(skb, RNBD_A_ACCESS_STEP, step) ?:
	       rtrs_nl_put_addr(skb, RNBD_A_ACCESS_CLIENT_ADDR, &from->src) ?:
	       rtrs_nl_put_addr(skb, RNBD_A_ACCESS_SERVER_ADDR, &from->dst);
}

void rnbd_server_access_note_path(enum rnbd_access_event event,
				  const struct rtrs_server_guest *guest, const char *peer,
				  enum rnbd_access_reason reason)
{
	void *hdr;
	struct sk_buff *skb = begin(event, peer, guest->name, reason,
				    rnbd_server_access_errno(reason), &hdr);

	if (skb)
		send(skb, hdr, put_way(skb, RNBD_ACCESS_STEP_PATH, guest->addr));
}

static int put_asked(struct sk_buff *skb, const struct rtrs_path_addr *from, const char *asked,
		     u8 mode)
{
	return put_way(skb, RNBD_ACCESS_STEP_OPEN, from) ?:
	       nla_put_string(skb, RNBD_A_ACCESS_DEVICE_PATH, asked) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_ACCESS_MODE, mode);
}

void rnbd_server_access_note_open(enum rnbd_access_event event, const struct rnbd_server_dev *dev,
				  enum rnbd_access_reason reason)
{
	void *hdr;
	struct sk_buff *skb = begin(event, dev->peer, dev->session->name, reason, 0, &hdr);
	int err;

	if (!skb)
		return;
	err = put_asked(skb, &dev->from, dev->path, READ_ONCE(dev->access_mode)) ?:
	      put_known(skb, RNBD_A_ACCESS_EXPORT_NAME, dev->by);
	/* Below a long dev_search_path it may not fit. */
	nla_put_string(skb, RNBD_A_ACCESS_PATH, dev->where);
	send(skb, hdr, err);
}

void rnbd_server_access_denied(const struct rnbd_server_wait *wait, const struct rnbd_open *open,
			       int err)
{
	const struct rnbd_server_session *session = wait->session;
	u8 reason = wait->reason;
	struct sk_buff *skb;
	void *hdr;

	if (!reason)
		reason = err == -EMFILE ? RNBD_ACCESS_REASON_LIMIT_DEVICES :
			 err == -EPERM ? RNBD_ACCESS_REASON_WRITER : RNBD_ACCESS_REASON_OTHER;
	mutex_lock(&rnbd_server_access_lock);
	skb = begin(RNBD_ACCESS_EVENT_DENIED, session->peer, session->name, reason, err, &hdr);
	if (skb)
		send(skb, hdr, put_asked(skb, wait->from, open->path, open->access_mode));
	mutex_unlock(&rnbd_server_access_lock);
}

void rnbd_server_access_note_loaded(const struct rnbd_access *old)
{
	const struct rnbd_access *now = &rnbd_server_access;
	void *hdr;
	struct sk_buff *skb = begin(RNBD_ACCESS_EVENT_LOADED, "", NULL, RNBD_ACCESS_REASON_NONE,
				    0, &hdr);

	if (skb)
		send(skb, hdr, nla_put_u32(skb, RNBD_A_ACCESS_OLD_NUMBER, old->number) ?:
		     nla_put_u32(skb, RNBD_A_ACCESS_STATE, now->state) ?:
		     nla_put_u32(skb, RNBD_A_ACCESS_OLD_STATE, old->state) ?:
		     nla_put_u32(skb, RNBD_A_ACCESS_PEERS, now->list ? now->list->peers : 0) ?:
		     nla_put_u32(skb, RNBD_A_ACCESS_EXPORTS, now->list ? now->list->exports : 0) ?:
		     nla_put_u32(skb, RNBD_A_ACCESS_UID, now->uid) ?:
		     (now->loginuid != U32_MAX ?
		      nla_put_u32(skb, RNBD_A_ACCESS_LOGINUID, now->loginuid) : 0));
}
