// SPDX-License-Identifier: GPL-2.0
/* Sessions of this client: what is down, and what goes down together. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

static void each_session(struct checkup *k, void (*each)(struct checkup *k, const struct session *s))
{
	if (!check_client(k))
		return;
	for (size_t i = 0; i < k->client.sessions.n; i++)
		each(k, &k->client.sessions.v[i]);
	if (!k->client.sessions.n)
		check_tell(k, CHECK_SKIP, "", "no session");
}

/* The i-th path of a session, NULL behind the last. */
static const struct path *path_of(const struct checkup *k, const struct session *s, size_t i)
{
	size_t n;
	const struct index_entry *e = index_find(&k->client.session_paths, s->id, &n);

	return i < n ? &k->client.paths.v[e[i].pos] : NULL;
}

/* What an errno of the last attempt says of the server. */
static const char *cure(int64_t err)
{
	switch (err < 0 ? -err : err) {
	case ECONNREFUSED:
		return "nobody listens on the server's port: modprobe rnbd_server there, --dest-port here";
	case ECONNRESET:
		return "the server closed it: its kernel log says why";
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "no way to the server: rnbdadm check net";
	case EADDRNOTAVAIL:
	case ENODEV:
		return "the own address is on no RDMA interface: rnbdadm check rdma";
	case ETIMEDOUT:
		return "nobody answers: is the server up, and the network between?";
	default:
		return "rnbdadm recover SESSION; rnbdadm check rdma net";
	}
}

static void down(struct checkup *k, const struct session *s)
{
	const struct path *p, *first = NULL;
	struct strlist names = { 0 };
	size_t n = 0;
	char *list;

	for (size_t i = 0; (p = path_of(k, s, i)); i++) {
		if (!check_wants(k, p))
			continue;
		n++;
		if (!strcmp(path_state_name(p->state), "connected"))
			continue;
		first = first && first->last_error ? first : p;
		strlist_addf(&names, "%s is %s%s%s", p->name, path_state_name(p->state),
			     p->last_error ? ", " : "",
			     p->last_error ? errno_name((int)llabs(p->last_error)) : "");
	}
	if (!n && path_of(k, s, 0)) {
		check_tell(k, CHECK_SKIP, s->name, "none of its paths is asked for");
		return;
	}
	if (!n) {
		check_tell(k, CHECK_FAIL, s->name, "has no path");
		check_hint(k, "rnbdadm path add %s [SRC@]DST", s->name);
		return;
	}
	if (!names.n) {
		check_tell(k, CHECK_PASS, s->name, n == 1 ? "its path is connected" :
			   "all %zu paths are connected", n);
		strlist_free(&names);
		return;
	}
	list = strlist_join(&names, "; ");
	check_tell(k, CHECK_FAIL, s->name, "%zu of %zu paths down: %s", names.n, n, list);
	check_hint(k, "%s", cure(first->last_error));
	check_data(k, "paths", js_list(&names));
	free(list);
	strlist_free(&names);
}

static void session_paths_down(struct checkup *k)
{
	each_session(k, down);
}

static void single(struct checkup *k, const struct session *s)
{
	if (path_of(k, s, 1)) {
		check_tell(k, CHECK_PASS, s->name, "several paths");
		return;
	}
	check_tell(k, CHECK_WARN, s->name, path_of(k, s, 0) ? "has one path only" : "has no path");
	check_hint(k, "rnbdadm path add %s [SRC@]DST over another port", s->name);
}

static void session_single_path(struct checkup *k)
{
	each_session(k, single);
}

static bool same_subnet(const struct checkup *k, const struct addr *a, const struct subnet *s)
{
	struct subnet own;

	return rtnl_subnet(k->root, a, &own) && !strcmp(own.text, s->text);
}

/* What all paths of a session have in common. Which network the server is in nobody tells here. */
static void fate(struct checkup *k, const struct session *s)
{
	const struct path *p, *a = path_of(k, s, 0);
	bool hca, port = true, own = true, peer = true, net;
	struct strlist shared = { 0 };
	struct subnet subnet;
	char *list;

	if (!a || !path_of(k, s, 1)) {
		check_tell(k, CHECK_SKIP, s->name, "fewer than two paths");
		return;
	}
	/* unknown while they are down */
	hca = *a->hca;
	net = rtnl_subnet(k->root, &a->client, &subnet);
	for (size_t i = 1; (p = path_of(k, s, i)); i++) {
		hca &= !strcmp(p->hca, a->hca);
		port &= p->hca_port == a->hca_port;
		own &= addr_equal(&p->client, &a->client);
		peer &= addr_equal(&p->server, &a->server);
		net = net && same_subnet(k, &p->client, &subnet);
	}
	if (hca)
		strlist_addf(&shared, "the %s %s", port ? "port" : "adapter", a->hca);
	if (own)
		strlist_add(&shared, "the own address");
	else if (net)
		strlist_addf(&shared, "the subnet %s", subnet.text);
	if (peer)
		strlist_add(&shared, "the server's address");
	list = strlist_join(&shared, ", ");
	if (!shared.n) {
		check_tell(k, CHECK_PASS, s->name, "its paths have nothing in common");
	} else {
		check_tell(k, CHECK_WARN, s->name, "all paths share %s", list);
		check_hint(k, "rnbdadm path add %s over another adapter and switch", s->name);
	}
	check_data(k, "shared", js_list(&shared));
	free(list);
	strlist_free(&shared);
}

static void session_shared_fate(struct checkup *k)
{
	each_session(k, fate);
}

static uint64_t failed_reconnects(const struct snapshot *s, const struct path *p)
{
	const struct stats *st = snapshot_stats(s, p->id);

	return st && st->c.reconnects_failed != M_UNKNOWN ? st->c.reconnects_failed : 0;
}

/* Does a path try in vain now? Between two attempts may be more time than between the looks. */
static bool goes_on(const struct checkup *k, const struct path *p)
{
	return failed_reconnects(&k->later, p) > failed_reconnects(&k->client, p) ||
	       (!strcmp(path_state_name(p->state), "reconnecting") && p->reconnect_attempts &&
		p->reconnect_attempts != M_UNKNOWN);
}

static void attempts(struct checkup *k, const struct session *s)
{
	int64_t max = s->set.v[SET_MAX_RECONNECT_ATTEMPTS];
	const struct path *p;
	uint64_t failed = 0;
	bool rising = false;

	for (size_t i = 0; (p = path_of(k, s, i)); i++) {
		failed += failed_reconnects(&k->client, p);
		rising |= goes_on(k, p);
		if (max < 0 || !strcmp(path_state_name(p->state), "connected") ||
		    p->reconnect_attempts == M_UNKNOWN || (int64_t)p->reconnect_attempts < max)
			continue;
		check_tell(k, CHECK_FAIL, s->name, "%s was given up after %" PRIu64 " attempts", p->name,
			   p->reconnect_attempts);
		check_hint(k, "rnbdadm session set %s --max-reconnect-attempts infinite; "
			   "rnbdadm path reconnect %s", s->name, s->name);
		return;
	}
	if (rising) {
		check_tell(k, CHECK_WARN, s->name, "reconnects go on failing, %" PRIu64
			   " since the last reset", failed);
		check_hint(k, "rnbdadm check session.paths_down net rdma; rnbdadm stats %s",
			   s->name);
	} else if (failed) {
		check_tell(k, CHECK_PASS, s->name, "no reconnect fails now, %" PRIu64
			   " did since the last reset", failed);
	} else {
		check_tell(k, CHECK_PASS, s->name, "no reconnect failed");
	}
	check_data(k, "reconnects_failed", js_u64(failed));
}

/* Where some failed they are counted again; the first look was at the start of the run. */
static void session_reconnects(struct checkup *k)
{
	int64_t left = k->read_ms + CHECK_LOOK_MS - now_ms();
	uint64_t failed = 0;

	for (size_t i = 0; i < k->client.paths.n; i++)
		failed += failed_reconnects(&k->client, &k->client.paths.v[i]);
	if (failed) {
		sleep_ms(left > 0 ? left : 0);
		if (!ctx_snapshot(k->ctx, M_CLIENT, NL_STATS, &k->later))
			fail_clear(&k->ctx->fail);
	}
	each_session(k, attempts);
}

/* More than a tenth of the completions on another CPU. */
static double rate_of(const struct checkup *k, const struct path *p)
{
	char *s = *p->hca && !strchr(p->hca, '/') && p->hca_port != M_UNKNOWN ?
		  sys_read(k->root, "/sys/class/infiniband/%s/ports/%" PRIu64 "/rate", p->hca,
			   p->hca_port) : NULL;
	double v = s ? atof(s) : 0;

	free(s);
	return v;
}

static void policy(struct checkup *k, const struct session *s)
{
	const char *name = mp_policy_name(s->set.mp_policy);
	bool equal = name && !strcmp(name, "round-robin") && path_of(k, s, 1);
	const struct path *p;
	double lo = 0, hi = 0;

	for (size_t i = 0; (p = path_of(k, s, i)); i++) {
		double r = rate_of(k, p);

		if (!r)
			continue;
		lo = !lo || r < lo ? r : lo;
		hi = r > hi ? r : hi;
	}
	if (equal && !hi) {
		check_tell(k, CHECK_SKIP, s->name, "no rate of its paths is known");
	} else if (equal && lo < hi) {
		check_tell(k, CHECK_WARN, s->name, "round-robin over paths of %g and %g Gb/s", lo, hi);
		check_hint(k, "rnbdadm session set %s --mp-policy min-inflight", s->name);
	} else {
		check_tell(k, CHECK_PASS, s->name, "%s fits its paths", name ? name : "the policy");
	}
}

static void session_policy(struct checkup *k)
{
	each_session(k, policy);
}

const struct check session_checks[] = {
	{ "session.paths_down", "every path is connected; if not, why", session_paths_down,
	  .cause = "cable, route, server; the last error says which",
	  .cure = "the hint of the result; rnbdadm recover SESSION" },
	{ "session.single_path", "there is more than one path", session_single_path,
	  .cause = "it was made with one",
	  .cure = "rnbdadm path add SESSION [SRC@]DST over another port" },
	{ "session.shared_fate", "not all paths go down together", session_shared_fate,
	  .cause = "the paths have an adapter, a port, a subnet or an address in common",
	  .cure = "rnbdadm path add SESSION over another adapter and switch" },
	{ "session.reconnects", "no path was given up, none fails to reconnect", session_reconnects,
	  .cause = "the server was away for longer than max-reconnect-attempts allow, or it comes and goes",
	  .cure = "rnbdadm session set SESSION --max-reconnect-attempts infinite; rnbdadm path reconnect SESSION" },
	{ "session.policy", "the path policy fits the paths", session_policy,
	  .cause = "round-robin gives a slow path as much as a fast one",
	  .cure = "rnbdadm session set SESSION --mp-policy min-inflight" },
	{ 0 }
};
