// SPDX-License-Identifier: GPL-2.0
/* The access list: kernel/rnbd/server/access-list.c, and random lists against a model of it. */
#include <errno.h>
#include <fnmatch.h>
#include <rdma/ib.h>
#include "access-attrs.h"

#define LISTS	10000

static void good_list(void)
{
	struct rnbd_access_list *list = list_of();

	CHECK(list);
	free(list);
}

static void bad_list(const char *name, const char *what)
{
	CHECK(!list_of());
	NOTE("%s", shim_msg);
	CHECK(shim_msg[0] == '\'' && !strncmp(shim_msg + 1, name, strlen(name)));
	CHECK(strstr(shim_msg + strlen(name), what));
}

static void names(void)
{
	static const char *const good[] = { "a", "vms/", "/", "a/b/c", "...", "a..b/", "x y", "\xff", "a/.../" };
	static const char *const bad[] = { "", "/a", "//", "a//b", "a//", "..", "../", "a/..", "a/../b", "a\nb", "a\x7f", "/\n" };
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		NOTE("%s", good[i]);
		export(good[i], "/d");
		good_list();
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		NOTE("%s", bad[i]);
		export(bad[i], "/d");
		bad_list(bad[i], "name or path");
	}
	export("z", "d");
	bad_list("z", "name or path");
	export("z", "");
	bad_list("z", "no path");
	export("z", "/d/");
	bad_list("z", "last '/'");
	export("z/", "/d/");
	good_list();
	peer("");
	bad_list("", "not a name");
	peer("*");
	bad_list("*", "not a name");
	peer("a/b");
	bad_list("a/b", "not a name");
	peer("a.b_C-9");
	good_list();
}

static void whole(void)
{
	peer("b");
	peer("a");
	peer("b");
	bad_list("b", "twice");
	export("v/", "/v");
	export("v", "/v");
	peer("v");
	good_list();
	export("v/", "/v");
	export("v", "/v");
	export("v/", "/v");
	bad_list("v/", "twice");
	begin_export("v", "/v");
	allow("*", 0);
	end();
	good_list();
	begin_export("v", "/v");
	allow("a", 0);
	end();
	peer("b");
	bad_list("a", "no peer");
}

/* Nothing but names and addresses tells who a peer without a key is. */
static void recognisable(void)
{
	unsigned int i;

	begin(RNBD_A_ACCESS_PEER, "a");
	end();
	bad_list("a", "keys");
	begin_peer("a");
	session("x");
	end();
	bad_list("a", "session and from");
	begin_peer("a");
	from_ip("10.0.0.1", -1);
	end();
	bad_list("a", "session and from");
	begin_peer("a");
	session("");
	from_ip("10.0.0.1", -1);
	end();
	bad_list("a", "session that is none");
	begin_peer("a");
	session("x");
	from_ip("10.0.0.1", 33);
	end();
	bad_list("a", "address");
	begin_peer("a");
	session("x");
	from("\2\0\0\0", 4, -1);
	end();
	bad_list("a", "address");
	begin_peer("a");
	session("x");
	from("", 0, 0);
	end();
	bad_list("a", "address");
	begin_peer("a");
	from_ip("10.0.0.1", -1);
	for (i = 0; i < 3252; i++)
		session("12345678");
	end();
	bad_list("a", "65000");
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

/* Number of the peer that has this address and GID; 99: nobody has. */
static u32 who_is(const struct rnbd_access_list *list, const char *ip, int gid, const char *name)
{
	struct sockaddr_storage ss = { .ss_family = AF_IB };
	const u8 raw[16] = { gid };
	const struct rnbd_access_entry *found;

	if (ip) {
		ss.ss_family = AF_INET;
		inet_pton(AF_INET, ip, &((struct sockaddr_in *)&ss)->sin_addr);
	}
	found = rnbd_server_list_find_peer(list, &ss, gid < 0 ? NULL : raw, name);
	return found ? found - list->entry : 99;
}

static void who(void)
{
	struct sockaddr_ib gid = { .sib_family = AF_IB, .sib_addr.sib_raw = { 0xff } };
	struct sockaddr_in6 any = { .sin6_family = AF_INET6 };
	struct rnbd_access_list *list;

	begin_peer("web");
	session("web");
	session("web@*");
	from_ip("10.0.1.1", -1);
	from_ip("10.0.0.0", 24);
	end();
	begin_peer("any");
	session("h?*");
	from_ip("0.0.0.0", 0);
	end();
	begin_peer("gid");
	session("gid");
	from(&gid, sizeof(gid), 7);
	end();
	list = list_of();
	EQ(who_is(list, "10.0.0.7", 0xfe, "web"), 0);
	EQ(who_is(list, "10.0.0.7", 0xfe, "web@srv"), 0);
	EQ(who_is(list, "10.0.0.7", 0xfe, "webs"), 99);
	EQ(who_is(list, "10.0.0.7", 0xfe, "hv"), 1);
	EQ(who_is(list, "10.0.0.7", 0xfe, "h"), 99);
	EQ(who_is(list, "10.0.0.7", 0xfe, "gid"), 2);
	EQ(who_is(list, "10.0.0.7", 0xfd, "gid"), 99);
	EQ(who_is(list, "10.0.0.7", -1, "gid"), 99);
	EQ(who_is(list, "10.0.0.7", 0xfe, NULL), 0);
	EQ(who_is(list, "10.0.1.7", 0xfe, NULL), 1);
	EQ(who_is(list, "10.0.1.7", 0xfe, "web"), 99);
	EQ(who_is(list, "10.0.1.1", 0xfe, "web"), 0);
	EQ(who_is(list, NULL, 0xfe, "hv"), 99);
	EQ(who_is(list, NULL, 0xfe, NULL), 2);
	STR(rnbd_server_list_peer(list, "gid")->name, "gid");
	CHECK(!rnbd_server_list_peer(list, "gi") && !rnbd_server_list_peer(list, ""));
	free(list);
	begin_peer("ip");
	session("*");
	from(&any, sizeof(any), 0);
	end();
	list = list_of();
	EQ(who_is(list, "10.0.0.7", 0xfe, "x"), 0);
	EQ(who_is(list, NULL, 0xfe, "x"), 99);
	free(list);
}

/* What was said of an export. */
struct said {
	char name[16];
	const char *peer[2];
	int mode[2];
};

/* The same, without a search: the longest export that covers @name, which has no '/' too many. */
static int model(const struct said *said, u32 count, const char *who, const char *name, int mode, const char **by)
{
	size_t n, best = 0;
	int right = -1;
	u32 i, j;

	*by = NULL;
	for (i = 0; i < count; i++) {
		const struct said *e = &said[i];
		bool covers;

		n = strlen(e->name);
		if (!strcmp(e->name, "/"))
			covers = *name;
		else if (e->name[n - 1] == '/')
			covers = !strncmp(name, e->name, n) && name[n];
		else
			covers = !strcmp(name, e->name);
		n = strcmp(e->name, "/") ? n + 1 : 1;
		if (!covers || n <= best)
			continue;
		best = n;
		*by = e->name;
		right = -1;
		for (j = 0; j < 2; j++)
			if (e->peer[j] && (e->peer[j][0] == '*' || !strcmp(e->peer[j], who)))
				right = right > e->mode[j] ? right : e->mode[j];
	}
	return right < 0 ? RNBD_ACCESS_REASON_NO_EXPORT : mode > right ? RNBD_ACCESS_REASON_ACCESS_MODE : 0;
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

static const char *const peers[] = { "a", "b", "c", "*" };

static u32 make_random(struct said *said)
{
	u32 count = 0, n, j;

	peer("b");
	peer("a");
	peer("c");
	for (n = rand() % 12; n; n--) {
		struct said *e = &said[count];

		*e = (struct said){ .peer = { NULL } };
		text(e->name, 5);
		if (rand() % 8 == 0)
			strcpy(e->name, "/");
		if ((e->name[0] == '/' && e->name[1]) || strstr(e->name, "//"))
			continue;
		for (j = 0; j < count && strcmp(said[j].name, e->name); j++)
			;
		if (j < count)
			continue;
		count++;
		begin_export(e->name, "/d");
		for (j = 0; j < 2 && rand() % 4; j++) {
			e->peer[j] = peers[rand() % 4];
			e->mode[j] = rand() % 3;
			allow(e->peer[j], e->mode[j] == RNBD_ACCESS_MODE_RW ? -1 : e->mode[j]);
		}
		end();
	}
	return count;
}

static void random_lists(void)
{
	struct rnbd_access_answer answer;
	unsigned int i, n, found = 0;
	struct said said[12];
	const char *by;
	char name[16];
	u32 count;

	srand(24);
	for (i = 0; i < LISTS; i++) {
		struct rnbd_access_list *list;

		count = make_random(said);
		list = list_of();
		CHECK(list && list->peers == 3 && list->exports == count);
		for (n = 0; list && n < 8; n++) {
			const char *asker = peers[rand() % 3];
			int mode = rand() % 3, err;

			text(name, 7);
			err = rnbd_server_list_judge(list, asker, name, mode, &answer);
			squeezed(name);
			NOTE("list %u, %s asks %d of %s", i, asker, mode, name);
			EQ(err, model(said, count, asker, name, mode, &by));
			CHECK(!!by == !!answer.export);
			if (by && answer.export) {
				STR(answer.export->name, by);
				STR(answer.name, name);
				CHECK(!rnbd_access_is_dir(answer.export) || *answer.rest);
				CHECK(rnbd_server_list_export(list, by, strlen(by)) == answer.export);
				found += !err;
			}
			EQ(rnbd_server_list_judge(list, "", name, mode, &answer), RNBD_ACCESS_REASON_NO_EXPORT);
		}
		free(list);
		tap_drop();
	}
	CHECK(found > LISTS / 2);
}

int main(void)
{
	RUN(names, "names of peers and exports, paths");
	RUN(whole, "twice the same, a peer that is not there");
	RUN(recognisable, "a peer has no key, and so names and addresses");
	RUN(patterns, "patterns match as fnmatch(3) says");
	RUN(who, "the first peer whose addresses and names fit");
	RUN(random_lists, "10,000 random lists answer as the model");
	return tap_end();
}
