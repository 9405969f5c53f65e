// SPDX-License-Identifier: GPL-2.0
/* The multicast groups of the family. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"

static int fail_event(struct nl_error *e, int err, const char *text)
{
	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_LOCAL;
	e->err = err;
	snprintf(e->extack, sizeof(e->extack), "%s", text);
	return false;
}

bool netlink_listen(struct kernel *k, const char *group, struct nl_error *e)
{
	struct nl *nl = to_nl(k);
	int rc = -NLE_NOMEM, size = nl->k.cfg.rcvbuf;

	memset(e, 0, sizeof(*e));
	if (nl->k.cfg.replay)
		return true;
	if (!nl->events) {
		nl->events = nl_socket_alloc();
		if (!nl->events || (rc = genl_connect(nl->events)) < 0)
			return fail_event(e, errno ? errno : ENOMEM, nl_geterror(rc));
		k->event_fd = nl_socket_get_fd(nl->events);
		nl_socket_disable_seq_check(nl->events);
		nl_socket_set_buffer_size(nl->events, size, 0);
		/* beyond the limit of the system, where that is allowed */
		setsockopt(k->event_fd, SOL_SOCKET, SO_RCVBUFFORCE, &size,
			   sizeof(size));
		/* where the controller tells that a family is gone; it has the id of its own */
		nl_socket_add_membership(nl->events, GENL_ID_CTRL);
	}
	for (size_t i = 0; i < nl->ngroups; i++) {
		if (strcmp(nl->groups[i].name, group))
			continue;
		rc = nl_socket_add_membership(nl->events, (int)nl->groups[i].id);
		return rc < 0 ? fail_event(e, errno ? errno : EIO, nl_geterror(rc)) : true;
	}
	e->kind = NL_FAIL_NO_OP;
	e->err = EOPNOTSUPP;
	return false;
}

/* The next message; NULL in @h where some were dropped. */
static bool next(struct nl *nl, const struct nlmsghdr **h)
{
	static char buf[65536] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t n;

	if (nl->k.cfg.replay)
		return rnl_file_next_event(nl->file, h);
	for (;;) {
		n = recv(nl->k.event_fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		*h = NULL;
		if (n < 0 && errno == ENOBUFS) {
			if (nl->file)
				rnl_file_put_event(nl->file, NULL, 0);
			return true;
		}
		if (n < 0)
			return false;
		*h = (const struct nlmsghdr *)buf;
		if (!nlmsg_ok(*h, (int)n) || (*h)->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
			continue;
		if (nl->file)
			rnl_file_put_event(nl->file, buf, (size_t)n);
		return true;
	}
}

/* Of the controller: does it say that the family is gone? */
static bool says_lost(const struct nl *nl, const struct nlmsghdr *h)
{
	const struct genlmsghdr *g = NLMSG_DATA(h);
	struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)h, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID);

	return g->cmd == CTRL_CMD_DELFAMILY && a && nla_len(a) >= 2 &&
	       nla_get_u16(a) == nl->family;
}

enum nl_next rnl_next_message(struct nl *nl, const struct nlmsghdr **h)
{
	while (next(nl, h)) {
		if (!*h)
			return NL_NEXT_OVERRUN;
		if (nl->k.cfg.trace)
			rnl_trace_msg(nl, "**", *h);
		if ((*h)->nlmsg_type == GENL_ID_CTRL && says_lost(nl, *h))
			return NL_NEXT_LOST;
		if ((*h)->nlmsg_type == nl->family)
			return NL_NEXT_EVENT;
	}
	return NL_NEXT_NONE;
}

enum nl_next netlink_next_event(struct kernel *k, struct nl_event *ev)
{
	const struct nlmsghdr *h;
	enum nl_next what;

	do {
		what = rnl_next_message(to_nl(k), &h);
	} while (what == NL_NEXT_EVENT && !rnl_parse_event(h, ev));
	return what;
}

bool netlink_events(struct kernel *k)
{
	struct nl *nl = to_nl(k);
	const struct nlmsghdr *h;
	bool any = false;

	/* that some were dropped is all the more reason to look again */
	while (next(nl, &h)) {
		any = true;
		if (h && nl->k.cfg.trace)
			rnl_trace_msg(nl, "**", h);
		if (nl->k.cfg.replay)
			break;
	}
	return any;
}
