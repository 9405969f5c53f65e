/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Output. Every object is a JSON object first; text, CSV and JSON are three ways
 * to write the same one, driven by the fields of its view.
 */
#ifndef RNBDADM_OUTPUT_OUTPUT_H
#define RNBDADM_OUTPUT_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum out_fmt { OUT_TEXT, OUT_JSON, OUT_JSONL, OUT_CSV, OUT_PROM };

struct out_opts {
	enum out_fmt fmt;
	bool pretty;
	const char *fields, *sort, *filter;
	char unit;			/* 0 auto, B K M G T */
	bool no_headers, wide, brief, verbose;
	bool totals, tty, color, utf8;
	unsigned int width;		/* columns of the terminal, 0 = no limit */
};

/* F_JSON: what only JSON can hold */
/* F_WORD: one of the words that its help lists, after a colon if there is one */
enum field_type { F_STR, F_WORD, F_COUNT, F_BYTES, F_NS, F_BOOL, F_TIME, F_LIST, F_REAL, F_JSON };

/* A key of the object, and the name that -F, --sort and --filter know. */
struct field {
	const char *name;
	const char *group;		/* object it is nested in, or NULL */
	enum field_type type;
	bool optional;			/* present only with an option */
	const char *help;
};

/* A column of the default table. */
struct column {
	const char *title, *field;
	const char *group;		/* second header line above */
	bool right;
	bool whole;			/* numbers on the left: never cut */
	bool sparse;			/* not shown where no row has it */
	/* other text than that of the field; caller frees */
	char *(*text)(const json_t *obj, const struct out_opts *o);
};

struct view {
	const char *name;		/* for "help fields NAME" */
	const char *key;		/* collection in the document */
	const struct field *fields;	/* ends with a NULL name */
	const struct column *columns;	/* ends with a NULL title */
	/* lines below a row, with -v */
	void (*children)(const json_t *obj, struct strlist *lines);
	/* the columns for this run, if they depend on options */
	const struct column *(*pick)(const json_t *list);
	const char *brief;		/* field that --brief prints */
};

/*
 * Checks -F, --sort and --filter against the view. On a mistake returns false
 * with a message to be freed.
 */
bool out_check(const struct out_opts *o, const struct view *v, char **message, char **hint);
/* "-F help": the fields are all that is wanted. */
bool out_asks_fields(const struct out_opts *o);
void out_fields_help(const struct view *v);

/* The list filtered and sorted. Takes the reference to @list. */
json_t *out_select(const struct view *v, const struct out_opts *o, json_t *list);
/* Its objects with the fields of -F alone. Takes the reference to @list. */
json_t *out_project(const struct view *v, const struct out_opts *o, json_t *list);
/* A table or CSV, or the first object as a block. */
void out_text(const struct view *v, const json_t *list, const struct out_opts *o, bool block);

/* Does -F, --sort or --filter name a field that needs an option and is, or is not, in this group? */
bool out_names(const struct out_opts *o, const struct view *v, const char *group, bool in);
bool out_names_all(const struct out_opts *o);
/* What to say of a name that is no field; to be freed. */
char *field_unknown(const struct view *v, const char *opt, const char *name, char **hint);

/* filter.c */
/* What is wrong with the filter (to be freed), or NULL. */
char *filter_check(const struct view *v, const char *expr, char **hint);
/* Those that pass a filter which was checked. Takes the reference to @list. */
json_t *filter_apply(const struct view *v, const char *expr, json_t *list);
/* Does it let the object pass? */
bool out_passes(const struct view *v, const char *filter, const json_t *obj);

/* json.c */
json_t *js_u64(uint64_t v);		/* null above 2^63-1 */
json_t *js_s64(int64_t v);		/* null for INT64_MIN */
json_t *js_str(const char *s);		/* never NULL; bad bytes as U+FFFD */
json_t *js_str_or_null(const char *s);	/* null for "" */
json_t *js_list(const struct strlist *l);
/* The bytes of the words, 00 between two of them. */
json_t *js_words_hex(const struct strlist *l);
bool words_are_utf8(const struct strlist *l);
json_t *js_lines(const char *text);	/* an array of its lines */
/*
 * As json_dumps(), to be freed. DEL and U+0080 to U+009F are escaped as well: they are commands to
 * a terminal, and names come from other hosts.
 */
char *json_text(const json_t *doc, size_t flags);
/* Sets @key, and @key_hex where @s is no valid UTF-8. */
void js_set_str(json_t *obj, const char *key, const char *s);
void js_set(json_t *obj, const char *key, json_t *v);
/* RFC 3339 UTC with microseconds; null for U64_MAX. */
json_t *js_time(uint64_t ns);

/* table.c */
const json_t *field_get(const json_t *obj, const struct field *f);
const struct field *field_find(const struct view *v, const char *name);
/* What stands for an element of a list: itself, its name, or its session. */
const char *list_name(const json_t *e);
char *field_text(const struct field *f, const json_t *v, const struct out_opts *o);
char *field_csv(const struct field *f, const json_t *v, const struct out_opts *o);
void table_print(const struct view *v, const json_t *list, const struct strlist *fields,
		 const struct out_opts *o);
void csv_print(const struct view *v, const json_t *list, const struct strlist *fields,
	       const struct out_opts *o);
void block_print(const struct view *v, const json_t *obj, const struct strlist *fields,
		 const struct out_opts *o);
/* Escape sequence of a state word, NULL for other words. */
const char *state_color(const char *s);
char *time_text(uint64_t ns);

/* fit.c */
#define FIT_LEAST	8		/* columns that a text keeps while others have more */

unsigned int text_width(const char *s);
/* Cuts @s to @width columns, the last one an ellipsis. */
void text_cut(char **s, unsigned int width, bool utf8);
/* Columns that text has to fit into, 0 for no limit. */
unsigned int out_room(const struct out_opts *o);
/* Takes @over columns from the widest of those to @cut, down to @least of each. What is left of @over. */
unsigned int fit_columns(unsigned int *width, const bool *cut, size_t n, unsigned int over, unsigned int least);
/* A line of items with two blanks between them, broken there where it is too long. It begins after @indent. */
void out_items(const char *line, unsigned int indent, unsigned int room);

#endif
