// SPDX-License-Identifier: GPL-2.0
/*
 * Words that name a session, a device or a path. Input: lines for the word, --session and --hca. Whatever
 * is selected is what the word says, and nothing else fits; a refusal says why.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "rnbdadm/app/report.h"
#include "rnbdadm/task/select.h"

#define ROOT	"/nonexistent"	/* no file of this host is looked at */

static struct snapshot world;

static void session(uint32_t id, const char *name)
{
	struct session *s;

	world.sessions.v = xrealloc(world.sessions.v, (world.sessions.n + 1) * sizeof(*s));
	s = &world.sessions.v[world.sessions.n++];
	session_init(s);
	s->id = id;
	strcpy(s->name, name);
}

static void path(uint32_t id, uint32_t session_id, const char *name, const char *hca)
{
	struct addr_pair pair;
	struct path *p;

	world.paths.v = xrealloc(world.paths.v, (world.paths.n + 1) * sizeof(*p));
	p = &world.paths.v[world.paths.n++];
	path_init(p);
	MUST(!addr_pair_parse(name, &pair));
	p->id = id;
	p->session_id = session_id;
	p->client = pair.src;
	p->server = pair.dst;
	p->hca_port = 1;
	strcpy(p->name, name);
	strcpy(p->hca, hca);
}

static void device(const char *name, const char *of, const char *device_path)
{
	struct device *d;

	world.devices.v = xrealloc(world.devices.v, (world.devices.n + 1) * sizeof(*d));
	d = &world.devices.v[world.devices.n++];
	device_init(d);
	strcpy(d->name, name);
	strcpy(d->session, of);
	strcpy(d->device_path, device_path);
}

static void make_world(void)
{
	session(1, "a@b");
	session(2, "s2");
	path(11, 1, "ip:10.0.0.1@ip:10.0.0.2", "mlx5_0");
	path(12, 1, "ip:10.0.1.1@ip:10.0.1.2", "mlx5_1");
	path(13, 1, "ip:10.0.0.1@ip:10.0.1.2", "mlx5_0");
	path(21, 2, "ip:fe80::1@ip:fe80::2", "rxe0");
	path(22, 2, "gid:fe80::3@gid:fe80::4", "rxe:0");
	device("rnbd0", "a@b", "sda");
	device("rnbd1", "s2", "sda");
	device("rnbd10", "s2", "vg/lv");
	device("rnbd2", "a@b", "rnbd0");
}

static void refused(struct fail *f)
{
	MUST(f->code == XC_USAGE || f->code == XC_NOT_FOUND || f->code == XC_CONFLICT);
	MUST(f->message && *f->message);
	fail_clear(f);
}

static bool fits_hca(const struct path *p, const char *hca)
{
	size_t n = strlen(p->hca);

	return !hca || (!strncmp(hca, p->hca, n) && (!hca[n] || hca[n] == ':'));
}

static void select_paths(const char *word, const char *hca)
{
	for (size_t i = 0; i < world.sessions.n; i++) {
		const struct session *s = &world.sessions.v[i];
		struct fail f = { 0 };
		const struct path *p = select_path(&world, s, word, hca, &f);

		if (!p) {
			refused(&f);
			continue;
		}
		accepted++;
		MUST(p->session_id == s->id && fits_hca(p, hca));
		MUST(!f.code && !f.details.n);
		fail_clear(&f);
		/* Its own name finds it, too. */
		MUST(select_path(&world, s, p->name, NULL, &f) == p);
		MUST(!f.code);
		fail_clear(&f);
	}
}

static void select_devices(const char *word, const char *of)
{
	struct fail f = { 0 };
	const struct device *d = select_device(&world, word, of, ROOT, &f);
	const char *base = strrchr(word, '/');

	if (!d) {
		refused(&f);
		return;
	}
	accepted++;
	MUST(word[strspn(word, "0123456789")]);
	MUST(!of || !strcmp(d->session, of));
	MUST(!strcmp(d->device_path, word) || !strcmp(d->name, word) ||
	     (!strncmp(word, "/dev/", 5) && !strcmp(d->name, base + 1)));
	MUST(!f.code);
	fail_clear(&f);
}

static void select_sessions(const char *word)
{
	struct fail f = { 0 };
	const struct session *s = select_session(&world, word, &f);

	if (!s) {
		refused(&f);
		return;
	}
	MUST(!strcmp(s->name, word));
	MUST(!f.code);
	fail_clear(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text;
	const char *word = strsep(&rest, "\n"), *of = strsep(&rest, "\n"), *hca = strsep(&rest, "\n");

	if (!world.sessions.n)
		make_world();
	select_sessions(word);
	select_devices(word, NULL);
	if (of)
		select_devices(word, of);
	/* names are asked of name servers */
	if (!strstr(word, "host:")) {
		select_paths(word, NULL);
		if (hca)
			select_paths(word, hca);
	}
	if (hca)
		select_paths(NULL, hca);
	free(text);
	return 0;
}
