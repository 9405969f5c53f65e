// SPDX-License-Identifier: GPL-2.0
/* Plans: which steps, and in which order. */
#include <stdlib.h>

#include "config/plan.h"
#include "host/owners.h"
#include "tap.h"

static struct snapshot s;
static struct conf c;
static struct plan p;
static struct plan_opts o;

static void add_session(uint32_t id, const char *name)
{
	struct session *v;

	s.sessions.v = xrealloc(s.sessions.v, (s.sessions.n + 1) * sizeof(*v));
	v = &s.sessions.v[s.sessions.n++];
	session_init(v);
	v->id = id;
	v->held = 1;
	v->set.mp_policy = 0;
	v->set.v[SET_IO_TIMEOUT_MS] = 0;
	snprintf(v->name, sizeof(v->name), "%s", name);
}

static void add_path(uint32_t id, uint32_t session, const char *text, uint64_t state)
{
	struct addr_pair pair;
	struct path *v;

	s.paths.v = xrealloc(s.paths.v, (s.paths.n + 1) * sizeof(*v));
	v = &s.paths.v[s.paths.n++];
	path_init(v);
	free(addr_pair_parse(text, &pair));
	v->id = id;
	v->session_id = session;
	v->client = pair.src;
	v->server = pair.dst;
	v->server.port = 1234;
	v->state = state;
	snprintf(v->name, sizeof(v->name), "%s", text);
}

static void add_device(uint32_t id, uint32_t session, const char *name, const char *device_path)
{
	struct device *v;

	s.devices.v = xrealloc(s.devices.v, (s.devices.n + 1) * sizeof(*v));
	v = &s.devices.v[s.devices.n++];
	device_init(v);
	v->id = id;
	v->session_id = session;
	v->access = 1;
	snprintf(v->name, sizeof(v->name), "rnbd%u", id);
	snprintf(v->session, sizeof(v->session), "%s", name);
	snprintf(v->device_path, sizeof(v->device_path), "%s", device_path);
}

static char *config_owns(const void *arg, const char *session, const char *device_path)
{
	(void)arg;
	(void)session;
	return device_path && !strcmp(device_path, "foreign") ? NULL : xstrdup("config");
}

static void make(const char *text)
{
	snapshot_sort(&s);
	memset(&c, 0, sizeof(c));
	conf_ini_read(&c, "f", text, strlen(text));
	conf_check(&c);
	o.owner = config_owns;
	plan_make(&p, &c, &s, &o);
}

/* "add path a@b; change session mp_policy; ..." */
static void is(const char *want, const char *what)
{
	static const char *const actions[] = { "add", "change", "remove" };
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (size_t i = 0; i < p.n; i++)
		strbuf_printf(&b, "%s%s %s %s", i ? "; " : "", actions[p.v[i].action],
			      plan_object_name(p.v[i].object), p.v[i].name);
	ok(!strcmp(b.s, want), "%s", what);
	if (strcmp(b.s, want))
		printf("# is   %s\n# want %s\n", b.s, want);
	free(b.s);
	plan_free(&p);
	conf_free(&c);
	snapshot_free(&s);
	memset(&s, 0, sizeof(s));
	memset(&o, 0, sizeof(o));
}

#define A	"ip:10.0.0.1@ip:10.0.0.2"
#define B	"ip:10.0.1.1@ip:10.0.1.2"
#define D	"[device d]\nsession = s\ndevice-path = v\n"

static void order(void)
{
	add_session(1, "s");
	add_path(1, 1, A, 1);
	make(D "[session s]\nmp-policy = ml\nio-timeout = 3s\npath = " B "\n[session t]\npath = 10.0.0.9\npath = 10.0.0.8\n"
	     "[device e]\nsession = t\ndevice-path = v\n");
	is("add path " B "; add session t; add path ip:10.0.0.8; change session mp_policy; change session io_timeout_ms; "
	   "add device d; add device e; remove path " A, "connect, settings, maps, then paths go, wherever the sections stand");
	add_session(1, "s");
	add_session(2, "old");
	add_path(1, 1, A, 1);
	add_device(1, 1, "s", "w");
	add_device(2, 2, "old", "v");
	o.prune = PRUNE_CONFIG;
	make("[session s]\npath = " A "\n[session new]\npath = 10.0.0.9\n");
	is("add session new; remove device rnbd1; remove device rnbd2; remove session old", "what is pruned is last, devices first");
}

static void paths(void)
{
	add_session(1, "s");
	add_path(1, 1, A, 2);
	add_path(2, 1, "ip:10.0.9.1@ip:10.0.0.2", 1);
	make("[session s]\npath = 10.0.0.2\n");
	is("remove path " A, "of two that fit the one that is connected stays");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	add_path(2, 1, "ip:10.0.9.1@ip:10.0.0.2", 1);
	make("[session s]\npath = 10.0.0.2\npath = " A "\n");
	is("", "one that names both ends chooses first");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	make("[session s]\npath = " A " dest-port=999\n");
	is("remove path " A "; add path " A, "another port is another path, for which the first makes room");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	s.paths.v[0].server.port = 999;
	make("[session s]\npath = 10.0.0.2\n");
	is("remove path " A "; add path ip:10.0.0.2", "a path without a port is one of the usual port");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	s.paths.v[0].server.port = 999;
	make("[session s]\npath = 10.0.0.2\ndest-port = 999\n");
	is("", "or of that of its session");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	make("[session s]\npath = host:nosuch.invalid\n");
	is("add path host:nosuch.invalid", "nothing goes while a path has no address");
	add_session(1, "s");
	add_path(1, 1, A, 1);
	o.mode = PLAN_ADD_ONLY;
	make("[session s]\npath = " B "\nmp-policy = ml\n");
	is("add path " B, "mode add neither changes nor removes");
}

static void prune(void)
{
	add_session(1, "s");
	add_device(1, 1, "s", "v");
	add_device(2, 1, "s", "foreign");
	o.prune = PRUNE_CONFIG;
	make("");
	ok(p.nunlisted == 2, "a device of another owner and its session are told of");
	is("remove device rnbd1", "a session stays while a device of another owner does");
	add_session(1, "s");
	add_device(2, 1, "s", "foreign");
	o.prune = PRUNE_ALL;
	make("");
	is("remove device rnbd2; remove session s", "--prune=all takes all");
	add_session(1, "s");
	add_device(1, 1, "s", "v");
	make("");
	ok(p.nunlisted == 2, "without --prune both are told of");
	is("", "and stay");
}

static void only(void)
{
	struct strlist words = { 0 };

	strlist_add(&words, "device:d");
	add_session(1, "old");
	o.only = &words;
	o.prune = PRUNE_ALL;
	make("[session s]\npath = 10.0.0.2\n[session t]\npath = 10.0.0.2\n" D "[device e]\nsession = s\ndevice-path = w\n");
	is("add session s; add device d", "--only device:D takes its session along, and prunes nothing");
	strlist_free(&words);
}

static void keys(void)
{
	char *a = registry_key("a:b", "c"), *b = registry_key("a", "b:c"), *same = registry_key("a", "c");

	ok(strcmp(a, b) && strcmp(a, same), "an owner is of one object: %s, %s", a, b);
	ok(!strcmp(same, "device:a:c"), "%s", same);
	free(a);
	free(b);
	free(same);
}

int main(void)
{
	keys();
	order();
	paths();
	prune();
	only();
	return tap_done();
}
