// SPDX-License-Identifier: GPL-2.0
/* The part of completion that the command table knows: words, options, their values. */
#include <stdlib.h>
#include <string.h>

#include "grammar/complete.h"
#include "output/to-json.h"

static bool fits(const struct complete *c, const char *word)
{
	char *shown;
	bool plain;

	if (strncmp(word, c->tail, strlen(c->tail)) || (c->plain && !*c->head && *word == '-'))
		return false;
	/* it would not survive the way through a shell, nor a terminal the list */
	shown = printable(word);
	plain = !strcmp(shown, word);
	free(shown);
	return plain;
}

static void put(struct complete *c, struct strlist *l, const char *word, const char *text)
{
	char *shown = printable(text);

	strlist_addf(l, "%s%s\t%s", c->head, word, shown);
	free(shown);
}

void complete_add(struct complete *c, const char *word, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (!fits(c, word))
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	put(c, &c->offers, word, text);
	free(text);
}

void complete_other(struct complete *c, const char *word, const char *text)
{
	if (fits(c, word))
		put(c, &c->others, word, text);
}

void complete_skip(struct complete *c, char sep)
{
	const char *last = strrchr(c->tail, sep);
	char *head;

	if (!last)
		return;
	head = xasprintf("%s%.*s", c->head, (int)(last + 1 - c->tail), c->tail);
	free(c->head);
	c->head = head;
	c->tail = last + 1;
}

/* "a|b|#": a number is not offered. */
static void add_values(struct complete *c, const char *values)
{
	while (*values) {
		size_t n = strcspn(values, "|");
		char *word = xstrndup(values, n);

		if (strcmp(word, "#"))
			complete_add(c, word, "%s", "");
		free(word);
		values += n;
		values += *values == '|';
	}
}

/* Of a command, or else of an object. */
static const char *summary_of(const char *object, const char *word)
{
	char *name = xasprintf("%s%s%s", object ? object : "", object ? " " : "", word);
	const char *text = "";

	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *cmd = &grammar->cmds[i];

		if (object ? cmd->verb && !strcmp(cmd->object, object) && !strcmp(cmd->verb, word) :
			     !cmd->verb && !strcmp(cmd->object, word))
			text = cmd->summary;
	}
	for (size_t i = 0; i < grammar->nobjects && !*text; i++)
		if (!strcmp(grammar->objects[i].object, name))
			text = grammar->objects[i].summary;
	free(name);
	return text;
}

/* The next words of the grammar. */
static void add_words(struct complete *c, const char *object)
{
	struct strlist words = { 0 };

	if (object)
		legal_verbs(object, &words);
	else
		legal_objects(&words);
	for (size_t i = 0; i < words.n; i++)
		complete_add(c, words.v[i], "%s", summary_of(object, words.v[i]));
	strlist_free(&words);
}

static void add_options(struct complete *c)
{
	const struct parsed *p = c->p;

	/* those of the command first */
	for (int pass = 0; pass < 2; pass++) {
		for (int id = 1; id < OPT_MAX; id++) {
			const struct opt *o = &opt_table[id];
			char *word;

			if (o->hidden || !cmd_has_opt(p->cmd, id) ||
			    (id <= OPT_GLOBAL_LAST) != pass || (args_has(p, id) && !o->repeat))
				continue;
			word = xasprintf("--%s", o->name);
			complete_add(c, word, "%s", o->help);
			free(word);
		}
	}
}

static void add_view(struct complete *c, const struct view *v, const char *after)
{
	for (const struct field *f = v ? v->fields : NULL; f && f->name; f++) {
		char *word = xasprintf("%s%s", f->name, after);

		complete_add(c, word, "%s", f->help);
		free(word);
	}
}

/* -F a,+b,-c; --sort -a; --filter a=1,b=2; --for a=1 */
static void add_fields(struct complete *c, const char *what)
{
	const struct view *v = c->p->cmd ? c->p->cmd->view : NULL;
	bool expr = !strcmp(what, "EXPR"), cond = !strcmp(what, "COND");

	complete_skip(c, ',');
	if (!expr && !cond && (*c->tail == '-' || *c->tail == '+'))
		complete_skip(c, *c->tail);
	if (cond) {
		complete_add(c, "present", "it is there");
		complete_add(c, "absent", "it is not there");
		v = c->p->nargs > 1 || args_has(c->p, OPT_HCA) ? &path_view :
		    c->p->nargs && !strncmp(c->p->args[0], "rnbd", 4) ? &device_view : &session_view;
	}
	add_view(c, v, expr || cond ? "=" : "");
	if (!strcmp(what, "LIST")) {
		complete_add(c, "all", "all fields");
		complete_add(c, "help", "lists them");
	}
}

/* help: the words of a command, or a topic and its object. */
static void add_help(struct complete *c)
{
	const struct parsed *p = c->p;
	struct strlist views = { 0 };
	struct parsed of = { 0 };
	char **argv;

	if (p->nargs && !strcmp(p->args[0], "fields")) {
		for (size_t i = 0; i < grammar->ncmds; i++) {
			const struct view *v = grammar->cmds[i].view;

			if (!v || strlist_has(&views, v->name))
				continue;
			strlist_add(&views, v->name);
			complete_add(c, v->name, "fields");
		}
		strlist_free(&views);
		return;
	}
	argv = xcalloc(p->nargs + 2, sizeof(*argv));
	for (size_t i = 0; i < p->nargs; i++)
		argv[i + 1] = (char *)p->args[i];
	if (args_words((int)p->nargs + 1, argv, &of) && !of.nargs && !(of.cmd && of.cmd->verb))
		add_words(c, of.object);
	if (!p->nargs) {
		complete_add(c, "exit-codes", "meaning of exit codes");
		complete_add(c, "checks", "checks, with cause and cure");
		complete_add(c, "selectors", "how objects are named");
		complete_add(c, "fields", "those of a list");
	}
	args_free(&of);
	free(argv);
}

/* By the name that the argument has in the table. */
static void add_argument(struct complete *c, const char *what)
{
	if (!strcmp(what, "FILE") || !strcmp(what, "DIR"))
		c->files = true;
	else if (!strcmp(what, "WORD"))
		add_help(c);
	else if (!strcmp(what, "LIST") || !strcmp(what, "[-]FIELD") || !strcmp(what, "EXPR") ||
		 !strcmp(what, "COND"))
		add_fields(c, what);
	else
		grammar->complete(c, what);
}

static void add_value(struct complete *c, enum opt_id id)
{
	const struct opt *o = &opt_table[id];

	c->opt = id;
	if (o->values)
		add_values(c, o->values);
	else if (o->metavar)
		add_argument(c, o->metavar);
}

/* The argument that comes next; NULL if there is none. */
static const struct arg *next_arg(const struct parsed *p)
{
	size_t n = 0, at = p->nargs;

	while (n < CMD_ARGS && p->cmd->args[n].name)
		n++;
	/* --all stands for the name of one */
	if (args_has(p, OPT_ALL) && n && !strcmp(p->cmd->args[0].name, "SESSION"))
		at++;
	if (at < n)
		return &p->cmd->args[at];
	return n && p->cmd->args[n - 1].repeat ? &p->cmd->args[n - 1] : NULL;
}

static void add_word(struct complete *c)
{
	const struct parsed *p = c->p;
	const struct arg *a;

	if (!p->object || !p->cmd) {
		add_words(c, p->object);
		return;
	}
	if (!p->cmd->verb && !p->nargs && !p->literal)
		add_words(c, p->object);
	a = next_arg(p);
	c->plain = a && !p->literal;
	if (a && a->values)
		add_values(c, a->values);
	else if (a)
		add_argument(c, a->name);
	/* nothing else can come */
	else if (!*c->tail && !c->offers.n && !p->literal)
		add_options(c);
}

void complete_words(struct complete *c, int argc, char **argv)
{
	const char *cur = argv[argc - 1], *eq = strchr(cur, '=');
	struct parsed p = { 0 };
	enum opt_id id;

	c->p = &p;
	c->head = xstrdup("");
	c->tail = cur;
	if (!args_words(argc - 1, argv, &p)) {
		args_free(&p);
		return;
	}
	if (p.pending) {
		add_value(c, p.pending);
	} else if (!p.literal && eq && !strncmp(cur, "--", 2)) {
		id = opt_find(p.cmd, cur + 2, (size_t)(eq - cur - 2));
		free(c->head);
		c->head = xstrndup(cur, (size_t)(eq + 1 - cur));
		c->tail = eq + 1;
		if (id && opt_table[id].arg != ARG_NONE)
			add_value(c, id);
	} else if (!p.literal && *cur == '-') {
		add_options(c);
	} else {
		add_word(c);
	}
	args_free(&p);
	c->p = NULL;
}
