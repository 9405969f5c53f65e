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

static u64 seq;
static u64 denied_total;
static u32 suppressed;
static u64 credit_ns = DENIED_NS * DENIED_RESERVE;
static u64 credit_at;

void rnbd_server_access_totals(u64 *denied, u64 *last)
{
	*denied = denied_total;
	*last = seq;
}

static bool may_tell_denied(void)
{
	u64 now = ktime_get_ns();

	credit_ns = min(credit_ns + (now - credit_at), DENIED_NS * DENIED_RESERVE);
	credit_at = now;
	if (credit_ns < DENIED_NS)
		return false;
	credit_ns -= DENIED_NS;
	return true;
}

/* What begins all events. */
static int put_head(struct sk_buff *skb, enum rnbd_access_event event)
{
	return nla_put_u32(skb, RNBD_A_ACCESS_EVENT, event) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACCESS_SEQ, seq, RNBD_A_ACCESS_PAD) ?:
	       nla_put_u64_64bit(skb, RNBD_A_ACCESS_TIME_NS, ktime_get_real_ns(),
				 RNBD_A_ACCESS_PAD) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_NUMBER, rnbd_server_access.number) ?:
	       suppressed ? nla_put_u32(skb, RNBD_A_ACCESS_SUPPRESSED, suppressed) : 0;
}

static int put_known(struct sk_buff *skb, int attr, const char *text)
{
	return text && *text ? nla_put_string(skb, attr, text) : 0;
}

static int put_note(struct sk_buff *skb, const struct rnbd_access_note *note)
{
	const bool is_open = note->step == RNBD_ACCESS_STEP_OPEN;
	const bool is_bad = note->event != RNBD_ACCESS_EVENT_GRANTED;

	return put_head(skb, note->event) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_STEP, note->step) ?:
	       put_known(skb, RNBD_A_ACCESS_PEER_NAME, note->peer) ?:
	       put_known(skb, RNBD_A_ACCESS_SESSION_NAME, note->session) ?:
	       (note->addr ? rtrs_nl_put_addr(skb, RNBD_A_ACCESS_CLIENT_ADDR, &note->addr->src) ?:
			     rtrs_nl_put_addr(skb, RNBD_A_ACCESS_SERVER_ADDR, &note->addr->dst) :
			     0) ?:
	       put_known(skb, RNBD_A_ACCESS_DEVICE_PATH, note->asked) ?:
	       put_known(skb, RNBD_A_ACCESS_EXPORT_NAME, note->export) ?:
	       put_known(skb, RNBD_A_ACCESS_PATH, note->path) ?:
	       (is_open ? nla_put_u32(skb, RNBD_A_ACCESS_ACCESS_MODE, note->mode) : 0) ?:
	       (note->err ? nla_put_s32(skb, RNBD_A_ACCESS_ERROR, note->err) : 0) ?:
	       (is_bad ? nla_put_u32(skb, RNBD_A_ACCESS_REASON, note->reason) : 0);
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

static void count_denied(const char *name)
{
	struct rnbd_access_list *list = rnbd_server_access.list;
	u32 peer = list && name ? rnbd_server_list_peer_by_name(list, name) : RNBD_ACCESS_NOBODY;

	denied_total++;
	if (peer != RNBD_ACCESS_NOBODY)
		list->peer[peer].denied++;
}

void rnbd_server_access_note(const struct rnbd_access_note *note)
{
	struct sk_buff *skb;
	void *hdr;

	lockdep_assert_held(&rnbd_server_access_lock);
	if (note->event == RNBD_ACCESS_EVENT_DENIED) {
		count_denied(note->peer);
		if (!may_tell_denied()) {
			suppressed++;
			return;
		}
	}
	seq++;
	skb = rtrs_nl_event_begin(RNBD_CMD_ACCESS_NTF, &hdr);
	if (skb)
		send(skb, hdr, put_note(skb, note));
}

static int put_loaded(struct sk_buff *skb, const struct rnbd_access *old, u32 loginuid)
{
	const struct rnbd_access *now = &rnbd_server_access;

	return put_head(skb, RNBD_ACCESS_EVENT_LOADED) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_OLD_NUMBER, old->number) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_STATE, now->state) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_OLD_STATE, old->state) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_PEERS, now->list ? now->list->has.peers : 0) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_EXPORTS, now->list ? now->list->has.exports : 0) ?:
	       nla_put_u32(skb, RNBD_A_ACCESS_UID, now->uid) ?:
	       (loginuid != U32_MAX ? nla_put_u32(skb, RNBD_A_ACCESS_LOGINUID, loginuid) : 0);
}

void rnbd_server_access_loaded(const struct rnbd_access *old, u32 loginuid)
{
	struct sk_buff *skb;
	void *hdr;

	seq++;
	skb = rtrs_nl_event_begin(RNBD_CMD_ACCESS_NTF, &hdr);
	if (skb)
		send(skb, hdr, put_loaded(skb, old, loginuid));
}
