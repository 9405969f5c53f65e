/* SPDX-License-Identifier: GPL-2.0 */
/* Exit codes, and failures on their way to stderr and into the JSON document. */
#ifndef RNBDADM_APP_REPORT_H
#define RNBDADM_APP_REPORT_H

#include <stdbool.h>

#include "base/text.h"
#include "kernel/kernel.h"

/* Part of the stable interface: add at the end only. */
enum exit_code {
	XC_OK,
	XC_FAILED,
	XC_USAGE,
	XC_PARTIAL,
	XC_NOT_FOUND,
	XC_PERMISSION,
	XC_CONFLICT,
	XC_BUSY,
	XC_UNAVAILABLE,
	XC_UNSUPPORTED,
	XC_TIMEOUT,
	XC_DIFFERS,
	XC_DECLINED,
	XC_MAX
};

struct exit_desc {
	const char *name;
	const char *meaning;
};

extern const struct exit_desc exit_table[XC_MAX];

struct ctx;

/* One failure. */
struct fail {
	enum exit_code code;
	int err;			/* positive errno, 0 = none */
	char *object_type, *object_name;
	char *message, *extack, *hint;
	char *attribute;		/* of the request; what the user typed comes from it */
	char *text;			/* instead of @message after the command's words */
	struct strlist details;		/* further lines for people */
};

void fail_clear(struct fail *f);
/* Sets code and message, keeps the rest; returns the code. */
int fail_set(struct fail *f, enum exit_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A wrong command line; takes both texts, @hint may be NULL. */
int fail_usage(struct fail *f, char *message, char *hint);
void fail_text(struct fail *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fail_hint(struct fail *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fail_object(struct fail *f, const char *type, const char *name);

/*
 * Fills @f from a netlink failure: the code for its errno, the words "what:
 * text (ENAME)", extack, attribute. Callers may set a better message after it.
 */
int fail_nl(struct fail *f, const struct nl_error *e, const char *what);

/* What an extack text speaks of. */
enum extack_says { SAYS_UNLOADED, SAYS_SERVER, SAYS_SESSION, SAYS_PRIVILEGE, SAYS_NETNS, SAYS_ACCESS };

bool extack_says(const struct nl_error *e, enum extack_says what);

/* The option or argument at fault, to be freed, or NULL. */
char *fail_option(const struct ctx *ctx, const struct fail *f);
/* Writes the lines for @f to stderr unless quiet. */
void fail_print(const struct ctx *ctx, const struct fail *f);

/* A warning: stderr, and "warnings" of the document. */
void warn(struct ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A sentence on stderr with -v. */
void say(const struct ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

enum exit_code errno_exit_code(int err);

#endif
