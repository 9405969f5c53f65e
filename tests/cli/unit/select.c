// SPDX-License-Identifier: GPL-2.0
/* Words that name a session, a device or a path: which one, or why none. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "task/select.h"

static struct snapshot world;
static char root[] = "/tmp/select.XXXXXX";

static void session(uint32_t id, const char *name)
{
	struct session *s;

	world.sessions.v = xrealloc(world.sessions.v, (world.sessions.n + 1) * sizeof(*s));
	s = &world.sessions.v[world.sessions.n++];
	session_init(s);
	s->id = id;
	strcpy(s->name, name);
}

static void path(uint32_t id, uint32_t session_id, const char *name, const char *hca, unsigned int port)
{
	struct addr_pair pair;
	struct path *p;

	world.paths.v = xrealloc(world.paths.v, (world.paths.n + 1) * sizeof(*p));
	p = &world.paths.v[world.paths.n++];
	path_init(p);
	free(addr_pair_parse(name, &pair));
	p->id = id;
	p->session_id = session_id;
	p->client = pair.src;
	p->server = pair.dst;
	p->hca_port = port;
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
	path(11, 1, "ip:10.0.0.1@ip:10.0.0.2", "mlx5_0", 1);
	path(12, 1, "ip:10.0.1.1@ip:10.0.1.2", "mlx5_0", 2);
	path(13, 1, "ip:10.0.0.1@ip:10.0.1.2", "mlx5_01", 1);
	path(21, 2, "ip:fd00::1@ip:fd00::2", "rxe0", 1);
	path(22, 2, "gid:fe80:0000:0000:0000:0000:0000:0000:0003@gid:fe80:0000:0000:0000:0000:0000:0000:0004", "rxe1", 1);
	device("rnbd0", "a@b", "sda");
	device("rnbd1", "s2", "sda");
	device("rnbd10", "s2", "vg/lv");
	device("rnbd2", "a@b", "rnbd0");
	device("rnbd3", "a@b", "7");
	device("rnbd4", "s2", "/dev/sdb");
	device("rnbd5", "s2", "S\xc3\xa4ge");
}

/* An id, or an exit code below zero. */
static void path_is(unsigned int of, const char *word, const char *hca, int want)
{
	struct fail f = { 0 };
	const struct path *p = select_path(&world, &world.sessions.v[of - 1], word, hca, &f);
	int is = p ? (int)p->id : -(int)f.code;

	ok(is == want && !p == (f.message && *f.message), "path '%s'%s%s: %d", word ? word : "", hca ? " of " : "", hca ? hca : "", is);
	/* those that fit are told */
	if (is == -XC_CONFLICT)
		ok(f.details.n > 1, "%zu paths fit", f.details.n);
	else
		ok(!f.details.n, "no others fit");
	fail_clear(&f);
}

static void paths(void)
{
	path_is(1, "ip:10.0.0.1@ip:10.0.0.2", NULL, 11);
	path_is(1, "10.0.0.1,10.0.0.2", NULL, 11);
	path_is(1, "10.0.0.2", NULL, 11);
	path_is(1, "10.0.0.1@10.0.1.2", NULL, 13);
	path_is(1, "10.0.1.2", NULL, -XC_CONFLICT);
	path_is(1, "10.0.1.2", "mlx5_0", 12);
	path_is(1, "10.0.0.1", NULL, -XC_NOT_FOUND);
	path_is(1, "ip:fd00::2", NULL, -XC_NOT_FOUND);
	path_is(2, "FD00:0:0:0::2", NULL, 21);
	path_is(2, "ip:fd00::1@ip:fd00:0000::0002", NULL, 21);
	path_is(2, "gid:fe80::4", NULL, 22);
	path_is(2, "fe80::4", NULL, -XC_NOT_FOUND);
	path_is(1, "id:12", NULL, 12);
	path_is(1, "id:21", NULL, -XC_NOT_FOUND);
	path_is(1, "id:12", "mlx5_01", -XC_NOT_FOUND);
	path_is(1, "id:0", NULL, -XC_USAGE);
	path_is(1, "id:12x", NULL, -XC_USAGE);
	path_is(1, NULL, "mlx5_0", -XC_CONFLICT);
	path_is(1, NULL, "mlx5_0:1", 11);
	path_is(1, NULL, "mlx5_0:2", 12);
	path_is(1, NULL, "mlx5_0:02x", -XC_NOT_FOUND);
	path_is(1, NULL, "mlx5_0:", -XC_NOT_FOUND);
	path_is(1, NULL, "mlx5_01", 13);
	path_is(1, NULL, "mlx5", -XC_NOT_FOUND);
	path_is(1, NULL, "MLX5_01", -XC_NOT_FOUND);
	path_is(1, "1", NULL, -XC_USAGE);
	path_is(1, "", NULL, -XC_USAGE);
	path_is(1, "mlx5_0", NULL, -XC_USAGE);
}

static void device_is(const char *word, const char *of, const char *want, int code)
{
	struct fail f = { 0 };
	const struct device *d = select_device(&world, word, of, root, &f);

	ok(d ? want && !strcmp(d->name, want) : (int)f.code == code, "device '%s'%s%s: %s", word, of ? " of " : "", of ? of : "",
	   d ? d->name : f.message);
	fail_clear(&f);
}

static void devices(void)
{
	char *node = xasprintf("%s/dev/rnbd1", root), *dir = xasprintf("%s/dev/rnbd", root),
	     *link = xasprintf("%s/dev/rnbd/data", root), *dev = xasprintf("%s/dev", root);

	mkdir(dev, 0755);
	mkdir(dir, 0755);
	fclose(fopen(node, "w"));
	ok(!symlink("../rnbd1", link), "there is a link");
	device_is("rnbd1", NULL, "rnbd1", 0);
	device_is("/dev/rnbd1", NULL, "rnbd1", 0);
	device_is("/dev/rnbd10", NULL, "rnbd10", 0);
	device_is("/dev/rnbd/data", NULL, "rnbd1", 0);
	device_is("/dev/rnbd/data", "a@b", NULL, XC_NOT_FOUND);
	device_is("/dev/rnbd/nosuch", NULL, NULL, XC_NOT_FOUND);
	device_is("vg/lv", NULL, "rnbd10", 0);
	device_is("sda", NULL, NULL, XC_CONFLICT);
	device_is("sda", "s2", "rnbd1", 0);
	device_is("sda", "nosuch", NULL, XC_NOT_FOUND);
	/* the disk goes before what a server calls by its name */
	device_is("rnbd0", NULL, "rnbd0", 0);
	device_is("/dev/sdb", NULL, "rnbd4", 0);
	device_is("1", NULL, NULL, XC_USAGE);
	device_is("7", NULL, NULL, XC_USAGE);
	device_is("", NULL, NULL, XC_USAGE);
	device_is("RNBD1", NULL, NULL, XC_NOT_FOUND);
	device_is("rnbd01", NULL, NULL, XC_NOT_FOUND);
	device_is("rnbd", NULL, NULL, XC_NOT_FOUND);
	device_is("S\xc3\xa4ge", NULL, "rnbd5", 0);
	device_is("Sa\xcc\x88ge", NULL, NULL, XC_NOT_FOUND);
	unlink(link);
	unlink(node);
	rmdir(dir);
	rmdir(dev);
	free(node);
	free(dir);
	free(link);
	free(dev);
}

static void session_is(const char *word, const char *want)
{
	struct fail f = { 0 };
	const struct session *s = select_session(&world, word, &f);

	ok(s ? want && !strcmp(s->name, want) : !want && f.code == XC_NOT_FOUND && f.hint, "session '%s': %s", word,
	   s ? s->name : f.hint);
	fail_clear(&f);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	make_world();
	session_is("a@b", "a@b");
	session_is("s2", "s2");
	session_is("S2", NULL);
	session_is("a", NULL);
	session_is("1", NULL);
	session_is("", NULL);
	paths();
	devices();
	rmdir(root);
	snapshot_free(&world);
	return tap_done();
}
