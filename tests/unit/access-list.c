// SPDX-License-Identifier: GPL-2.0
/* The access list: kernel/rnbd/server/access-list.c, and random lists against a model of it. */
#include <errno.h>
#include <fnmatch.h>
#include "shim.h"
#include "kernel/rnbd/server/access-list.h"
#include "tap.h"

#define LISTS	10000

static const struct rnbd_access_size room = { 8, 8, 8, 16, 32, 4096 };

static struct rnbd_access_list *new_list(const struct rnbd_access_size *size)
{
	size_t bytes = rnbd_server_list_bytes(size);
	struct rnbd_access_list *list = EXACT(NULL, bytes + 8);

	/* where its pointers may lie */
	list = (void *)(((unsigned long)list + 7) & ~7UL);
	memset(list, 0, bytes);
	rnbd_server_list_init(list, size);
	return list;
}

static int peer(struct rnbd_access_list *list, const char *name)
{
	return rnbd_server_list_add_peer(list, EXACT(name, strlen(name)), strlen(name));
}

static int export(struct rnbd_access_list *list, const char *name, const char *path)
{
	return rnbd_server_list_add_export(list, EXACT(name, strlen(name)), strlen(name), EXACT(path, strlen(path)),
					   strlen(path));
}

static int allow(struct rnbd_access_list *list, const char *name, int mode)
{
	return rnbd_server_list_add_allow(list, EXACT(name, strlen(name)), strlen(name), mode);
}

static void names(void)
{
	static const char *const good[] = { "a", "vms/", "/", "a/b/c", "...", "a..b/", "x y", "\xff", "a/.../" };
	static const char *const bad[] = { "", "/a", "//", "a//b", "a//", "..", "../", "a/..", "a/../b", "a\nb", "a\x7f" };
	struct rnbd_access_list *list = new_list(&room);
	char big[256];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		NOTE("%s", good[i]);
		EQ(export(list, good[i], "/d"), 0);
		EQ(list->export[i].is_dir, good[i][strlen(good[i]) - 1] == '/');
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		NOTE("%s", bad[i]);
		EQ(export(list, bad[i], "/d"), -EINVAL);
	}
	EQ(export(list, "z", "d"), -EINVAL);
	EQ(export(list, "z", ""), -EINVAL);
	EQ(export(list, "z", "/d/"), -EINVAL);
	EQ(export(list, "z/", "/d/"), 0);
	memset(big, 'n', sizeof(big));
	EQ(rnbd_server_list_add_export(list, big, 255, "/d", 2), -EINVAL);
	EQ(rnbd_server_list_add_export(list, big, 254, "/d", 2), 0);
	EQ(rnbd_server_list_add_peer(list, big, 64), -EINVAL);
	EQ(rnbd_server_list_add_peer(list, big, 63), 0);
	EQ(peer(list, ""), -EINVAL);
	EQ(peer(list, "*"), -EINVAL);
	EQ(peer(list, "a/b"), -EINVAL);
	EQ(peer(list, "a.b_C-9"), 0);
	EQ(allow(list, "a b", 0), -EINVAL);
	EQ(allow(list, "a", 3), -EINVAL);
	EQ(allow(list, "*", 2), 0);
}

static void whole(void)
{
	struct rnbd_access_list *list = new_list(&room);
	const char *culprit;

	EQ(rnbd_server_list_end(list, &culprit), -ENODATA);
	peer(list, "b");
	peer(list, "a");
	peer(list, "b");
	EQ(rnbd_server_list_end(list, &culprit), -EEXIST);
	STR(culprit, "b");
	list = new_list(&room);
	export(list, "v/", "/v");
	export(list, "v", "/v");
	EQ(rnbd_server_list_end(list, &culprit), 0);
	export(list, "v/", "/v");
	EQ(rnbd_server_list_end(list, &culprit), -EEXIST);
	STR(culprit, "v/");
	list = new_list(&room);
	export(list, "v", "/v");
	allow(list, "*", 0);
	EQ(rnbd_server_list_end(list, &culprit), 0);
	allow(list, "a", 0);
	EQ(rnbd_server_list_end(list, &culprit), -ENOENT);
	STR(culprit, "a");
}

/* Nothing is written behind what there is room for. */
static void rooms(void)
{
	static const struct rnbd_access_size tight = { 1, 1, 1, 1, 1, 9 };
	struct rnbd_access_prefix prefix = { .bits = 129 };
	struct rnbd_access_list *list = new_list(&tight);

	EQ(rnbd_server_list_add_pattern(list, "a", 1), -ENOSPC);
	EQ(allow(list, "a", 0), -ENOSPC);
	EQ(peer(list, "a"), 0);
	EQ(peer(list, "b"), -ENOSPC);
	EQ(rnbd_server_list_add_pattern(list, "a", 1), 0);
	EQ(rnbd_server_list_add_pattern(list, "a", 1), -ENOSPC);
	EQ(rnbd_server_list_add_prefix(list, &prefix), -EINVAL);
	prefix.bits = 128;
	EQ(rnbd_server_list_add_prefix(list, &prefix), 0);
	EQ(rnbd_server_list_add_prefix(list, &prefix), -ENOSPC);
	EQ(export(list, "abcd", "/"), -EINVAL);
	EQ(export(list, "abcd", "/d"), -ENOSPC);
}

static void patterns(void)
{
	static const char *const p[] = { "", "*", "?", "a", "a*", "*a", "*a*b", "a?b", "**", "*?", "a*b*c", "?*a" };
	static const char *const t[] = { "", "a", "b", "ab", "aab", "abc", "ba", "xaxb", "aXbXc", "abab", "axbc" };
	size_t i, j;

	for (i = 0; i < sizeof(p) / sizeof(p[0]); i++)
		for (j = 0; j < sizeof(t) / sizeof(t[0]); j++) {
			NOTE("%s against %s", t[j], p[i]);
			EQ(rnbd_server_list_match(p[i], t[j]), !fnmatch(p[i], t[j], FNM_NOESCAPE));
		}
}

static void who(void)
{
	struct rnbd_access_addr at = { .has_ip = true, .ip = { [10] = 0xff, 0xff, 10, 0, 0, 7 }, .gid = { 0xfe } };
	struct rnbd_access_prefix net = { .bits = 120, .addr = { [10] = 0xff, 0xff, 10, 0, 0, 0 } };
	struct rnbd_access_prefix gid = { .is_gid = true, .bits = 7, .addr = { 0xff } };
	struct rnbd_access_list *list = new_list(&room);

	peer(list, "web");
	rnbd_server_list_add_prefix(list, &net);
	peer(list, "any");
	rnbd_server_list_add_pattern(list, "h?*", 3);
	peer(list, "gid");
	rnbd_server_list_add_prefix(list, &gid);
	EQ(rnbd_server_list_find_peer(list, &at, "web"), 0);
	EQ(rnbd_server_list_find_peer(list, &at, "web@srv"), 0);
	EQ(rnbd_server_list_find_peer(list, &at, "webs"), RNBD_ACCESS_NOBODY);
	EQ(rnbd_server_list_find_peer(list, &at, "hv"), 1);
	EQ(rnbd_server_list_find_peer(list, &at, "h"), RNBD_ACCESS_NOBODY);
	EQ(rnbd_server_list_find_peer(list, &at, "gid"), 2);
	EQ(rnbd_server_list_find_peer(list, &at, NULL), 0);
	at.ip[14] = 1;
	EQ(rnbd_server_list_find_peer(list, &at, NULL), 1);
	EQ(rnbd_server_list_find_peer(list, &at, "web"), RNBD_ACCESS_NOBODY);
	at.ip[14] = 0;
	at.has_ip = false;
	EQ(rnbd_server_list_find_peer(list, &at, "web"), RNBD_ACCESS_NOBODY);
	at.gid[0] = 0xfd;
	EQ(rnbd_server_list_find_peer(list, &at, "gid"), RNBD_ACCESS_NOBODY);
}

/* The same, without a search: the longest export that covers @name, which has no '/' too many. */
static int model(const struct rnbd_access_list *list, u32 who, const char *name, int mode, const char **by)
{
	size_t n, best = 0;
	int right = -1;
	u32 i, j;

	*by = NULL;
	for (i = 0; i < list->has.exports; i++) {
		const struct rnbd_access_export *e = &list->export[i];
		bool covers;

		n = strlen(e->name);
		if (!strcmp(e->name, "/"))
			covers = *name;
		else if (e->is_dir)
			covers = !strncmp(name, e->name, n) && name[n];
		else
			covers = !strcmp(name, e->name);
		n = strcmp(e->name, "/") ? n + 1 : 1;
		if (!covers || n <= best)
			continue;
		best = n;
		*by = e->name;
		right = -1;
		for (j = e->allow; j < e->allow + e->allows; j++)
			if (list->allow[j].name[0] == '*' || !strcmp(list->allow[j].name, list->peer[who].name))
				right = right > list->allow[j].mode ? right : list->allow[j].mode;
	}
	return right < 0 ? -ENOENT : mode > right ? -EACCES : 0;
}

static void text(char *out, unsigned int max)
{
	static const char from[] = "ab/";
	unsigned int n = 1 + rand() % max;

	while (n--)
		*out++ = from[rand() % 3];
	*out = '\0';
}

static void squeezed(char *s)
{
	char *o = s;
	const char *i;

	for (i = s; *i; i++)
		if (*i != '/' || (o > s && o[-1] != '/'))
			*o++ = *i;
	*o = '\0';
}

static void random_lists(void)
{
	static const char *const peers[] = { "a", "b", "c", "*" };
	struct rnbd_access_answer answer;
	unsigned int i, n, found = 0;
	const char *culprit, *by;
	char name[16];

	srand(24);
	for (i = 0; i < LISTS; i++) {
		struct rnbd_access_list *list = new_list(&room);

		peer(list, "b");
		peer(list, "a");
		peer(list, "c");
		for (n = rand() % 12; n; n--) {
			text(name, 5);
			if (rand() % 8 == 0)
				strcpy(name, "/");
			if (export(list, name, "/d") || rand() % 4 == 0)
				continue;
			allow(list, peers[rand() % 4], rand() % 3);
			allow(list, peers[rand() % 4], rand() % 3);
		}
		if (!rnbd_server_list_end(list, &culprit)) {
			for (n = 0; n < 8; n++) {
				u32 who = rand() % 3;
				int mode = rand() % 3, err;

				text(name, 7);
				err = rnbd_server_list_judge(list, who, name, mode, &answer);
				squeezed(name);
				NOTE("list %u, %s asks %d of %s", i, list->peer[who].name, mode, name);
				EQ(err, model(list, who, name, mode, &by));
				CHECK(!!by == !!answer.export);
				if (by && answer.export) {
					STR(answer.export->name, by);
					STR(answer.name, name);
					CHECK(!answer.export->is_dir || *answer.rest);
					found += !err;
				}
			}
		}
		tap_drop();
	}
	CHECK(found > LISTS / 2);
}

int main(void)
{
	RUN(names, "names of peers and exports, paths");
	RUN(whole, "an empty list, twice the same, a peer that is not there");
	RUN(rooms, "what there is no room for");
	RUN(patterns, "patterns match as fnmatch(3) says");
	RUN(who, "the first peer whose addresses and names fit");
	RUN(random_lists, "10,000 random lists answer as the model");
	return tap_end();
}
