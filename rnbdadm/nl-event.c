// SPDX-License-Identifier: GPL-2.0
/* The multicast groups of the family. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "nl-priv.h"
#include "util.h"

static int fail_event(struct nl_error *e, int err, const char *text)
{
	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_LOCAL;
	e->err = err;
	snprintf(e->extack, sizeof(e->extack), "%s", text);
	return false;
}

bool rnl_listen(struct nl *nl, const char *group, struct nl_error *e)
{
	int rc = -NLE_NOMEM;

	memset(e, 0, sizeof(*e));
	if (nl->cfg.replay)
		return true;
	if (!nl->events) {
		nl->events = nl_socket_alloc();
		if (!nl->events || (rc = genl_connect(nl->events)) < 0)
			return fail_event(e, errno ? errno : ENOMEM, nl_geterror(rc));
		nl_socket_disable_seq_check(nl->events);
		nl_socket_set_buffer_size(nl->events, 1 << 20, 0);
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

int rnl_event_fd(const struct nl *nl)
{
	return nl->events ? nl_socket_get_fd(nl->events) : -1;
}

bool rnl_events(struct nl *nl)
{
	static char buf[65536] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *h;
	bool any = false;
	ssize_t n;

	if (nl->cfg.replay) {
		h = rnl_file_next_event(nl->file);
		if (h && nl->cfg.trace)
			rnl_trace_msg(nl, "**", h);
		return h;
	}
	for (;;) {
		n = recv(rnl_event_fd(nl), buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0) {
			/* some were lost: all the more reason to look again */
			if (errno == ENOBUFS)
				any = true;
			else if (errno != EINTR)
				return any;
			continue;
		}
		any = true;
		h = (const struct nlmsghdr *)buf;
		if (!nlmsg_ok(h, (int)n) || h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
			continue;
		if (nl->file)
			rnl_file_put_event(nl->file, buf, (size_t)n);
		if (nl->cfg.trace)
			rnl_trace_msg(nl, "**", h);
	}
}
