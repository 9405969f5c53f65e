// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"

const struct exit_desc exit_table[XC_MAX] = {
	[XC_OK] = { "ok", "done, or so already, or nothing to do" },
	[XC_FAILED] = { "failed", "the kernel or the peer refused; anything not below" },
	[XC_USAGE] = { "usage",
		       "command line or config file wrong; nothing was sent to the kernel" },
	[XC_PARTIAL] = { "partial", "several objects, some failed" },
	[XC_NOT_FOUND] = { "not_found", "no such session, path, device or file" },
	[XC_PERMISSION] = { "permission", "not root, no capability, or another network namespace" },
	[XC_CONFLICT] = { "conflict", "exists already, ambiguous selector, wrong state" },
	[XC_BUSY] = { "busy", "device in use, or a safety check refused" },
	[XC_UNAVAILABLE] = { "unavailable", "modules not loaded, or no RDMA device" },
	[XC_UNSUPPORTED] = { "unsupported", "these kernel modules have no such operation" },
	[XC_TIMEOUT] = { "timeout", "a time-out ran out" },
	[XC_DIFFERS] = { "differs", "a question was answered with no" },
	[XC_DECLINED] = { "declined", "not confirmed, or nobody there to confirm it" },
};

void fail_clear(struct fail *f)
{
	free(f->object_type);
	free(f->object_name);
	free(f->message);
	free(f->text);
	free(f->extack);
	free(f->attribute);
	free(f->hint);
	strlist_free(&f->details);
	memset(f, 0, sizeof(*f));
}

int fail_set(struct fail *f, enum exit_code code, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	free(f->message);
	f->message = s;
	free(f->text);
	f->text = NULL;
	f->code = code;
	return code;
}

int fail_usage(struct fail *f, char *message, char *hint)
{
	fail_set(f, XC_USAGE, "%s", message);
	if (hint)
		fail_hint(f, "%s", hint);
	free(message);
	free(hint);
	return XC_USAGE;
}

void fail_text(struct fail *f, const char *fmt, ...)
{
	va_list ap;

	free(f->text);
	va_start(ap, fmt);
	f->text = xvasprintf(fmt, ap);
	va_end(ap);
}

void fail_hint(struct fail *f, const char *fmt, ...)
{
	va_list ap;

	free(f->hint);
	va_start(ap, fmt);
	f->hint = xvasprintf(fmt, ap);
	va_end(ap);
}

void fail_object(struct fail *f, const char *type, const char *name)
{
	free(f->object_type);
	free(f->object_name);
	f->object_type = xstrdup(type);
	f->object_name = xstrdup(name);
}

enum exit_code errno_exit_code(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return XC_NOT_FOUND;
	case EPERM:
	case EACCES:
		return XC_PERMISSION;
	case EEXIST:
	case EALREADY:
	case EISCONN:
		return XC_CONFLICT;
	case EBUSY:
		return XC_BUSY;
	case EOPNOTSUPP:
		return XC_UNSUPPORTED;
	case ETIMEDOUT:
		return XC_TIMEOUT;
	default:
		return XC_FAILED;
	}
}

/*
 * Words of the kernel's texts that tell apart what the errno does not. This is all
 * that depends on how the kernel puts it; the tests look for them in its sources.
 */
static const char *const says_words[][2] = {
	[SAYS_UNLOADED] = { "not loaded", NULL },
	[SAYS_SERVER] = { "the server", NULL },
	[SAYS_SESSION] = { "session", NULL },
	[SAYS_PRIVILEGE] = { "CAP_", "namespace" },
	[SAYS_NETNS] = { "namespace", NULL },
	[SAYS_ACCESS] = { "access list", NULL },
};

bool extack_says(const struct nl_error *e, enum extack_says what)
{
	for (size_t i = 0; i < ARRAY_SIZE(says_words[what]); i++)
		if (says_words[what][i] && strstr(e->extack, says_words[what][i]))
			return true;
	return false;
}

static void fail_unloaded(struct fail *f, const char *module, const char *why)
{
	fail_set(f, XC_UNAVAILABLE, "rnbd %s module is not loaded (%s)", module, why);
	fail_hint(f, "modprobe rnbd_%s", module);
}

int fail_nl(struct fail *f, const struct nl_error *e, const char *what)
{
	const char *side = !strcmp(what, "server") ? "server" : "client";
	bool unloaded = e->kind == NL_FAIL_KERNEL && e->err == EOPNOTSUPP &&
			extack_says(e, SAYS_UNLOADED);

	f->err = e->err;
	free(f->extack);
	f->extack = *e->extack ? xstrdup(e->extack) : NULL;
	free(f->attribute);
	f->attribute = *e->attr ? xstrdup(e->attr) : NULL;
	switch (e->kind) {
	case NL_FAIL_NONE:
		return XC_OK;
	case NL_FAIL_NO_FAMILY:
		/* sysfs says what is missing */
		fail_unloaded(f, side, *e->extack ? e->extack : "netlink family 'rnbd' absent");
		free(f->extack);
		f->extack = NULL;
		break;
	case NL_FAIL_NO_OP:
		fail_set(f, XC_UNSUPPORTED, "the loaded modules have no such operation");
		break;
	case NL_FAIL_NO_FILE:
	case NL_FAIL_USAGE:
		fail_set(f, e->kind == NL_FAIL_USAGE ? XC_USAGE : XC_UNSUPPORTED, "%s", e->extack);
		if (e->kind == NL_FAIL_NO_FILE)
			fail_hint(f, "the modules of this project have it, by netlink");
		free(f->extack);
		f->extack = NULL;
		break;
	case NL_FAIL_TIMEOUT:
		fail_set(f, XC_TIMEOUT, "the kernel was not done in time (%s)", errno_name(e->err));
		fail_hint(f, "it may be done later; --timeout=TIME waits longer");
		break;
	case NL_FAIL_REPLAY:
		fail_set(f, XC_FAILED, "replay or recording: %s", e->extack);
		free(f->extack);
		f->extack = NULL;
		break;
	case NL_FAIL_KERNEL:
		if (unloaded) {
			fail_unloaded(f, side, "the kernel says so");
			break;
		}
		/* fallthrough */
	case NL_FAIL_LOCAL:
		fail_set(f, errno_exit_code(e->err), "%s (%s)", strerror(e->err),
			 errno_name(e->err));
		if (e->says)
			fail_set(f, e->code, "%s (%s)", e->says, errno_name(e->err));
		if (extack_says(e, SAYS_ACCESS)) {
			fail_set(f, XC_PERMISSION, "the access list of the server does not let this host in (%s)",
				 errno_name(e->err));
			fail_hint(f, "on the server 'rnbdadm server access show' and 'rnbdadm monitor access' tell why");
		} else if (f->code == XC_PERMISSION && extack_says(e, SAYS_NETNS)) {
			fail_hint(f, "run it on the host, in no container: nsenter -t 1 -n rnbdadm ...");
		} else if (f->code == XC_PERMISSION) {
			fail_hint(f, e->by_sysfs ? "needs root" :
				  "needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN");
		} else if (e->by_sysfs && (e->says || e->err != ENOENT)) {
			fail_hint(f, "details may be in the kernel log");
		}
		break;
	}
	return f->code;
}

/* What to say after the command's words: without the name of the object if they have it. */
static const char *fail_words(const struct fail *f, const char *label)
{
	const char *name = f->object_name;

	if (!f->text)
		return f->message ? f->message : exit_table[f->code].meaning;
	if (!name || !f->message || (label && strstr(label, name)) || strstr(f->text, name))
		return f->text;
	return f->message;
}

char *fail_option(const struct ctx *ctx, const struct fail *f)
{
	return f->attribute ? attr_option(ctx->args.cmd, f->object_type, f->attribute) : NULL;
}

void fail_print(const struct ctx *ctx, const struct fail *f)
{
	const char *label = ctx->args.label;
	char *text;

	if (ctx->quiet > 1 || (ctx->quiet && f->code != XC_USAGE))
		return;
	fflush(stdout);
	text = printable(fail_words(f, label));
	fprintf(stderr, "rnbdadm: %s%s%s\n", label ? label : "", label && *label ? ": " : "", text);
	free(text);
	for (size_t i = 0; i < f->details.n; i++) {
		text = printable(f->details.v[i]);
		fprintf(stderr, "  %s\n", text);
		free(text);
	}
	if (f->extack) {
		char *option = fail_option(ctx, f);

		text = printable(f->extack);
		fprintf(stderr, "  kernel: %s%s%s%s\n", text, option ? " (" : "",
			option ? option : "", option ? ")" : "");
		free(option);
		free(text);
	}
	if (f->hint) {
		text = printable(f->hint);
		fprintf(stderr, "  hint: %s\n", text);
		free(text);
	}
}

void warn(struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	char *s, *text;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_append_new(ctx->warnings, js_str(s));
	text = printable(s);
	if (!ctx->quiet)
		fprintf(stderr, "rnbdadm: warning: %s\n", text);
	free(text);
	free(s);
}

void say(const struct ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	char *s, *text;

	if (!ctx->verbose)
		return;
	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	text = printable(s);
	fprintf(stderr, "rnbdadm: %s\n", text);
	free(text);
	free(s);
}
