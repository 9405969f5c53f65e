// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/parse.h"

const struct grammar *grammar;

bool parse_time(const char *s, int64_t *ms)
{
	static const struct { const char *unit; uint64_t ms; } units[] = {
		{ "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 },
	};
	size_t digits = strspn(s, "0123456789");
	uint64_t v, frac = 0, scale = 1;
	const char *unit = s + digits;
	char *num;
	bool ok;

	if (!strcmp(s, "infinite") || !strcmp(s, "forever") || !strcmp(s, "-1")) {
		*ms = -1;
		return true;
	}
	num = xstrndup(s, digits);
	ok = parse_uint(num, &v);
	free(num);
	if (!ok || v > 1000000000)
		return false;
	if (*unit == '.') {
		for (unit++; *unit >= '0' && *unit <= '9'; unit++) {
			if (scale < 1000000) {
				frac = frac * 10 + (*unit - '0');
				scale *= 10;
			}
		}
		if (scale == 1)
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(unit, units[i].unit)) {
			*ms = (int64_t)(v * units[i].ms + frac * units[i].ms / scale);
			return true;
		}
	}
	return false;
}

/* The name of now for one of earlier versions, or NULL. */
static const char *gone_now(const char *name)
{
	for (size_t i = 0; i < grammar->ngone; i++)
		if (!strcmp(grammar->gone[i].old, name))
			return grammar->gone[i].now;
	return NULL;
}

bool cmd_has_opt(const struct cmd *cmd, enum opt_id id)
{
	if (id <= OPT_GLOBAL_LAST)
		return true;
	for (const unsigned char *o = cmd ? cmd->opts : NULL; o && *o; o++)
		if (*o == id)
			return true;
	return false;
}

static bool is_object(const char *word)
{
	for (size_t i = 0; i < grammar->ncmds; i++)
		if (!strcmp(grammar->cmds[i].object, word))
			return true;
	return false;
}

/* "server", the first word of objects that have two. */
static bool is_group(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < grammar->ncmds; i++)
		if (!strncmp(grammar->cmds[i].object, word, len) && grammar->cmds[i].object[len] == ' ')
			return true;
	return false;
}

static const struct cmd *find_cmd(const char *object, const char *verb)
{
	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *c = &grammar->cmds[i];

		if (strcmp(c->object, object) || !c->verb != !verb)
			continue;
		if (!verb || !strcmp(c->verb, verb))
			return c;
	}
	return NULL;
}

void legal_verbs(const char *object, struct strlist *l)
{
	size_t len = strlen(object);

	for (size_t i = 0; i < grammar->ncmds; i++) {
		const char *o = grammar->cmds[i].object;

		if (!strcmp(o, object) && grammar->cmds[i].verb)
			strlist_add(l, grammar->cmds[i].verb);
		else if (!strncmp(o, object, len) && o[len] == ' ' && !strlist_has(l, o + len + 1))
			strlist_add(l, o + len + 1);
	}
}

void legal_objects(struct strlist *l)
{
	for (size_t i = 0; i < grammar->ncmds; i++) {
		char *first = xstrndup(grammar->cmds[i].object, strcspn(grammar->cmds[i].object, " "));

		if (!(grammar->cmds[i].flags & CMD_HIDDEN) && !strlist_has(l, first))
			strlist_add(l, first);
		free(first);
	}
}

static void legal_options(const struct cmd *cmd, struct strlist *l)
{
	for (int id = 1; id < OPT_MAX; id++)
		if (!opt_table[id].hidden && cmd_has_opt(cmd, id))
			strlist_addf(l, "--%s", opt_table[id].name);
}

struct parser {
	struct parsed *p;
	char **message, **hint;
};

static bool usage(struct parser *ps, char *message, char *hint)
{
	*ps->message = message;
	*ps->hint = hint;
	return false;
}

static bool unknown_word(struct parser *ps, const char *word, struct strlist *legal,
			 const char *what)
{
	const char *object = ps->p->object;
	char *name = object ? xasprintf("%s %s", object, word) : xstrdup(word), *q = printable(word);
	const char *now = gone_now(name) ? gone_now(name) : gone_now(word);

	if (now)
		usage(ps, xasprintf("'%s' does not exist any more", gone_now(name) ? name : q),
		      xasprintf("use '%s'", now));
	else
		usage(ps, xasprintf("'%s' is not a %s", q, what), suggest(word, legal));
	free(name);
	free(q);
	strlist_free(legal);
	return false;
}

/* The first word of an object, which may be the whole of it. */
static bool take_object(struct parser *ps, const char *word, bool literal)
{
	struct strlist legal = { 0 };
	struct parsed *p = ps->p;

	if (literal)
		return usage(ps, xstrdup("'--' comes after the command"), NULL);
	if (!is_object(word) && !is_group(word)) {
		legal_objects(&legal);
		return unknown_word(ps, word, &legal, "command");
	}
	p->object = word;
	for (size_t i = 0; i < grammar->ncmds; i++)
		if (!strcmp(grammar->cmds[i].object, word))
			p->object = grammar->cmds[i].object;
	p->cmd = find_cmd(p->object, NULL);
	return true;
}

/* The second word of an object such as "server export". */
static bool take_group(struct parser *ps, const char *word)
{
	char *both = xasprintf("%s %s", ps->p->object, word), *what;
	struct strlist legal = { 0 };

	for (size_t i = 0; i < grammar->ncmds; i++) {
		if (strcmp(grammar->cmds[i].object, both))
			continue;
		ps->p->object = grammar->cmds[i].object;
		free(both);
		return true;
	}
	free(both);
	what = xasprintf("word after '%s'", ps->p->object);
	legal_verbs(ps->p->object, &legal);
	unknown_word(ps, word, &legal, what);
	free(what);
	return false;
}

/* Takes the next word: object, verb or argument. */
static bool take_word(struct parser *ps, const char *word, bool literal)
{
	struct parsed *p = ps->p;
	struct strlist legal = { 0 };
	const struct cmd *c;

	if (!p->object)
		return take_object(ps, word, literal);
	if (!p->cmd && !is_object(p->object))
		return take_group(ps, word);
	/* a verb, at the first place where one can be */
	if (!literal && !p->nargs && (!p->cmd || !p->cmd->verb)) {
		c = find_cmd(p->object, word);
		if (c) {
			p->object = c->object;
			p->cmd = c;
			return true;
		}
	}
	if (!p->cmd && literal)
		return usage(ps, xasprintf("'--' comes after the verb of '%s'", p->object), NULL);
	if (!p->cmd) {
		char *what = xasprintf("verb of '%s'", p->object);

		legal_verbs(p->object, &legal);
		unknown_word(ps, word, &legal, what);
		free(what);
		return false;
	}
	p->args = xrealloc(p->args, (p->nargs + 1) * sizeof(*p->args));
	p->args[p->nargs++] = word;
	return true;
}

static bool word_allowed(const char *values, const char *v)
{
	size_t len = strlen(v);
	uint64_t n;

	while (*values) {
		size_t w = strcspn(values, "|");

		if (w == len && !strncmp(values, v, w))
			return true;
		if (w == 1 && *values == '#' && parse_uint(v, &n))
			return true;
		values += w;
		values += *values == '|';
	}
	return false;
}

/* "a|b|#" as "a, b or a number" */
static char *values_text(const char *values)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	for (; *values; values++) {
		if (*values == '|')
			strbuf_puts(&b, ", ");
		else if (*values == '#')
			strbuf_puts(&b, "a number");
		else
			strbuf_add(&b, values, 1);
	}
	return b.s;
}

char *opt_problem(const struct opt *o, const char *dashes, const char *v, char **hint)
{
	struct strlist legal = { 0 };
	char *q = printable(v), *t = NULL, *msg = NULL;
	uint64_t n;
	int64_t ms;

	switch (o->type) {
	case T_TEXT:
		if (!*v)
			msg = xasprintf("%s%s needs a value that is not empty", dashes, o->name);
		break;
	case T_WORD:
		if (word_allowed(o->values, v))
			break;
		t = values_text(o->values);
		msg = xasprintf("'%s' is not a value of %s%s (%s)", q, dashes, o->name, t);
		for (char *save = NULL, *w = strtok_r(t, ", ", &save); w;
		     w = strtok_r(NULL, ", ", &save))
			strlist_add(&legal, w);
		*hint = suggest(v, &legal);
		break;
	case T_UINT:
		if (!parse_uint(v, &n))
			msg = xasprintf("%s%s: '%s' is not a whole number", dashes, o->name, q);
		else if (n < o->min || n > o->max)
			msg = xasprintf("%s%s: %s is not between %llu and %llu", dashes, o->name, q,
					(unsigned long long)o->min, (unsigned long long)o->max);
		break;
	case T_TIME:
		if (!parse_time(v, &ms))
			msg = xasprintf("%s%s: '%s' is not a time (500ms, 30s, 5m, infinite)",
					dashes, o->name, q);
		break;
	}
	free(q);
	free(t);
	strlist_free(&legal);
	return msg;
}

static bool check_value(struct parser *ps, const struct opt *o, const char *v)
{
	char *hint = NULL, *msg = opt_problem(o, "--", v, &hint);

	return msg ? usage(ps, msg, hint) : true;
}

static void add_opt(struct parsed *p, enum opt_id id, const char *value)
{
	p->opts = xrealloc(p->opts, (p->nopts + 1) * sizeof(*p->opts));
	p->opts[p->nopts++] = (struct optval){ .id = id, .value = value };
	if (id == OPT_HELP)
		p->help = true;
}

enum opt_id opt_find(const struct cmd *cmd, const char *name, size_t len)
{
	for (int id = 1; id < OPT_MAX; id++)
		if (cmd_has_opt(cmd, id) && strlen(opt_table[id].name) == len &&
		    !strncmp(opt_table[id].name, name, len))
			return id;
	return OPT_NONE;
}

static enum opt_id find_letter(const struct cmd *cmd, char c)
{
	for (int id = 1; id < OPT_MAX; id++)
		if (opt_table[id].letter == c && cmd_has_opt(cmd, id))
			return id;
	return OPT_NONE;
}

/* What has taken the place of an option of this command, or of all. */
static const char *option_now(const struct cmd *cmd, const char *option)
{
	char *own = cmd ? xasprintf("%s%s%s %s", cmd->object, cmd->verb ? " " : "",
				    cmd->verb ? cmd->verb : "", option) : NULL;
	const char *now = own ? gone_now(own) : NULL;

	free(own);
	return now ? now : gone_now(option);
}

static bool unknown_option(struct parser *ps, const char *text)
{
	struct parsed *p = ps->p;
	struct strlist legal = { 0 };
	char *shown = xstrndup(text, strcspn(text, "=")), *q = printable(shown), *hint, *msg;
	const char *now = option_now(p->cmd, shown);

	legal_options(p->cmd, &legal);
	hint = now ? xasprintf("use '%s'", now) : suggest(shown, &legal);
	if (now)
		msg = xasprintf("'%s' does not exist any more", q);
	else if (p->cmd)
		msg = xasprintf("'%s' is not an option of '%s%s%s'", q, p->cmd->object,
				p->cmd->verb ? " " : "", p->cmd->verb ? p->cmd->verb : "");
	else
		msg = xasprintf("'%s' is not an option here", q);
	usage(ps, msg, hint);
	free(q);
	free(shown);
	strlist_free(&legal);
	return false;
}

static bool take_long(struct parser *ps, char **argv, int argc, int *i)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '='), *value = NULL;
	enum opt_id id = opt_find(ps->p->cmd, name, eq ? (size_t)(eq - name) : strlen(name));
	const struct opt *o = &opt_table[id];

	if (id == OPT_NONE)
		return unknown_option(ps, argv[*i]);
	if (eq)
		value = eq + 1;
	if (o->arg == ARG_NONE && value)
		return usage(ps, xasprintf("--%s takes no value", o->name), NULL);
	if (o->arg == ARG_REQUIRED && !value) {
		if (*i + 1 >= argc) {
			ps->p->pending = id;
			return usage(ps, xasprintf("--%s needs a value (%s)", o->name,
						   o->metavar), NULL);
		}
		value = argv[++*i];
	}
	if (value && !check_value(ps, o, value))
		return false;
	add_opt(ps->p, id, value);
	return true;
}

/* Options of one letter, up to one that takes the rest as its value? */
static bool are_letters(const struct cmd *cmd, const char *s)
{
	/* "-force" would be -f and -o */
	if (opt_find(cmd, s, strcspn(s, "=")))
		return false;
	for (; *s; s++) {
		enum opt_id id = find_letter(cmd, *s);

		if (id == OPT_NONE || opt_table[id].arg == ARG_REQUIRED)
			return id != OPT_NONE;
	}
	return true;
}

static bool take_letters(struct parser *ps, char **argv, int argc, int *i)
{
	const char *s = argv[*i] + 1;

	/* first: a word that is wrong asks for nothing, not for JSON by one of its letters */
	if (!are_letters(ps->p->cmd, s))
		return unknown_option(ps, argv[*i]);
	for (; *s; s++) {
		enum opt_id id = find_letter(ps->p->cmd, *s);
		const struct opt *o = &opt_table[id];
		const char *value = NULL;

		if (o->arg == ARG_REQUIRED) {
			if (!s[1] && *i + 1 >= argc) {
				ps->p->pending = id;
				return usage(ps, xasprintf("-%c needs a value (%s)", *s,
							   o->metavar), NULL);
			}
			value = s[1] ? s + 1 : argv[++*i];
			if (!check_value(ps, o, value))
				return false;
		}
		add_opt(ps->p, id, value);
		if (value)
			return true;
	}
	return true;
}

static bool check_args(struct parser *ps)
{
	struct parsed *p = ps->p;
	size_t min = 0, max = 0;
	const struct cmd *c = p->cmd;
	char *q;

	for (; max < CMD_ARGS && c->args[max].name; max++)
		if (!c->args[max].optional)
			min = max + 1;
	if (p->nargs < min) {
		size_t next = p->nargs;

		/* --all stands for the name of one */
		if (args_has(p, OPT_ALL) && !strcmp(c->args[0].name, "SESSION") && next + 1 < max)
			next++;
		return usage(ps, xasprintf("%s is missing", c->args[next].name), NULL);
	}
	if (max && c->args[max - 1].repeat)
		return true;
	if (p->nargs > max) {
		struct strlist legal = { 0 };

		if (!max && !c->verb)
			legal_verbs(c->object, &legal);
		q = printable(p->args[max]);
		usage(ps, xasprintf("'%s' is one argument too many", q),
		      suggest(p->args[max], &legal));
		free(q);
		strlist_free(&legal);
		return false;
	}
	for (size_t i = 0; i < p->nargs; i++)
		if (!*p->args[i])
			return usage(ps, xasprintf("%s is empty", c->args[i].name), NULL);
	return true;
}

/* Options given before the verb must be legal for the command that it became. */
static bool check_opts(struct parser *ps)
{
	struct parsed *p = ps->p;

	for (size_t i = 0; i < p->nopts; i++) {
		enum opt_id id = p->opts[i].id;

		if (cmd_has_opt(p->cmd, id)) {
			for (size_t j = 0; j < i; j++)
				if (p->opts[j].id == id && opt_table[id].arg == ARG_REQUIRED &&
				    id > OPT_GLOBAL_LAST && !opt_table[id].repeat)
					return usage(ps, xasprintf("--%s is given twice",
								   opt_table[id].name), NULL);
			continue;
		}
		char *text = xasprintf("--%s", opt_table[id].name);

		unknown_option(ps, text);
		free(text);
		return false;
	}
	return true;
}

static void make_label(struct parsed *p)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, p->object ? p->object : "");
	if (p->cmd && p->cmd->verb)
		strbuf_printf(&b, " %s", p->cmd->verb);
	for (size_t i = 0; p->cmd && i < p->nargs; i++) {
		char *q = printable(p->args[i]);

		strbuf_printf(&b, " %s", q);
		free(q);
	}
	free(p->label);
	p->label = b.s;
}

static bool parse_words(struct parser *ps, int argc, char **argv)
{
	struct parsed *p = ps->p;

	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];
		bool ok;

		if (!p->literal && !strcmp(a, "--")) {
			p->literal = true;
			continue;
		}
		/* "-1G" is a size; no option is a digit */
		if (p->literal || a[0] != '-' || !a[1] || (a[1] >= '0' && a[1] <= '9'))
			ok = take_word(ps, a, p->literal);
		else if (a[1] == '-')
			ok = take_long(ps, argv, argc, &i);
		else
			ok = take_letters(ps, argv, argc, &i);
		if (!ok)
			return false;
	}
	return true;
}

bool args_parse(int argc, char **argv, struct parsed *p, char **message, char **hint)
{
	struct parser ps = { .p = p, .message = message, .hint = hint };
	bool ok = parse_words(&ps, argc, argv);

	/* an object alone is listed */
	if (ok && p->object && !p->cmd && !p->help)
		p->cmd = find_cmd(p->object, "list");
	make_label(p);
	if (!ok)
		return false;
	if (p->help || args_has(p, OPT_VERSION))
		return true;
	if (p->object && !p->cmd) {
		struct strlist legal = { 0 };
		char *verbs;

		legal_verbs(p->object, &legal);
		verbs = strlist_join(&legal, ", ");
		strlist_free(&legal);
		usage(&ps, xasprintf("%s is missing (%s)", is_object(p->object) ? "a verb" : "a word",
				     verbs), NULL);
		free(verbs);
		return false;
	}
	if (!p->cmd)
		return usage(&ps, xstrdup("a command is missing"), NULL);
	return check_opts(&ps) && check_args(&ps);
}

bool args_words(int argc, char **argv, struct parsed *p)
{
	char *message = NULL, *hint = NULL;
	struct parser ps = { .p = p, .message = &message, .hint = &hint };
	bool ok = parse_words(&ps, argc, argv) || p->pending;

	free(message);
	free(hint);
	return ok;
}

void args_free(struct parsed *p)
{
	free(p->opts);
	free(p->args);
	free(p->label);
	memset(p, 0, sizeof(*p));
}

/* What follows the dashes of "--json", and of "-json", which is meant so; NULL: neither. */
static const char *scan_name(const char *a)
{
	size_t len = a[0] == '-' ? strcspn(a + 1, "=") : 0;

	if (!strncmp(a, "--", 2))
		return a + 2;
	for (int id = 1; id < OPT_MAX; id++)
		if (len && strlen(opt_table[id].name) == len && !strncmp(opt_table[id].name, a + 1, len))
			return a + 1;
	return NULL;
}

/* Letters up to one that no command has; what follows -o, or NULL where that is not among them. */
static const char *scan_letters(const char *s, bool *json, int *quiet)
{
	for (; *s; s++) {
		const struct opt *o = &opt_table[1], *end = &opt_table[OPT_MAX];

		while (o < end && o->letter != *s)
			o++;
		if (o == end || o->arg == ARG_REQUIRED)
			return *s == 'o' ? s + 1 : NULL;
		*json |= *s == 'j' || *s == 'p';
		*quiet += *s == 'q';
	}
	return NULL;
}

bool args_scan(int argc, char **argv, int *quiet)
{
	bool json = false;

	*quiet = 0;
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *a = argv[i], *name = scan_name(a), *v = NULL;

		if (!name)
			v = a[0] == '-' ? scan_letters(a + 1, &json, quiet) : NULL;
		else if (!strcmp(name, "json") || !strcmp(name, "pretty"))
			json = true;
		else if (!strcmp(name, "quiet"))
			(*quiet)++;
		else if (!strncmp(name, "output", 6) && (!name[6] || name[6] == '='))
			v = name[6] ? name + 7 : name + 6;
		/* in the next word */
		if (v && !*v && a[strlen(a) - 1] != '=')
			v = i + 1 < argc ? argv[++i] : "";
		if (v)
			json = !strcmp(v, "json") || !strcmp(v, "jsonl");
	}
	return json;
}

bool args_has(const struct parsed *p, enum opt_id id)
{
	for (size_t i = 0; i < p->nopts; i++)
		if (p->opts[i].id == id)
			return true;
	return false;
}

void optval_word(const struct optval *v, struct strlist *words)
{
	strlist_addf(words, "--%s%s%s", opt_table[v->id].name, v->value ? "=" : "",
		     v->value ? v->value : "");
}

const char *args_value(const struct parsed *p, enum opt_id id)
{
	const char *v = NULL;

	for (size_t i = 0; i < p->nopts; i++)
		if (p->opts[i].id == id)
			v = p->opts[i].value;
	return v;
}

bool args_server(const struct parsed *p)
{
	const char *role = args_value(p, OPT_ROLE);

	return role && !strcmp(role, "server");
}

const char *args_nth(const struct parsed *p, enum opt_id id, size_t n)
{
	for (size_t i = 0; i < p->nopts; i++)
		if (p->opts[i].id == id && !n--)
			return p->opts[i].value;
	return NULL;
}

enum opt_id args_last(const struct parsed *p, const enum opt_id *ids, size_t n)
{
	enum opt_id last = OPT_NONE;

	for (size_t i = 0; i < p->nopts; i++)
		for (size_t j = 0; j < n; j++)
			if (p->opts[i].id == ids[j])
				last = ids[j];
	return last;
}

uint64_t args_uint(const struct parsed *p, enum opt_id id, uint64_t none)
{
	const char *v = args_value(p, id);
	uint64_t n;

	return v && parse_uint(v, &n) ? n : none;
}

int64_t args_time(const struct parsed *p, enum opt_id id, int64_t none)
{
	const char *v = args_value(p, id);
	int64_t ms;

	return v && parse_time(v, &ms) ? ms : none;
}
