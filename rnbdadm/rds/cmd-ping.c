// SPDX-License-Identifier: GPL-2.0
/* rds ping: does the RDS of a host answer, and how fast? */
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rds/commands.h"
#include "rds/listen.h"
#include "rds/lists.h"
#include "rds/ping.h"

#define INTERVAL_MS	1000
#define TIMEOUT_MS	5000

struct tally {
	struct rds_ping ping;
	json_t *answers;
	uint64_t sent, answered, least, most, sum;
	int64_t timeout_ms;
	char from[ADDR_TEXT_MAX], to[ADDR_TEXT_MAX];
};

static int no_address(struct ctx *ctx, enum exit_code code, const char *host, const char *message)
{
	fail_set(&ctx->fail, code, "%s", message);
	fail_object(&ctx->fail, "address", host);
	return (int)code;
}

int cmd_rds_ping_check(struct ctx *ctx)
{
	char *host = addr_of_host(ctx->args.args[0]), *message;
	struct addr a;
	int rc = XC_OK;

	message = addr_literal(host, &a);
	if (message)
		rc = no_address(ctx, XC_USAGE, ctx->args.args[0], message);
	else if (a.family == ADDR_GID)
		rc = no_address(ctx, XC_USAGE, ctx->args.args[0], "a GID is no address of RDS: give an IP address or a name");
	free(message);
	free(host);
	return rc;
}

/* An IPv4 address that is written as one of IPv6 is answered by the former. */
static void unmap(struct addr *a)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };
	uint8_t v4[4];

	if (a->family != ADDR_IPV6 || memcmp(a->raw, prefix, sizeof(prefix)))
		return;
	memcpy(v4, a->raw + 12, sizeof(v4));
	memset(a->raw, 0, sizeof(a->raw));
	memcpy(a->raw, v4, sizeof(v4));
	a->family = ADDR_IPV4;
}

static int resolve(struct ctx *ctx, struct addr *to)
{
	char *host = addr_of_host(ctx->args.args[0]), *message = addr_parse(host, to);
	enum exit_code code = to->eai == EAI_NONAME ? XC_NOT_FOUND : to->eai ? XC_FAILED : XC_USAGE;
	int rc = message ? no_address(ctx, code, ctx->args.args[0], message) : XC_OK;

	free(message);
	free(host);
	unmap(to);
	return rc;
}

static void tell(const struct ctx *ctx, const struct tally *t, bool answered, uint64_t ns)
{
	if (ctx->out.fmt != OUT_TEXT)
		return;
	if (t->sent == 1)
		printf("%s -> %s over %s\n", t->from, t->to, t->ping.transport ? t->ping.transport : "?");
	if (answered)
		printf("%" PRIu64 ": %.3f ms\n", t->sent, (double)ns / 1e6);
	else
		printf("%" PRIu64 ": no answer within %" PRId64 " ms\n", t->sent, t->timeout_ms);
	fflush(stdout);
}

static void note(struct ctx *ctx, struct tally *t, bool answered, uint64_t ns)
{
	json_t *j = json_object();

	t->sent++;
	js_set(j, "sequence", js_u64(t->sent));
	js_set(j, "round_trip_ns", answered ? js_u64(ns) : json_null());
	json_array_append_new(t->answers, j);
	tell(ctx, t, answered, ns);
	if (!answered)
		return;
	t->least = !t->answered || ns < t->least ? ns : t->least;
	t->most = ns > t->most ? ns : t->most;
	t->sum += ns;
	t->answered++;
}

static void report(struct ctx *ctx, struct tally *t)
{
	bool any = t->answered;

	js_set(ctx->data, "source", js_str(t->from));
	js_set(ctx->data, "destination", js_str(t->to));
	js_set(ctx->data, "transport", t->ping.transport ? json_string(t->ping.transport) : json_null());
	js_set(ctx->data, "sent", js_u64(t->sent));
	js_set(ctx->data, "answered", js_u64(t->answered));
	js_set(ctx->data, "round_trip_min_ns", any ? js_u64(t->least) : json_null());
	js_set(ctx->data, "round_trip_mean_ns", any ? js_u64(t->sum / t->answered) : json_null());
	js_set(ctx->data, "round_trip_max_ns", any ? js_u64(t->most) : json_null());
	js_set(ctx->data, "answers", json_incref(t->answers));
	if (ctx->out.fmt != OUT_TEXT || !t->sent)
		return;
	printf("%" PRIu64 " sent, %" PRIu64 " answered", t->sent, t->answered);
	if (any)
		printf(", min/mean/max %.3f/%.3f/%.3f ms", (double)t->least / 1e6,
		       (double)t->sum / (double)t->answered / 1e6, (double)t->most / 1e6);
	putchar('\n');
}

/* Of several the one that got furthest. */
static const char *state_to(const struct tally *t, const struct rds_lists *l)
{
	const char *state = "down";

	for (size_t i = 0; i < l->nconnections; i++) {
		const struct rds_connection *c = &l->connections[i].c;

		if (addr_equal(&c->remote, &t->ping.to) && addr_equal(&c->local, &t->ping.from) && strcmp(state, "connected"))
			state = strcmp(rds_state(c), "down") ? rds_state(c) : state;
	}
	return state;
}

/* What the connection is like says where to look. */
static void explain(struct ctx *ctx, const struct tally *t)
{
	const char *state = "down";
	struct fail none = { 0 }, kept = ctx->fail;
	struct rds_lists l;
	struct rds r;

	ctx->fail = none;
	if (rds_open(ctx, &r) && rds_lists(ctx, &r, &l)) {
		state = state_to(t, &l);
		rds_lists_free(&l);
	}
	rds_close(&r);
	fail_clear(&ctx->fail);
	ctx->fail = kept;
	if (!strcmp(state, "connected"))
		fail_hint(&ctx->fail, "the connection is up: %s does not answer pings; there, sysctl net.rds.ping_enable=1", t->to);
	else if (rds_unanswered(ctx->test_root, RDS_TCP_PORT, &t->ping.to))
		fail_hint(&ctx->fail, "%s does not answer at TCP port %d: the host is down, or a firewall drops it", t->to,
			  RDS_TCP_PORT);
	else
		fail_hint(&ctx->fail, "there is no connection to %s: there, modprobe rds_tcp, and let TCP port %d in", t->to,
			  RDS_TCP_PORT);
}

static int verdict(struct ctx *ctx, const struct tally *t)
{
	if (t->answered == t->sent && t->sent)
		return XC_OK;
	if (t->answered) {
		fail_set(&ctx->fail, XC_PARTIAL, "%" PRIu64 " of %" PRIu64 " pings were not answered",
			 t->sent - t->answered, t->sent);
	} else {
		fail_set(&ctx->fail, XC_TIMEOUT, "no answer from %s to %s", t->to, t->from);
		explain(ctx, t);
	}
	fail_object(&ctx->fail, "address", t->to);
	return (int)ctx->fail.code;
}

static enum rds_answer pings(struct ctx *ctx, struct tally *t, uint64_t count)
{
	enum rds_answer a = RDS_SILENCE;
	int64_t started, rest;
	uint64_t ns;

	while (t->sent < count) {
		started = now_ms();
		a = rds_ping_once(ctx, &t->ping, t->timeout_ms, &ns);
		if (a == RDS_CANNOT || a == RDS_INTERRUPTED)
			break;
		note(ctx, t, a == RDS_ANSWER, ns);
		rest = started + INTERVAL_MS - now_ms();
		if (t->sent < count && rest > 0 && rds_ping_rest(&t->ping, rest))
			break;
	}
	return a;
}

int cmd_rds_ping(struct ctx *ctx)
{
	uint64_t count = args_uint(&ctx->args, OPT_PINGS, UINT64_MAX);
	struct tally t = { .timeout_ms = ctx->timeout_ms == M_UNKNOWN_INT ? TIMEOUT_MS : ctx->timeout_ms };
	struct rds r;
	int rc = resolve(ctx, &t.ping.to);

	if (rc)
		return rc;
	if (!rds_open(ctx, &r))
		return ctx->fail.code;
	rds_close(&r);
	if (!rds_ping_open(ctx, &t.ping))
		return ctx->fail.code;
	addr_format_bare(&t.ping.from, t.from);
	addr_format_bare(&t.ping.to, t.to);
	t.answers = json_array();
	rc = pings(ctx, &t, count) == RDS_CANNOT ? (int)ctx->fail.code : XC_OK;
	report(ctx, &t);
	if (!rc)
		rc = verdict(ctx, &t);
	json_decref(t.answers);
	rds_ping_close(&t.ping);
	return rc;
}
