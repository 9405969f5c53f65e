// SPDX-License-Identifier: GPL-2.0
/* The configuration: what is read, what holds, what is written. */
#include <stdlib.h>

#include "config/sections.h"
#include "tap.h"

static void read_ini(struct conf *c, const char *text)
{
	memset(c, 0, sizeof(*c));
	conf_ini_read(c, "f", text, strlen(text));
	conf_check(c);
}

static const char *value(const struct conf *c, const char *session, enum conf_key k)
{
	const struct conf_value *v = conf_get(c, conf_find(c, CONF_SESSION, session), k);

	return v ? v->text : "(none)";
}

static void values(void)
{
	static const struct { const char *line, *text; } table[] = {
		{ "device-path = a b", "a b" }, { "device-path=a", "a" }, { "device-path = a # c", "a" },
		{ "device-path = a#c;d", "a#c;d" }, { "device-path = \" a \"", " a " }, { "device-path = a\"b", "a\"b" },
		{ "device-path = \"a#\" ; c", "a#" }, { "device-path = \"\\x01\\n\\t\\\\\\\"\"", "\x01\n\t\\\"" },
		{ "\tdevice-path\t=\ta\t\r", "a" }, { "device-path = a=b", "a=b" }, { "device-path = \xff", "\xff" },
	};
	struct conf c;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char *text = xasprintf("[session s]\npath = 10.0.0.1\n[device d]\nsession = s\n%s\n", table[i].line);

		read_ini(&c, text);
		ok(!c.errors && conf_device(&c, "s", table[i].text), "'%s'", table[i].line);
		conf_free(&c);
		free(text);
	}
}

static void defaults(void)
{
	struct session_settings set;
	struct conf c;

	read_ini(&c, "[defaults]\nwait = 1s\nio-timeout = 2s\nmp-policy = ml\ndest-port = 9\n"
		 "[session a]\npath = 10.0.0.1\npath = 10.0.0.2 dest-port=7\nwait = 3s\nio-timeout =\n"
		 "[session b]\npath = 10.0.0.1\n");
	ok(!c.errors, "defaults are read");
	ok(conf_wait(&c, conf_find(&c, CONF_SESSION, "a")) == 3000, "what a session says goes before them");
	ok(conf_wait(&c, conf_find(&c, CONF_SESSION, "b")) == 1000, "where it says nothing they hold");
	ok(!strcmp(value(&c, "a", (enum conf_key)SET_IO_TIMEOUT_MS), "(none)"), "an empty value is the kernel's");
	conf_settings(&c, conf_find(&c, CONF_SESSION, "b"), &set);
	ok(set.v[SET_IO_TIMEOUT_MS] == 2000 && set.mp_policy == 2, "settings as the kernel takes them");
	ok(set.v[SET_HEARTBEAT_MISSES] == M_UNKNOWN_INT, "what nobody gives is unknown");
	ok(conf_pair(&c, &c.v[1], &c.v[1].paths[0]).dst.port == 9, "a path has the port of its session");
	ok(conf_pair(&c, &c.v[1], &c.v[1].paths[1]).dst.port == 7, "or its own");
	conf_free(&c);
}

static void poll_queues(void)
{
	struct conf c;

	read_ini(&c, "[session a]\npath = 10.0.0.1\n[session b]\npath = 10.0.0.1\npoll-queues = 1\n"
		 "[session c]\npath = 10.0.0.1\n"
		 "[device d]\nsession = a\ndevice-path = 1\npoll-queues = 2\n"
		 "[device e]\nsession = a\ndevice-path = 2\npoll-queues = 4\n"
		 "[device f]\nsession = b\ndevice-path = 2\npoll-queues = all\n");
	ok(conf_poll_queues(&c, conf_find(&c, CONF_SESSION, "a")) == 4, "the most that a device asks for");
	ok(conf_poll_queues(&c, conf_find(&c, CONF_SESSION, "b")) == 1, "unless the session says so itself");
	ok(conf_poll_queues(&c, conf_find(&c, CONF_SESSION, "c")) == M_UNKNOWN, "none where nobody asks");
	conf_free(&c);
}

/* Names wait for somebody who asks; numbers do not. */
static void names(void)
{
	struct conf c;

	read_ini(&c, "[session a]\npath = host:nosuch.invalid\npath = fe80::1%nosuchdev0\npath = 10.0.0.1\n");
	ok(!c.errors && !c.v[0].paths[0].resolved && !c.v[0].paths[1].resolved, "names are no mistake of the file");
	ok(c.v[0].paths[2].resolved, "a number is known at once");
	conf_free(&c);
	read_ini(&c, "[session a]\npath = fe80::1%nosuchdev0\n");
	conf_resolve(&c);
	ok(!c.errors && c.nproblems == 1 && c.problems[0].warning, "a name without address is a warning");
	conf_free(&c);
}

static void keys(void)
{
	for (int k = 0; k < CK_N; k++) {
		char *json = conf_key_json(k);
		bool any = false;

		for (int kind = 0; kind < CONF_KINDS; kind++)
			any = any || conf_key_fits(k, kind);
		ok(any && *conf_key_help(k) && !strpbrk(json, "- ") && !strchr(conf_key_name(k), '_'),
		   "%s is %s", conf_key_name(k), json);
		free(json);
	}
}

int main(void)
{
	values();
	defaults();
	poll_queues();
	names();
	keys();
	return tap_done();
}
