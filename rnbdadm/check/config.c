// SPDX-License-Identifier: GPL-2.0
/* The configuration: is it one, and is it what runs? */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "config/access-list.h"
#include "config/plan.h"
#include "host/disks.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

/* Reads it; false with a result where there is none. A file that cannot be read is a failure here. */
static bool read_config(struct checkup *k, struct conf *c)
{
	struct ctx *ctx = k->ctx;

	if (conf_read(ctx, NULL, c)) {
		check_tell(k, CHECK_FAIL, "", "%s", ctx->fail.message);
		check_hint(k, "rnbdadm config validate");
		fail_clear(&ctx->fail);
		return false;
	}
	if (!c->files.n) {
		check_tell(k, CHECK_SKIP, "", "nothing is configured in /etc/rnbd");
		return false;
	}
	return true;
}

static void tell_problem(struct checkup *k, enum check_status status, const struct conf *c, const char *what)
{
	const struct conf_problem *p = &c->problems[0];
	char *where;

	for (size_t i = 0; i < c->nproblems && p->warning && status == CHECK_FAIL; i++)
		p = &c->problems[i];
	where = conf_place_text(&p->at);
	check_tell(k, status, where ? where : "", "%s%s", what, p->message);
	check_hint(k, "rnbdadm config validate");
	free(where);
}

static void config_valid(struct checkup *k)
{
	struct conf c = { 0 };

	if (!read_config(k, &c)) {
		conf_free(&c);
		return;
	}
	if (c.errors)
		tell_problem(k, CHECK_FAIL, &c, c.errors > 1 ? "the first of several mistakes: " : "");
	else if (c.nproblems)
		tell_problem(k, CHECK_WARN, &c, "");
	else
		check_tell(k, CHECK_PASS, "", "%zu file%s, %zu section%s", c.files.n, c.files.n == 1 ? "" : "s",
			   c.n, c.n == 1 ? "" : "s");
	check_data(k, "files", js_list(&c.files));
	check_data(k, "mistakes", json_integer((json_int_t)c.errors));
	conf_free(&c);
}

static void compare(struct checkup *k, struct conf *c)
{
	const struct plan_opts o = { .mode = PLAN_SYNC };
	struct plan p;

	conf_resolve(c);
	plan_make(&p, c, &k->client, &o);
	if (p.n) {
		const struct plan_step *st = &p.v[0];

		check_tell(k, CHECK_WARN, "", "%zu change%s to be made, first %s %s", p.n, p.n == 1 ? "" : "s",
			   plan_object_name(st->object), st->name);
		check_hint(k, "rnbdadm config diff shows them, rnbdadm config apply makes them");
	} else if (p.nunmet) {
		char *text = plan_unmet_text(&p.unmet[0]);

		check_tell(k, CHECK_WARN, "", "%s", text);
		check_hint(k, "rnbdadm config diff shows all that apply cannot change");
		free(text);
	} else {
		check_tell(k, CHECK_PASS, "", "the configuration runs");
	}
	check_data(k, "changes", json_integer((json_int_t)p.n));
	check_data(k, "unlisted", json_integer((json_int_t)p.nunlisted));
	plan_free(&p);
}

static void compare_access(struct checkup *k, struct conf *c)
{
	const struct access_list *want = conf_access(c);
	struct access_list now = { 0 };
	json_t *doc = json_object();
	size_t n;
	int rc;

	if (want && check_loaded(k, "rnbd_server") && access_load_if(k->ctx, &now, &rc)) {
		n = access_diff(&now, want, doc);
		check_tell(k, n ? CHECK_WARN : CHECK_PASS, "access list", n ? "%zu change%s to be made" :
			   "the configured list is loaded", n, n == 1 ? "" : "s");
		if (n)
			check_hint(k, "rnbdadm server access diff shows them, rnbdadm server access apply makes "
				   "them");
	}
	fail_clear(&k->ctx->fail);
	json_decref(doc);
	access_free(&now);
}

static void config_drift(struct checkup *k)
{
	struct conf c = { 0 };

	if (read_config(k, &c)) {
		if (c.errors)
			check_tell(k, CHECK_SKIP, "", "the configuration has mistakes");
		else if (check_client(k))
			compare(k, &c);
		if (!c.errors)
			compare_access(k, &c);
	}
	conf_free(&c);
}

/* Why it has no address */
static const char *problem_of(const struct conf *c, const struct conf_path *way)
{
	for (size_t i = 0; i < c->nproblems; i++) {
		const struct conf_problem *p = &c->problems[i];

		if (p->at.file == way->at.file && p->at.line == way->at.line)
			return p->message;
	}
	return "has no address";
}

/* The port that has the own address, as the kernel knows it of a path that runs. */
static void find_port(struct checkup *k, struct path *p)
{
	struct path_list one = { p, 1 };
	struct subnet net;
	struct strlist ports = { 0 };

	sys_ports(k->root, &ports);
	for (size_t i = 0; i < ports.n && p->gid_index == M_UNKNOWN_INT; i++) {
		const char *colon = strrchr(ports.v[i], ':');

		snprintf(p->hca, sizeof(p->hca), "%.*s", (int)(colon - ports.v[i]), ports.v[i]);
		if (parse_uint(colon + 1, &p->hca_port))
			sys_paths(k->root, &one);
	}
	strlist_free(&ports);
	if (p->gid_index != M_UNKNOWN_INT)
		return;
	*p->hca = *p->link_layer = '\0';
	p->hca_port = M_UNKNOWN;
	/* IPoIB: its GID is another than its address */
	if (rtnl_subnet(k->root, &p->client, &net) &&
	    sys_number(k->root, "/sys/class/net/%s/type", net.dev) == 32)
		strcpy(p->link_layer, "infiniband");
}

static void add_planned(struct checkup *k, const struct conf *c, const struct conf_section *s,
			const struct conf_path *way)
{
	const struct session *sess = snapshot_session(&k->client, s->name);
	struct addr_pair pair = conf_pair(c, s, way);
	const struct ways one = { .v = &pair, .n = 1 };
	struct check_planned *p;
	char *name;

	if (way->resolved && sess && !way_missing(&one, sess, &k->client))
		return;
	k->planned = xrealloc(k->planned, (k->nplanned + 1) * sizeof(*k->planned));
	p = &k->planned[k->nplanned++];
	p->at = conf_place_text(&way->at);
	p->problem = way->resolved ? NULL : xstrdup(problem_of(c, way));
	path_init(&p->path);
	p->path.role = M_CLIENT;
	name = way->resolved ? way_text(&pair) : xstrdup(way->text);
	snprintf(p->path.name, sizeof(p->path.name), "%s", name);
	free(name);
	snprintf(p->path.session, sizeof(p->path.session), "%s", s->name);
	if (!way->resolved)
		return;
	p->path.client = pair.src;
	p->path.server = pair.dst;
	if (pair.src.family != ADDR_NONE)
		find_port(k, &p->path);
}

void check_planned(struct checkup *k)
{
	struct conf c = { 0 };

	if (k->planned_read)
		return;
	k->planned_read = true;
	/* what is wrong with it is told by config.valid */
	if (conf_read(k->ctx, NULL, &c) || c.errors) {
		fail_clear(&k->ctx->fail);
		conf_free(&c);
		return;
	}
	conf_resolve(&c);
	for (size_t i = 0; i < c.n; i++)
		for (size_t j = 0; j < c.v[i].npaths; j++)
			add_planned(k, &c, &c.v[i], &c.v[i].paths[j]);
	conf_free(&c);
}

const struct check config_checks[] = {
	{ "config.valid", "the configuration has no mistakes", config_valid,
	  .cause = "a typing error, or a key of another release",
	  .cure = "rnbdadm config validate tells all of them, with file and line" },
	{ "config.drift", "the configuration runs", config_drift,
	  .cause = "a change by hand, a new configuration, or a server that was not there at boot",
	  .cure = "rnbdadm config diff; rnbdadm config apply, or rnbdadm config save for the "
		  "running state" },
	{ 0 }
};
