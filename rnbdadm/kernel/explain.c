// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/explain.h"

void fail_no_device(struct fail *f, const char *device_path)
{
	fail_set(f, XC_NOT_FOUND, "server has no device '%s' (its dev_search_path or exports)", device_path);
	fail_hint(f, "if the server has an access list, 'rnbdadm server access test' there tells what it allows");
}

static void fail_unloaded(struct fail *f, const char *module, const char *why)
{
	fail_set(f, XC_UNAVAILABLE, "rnbd %s module is not loaded (%s)", module, why);
	fail_hint(f, "modprobe rnbd_%s", module);
}

int fail_nl(struct fail *f, const struct nl_error *e, const char *what)
{
	const char *side = !strcmp(what, "server") ? "server" : "client";

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
		if (e->refusal == RNBD_REFUSAL_UNLOADED) {
			fail_unloaded(f, side, "the kernel says so");
			break;
		}
		/* fallthrough */
	case NL_FAIL_LOCAL:
		fail_set(f, errno_exit_code(e->err), "%s (%s)", strerror(e->err),
			 errno_name(e->err));
		if (e->says)
			fail_set(f, e->code, "%s (%s)", e->says, errno_name(e->err));
		if (e->refusal == RNBD_REFUSAL_ACCESS_LIST) {
			fail_set(f, XC_PERMISSION, "the access list of the server does not let this host in (%s)",
				 errno_name(e->err));
			fail_hint(f, "on the server 'rnbdadm server access show' and 'rnbdadm monitor access' tell why");
		} else if (f->code == XC_PERMISSION && e->refusal == RNBD_REFUSAL_NAMESPACE) {
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
