// SPDX-License-Identifier: GPL-2.0
/* Command lines, times, numbers; and that the table is sound. */
#include <jansson.h>
#include <stdlib.h>

#include "app/report.h"
#include "cmd/commands.h"
#include "grammar/parse.h"
#include "tap.h"
#include "task/select.h"

/* Splits @line at blanks and parses it. */
static bool parse(const char *line, struct parsed *p, char **message)
{
	static char buf[512];
	char *argv[32] = { "rnbdadm" }, *save = NULL, *hint = NULL;
	int argc = 1;
	bool good;

	snprintf(buf, sizeof(buf), "%s", line);
	for (char *w = strtok_r(buf, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	memset(p, 0, sizeof(*p));
	*message = NULL;
	good = args_parse(argc, argv, p, message, &hint);
	free(hint);
	return good;
}

static void lines(void)
{
	static const struct { const char *line, *label; } good[] = {
		{ "session list", "session list" }, { "session", "session list" }, { "-j session list", "session list" },
		{ "session -j list", "session list" }, { "session list -jp", "session list" },
		{ "session show a", "session show a" }, { "session show -- -j", "session show -j" },
		{ "stats", "stats" }, { "stats reset --all", "stats reset" }, { "stats s1 reset", "stats s1 reset" },
		{ "stats -- reset", "stats reset" }, { "stats --role server reset --all", "stats reset" },
		{ "map v --server h", "map v" }, { "map v --session s --path a --path b", "map v" },
		{ "unmap a b c", "unmap a b c" }, { "unmap --wait a", "unmap a" }, { "map v --session s --wait=5 --wait", "map v" },
		{ "stats -i1 -c2", "stats" }, { "stats -i 1 -c 2", "stats" }, { "device list --sort=-name", "device list" },
		{ "device list --sort -name", "device list" }, { "-h", "" }, { "session -h", "session" }, { "map -h", "map" },
		{ "help", "help" }, { "help a b", "help a b" }, { "version", "version" }, { "-V", "" },
		{ "--color session list", "session list" }, { "session list --color=never", "session list" },
		{ "device list --filter a=b", "device list" }, { "-vvqj device list", "device list" },
	};
	static const char *const wrong[] = {
		"", "sess ls", "sesion list", "session lst", "session list x", "session show", "session show a b",
		"session list --bird", "session list --brief=1", "session list -Z", "session list --sort",
		"map v --access", "map v --access=xx", "map v --access=", "map --session s", "stats -c 0", "stats -c x",
		"stats -i x", "--server map v", "session list --server", "stats --role server host extra more", "-- session list",
		"map v --session a --session b", "session list -F a -F b", "device list --json-version=2", "session ls x",
		"device list --wait", "list session", "--json", "-j", "device list --color=",
	};
	struct parsed p;
	char *msg;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		bool fine = parse(good[i].line, &p, &msg);

		ok(fine && !strcmp(p.label, good[i].label), "'%s' is '%s' %s", good[i].line, p.label ? p.label : "",
		   msg ? msg : "");
		args_free(&p);
		free(msg);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		bool fine = parse(wrong[i], &p, &msg);

		ok(!fine && msg, "'%s': %s", wrong[i], msg ? msg : "taken");
		args_free(&p);
		free(msg);
	}
}

static void values(void)
{
	static const struct { const char *text; int64_t ms; } times[] = {
		{ "0", 0 }, { "1", 1000 }, { "500ms", 500 }, { "30s", 30000 }, { "5m", 300000 }, { "1h", 3600000 }, { "1d", 86400000 },
		{ "2.5", 2500 }, { "0.25s", 250 }, { "infinite", -1 }, { "-1", -1 }, { "1000000000", 1000000000000 },
	};
	static const char *const no_times[] = {
		"", "s", "ms", "-2", "1w", "1 s", "1.s", ".5", "1..5", "1e3", "0x1", "1000000001", "99999999999999999999", "inf",
	};
	static const char *const no_numbers[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616", "a" };
	uint64_t v;
	int64_t ms;

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		ok(parse_time(times[i].text, &ms) && ms == times[i].ms, "time '%s' is %lld ms", times[i].text, (long long)ms);
	for (size_t i = 0; i < sizeof(no_times) / sizeof(*no_times); i++)
		ok(!parse_time(no_times[i], &ms), "no time: '%s'", no_times[i]);
	ok(parse_uint("18446744073709551615", &v) && v == UINT64_MAX, "the largest number");
	ok(parse_uint("007", &v) && v == 7, "leading zeros are no octal number");
	for (size_t i = 0; i < sizeof(no_numbers) / sizeof(*no_numbers); i++)
		ok(!parse_uint(no_numbers[i], &v), "no number: '%s'", no_numbers[i]);
}

static void names(void)
{
	static const char *const good[] = { "a", "cl1@srv1", "x:y", "ctl1", "\xc3\xa9", "-" };
	static const char *const wrong[] = { "", ".", "..", "a.b", "a/b", "ctl", "a b", "a\tb", "a\x7f", "\x01" };
	char big[256], *msg;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		msg = session_name_problem(good[i]);
		ok(!msg, "session name '%s'", good[i]);
		free(msg);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		msg = session_name_problem(wrong[i]);
		ok(msg, "no session name: case %zu: %s", i, msg ? msg : "taken");
		free(msg);
	}
	memset(big, 'n', sizeof(big));
	big[255] = '\0';
	msg = session_name_problem(big);
	ok(msg, "255 bytes are too many");
	free(msg);
	big[254] = '\0';
	msg = session_name_problem(big);
	ok(!msg, "254 bytes are not");
	free(msg);
}

static void table(void)
{
	bool named = true, shown = true, unique = true, empty = true;

	for (int id = 1; id < OPT_MAX; id++) {
		const struct opt *o = &opt_table[id];

		named &= o->name && o->help;
		shown &= o->arg == ARG_NONE || o->metavar;
		shown &= o->type != T_WORD || o->values;
	}
	ok(named, "every option has a name and a help");
	ok(shown, "every value has a metavar, every word its values");
	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *c = &grammar->cmds[i];
		json_t *skel = json_loads(c->empty, 0, NULL);

		empty &= json_is_object(skel);
		json_decref(skel);
		for (size_t k = 0; k < i; k++)
			unique &= strcmp(c->object, grammar->cmds[k].object) || !c->verb != !grammar->cmds[k].verb ||
				  (c->verb && strcmp(c->verb, grammar->cmds[k].verb));
	}
	ok(unique, "no command is there twice");
	ok(empty, "every empty document is JSON");
	for (int i = 0; i < XC_MAX; i++)
		if (!exit_table[i].name || !exit_table[i].meaning)
			ok(false, "exit code %d has no name", i);
}

int main(void)
{
	grammar = &rnbdadm_grammar;
	lines();
	values();
	names();
	table();
	return tap_done();
}
