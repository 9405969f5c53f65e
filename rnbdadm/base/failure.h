/* SPDX-License-Identifier: GPL-2.0 */
/* Exit codes, and what is told of a failure. */
#ifndef RNBDADM_BASE_FAILURE_H
#define RNBDADM_BASE_FAILURE_H

#include "base/text.h"

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
	XC_MAX
};

struct exit_desc {
	const char *name;
	const char *meaning;
};

extern const struct exit_desc exit_table[XC_MAX];

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

enum exit_code errno_exit_code(int err);

#endif
