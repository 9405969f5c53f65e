// SPDX-License-Identifier: GPL-2.0
/* Composition of the path that an OPEN leads to: kernel/rnbd/server/path.c. */
#include <errno.h>
#include "kernel/rnbd/server/path.h"
#include "tap.h"

static struct rnbd_server_path *compose(const char *root, const char *name, int want)
{
	struct rnbd_server_path *p = EXACT(NULL, sizeof(*p) + 8);

	/* where its size_t may lie */
	p = (void *)(((unsigned long)p + 7) & ~7UL);
	NOTE("\"%.60s\" + \"%.60s\"", root, name);
	EQ(rnbd_server_path_compose(p, EXACT(root, strlen(root) + 1), "sess", EXACT(name, strlen(name) + 1)),
	   want);
	return p;
}

static void is(const char *root, const char *name, const char *want, size_t rel)
{
	struct rnbd_server_path *p = compose(root, name, 0);

	STR(p->text, want);
	EQ(p->rel, rel);
	if (!strstr(root, RNBD_SERVER_PATH_TOKEN))
		EQ(p->base, rel);
	EQ(rnbd_server_path_confined(p), rel > 1);
	CHECK(!strstr(p->text, "//"));
	EQ(p->text[p->rel - 1], '/');
}

static void whole_host(void)
{
	is("/", "dev/ram0", "/dev/ram0", 1);
	is("/", "/dev/ram0", "/dev/ram0", 1);
	is("/", "///dev//ram0", "/dev/ram0", 1);
	is("//", "ram0", "/ram0", 1);
	is("/", "ram0/", "/ram0/", 1);
	is("/", "/", "/", 1);
	is("/", ".", "/.", 1);
	is("/", "./dev/./ram0", "/./dev/./ram0", 1);
}

static void below(void)
{
	is("/export", "ram0", "/export/ram0", 8);
	is("/export/", "ram0", "/export/ram0", 8);
	is("/export///", "///ram0", "/export/ram0", 8);
	is("/export", "/ram0", "/export/ram0", 8);
	is("/a/b", "c/d", "/a/b/c/d", 5);
	is("//a//b//", "c//d", "/a/b/c/d", 5);
	is("/export", "\xff \n%", "/export/\xff \n%", 8);
}

static void token(void)
{
	/* what the client chose begins with the name of the session */
	EQ(compose("/%SESSNAME%", "ram0", 0)->base, 1);
	EQ(compose("/export/%SESSNAME%/disks", "ram0", 0)->base, 8);
	EQ(compose("/export%SESSNAME%", "ram0", 0)->base, 8);
	is("/%SESSNAME%", "ram0", "/sess/ram0", 6);
	is("/export/%SESSNAME%", "ram0", "/export/sess/ram0", 13);
	is("/export%SESSNAME%", "ram0", "/export/sess/ram0", 13);
	is("/export/%SESSNAME%/", "/ram0", "/export/sess/ram0", 13);
	/* text behind the token is kept */
	is("/export/%SESSNAME%/disks", "ram0", "/export/sess/disks/ram0", 19);
	is("/export/%SESSNAME%-x", "ram0", "/export/sess-x/ram0", 15);
	/* only the first one counts, and it in full */
	is("/%SESSNAME%/%SESSNAME%", "a", "/sess/%SESSNAME%/a", 17);
	is("/%SESSNAME", "a", "/%SESSNAME/a", 11);
	is("/%sessname%", "a", "/%sessname%/a", 12);
	/* and not in what the client sends */
	is("/x", "%SESSNAME%", "/x/%SESSNAME%", 3);
}

static void dotdot(void)
{
	static const char *const bad[] = {
		"..", "../x", "x/..", "/..", "/../x", "x/../y", "x//..//y", "../..", "a/b/../c", "./..", "...//..",
	};
	static const char *const good[] = { "a..b", "..a", "a..", "...", "a/..b/c", "a/b../c", ".../x", "a/...", ". ./x" };
	char want[64];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		compose("/export", bad[i], -EINVAL);
		compose("/", bad[i], -EINVAL);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(want, sizeof(want), "/export/%s", good[i]);
		is("/export", good[i], want, 8);
	}
}

/* CVE-2023-52618: search path and name near 4096 bytes. */
static void lengths(void)
{
	char root[4200], name[300];
	size_t r, n;

	memset(name, 'n', sizeof(name));
	for (n = 1; n <= 254; n += 11)
		for (r = 4090 - n; r <= 4095; r++) {
			struct rnbd_server_path *p;
			/* root, '/', name and NUL in 4096 bytes */
			bool good = r + 1 + n < 4096;

			memset(root, 'r', sizeof(root));
			root[0] = '/';
			root[r] = '\0';
			name[n] = '\0';
			p = compose(root, name, good ? 0 : -EINVAL);
			if (good) {
				EQ(strlen(p->text), r + 1 + n);
				EQ(p->rel, r + 1);
			}
			name[n] = 'n';
			tap_drop();
		}
}

/* The name of the session may be what makes it too long. */
static void token_lengths(void)
{
	char root[4097], session[255];
	struct rnbd_server_path *p = malloc(sizeof(*p));
	size_t r;

	memset(session, 's', 254);
	session[254] = '\0';
	for (r = 3800; r <= 3850; r++) {
		memset(root, 'r', sizeof(root));
		root[0] = '/';
		memcpy(root + r - 11, "/%SESSNAME%", 12);
		NOTE("search path of %zu", r);
		/* without the token, '/', session, '/', "n" and NUL */
		EQ(rnbd_server_path_compose(p, root, session, "n"), r - 11 + 1 + 254 + 2 < 4096 ? 0 : -EINVAL);
	}
	free(p);
}

static void search_path(void)
{
	char out[RNBD_SERVER_PATH_SIZE], val[4200];
	size_t n;

	EQ(rnbd_server_path_parse_root("/", out), 0);
	STR(out, "/");
	EQ(rnbd_server_path_parse_root("/a/%SESSNAME%\n", out), 0);
	STR(out, "/a/%SESSNAME%");
	EQ(rnbd_server_path_parse_root("/a\n\n", out), 0);
	STR(out, "/a\n");
	EQ(rnbd_server_path_parse_root("", out), -EINVAL);
	EQ(rnbd_server_path_parse_root("\n", out), -EINVAL);
	EQ(rnbd_server_path_parse_root("a/b", out), -EINVAL);
	EQ(rnbd_server_path_parse_root("./a", out), -EINVAL);
	EQ(rnbd_server_path_parse_root(" /a", out), -EINVAL);
	/* a refusal leaves the old value */
	STR(out, "/a\n");
	for (n = 4093; n < 4100; n++) {
		memset(val, 'x', sizeof(val));
		val[0] = '/';
		val[n] = '\0';
		NOTE("%zu bytes", n);
		EQ(rnbd_server_path_parse_root(val, EXACT(NULL, 4096)), n <= 4095 ? 0 : -EINVAL);
		val[n] = '\n';
		val[n + 1] = '\0';
		EQ(rnbd_server_path_parse_root(val, EXACT(NULL, 4096)), n <= 4095 ? 0 : -EINVAL);
	}
}

int main(void)
{
	RUN(whole_host, "search path \"/\"");
	RUN(below, "below a search path, no '/' twice in a row");
	RUN(token, "%SESSNAME%");
	RUN(dotdot, "\"..\" as a component is refused, in a name it is not");
	RUN(lengths, "search path and name around 4096 bytes");
	RUN(token_lengths, "search path with a session name around 4096 bytes");
	RUN(search_path, "values of dev_search_path");
	return tap_end();
}
