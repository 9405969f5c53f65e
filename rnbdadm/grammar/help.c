// SPDX-License-Identifier: GPL-2.0
/* Help texts out of the command table, at most 80 columns wide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "grammar/parse.h"
#include "output/output.h"

#define WIDTH	79

/* @text in lines that start at column @indent; the first one is there already. */
static void wrap(struct strbuf *b, const char *text, unsigned int indent)
{
	unsigned int at = indent;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > indent && at + 1 + n > WIDTH) {
			strbuf_printf(b, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			strbuf_puts(b, " ");
			at++;
		}
		strbuf_add(b, text, n);
		at += (unsigned int)n;
		text += n;
		text += strspn(text, " ");
	}
	strbuf_puts(b, "\n");
}

/* "left   right", the right part wrapped. */
static void entry(struct strbuf *b, const char *left, const char *right, unsigned int col)
{
	size_t n = strlen(left) + 2;

	strbuf_printf(b, "  %s", left);
	if (n + 1 > col) {
		strbuf_puts(b, "\n");
		n = 0;
	}
	strbuf_printf(b, "%*s", (int)(col - n), "");
	wrap(b, right, col);
}

static void put_option(struct strbuf *b, const struct opt *o)
{
	char letter[8] = "    ";
	char *left;

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	if (o->arg == ARG_NONE)
		left = xasprintf("%s--%s", letter, o->name);
	else if (o->arg == ARG_REQUIRED)
		left = xasprintf("%s--%s=%s", letter, o->name, o->metavar);
	else
		left = xasprintf("%s--%s[=%s]", letter, o->name, o->metavar);
	entry(b, left, o->help, 30);
	free(left);
}

static char *help_options(void)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Options of all commands, before or after the command:\n");
	for (int id = 1; id <= OPT_GLOBAL_LAST; id++)
		if (!opt_table[id].hidden)
			put_option(&b, &opt_table[id]);
	return b.s;
}

static void put_synopsis(struct strbuf *b, const struct cmd *c)
{
	strbuf_printf(b, "rnbdadm %s%s%s", c->object, c->verb ? " " : "", c->verb ? c->verb : "");
	for (size_t i = 0; i < CMD_ARGS && c->args[i].name; i++) {
		const struct arg *a = &c->args[i];

		strbuf_printf(b, " %s%s%s%s", a->optional ? "[" : "", a->name,
			      a->optional ? "]" : "", a->repeat ? "..." : "");
	}
	strbuf_puts(b, " [OPTIONS]");
}

/* Examples, and where more is told: the end of each text */
static void put_examples(struct strbuf *b, const char *const *examples, const char *page)
{
	strbuf_puts(b, "\nOptions of all commands, as -j (JSON), -n (dry run) and -v: rnbdadm help options\n"
		    "\nExamples:\n");
	for (size_t i = 0; i < 2 && examples[i]; i++)
		strbuf_printf(b, "  %s\n", examples[i]);
	strbuf_printf(b, "\nSee %s(%d)\n", page,
		      !strcmp(page, "rnbdadm.conf") ? 5 : !strcmp(page, "rnbdadm-json") ? 7 : 8);
}

static char *help_cmd(const struct cmd *c)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Usage: ");
	put_synopsis(&b, c);
	strbuf_puts(&b, "\n\n");
	for (const char *s = c->summary; *s; s++) {
		char up = s == c->summary && *s >= 'a' && *s <= 'z' ? *s - 32 : *s;

		strbuf_add(&b, &up, 1);
	}
	strbuf_puts(&b, ".\n");
	if (c->text)
		wrap(&b, c->text, 0);
	if (c->args[0].name) {
		strbuf_puts(&b, "\nArguments:\n");
		for (size_t i = 0; i < CMD_ARGS && c->args[i].name; i++)
			entry(&b, c->args[i].name, c->args[i].help, 30);
	}
	if (c->opts && *c->opts) {
		strbuf_puts(&b, "\nOptions:\n");
		for (const unsigned char *o = c->opts; *o; o++)
			put_option(&b, &opt_table[*o]);
	}
	put_examples(&b, c->examples, c->page);
	return b.s;
}

/* Is the command one of the object, or of the group that it names? */
static bool belongs(const struct cmd *c, const char *object)
{
	size_t len = strlen(object);

	return !strncmp(c->object, object, len) && (!c->object[len] || c->object[len] == ' ');
}

static void put_commands(struct strbuf *b, const char *object)
{
	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *c = &grammar->cmds[i];
		char *left;

		if ((c->flags & CMD_HIDDEN) || !belongs(c, object))
			continue;
		left = xasprintf("%s%s%s", c->object, c->verb ? " " : "", c->verb ? c->verb : "");
		entry(b, left, c->summary, 28);
		free(left);
	}
}

/* The verbs of an object, and the objects of a group, with this between them; NULL: it has none. */
static char *verbs_of(const char *object, const char *between)
{
	struct strlist verbs = { 0 };
	size_t len = strlen(object);
	char *list = NULL;

	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *c = &grammar->cmds[i];
		const char *word;

		if ((c->flags & CMD_HIDDEN) || !belongs(c, object))
			continue;
		word = c->object[len] ? c->object + len + 1 : c->verb;
		if (word && !strlist_has(&verbs, word))
			strlist_add(&verbs, word);
	}
	if (verbs.n)
		list = strlist_join(&verbs, between);
	strlist_free(&verbs);
	return list;
}

/* A line for each object that has verbs, and for each command that is a word alone. */
static void put_overview(struct strbuf *b)
{
	struct strlist told = { 0 };

	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct cmd *c = &grammar->cmds[i];
		const char *what = c->summary;
		char *verbs, *right;

		if ((c->flags & CMD_HIDDEN) || strlist_has(&told, c->object))
			continue;
		strlist_add(&told, c->object);
		verbs = verbs_of(c->object, ", ");
		for (size_t j = 0; verbs && j < grammar->nobjects; j++)
			if (!strcmp(grammar->objects[j].object, c->object))
				what = grammar->objects[j].summary;
		right = verbs ? xasprintf("%s (%s)", what, verbs) : xstrdup(what);
		entry(b, c->object, right, 20);
		free(right);
		free(verbs);
	}
	strlist_free(&told);
}

static char *help_object(const char *object)
{
	const char *examples[2] = { NULL, NULL }, *page = "rnbdadm";
	struct strbuf b = { 0 };
	bool group = false;
	size_t n = 0;

	for (size_t i = 0; i < grammar->ncmds; i++)
		group |= belongs(&grammar->cmds[i], object) && strcmp(grammar->cmds[i].object, object);
	strbuf_printf(&b, "Usage: rnbdadm %s %sVERB [ARGUMENT]... [OPTIONS]\n\n", object,
		      group ? "OBJECT " : "");
	for (size_t i = 0; i < grammar->nobjects; i++)
		if (!strcmp(grammar->objects[i].object, object))
			strbuf_printf(&b, "%s.\n\n", grammar->objects[i].summary);
	strbuf_puts(&b, "Commands:\n");
	put_commands(&b, object);
	for (size_t i = 0; i < grammar->ncmds; i++) {
		if (!belongs(&grammar->cmds[i], object) || n == 2)
			continue;
		examples[n++] = grammar->cmds[i].examples[0];
		page = grammar->cmds[i].page;
	}
	put_examples(&b, examples, page);
	return b.s;
}

static char *help_all(void)
{
	static const char *const examples[2] = {
		"rnbdadm map vol0 --session cl1@srv1 --path ip:10.0.0.1@ip:10.0.0.2",
		"rnbdadm device list",
	};
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Usage: rnbdadm [GLOBAL-OPTIONS] OBJECT [VERB] [ARGUMENT]... [OPTIONS]\n\n"
		    "Manages RDMA network block devices: maps disks of a server and shows\n"
		    "sessions, paths, devices and counters.\n\nCommands, and objects with their verbs:\n");
	put_overview(&b);
	strbuf_puts(&b, "\nMore help: rnbdadm help COMMAND, rnbdadm help exit-codes,\n"
		    "rnbdadm help selectors, rnbdadm help checks, rnbdadm help fields OBJECT\n");
	put_examples(&b, examples, "rnbdadm");
	return b.s;
}

char *help_for(const struct parsed *p)
{
	if (p->cmd)
		return help_cmd(p->cmd);
	if (p->object)
		return help_object(p->object);
	return help_all();
}

static char *help_exit_codes(void)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "Exit codes:\n");
	for (int i = 0; i < XC_MAX; i++) {
		char left[40];

		snprintf(left, sizeof(left), "%2d  %s", i, exit_table[i].name);
		entry(&b, left, exit_table[i].meaning, 22);
	}
	strbuf_puts(&b, "  128+n               killed by signal n\n");
	return b.s;
}

static char *help_selectors(void)
{
	return xstrdup(
		"Names are matched exactly; a name that fits several objects is refused.\n\n"
		"  session  its name, as 'rnbdadm session list' prints it\n"
		"  device   rnbdN, /dev/rnbdN, a link below /dev/rnbd, or the name on the\n"
		"           server, with --session where that is not unique\n"
		"  path     [SRC@]DST, id:N as --details shows it, or --hca NAME[:PORT]\n"
		"  address  ip:IPv4, ip:IPv6[%dev], gid:GID, host:NAME, or a bare IP address\n\n"
		"A bare number is never a selector.\n");
}

static char *help_fields(const char *object, char **message, char **hint)
{
	struct strlist names = { 0 };
	struct strbuf b = { 0 };
	const struct view *v = NULL;

	for (size_t i = 0; i < grammar->ncmds; i++) {
		const struct view *w = grammar->cmds[i].view;

		if (!w)
			continue;
		if (!strlist_has(&names, w->name))
			strlist_add(&names, w->name);
		if (object && !strcmp(w->name, object))
			v = w;
	}
	if (v) {
		for (const struct field *f = v->fields; f->name; f++)
			entry(&b, f->name, f->help, 30);
	} else {
		char *list = strlist_join(&names, ", ");

		*message = xasprintf("fields of what? (%s)", list);
		*hint = object ? suggest(object, &names) : NULL;
		free(list);
	}
	strlist_free(&names);
	return b.s;
}

char *help_words(const char *const *words, size_t n, char **message, char **hint)
{
	struct parsed p = { 0 };
	char **argv, *text = NULL;

	if (n == 1 && !strcmp(words[0], "exit-codes"))
		return help_exit_codes();
	if (n == 1 && !strcmp(words[0], "options"))
		return help_options();
	if (n == 1 && !strcmp(words[0], "selectors"))
		return help_selectors();
	if (n == 1 && !strcmp(words[0], "checks"))
		return grammar->checks();
	if (n && n <= 2 && !strcmp(words[0], "fields"))
		return help_fields(n == 2 ? words[1] : NULL, message, hint);
	argv = xcalloc(n + 3, sizeof(*argv));
	argv[0] = "rnbdadm";
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = (char *)words[i];
	argv[n + 1] = "--help";
	if (args_parse((int)n + 2, argv, &p, message, hint)) {
		if (p.nargs)
			*message = xasprintf("there is no command '%s'", p.label);
		else
			text = help_for(&p);
	}
	args_free(&p);
	free(argv);
	return text;
}

char *usage_line(const struct parsed *p)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "usage: ");
	if (p->cmd) {
		put_synopsis(&b, p->cmd);
	} else if (p->object) {
		char *list = verbs_of(p->object, "|");

		strbuf_printf(&b, "rnbdadm %s %s [ARGUMENT]... [OPTIONS]", p->object, list);
		free(list);
	} else {
		strbuf_puts(&b, "rnbdadm OBJECT [VERB] [ARGUMENT]... [OPTIONS]; see 'rnbdadm help'");
	}
	return b.s;
}
