// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/batch-file.h"

struct splitter {
	const char *s;
	unsigned int line;
	struct strbuf word;
	bool in_word;			/* "" is a word, too */
};

static void put(struct splitter *sp, char c)
{
	strbuf_add(&sp->word, &c, 1);
	sp->in_word = true;
}

/* Up to the closing quote; false if there is none. */
static bool quoted(struct splitter *sp, char quote)
{
	sp->in_word = true;
	for (; *sp->s && *sp->s != quote; sp->s++) {
		sp->line += *sp->s == '\n';
		if (quote == '"' && *sp->s == '\\' && sp->s[1] && strchr("\"\\$`\n", sp->s[1])) {
			sp->s++;
			if (*sp->s == '\n') {
				sp->line++;
				continue;
			}
		}
		put(sp, *sp->s);
	}
	if (!*sp->s)
		return false;
	sp->s++;
	return true;
}

/* Behind a backslash in $'...', which is a backslash otherwise. */
static bool is_escape(const char *s)
{
	if (*s == 'x')
		return isxdigit((unsigned char)s[1]);
	return *s && strchr("\\'\"?abefnrtvE01234567", *s);
}

/* That byte. */
static char escaped(struct splitter *sp)
{
	static const char letters[] = "abefnrtvE", bytes[] = "\a\b\033\f\n\r\t\v\033";
	const char *p = sp->s, *at = strchr(letters, *p);
	unsigned int c = 0;
	int n = 0;

	if (*p >= '0' && *p <= '7') {
		for (; n < 3 && p[n] >= '0' && p[n] <= '7'; n++)
			c = c * 8 + (unsigned int)(p[n] - '0');
	} else if (*p == 'x') {
		char hex[3] = { p[1], isxdigit((unsigned char)p[2]) ? p[2] : '\0' };

		c = (unsigned int)strtoul(hex, NULL, 16);
		n = 1 + (int)strlen(hex);
	} else {
		c = (unsigned char)(at ? bytes[at - letters] : *p);
		n = 1;
	}
	sp->s += n;
	return (char)c;
}

/* $'...', as a plan has it where a word holds control characters. */
static bool quoted_bytes(struct splitter *sp)
{
	sp->in_word = true;
	while (*sp->s && *sp->s != '\'') {
		char c = *sp->s++;

		sp->line += c == '\n';
		if (c == '\\' && is_escape(sp->s))
			c = escaped(sp);
		put(sp, c);
	}
	if (!*sp->s)
		return false;
	sp->s++;
	return true;
}

static void end_word(struct splitter *sp, struct batch_line *l)
{
	if (sp->in_word)
		strlist_add(&l->words, sp->word.s ? sp->word.s : "");
	free(sp->word.s);
	memset(&sp->word, 0, sizeof(sp->word));
	sp->in_word = false;
}

static void split_line(struct splitter *sp, struct batch_line *l)
{
	while (*sp->s && *sp->s != '\n') {
		char c = *sp->s++;

		if (c == '#' && !sp->in_word) {
			sp->s += strcspn(sp->s, "\n");
		} else if (c == ' ' || c == '\t' || c == '\r') {
			end_word(sp, l);
		} else if (c == '$' && *sp->s == '\'') {
			sp->s++;
			if (!quoted_bytes(sp) && !l->problem)
				l->problem = xstrdup("a ' is not closed");
		} else if (c == '\'' || c == '"') {
			if (!quoted(sp, c) && !l->problem)
				l->problem = xasprintf("a %c is not closed", c);
		} else if (c == '\\' && *sp->s == '\n') {
			sp->s++;
			sp->line++;
		} else {
			put(sp, c == '\\' && *sp->s ? *sp->s++ : c);
		}
	}
	end_word(sp, l);
}

void batch_split(struct batch_file *f, const char *text)
{
	struct splitter sp = { .s = text, .line = 1 };

	while (*sp.s) {
		struct batch_line l = { .line = sp.line };

		strlist_add(&l.words, "rnbdadm");
		split_line(&sp, &l);
		if (*sp.s == '\n') {
			sp.s++;
			sp.line++;
		}
		/* a dry run prints its plan with the name of the tool */
		if (l.words.n > 1 && !strcmp(l.words.v[1], "rnbdadm")) {
			free(l.words.v[1]);
			memmove(&l.words.v[1], &l.words.v[2], (--l.words.n - 1) * sizeof(*l.words.v));
		}
		if (l.words.n == 1 && !l.problem) {
			strlist_free(&l.words);
			continue;
		}
		f->v = xrealloc(f->v, (f->n + 1) * sizeof(*f->v));
		f->v[f->n++] = l;
	}
}

void batch_free(struct batch_file *f)
{
	for (size_t i = 0; i < f->n; i++) {
		strlist_free(&f->v[i].words);
		free(f->v[i].problem);
	}
	free(f->v);
}
