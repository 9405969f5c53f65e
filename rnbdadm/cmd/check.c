// SPDX-License-Identifier: GPL-2.0
/* check: what is wrong with this host, and what helps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "host/sysfs-file.h"

static const struct { const char *name; const struct check *checks; } groups[] = {
	{ "modules", modules_checks }, { "netlink", netlink_checks }, { "rdma", rdma_checks },
	{ "net", net_checks }, { "session", session_checks }, { "device", device_checks },
	{ "server", server_checks }, { "system", system_checks }, { "config", config_checks },
};

/* A module that is not there, or tells less, is looked at by checks of their own. */
static bool read_side(struct ctx *ctx, enum m_role role, unsigned int what, struct snapshot *s,
		      struct fail *why)
{
	if (ctx_snapshot(ctx, role, what, s))
		return true;
	if (ctx->fail.code == XC_UNAVAILABLE || ctx->fail.code == XC_UNSUPPORTED)
		fail_clear(&ctx->fail);
	*why = ctx->fail;
	memset(&ctx->fail, 0, sizeof(ctx->fail));
	return false;
}

/* What cannot be read is a finding, and no failure of the run. */
static void read_all(struct checkup *k)
{
	struct ctx *ctx = k->ctx;

	sys_list(k->root, &k->hcas, "/sys/class/infiniband");
	if (!ctx_kernel(ctx)) {
		k->no_nl = ctx->fail;
		memset(&ctx->fail, 0, sizeof(ctx->fail));
		return;
	}
	k->read_ms = now_ms();
	k->client_ok = read_side(ctx, M_CLIENT, NL_SESSIONS | NL_PATHS | NL_DEVICES_OPT | NL_STATS_OPT,
				 &k->client, &k->client_why);
	k->server_ok = read_side(ctx, M_SERVER, NL_SESSIONS | NL_PATHS | NL_EXPORTS_OPT, &k->exports,
				 &k->server_why);
	sys_paths(k->root, &k->client.paths);
	sys_paths(k->root, &k->exports.paths);
	sys_exports(k->root, &k->exports.exports);
	sys_devices(k->root, &k->client.devices);
}

static bool is_there(const struct checkup *k, const struct addr_pair *want)
{
	bool found = false;

	for (size_t i = 0; i < k->client.paths.n; i++)
		found |= addr_pair_matches(want, &k->client.paths.v[i].client,
					   &k->client.paths.v[i].server);
	for (size_t i = 0; i < k->nplanned; i++)
		found |= addr_pair_matches(want, &k->planned[i].path.client,
					   &k->planned[i].path.server);
	return found;
}

/* Nothing is well with a path that is not there. */
static int check_paths(struct checkup *k)
{
	char *text;

	if (k->only.n)
		check_planned(k);
	for (size_t i = 0; k->client_ok && i < k->only.n; i++) {
		if (is_there(k, &k->only.v[i]))
			continue;
		text = way_text(&k->only.v[i]);
		fail_set(&k->ctx->fail, XC_NOT_FOUND, "no path '%s'", text);
		fail_object(&k->ctx->fail, "path", text);
		fail_hint(&k->ctx->fail, "rnbdadm path list");
		free(text);
		return XC_NOT_FOUND;
	}
	return XC_OK;
}

static bool in_group(const char *id, const char *group)
{
	size_t n = strlen(group);

	return !strncmp(id, group, n) && id[n] == '.';
}

static bool wanted(const struct parsed *a, const char *id)
{
	for (size_t i = 0; i < a->nargs; i++)
		if (!strcmp(a->args[i], "all") || !strcmp(a->args[i], id) || in_group(id, a->args[i]))
			return true;
	return !a->nargs;
}

void check_names(struct strlist *l)
{
	strlist_add(l, "all");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		strlist_add(l, groups[g].name);
		for (const struct check *c = groups[g].checks; c->id; c++)
			strlist_add(l, c->id);
	}
}

/* Every word is a group or a check. */
static int check_words(struct ctx *ctx)
{
	const struct parsed *a = &ctx->args;
	struct strlist legal = { 0 };
	char *hint;
	int rc = XC_OK;

	check_names(&legal);
	for (size_t i = 0; i < a->nargs && !rc; i++) {
		if (strlist_has(&legal, a->args[i]))
			continue;
		rc = fail_set(&ctx->fail, XC_USAGE, "'%s' is no check", a->args[i]);
		hint = suggest(a->args[i], &legal);
		fail_hint(&ctx->fail, "%s", hint ? hint : "'rnbdadm help checks' lists them");
		free(hint);
	}
	strlist_free(&legal);
	return rc;
}

static int check_server_word(struct ctx *ctx, const char *server)
{
	uint64_t port;
	char *host = check_host(server, &port);

	if (!host)
		return fail_set(&ctx->fail, XC_USAGE, "--server: '%s' is not HOST, HOST:PORT or "
				"[IPv6]:PORT, with a port from 1 to 65535", server);
	free(host);
	return XC_OK;
}

char *check_list_text(void)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Checks of 'rnbdadm check', by group:\n");
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		strbuf_printf(&b, "\n%s:\n", groups[g].name);
		for (const struct check *c = groups[g].checks; c->id; c++)
			strbuf_printf(&b, "  %-22s %s\n", c->id, c->what);
	}
	return b.s;
}

json_t *js_checks(void)
{
	json_t *list = json_array();

	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		for (const struct check *c = groups[g].checks; c->id; c++) {
			json_t *o = json_object();

			js_set(o, "id", json_string(c->id));
			js_set(o, "group", json_string(groups[g].name));
			js_set(o, "description", json_string(c->what));
			js_set(o, "cause", json_string(c->cause));
			js_set(o, "cure", json_string(c->cure));
			json_array_append_new(list, o);
		}
	}
	return list;
}

int cmd_check_check(struct ctx *ctx)
{
	const char *server = args_value(&ctx->args, OPT_CHECK_SERVER);
	struct ways only = { .literal = true };
	int rc = check_words(ctx);

	if (!rc && server)
		rc = check_server_word(ctx, server);
	if (!rc)
		rc = ways_parse(ctx, OPT_CHECK_PATH, &only);
	ways_free(&only);
	return rc;
}

int cmd_check(struct ctx *ctx)
{
	struct checkup k = {
		.ctx = ctx, .root = ctx->test_root, .results = json_array(),
		.server = args_value(&ctx->args, OPT_CHECK_SERVER),
	};
	int rc = ways_parse(ctx, OPT_CHECK_PATH, &k.only);

	if (!rc) {
		read_all(&k);
		rc = check_paths(&k);
	}
	for (size_t g = 0; g < ARRAY_SIZE(groups) && !rc; g++) {
		for (const struct check *c = groups[g].checks; c->id; c++) {
			k.id = c->id;
			if (wanted(&ctx->args, c->id))
				c->run(&k);
		}
	}
	if (!rc)
		rc = check_report(&k);
	json_decref(k.results);
	for (size_t i = 0; i < k.nplanned; i++) {
		free(k.planned[i].at);
		free(k.planned[i].problem);
	}
	free(k.planned);
	strlist_free(&k.hcas);
	ways_free(&k.only);
	fail_clear(&k.no_nl);
	fail_clear(&k.client_why);
	fail_clear(&k.server_why);
	snapshot_free(&k.client);
	snapshot_free(&k.exports);
	snapshot_free(&k.later);
	return rc;
}
