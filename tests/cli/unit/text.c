// SPDX-License-Identifier: GPL-2.0
/* Natural order, distances of words, suggestions, quoting. */
#include <stdlib.h>

#include "base/text.h"
#include "tap.h"

static void order(void)
{
	static const char *const sorted[] = {
		"", "0", "00", "1", "2", "10", "010a", "100", "99999999999999999999", "100000000000000000000",
		"Z", "a", "a-1", "a0", "a01", "a1", "a2b", "a10", "a10a", "ab", "rnbd", "rnbd0", "rnbd2", "rnbd10",
		"rnbd10p2", "rnbd10p10", "\xc3\xa9", "\xff",
	};
	size_t n = sizeof(sorted) / sizeof(*sorted), wrong = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			int rc = natural_cmp(sorted[i], sorted[k]), want = i < k ? -1 : i > k;

			if ((rc > 0) - (rc < 0) != want) {
				printf("# '%s' and '%s': %d\n", sorted[i], sorted[k], rc);
				wrong++;
			}
		}
	}
	ok(!wrong, "natural order: %zu pairs", n * n);
}

static void distance(void)
{
	static const struct { const char *a, *b; unsigned int d; } words[] = {
		{ "", "", 0 }, { "map", "map", 0 }, { "map", "mpa", 1 }, { "map", "mp", 1 }, { "map", "maps", 1 },
		{ "map", "mop", 1 }, { "sesion", "session", 1 }, { "lsit", "list", 1 }, { "list", "", 4 },
		{ "", "list", 4 }, { "ca", "abc", 3 }, { "kitten", "sitting", 3 }, { "abcd", "badc", 2 },
	};
	char big[100];

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		ok(edit_distance(words[i].a, words[i].b) == words[i].d, "'%s' to '%s' is %u", words[i].a,
		   words[i].b, words[i].d);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ok(edit_distance(big, "x") > 2, "a long word is far from everything");
}

static void suggestions(void)
{
	static const struct { const char *word, *text; } cases[] = {
		{ "sesion", "did you mean session?" }, { "mapp", "did you mean map?" }, { "unmpa", "did you mean unmap?" },
		{ "sess", "did you mean session?" }, { "zzzz", NULL }, { "", NULL }, { "stat", "did you mean stats?" },
		{ "sttas", "did you mean stats?" },
	};
	struct strlist l = { 0 };
	char *s;

	strlist_add(&l, "session");
	strlist_add(&l, "stats");
	strlist_add(&l, "map");
	strlist_add(&l, "unmap");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s = suggest(cases[i].word, &l);
		ok(cases[i].text ? s && !strcmp(s, cases[i].text) : !s, "'%s': %s", cases[i].word, s ? s : "-");
		free(s);
	}
	for (int i = 0; i < 9; i++)
		strlist_addf(&l, "word%d", i);
	s = suggest("word", &l);
	ok(s && !strcmp(s, "did you mean word0, word1, word2?"), "three at most: %s", s ? s : "-");
	free(s);
	strlist_free(&l);
}

static void quoting(void)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "vol0", "vol0" }, { "cl1@srv1", "cl1@srv1" }, { "ip:10.0.0.1@ip:10.0.0.2", "ip:10.0.0.1@ip:10.0.0.2" },
		{ "", "''" }, { "a b", "'a b'" }, { "it's", "'it'\\''s'" }, { "$x", "'$x'" }, { "a;b", "'a;b'" },
		{ "~", "'~'" }, { "*", "'*'" }, { "u\303\251", "'u\303\251'" }, { "a\nb\tc", "$'a\\nb\\tc'" },
		{ "\033[31m'\\", "$'\\033[31m\\'\\\\'" }, { "\0017\177", "$'\\0017\\177'" },
		{ "\302\2331", "$'\\302\\2331'" }, { "\377\303\251", "$'\\377\303\251'" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *s = shell_quote(cases[i].in);

		ok(!strcmp(s, cases[i].out), "%s", s);
		free(s);
	}
}

int main(void)
{
	order();
	distance();
	suggestions();
	quoting();
	return tap_done();
}
