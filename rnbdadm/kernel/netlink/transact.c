// SPDX-License-Identifier: GPL-2.0
/*
 * One request and its answers on the generic netlink socket, with the extended
 * ack that libnl 3.7 does not know.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"

static void copy_text(char *dst, size_t size, const struct nlattr *a)
{
	size_t len = nla_len(a);

	if (len >= size)
		len = size - 1;
	memcpy(dst, nla_data(a), len);
	dst[len] = '\0';
}

/* Attributes of NLMSG_ERROR or NLMSG_DONE, from @off of the message on. */
static void read_extack(struct nl *nl, const struct nlmsghdr *h, size_t off, bool failed)
{
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	struct nl_error *e = nl->e;

	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS) || off >= h->nlmsg_len)
		return;
	if (nla_parse(tb, NLMSGERR_ATTR_MAX, (struct nlattr *)((char *)h + off),
		      (int)(h->nlmsg_len - off), NULL) < 0)
		return;
	if (tb[NLMSGERR_ATTR_MSG]) {
		if (failed)
			copy_text(e->extack, sizeof(e->extack), tb[NLMSGERR_ATTR_MSG]);
		else
			copy_text(e->warning, sizeof(e->warning), tb[NLMSGERR_ATTR_MSG]);
	}
	if (!failed || nl->req->nlmsg_type != nl->family)
		return;
	if (tb[NLMSGERR_ATTR_COOKIE] && nla_len(tb[NLMSGERR_ATTR_COOKIE]) >= 4)
		e->refusal = nla_get_u32(tb[NLMSGERR_ATTR_COOKIE]);
	if (tb[NLMSGERR_ATTR_MISS_TYPE] && nla_len(tb[NLMSGERR_ATTR_MISS_TYPE]) >= 4) {
		struct nlattr *nest = tb[NLMSGERR_ATTR_MISS_NEST];
		unsigned int at = nest && nla_len(nest) >= 4 ? nla_get_u32(nest) : 0;

		e->missing = true;
		rnl_attr_missing(nl->k.cfg.family, nl->req, at,
				 nla_get_u32(tb[NLMSGERR_ATTR_MISS_TYPE]),
				e->attr, sizeof(e->attr));
	} else if (tb[NLMSGERR_ATTR_OFFS] && nla_len(tb[NLMSGERR_ATTR_OFFS]) >= 4) {
		rnl_attr_at(nl->k.cfg.family, nl->req, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]), e->attr,
			   sizeof(e->attr));
	}
}

static size_t err_tlv_offset(const struct nlmsghdr *h, const struct nlmsgerr *err)
{
	size_t off = NLMSG_HDRLEN + sizeof(*err);

	/* the kernel echoes the whole request unless told not to */
	if (!(h->nlmsg_flags & NLM_F_CAPPED) && err->msg.nlmsg_len > NLMSG_HDRLEN)
		off += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	return off;
}

/* The errno of a failure; a number that is none becomes EIO. */
static int positive(int err)
{
	return err < 0 && err >= -4095 ? -err : EIO;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *h = (struct nlmsghdr *)((char *)err - NLMSG_HDRLEN);
	struct nl *nl = arg;

	if (nl->k.cfg.trace)
		rnl_trace_msg(nl, "<-", h);
	nl->e->kind = NL_FAIL_KERNEL;
	nl->e->err = positive(err->error);
	read_extack(nl, h, err_tlv_offset(h, err), true);
	nl->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nlmsgerr *err = NLMSG_DATA(h);
	struct nl *nl = arg;

	if (nl->k.cfg.trace)
		rnl_trace_msg(nl, "<-", h);
	if (h->nlmsg_len >= NLMSG_HDRLEN + sizeof(*err))
		read_extack(nl, h, err_tlv_offset(h, err), false);
	nl->done = true;
	return NL_STOP;
}

/* Linux 6.1 ends a dump without a cookie. The family's own refusals have a text there, others of that errno have none. */
static void read_refusal(struct nl_error *e)
{
	if (e->refusal != RNBD_REFUSAL_OTHER || !*e->extack)
		return;
	if (e->err == EOPNOTSUPP)
		e->refusal = RNBD_REFUSAL_UNLOADED;
	else if (e->err == EPERM)
		e->refusal = RNBD_REFUSAL_NAMESPACE;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nl *nl = arg;
	int err = 0;

	if (nl->k.cfg.trace)
		rnl_trace_msg(nl, "<-", h);
	if (h->nlmsg_len >= NLMSG_HDRLEN + sizeof(err))
		memcpy(&err, NLMSG_DATA(h), sizeof(err));
	if (err < 0) {
		nl->e->kind = NL_FAIL_KERNEL;
		nl->e->err = positive(err);
	}
	read_extack(nl, h, NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(err)), err < 0);
	read_refusal(nl->e);
	nl->done = true;
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct nl *nl = arg;

	if (h->nlmsg_flags & NLM_F_DUMP_INTR)
		nl->interrupted = true;
	if (h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
		return NL_OK;
	if (nl->k.cfg.trace)
		rnl_trace_msg(nl, "<-", h);
	if (nl->reply)
		nl->reply(h, nl->arg);
	return NL_OK;
}

static int on_intr(struct nl_msg *msg, void *arg)
{
	struct nl *nl = arg;

	nl->interrupted = true;
	return NL_OK;
}

static struct nl_msg *new_message(int family, int cmd, int flags, uint8_t version, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_size(size);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, cmd, version)) {
		fputs("rnbdadm: out of memory\n", stderr);
		_exit(1);
	}
	return msg;
}

struct nl_msg *rnl_new(struct nl *nl, int cmd, int flags)
{
	return new_message(nl->family, cmd, flags, nl->k.cfg.family->version, 32768);
}

struct nl_msg *rnl_new_sized(struct nl *nl, int cmd, size_t size)
{
	return new_message(nl->family, cmd, 0, nl->k.cfg.family->version, size);
}

/* A question to nlctrl about the family. */
static struct nl_msg *new_question(const struct nl *nl, int cmd, int flags)
{
	struct nl_msg *msg = new_message(GENL_ID_CTRL, cmd, flags, 1, 32768);

	nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, nl->k.cfg.family->name);
	return msg;
}

static bool fail_local(struct nl *nl, int err, int nlerr)
{
	const char *why = nl->file ? rnl_file_problem(nl->file) : "";

	if (*why) {
		nl->e->kind = NL_FAIL_REPLAY;
		snprintf(nl->e->extack, sizeof(nl->e->extack), "%s", why);
		return false;
	}
	nl->e->kind = NL_FAIL_LOCAL;
	nl->e->err = err ? err : EIO;
	if (!err)
		snprintf(nl->e->extack, sizeof(nl->e->extack), "%s", nl_geterror(nlerr));
	return false;
}

bool rnl_transact(struct nl *nl, struct nl_msg *msg,
		 void (*reply)(const struct nlmsghdr *h, void *arg), void *arg,
		 struct nl_error *e)
{
	bool dry;
	int rc;

	memset(e, 0, sizeof(*e));
	nl->e = e;
	if (nl->k.stuck) {
		e->kind = NL_FAIL_TIMEOUT;
		e->err = ETIMEDOUT;
		nlmsg_free(msg);
		return false;
	}
	nl->req = nlmsg_hdr(msg);
	nl->reply = reply;
	nl->arg = arg;
	nl->done = nl->interrupted = false;
	nl->started_ns = now_ns();
	rnl_file_set_current(nl->file);
	dry = nl->k.cfg.dry_run && nl->req->nlmsg_type == nl->family &&
	      (nl->req->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP;
	if (nl->k.cfg.verbose && nl->req->nlmsg_type == nl->family && !dry)
		fprintf(stderr, "rnbdadm: request %s\n",
			rnl_cmd_name(nl->k.cfg.family,
				     ((struct genlmsghdr *)NLMSG_DATA(nl->req))->cmd));
	/* what is not sent takes no number: the next answer would not be that awaited */
	if (dry)
		nl->req->nlmsg_seq = 1;
	nl_complete_msg(nl->sk, msg);
	if (nl->k.cfg.trace)
		rnl_trace_msg(nl, dry ? "--" : "->", nl->req);
	if (dry) {
		nl->req = NULL;
		nlmsg_free(msg);
		return true;
	}
	if (nl->k.cfg.before_change && nl->req->nlmsg_type == nl->family &&
	    !(nl->req->nlmsg_flags & NLM_F_DUMP))
		nl->k.cfg.before_change();
	rc = rnl_send(nl, msg);
	if (rc == RNL_LATE)
		return false;
	if (rc < 0) {
		fail_local(nl, errno, rc);
	} else {
		while (!nl->done) {
			errno = 0;
			rc = nl_recvmsgs(nl->sk, nl->cb);
			if (rc < 0 && rc != -NLE_DUMP_INTR && !nl->done) {
				fail_local(nl, errno, rc);
				break;
			}
		}
	}
	nl->req = NULL;
	nlmsg_free(msg);
	return e->kind == NL_FAIL_NONE;
}

static void add_group(struct nl *nl, struct nlattr *nest)
{
	struct nlattr *tb[CTRL_ATTR_MCAST_GRP_MAX + 1];

	if (nl->ngroups == ARRAY_SIZE(nl->groups) ||
	    nla_parse_nested(tb, CTRL_ATTR_MCAST_GRP_MAX, nest, NULL) < 0 ||
	    !tb[CTRL_ATTR_MCAST_GRP_NAME] || !tb[CTRL_ATTR_MCAST_GRP_ID] ||
	    nla_len(tb[CTRL_ATTR_MCAST_GRP_ID]) < 4)
		return;
	copy_text(nl->groups[nl->ngroups].name, sizeof(nl->groups[0].name),
		  tb[CTRL_ATTR_MCAST_GRP_NAME]);
	nl->groups[nl->ngroups++].id = nla_get_u32(tb[CTRL_ATTR_MCAST_GRP_ID]);
}

static bool is_text(const struct nlattr *a, const char *text)
{
	return (size_t)nla_len(a) == strlen(text) + 1 && !memcmp(nla_data(a), text, nla_len(a));
}

static void on_family(const struct nlmsghdr *h, void *arg)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1], *op;
	struct nl *nl = arg;
	int rem;

	if (nla_parse(tb, CTRL_ATTR_MAX,
		      (struct nlattr *)((char *)h + NLMSG_HDRLEN + GENL_HDRLEN),
		      (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN), NULL) < 0)
		return;
	/* a recording may be of another one */
	if (tb[CTRL_ATTR_FAMILY_NAME] &&
	    !is_text(tb[CTRL_ATTR_FAMILY_NAME], nl->k.cfg.family->name))
		return;
	if (tb[CTRL_ATTR_FAMILY_ID] && nla_len(tb[CTRL_ATTR_FAMILY_ID]) >= 2)
		nl->family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	if (tb[CTRL_ATTR_VERSION] && nla_len(tb[CTRL_ATTR_VERSION]) >= 4)
		nl->k.version = nla_get_u32(tb[CTRL_ATTR_VERSION]);
	if (tb[CTRL_ATTR_MCAST_GROUPS])
		nla_for_each_nested(op, tb[CTRL_ATTR_MCAST_GROUPS], rem)
			add_group(nl, op);
	if (!tb[CTRL_ATTR_OPS])
		return;
	nla_for_each_nested(op, tb[CTRL_ATTR_OPS], rem) {
		struct nlattr *o[CTRL_ATTR_OP_MAX + 1];

		if (nla_parse_nested(o, CTRL_ATTR_OP_MAX, op, NULL) < 0)
			continue;
		if (o[CTRL_ATTR_OP_ID] && nla_len(o[CTRL_ATTR_OP_ID]) >= 4 &&
		    nla_get_u32(o[CTRL_ATTR_OP_ID]) < 64)
			nl->ops |= 1ULL << nla_get_u32(o[CTRL_ATTR_OP_ID]);
	}
}

static bool resolve(struct nl *nl, struct nl_error *e)
{
	struct nl_msg *msg = new_question(nl, CTRL_CMD_GETFAMILY, 0);

	nl->family = -1;
	if (!rnl_transact(nl, msg, on_family, nl, e)) {
		if (e->kind == NL_FAIL_KERNEL && e->err == ENOENT)
			e->kind = NL_FAIL_NO_FAMILY;
		return false;
	}
	if (nl->family < 0) {
		e->kind = NL_FAIL_NO_FAMILY;
		e->err = ENOENT;
		return false;
	}
	return true;
}

static bool connect_socket(struct nl *nl, struct nl_error *e)
{
	int one = 1, fd, rc;

	rc = genl_connect(nl->sk);
	if (rc < 0) {
		e->kind = NL_FAIL_LOCAL;
		e->err = errno ? errno : EPROTONOSUPPORT;
		snprintf(e->extack, sizeof(e->extack), "netlink socket: %s", nl_geterror(rc));
		return false;
	}
	/* kernels without them answer ENOPROTOOPT: then there is no text */
	fd = nl_socket_get_fd(nl->sk);
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	nl_socket_set_buffer_size(nl->sk, 1 << 20, 0);
	return true;
}

struct kernel *netlink_open(const struct nl_config *cfg, struct nl_error *e)
{
	struct nl *nl = xcalloc(1, sizeof(*nl));
	const char *path = cfg->replay ? cfg->replay : cfg->record;

	memset(e, 0, sizeof(*e));
	nl->k = (struct kernel){ .ops = &netlink_ops, .cfg = *cfg, .event_fd = -1 };
	nl->cb = nl_cb_alloc(NL_CB_DEFAULT);
	nl->sk = nl->cb ? nl_socket_alloc_cb(nl->cb) : NULL;
	if (!nl->sk) {
		e->kind = NL_FAIL_LOCAL;
		e->err = ENOMEM;
		goto fail;
	}
	if (path) {
		nl->file = rnl_file_open(path, !cfg->replay, e);
		if (!nl->file)
			goto fail;
		rnl_file_attach(nl->file, nl->cb, cfg->family);
	}
	if (!cfg->replay && !connect_socket(nl, e))
		goto fail;
	nl_cb_err(nl->cb, NL_CB_CUSTOM, on_error, nl);
	nl_cb_set(nl->cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, nl);
	nl_cb_set(nl->cb, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, nl);
	nl_cb_set(nl->cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, nl);
	nl_cb_set(nl->cb, NL_CB_DUMP_INTR, NL_CB_CUSTOM, on_intr, nl);
	if (!resolve(nl, e))
		goto fail;
	return &nl->k;
fail:
	netlink_close(&nl->k);
	return NULL;
}

void netlink_close(struct kernel *k)
{
	struct nl *nl = to_nl(k);

	if (nl->events)
		nl_socket_free(nl->events);
	if (nl->sk)
		nl_socket_free(nl->sk);
	if (nl->cb)
		nl_cb_put(nl->cb);
	if (nl->file && !rnl_file_close(nl->file))
		fprintf(stderr, "rnbdadm: the netlink recording is incomplete: %s\n",
			strerror(errno));
	free(nl);
}

unsigned int netlink_missing_ops(const struct kernel *k, struct strlist *missing)
{
	const struct nl *nl = (const struct nl *)k;
	unsigned int known = 0;

	for (int cmd = 1; cmd <= RNBD_CMD_MAX; cmd++) {
		const char *name = rnl_cmd_name(nl->k.cfg.family, cmd);
		const char *dash = strrchr(name, '-');

		/* events are sent, never asked for */
		if (dash && !strcmp(dash, "-ntf"))
			continue;
		known++;
		if (nl->ops && !(nl->ops & (1ULL << cmd)))
			strlist_add(missing, name);
	}
	return known;
}

bool netlink_has_group(const struct kernel *k, const char *group)
{
	const struct nl *nl = (const struct nl *)k;

	for (size_t i = 0; i < nl->ngroups; i++)
		if (!strcmp(nl->groups[i].name, group))
			return true;
	return false;
}
