// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

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
	[XC_DIFFERS] = { "differs", "differences or failed checks were found" },
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
