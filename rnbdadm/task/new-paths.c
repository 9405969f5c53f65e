// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "task/new-paths.h"

enum exit_code way_problem_code(const struct addr_pair *p)
{
	switch (p->src.eai ? p->src.eai : p->dst.eai) {
	case 0:
		return XC_USAGE;
	case EAI_NONAME:
	case EAI_NODATA:
	case EAI_ADDRFAMILY:
		return XC_NOT_FOUND;
	default:
		return XC_FAILED;
	}
}

int way_add(struct ctx *ctx, struct ways *w, const char *text, const char *what)
{
	struct addr_pair pair;
	char *msg = w->literal ? addr_pair_literal(text, &pair) : addr_pair_parse(text, &pair);

	if (msg) {
		fail_set(&ctx->fail, way_problem_code(&pair), "%s: %s", what, msg);
		free(msg);
		return (int)ctx->fail.code;
	}
	if (w->literal && strstr(text, "host:"))
		return XC_OK;
	pair.dst.port = (uint16_t)args_uint(&ctx->args, OPT_DEST_PORT, 0);
	for (size_t i = 0; i < w->n; i++)
		if (addr_pair_same(&w->v[i], &pair))
			return fail_set(&ctx->fail, XC_USAGE, "%s: '%s' is given twice", what, text);
	w->v = xrealloc(w->v, (w->n + 1) * sizeof(*w->v));
	w->v[w->n++] = pair;
	return XC_OK;
}

int ways_parse(struct ctx *ctx, enum opt_id id, struct ways *w)
{
	const char *text;
	int rc = XC_OK;
	size_t i;

	for (i = 0; !rc && (text = args_nth(&ctx->args, id, i)); i++)
		rc = way_add(ctx, w, text, "--path");
	if (!rc && i > WAY_MAX)
		rc = fail_set(&ctx->fail, XC_USAGE, "at most %d paths", WAY_MAX);
	return rc;
}

void ways_free(struct ways *w)
{
	free(w->v);
	memset(w, 0, sizeof(*w));
}

/* With the interface of a link-local one, which the kernel's spelling leaves out. */
static void put_addr(struct strbuf *b, const struct addr *a)
{
	char text[ADDR_TEXT_MAX], dev[IF_NAMESIZE];

	addr_format(a, text);
	strbuf_puts(b, text);
	if (a->family != ADDR_IPV6 || !a->scope)
		return;
	if (if_indextoname(a->scope, dev))
		strbuf_printf(b, "%%%s", dev);
	else
		strbuf_printf(b, "%%%u", a->scope);
}

char *way_text(const struct addr_pair *p)
{
	struct strbuf b = { 0 };

	put_addr(&b, &p->src);
	if (p->src.family != ADDR_NONE)
		strbuf_puts(&b, "@");
	put_addr(&b, &p->dst);
	return b.s;
}

void ways_words(struct strlist *words, const struct ways *w)
{
	for (size_t i = 0; i < w->n; i++) {
		char *text = way_text(&w->v[i]);

		strlist_add(words, "--path");
		strlist_add(words, text);
		free(text);
	}
}

const struct addr_pair *way_missing(const struct ways *w, const struct session *sess,
				    const struct snapshot *s)
{
	size_t n, j;
	const struct index_entry *e = index_find(&s->session_paths, sess->id, &n);

	for (size_t i = 0; i < w->n; i++) {
		for (j = 0; j < n; j++)
			if (addr_pair_matches(&w->v[i], &s->paths.v[e[j].pos].client,
					      &s->paths.v[e[j].pos].server))
				break;
		if (j == n)
			return &w->v[i];
	}
	return NULL;
}

static char *servers_text(const struct ways *w)
{
	struct strlist l = { 0 };
	char *s;

	for (size_t i = 0; i < w->n; i++) {
		char text[ADDR_TEXT_MAX];

		addr_format_bare(&w->v[i].dst, text);
		if (!strlist_has(&l, text))
			strlist_add(&l, text);
	}
	if (!l.n)
		strlist_add(&l, "the server");
	s = strlist_join(&l, ", ");
	strlist_free(&l);
	return s;
}

/* Who was refused by somebody had a device. */
static bool device_may_lack(int err)
{
	return err == ENODEV || err == EHOSTUNREACH || err == ENETUNREACH || err == EADDRNOTAVAIL ||
	       err == ETIMEDOUT;
}

bool way_is_at_fault(int err)
{
	return err != EPERM && err != EACCES && err != EINVAL && err != EEXIST &&
	       err != ENOMEM && err != EINTR && err != ENXIO && err != EOPNOTSUPP;
}

void way_explain(const struct ctx *ctx, struct fail *f, const struct ways *w, int err)
{
	unsigned int port = (unsigned int)args_uint(&ctx->args, OPT_DEST_PORT, ADDR_DEFAULT_PORT);
	char *servers;

	/* a configuration has ports of its own */
	if (w->n && w->v[0].dst.port)
		port = w->v[0].dst.port;

	if (!way_is_at_fault(err))
		return;
	if (w->n && device_may_lack(err) && !sys_has_rdma(ctx->test_root)) {
		fail_set(f, XC_UNAVAILABLE, "this host has no RDMA device (%s)", errno_name(err));
		fail_hint(f, "'rdma link' lists them; 'rdma link add rxe0 type rxe netdev IFACE' "
			  "makes one of software");
		return;
	}
	servers = servers_text(w);
	switch (err) {
	case ECONNREFUSED:
		fail_set(f, XC_FAILED, "%s does not listen on port %u (%s)", servers, port,
			 errno_name(err));
		fail_hint(f, "--dest-port; is rnbd_server loaded there?");
		break;
	case ECONNRESET:
		fail_set(f, XC_FAILED, "%s, port %u, closed the connection (%s)", servers, port,
			 errno_name(err));
		fail_hint(f, "another client may have this --session, or the access list there does "
			  "not let it in: 'rnbdadm monitor access' and the kernel log there tell "
			  "why; --dest-port; is rnbd_server loaded there?");
		break;
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EADDRNOTAVAIL:
	case ENODEV:
		fail_set(f, XC_FAILED, "no way to %s over RDMA (%s)", servers, errno_name(err));
		fail_hint(f, "check the address; 'rdma link' shows the RDMA devices");
		break;
	case ETIMEDOUT:
		fail_set(f, XC_TIMEOUT, "%s did not answer in time (%s)", servers,
			 errno_name(err));
		fail_hint(f, "check the address and the network, or --timeout=TIME");
		break;
	}
	free(servers);
}

int way_timeout(struct ctx *ctx, const char *command, uint64_t *ms)
{
	*ms = M_UNKNOWN;
	if (ctx->timeout_ms == M_UNKNOWN_INT)
		return XC_OK;
	if (ctx->timeout_ms < TIMEOUT_MS_MIN || ctx->timeout_ms > TIMEOUT_MS_MAX)
		return fail_set(&ctx->fail, XC_USAGE, "--timeout of %s is from 100ms to 10m",
				command);
	*ms = (uint64_t)ctx->timeout_ms;
	return XC_OK;
}
