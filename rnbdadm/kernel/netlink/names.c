// SPDX-License-Identifier: GPL-2.0
/* Names and types of the family's attributes, for messages and traces. */
#include <inttypes.h>
#include <string.h>

#include <linux/rds_netlink.h>

#include "base/text.h"
#include "kernel/netlink/netlink.h"
#include "kernel/netlink/rds-gen.h"
#include "kernel/netlink/rnbd-gen.h"

static struct nl_cmd_desc cmd_desc(const struct nl_family *f, int cmd)
{
	return cmd >= 0 && (size_t)cmd < f->ncmds ? f->cmds[cmd] : (struct nl_cmd_desc){ 0 };
}

const struct nl_attr_set *rnl_cmd_set(const struct nl_family *f, int cmd)
{
	return cmd_desc(f, cmd).set;
}

static const struct nl_attr_set *set_of(const struct nl_family *f, const struct nlmsghdr *h)
{
	return rnl_cmd_set(f, ((struct genlmsghdr *)NLMSG_DATA(h))->cmd);
}

const char *rnl_cmd_name(const struct nl_family *f, int cmd)
{
	const char *name = cmd_desc(f, cmd).name;

	return name ? name : "unknown";
}

const struct nl_attr_desc *rnl_attr(const struct nl_attr_set *set, unsigned int type)
{
	if (!set || type >= set->max || !set->attrs[type].name)
		return NULL;
	return &set->attrs[type];
}

/* Descends to the attribute that holds @offset; returns its set. */
static const struct nl_attr_set *walk(const struct nl_family *f, const struct nlmsghdr *h,
				      unsigned int offset, char *buf, size_t len)
{
	const struct nl_attr_set *set = set_of(f, h);
	const char *base = (const char *)h;
	struct nlattr *a = (struct nlattr *)(base + NLMSG_HDRLEN + GENL_HDRLEN);
	int rem = (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN);
	size_t n = 0;

	buf[0] = '\0';
	while (nla_ok(a, rem)) {
		unsigned int off = (const char *)a - base;
		const struct nl_attr_desc *d;

		if (offset < off)
			break;
		if (offset >= off + NLA_ALIGN(a->nla_len)) {
			a = nla_next(a, &rem);
			continue;
		}
		d = rnl_attr(set, nla_type(a));
		if (!d)
			return NULL;
		n += snprintf(buf + n, n < len ? len - n : 0, "%s%s", n ? "." : "", d->name);
		set = d->nest;
		if (offset == off || d->type != NL_NEST)
			return set;
		rem = nla_len(a);
		a = nla_data(a);
	}
	return set;
}

void rnl_attr_at(const struct nl_family *f, const struct nlmsghdr *h, unsigned int offset, char *buf,
		 size_t len)
{
	walk(f, h, offset, buf, len);
}

void rnl_attr_missing(const struct nl_family *f, const struct nlmsghdr *h, unsigned int nest_offset,
		      unsigned int type, char *buf, size_t len)
{
	const struct nl_attr_set *set = set_of(f, h);
	const struct nl_attr_desc *d;
	size_t n;

	buf[0] = '\0';
	if (nest_offset)
		set = walk(f, h, nest_offset, buf, len);
	d = rnl_attr(set, type);
	n = strlen(buf);
	if (d)
		snprintf(buf + n, len - n, "%s%s", n ? "." : "", d->name);
}

static void trace_bytes(const unsigned char *p, int len)
{
	for (int i = 0; i < len; i++)
		fprintf(stderr, "%02x", p[i]);
}

static void trace_attrs(const struct nl_attr_set *set, struct nlattr *a, int rem)
{
	for (; nla_ok(a, rem); a = nla_next(a, &rem)) {
		const struct nl_attr_desc *d = rnl_attr(set, nla_type(a));
		int len = nla_len(a);
		unsigned char *p = nla_data(a);

		if (d)
			fprintf(stderr, " %s=", d->name);
		else
			fprintf(stderr, " attr%d=", nla_type(a));
		if (d && d->type == NL_NEST) {
			fputs("{", stderr);
			trace_attrs(d->nest, (struct nlattr *)p, len);
			fputs(" }", stderr);
		} else if (d && d->type == NL_U8 && len >= 1) {
			fprintf(stderr, "%u", *p);
		} else if (d && d->type == NL_U16 && len >= 2) {
			fprintf(stderr, "%u", nla_get_u16(a));
		} else if (d && d->type == NL_U32 && len >= 4) {
			fprintf(stderr, "%" PRIu32, nla_get_u32(a));
		} else if (d && d->type == NL_S32 && len >= 4) {
			fprintf(stderr, "%" PRId32, nla_get_s32(a));
		} else if (d && d->type == NL_U64 && len >= 8) {
			fprintf(stderr, "%" PRIu64, nla_get_u64(a));
		} else if (d && d->type == NL_STR) {
			char *s = xstrndup((char *)p, len), *q = shell_quote(s);

			fputs(q, stderr);
			free(q);
			free(s);
		} else {
			trace_bytes(p, len);
		}
	}
}

void rnl_trace_msg(const struct nl *nl, const char *dir, const struct nlmsghdr *h)
{
	double ms = (now_ns() - nl->started_ns) / 1e6;
	const struct genlmsghdr *g = NLMSG_DATA(h);

	fprintf(stderr, "nl %s %8.3f ms ", dir, ms);
	if (h->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *err = NLMSG_DATA(h);

		fprintf(stderr, "ack error=%d\n", err->error);
		return;
	}
	if (h->nlmsg_type == NLMSG_DONE) {
		fputs("done\n", stderr);
		return;
	}
	if (h->nlmsg_type == GENL_ID_CTRL) {
		fputs("nlctrl\n", stderr);
		return;
	}
	fprintf(stderr, "%s%s len=%u", rnl_cmd_name(nl->k.cfg.family, g->cmd),
		(h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ? " dump" : "", h->nlmsg_len);
	trace_attrs(set_of(nl->k.cfg.family, h),
		    (struct nlattr *)((char *)h + NLMSG_HDRLEN + GENL_HDRLEN),
		    (int)h->nlmsg_len - (NLMSG_HDRLEN + GENL_HDRLEN));
	fputs("\n", stderr);
}
