// SPDX-License-Identifier: GPL-2.0
/* The kernel, the lock and the user, as one run meets them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/app.h"

static int lock_fd = -1;

/* Is the command about the server side of this host? */
static bool on_server(const struct ctx *ctx)
{
	return args_server(&ctx->args) ||
	       (ctx->args.object && !strncmp(ctx->args.object, "server ", 7));
}

static void before_change(void)
{
	ctx_unlock();
}

struct kernel *ctx_kernel_family(struct ctx *ctx, const struct nl_family *family,
				 struct nl_error *e)
{
	struct nl_config cfg = {
		.family = family,
		.backend = family == &netlink_family_rnbd ? ctx->backend : NL_NETLINK,
		.root = ctx->test_root,
		.record = ctx->nl_record,
		.replay = ctx->nl_replay,
		.trace = ctx->trace,
		.quiet = ctx->quiet,
		.verbose = ctx->verbose > 1,
		.limit_ms = ctx->timeout_ms == M_UNKNOWN_INT ? -1 : ctx->timeout_ms,
		.rcvbuf = (int)args_uint(&ctx->args, OPT_RCVBUF, 1 << 20),
		.before_change = before_change,
	};

	if (!ctx->kernel)
		ctx->kernel = kernel_open(&cfg, e);
	return ctx->kernel;
}

struct kernel *ctx_kernel(struct ctx *ctx)
{
	struct nl_error e;

	if (!ctx_kernel_family(ctx, &netlink_family_rnbd, &e))
		fail_nl(&ctx->fail, &e, on_server(ctx) ? "server" : "client");
	else
		ctx->kernel->cfg.dry_run = ctx->dry_run;
	return ctx->kernel;
}

/* Once: who waits reads the same lists again and again. */
static void warn_once(struct ctx *ctx, const char *text)
{
	const json_t *told;
	size_t i;

	json_array_foreach(ctx->warnings, i, told)
		if (!strcmp(json_string_value(told), text))
			return;
	warn(ctx, "%s", text);
}

bool ctx_snapshot(struct ctx *ctx, enum m_role role, unsigned int what, struct snapshot *s)
{
	struct kernel *kernel = ctx_kernel(ctx);
	struct nl_error e;
	bool torn;

	memset(s, 0, sizeof(*s));
	if (!kernel)
		return false;
	if (!kernel->ops->snapshot(kernel, role, what, s, &torn, &e)) {
		fail_nl(&ctx->fail, &e, role == M_SERVER ? "server" : "client");
		return false;
	}
	if (*e.warning)
		warn_once(ctx, e.warning);
	if (torn)
		warn_once(ctx, "objects changed while they were read; the picture may be torn");
	return true;
}

bool ctx_unlock(void)
{
	bool held = lock_fd >= 0;

	if (held)
		close(lock_fd);
	lock_fd = -1;
	return held;
}

bool ctx_lock(struct ctx *ctx)
{
	char *path;
	int64_t left = ctx->lock_timeout_ms;

	if (lock_fd >= 0 || ctx->no_lock || ctx->dry_run || (ctx->nl_replay && !*ctx->test_root))
		return true;
	path = xasprintf("%s/run/rnbdadm.lock", ctx->test_root);
	lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock_fd < 0) {
		ctx->fail.err = errno;
		fail_set(&ctx->fail, errno_exit_code(errno), "lock %s: %s (%s)", path,
			 strerror(errno), errno_name(errno));
		if (ctx->fail.code == XC_PERMISSION)
			fail_hint(&ctx->fail, "needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN "
				  "and --no-lock");
		else if (ctx->fail.err == EROFS)
			fail_hint(&ctx->fail, "--no-lock does without it, where nothing else changes "
				  "sessions and devices meanwhile");
		free(path);
		return false;
	}
	while (flock(lock_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			ctx->fail.err = errno;
			fail_set(&ctx->fail, XC_FAILED, "lock %s: %s", path, strerror(errno));
			ctx_unlock();
			free(path);
			return false;
		}
		if (!left) {
			ctx->fail.err = ETIMEDOUT;
			fail_set(&ctx->fail, XC_TIMEOUT, "another rnbdadm holds %s", path);
			fail_hint(&ctx->fail, "--lock-timeout=TIME waits longer");
			ctx_unlock();
			free(path);
			return false;
		}
		sleep_ms(20);
		if (left > 0)
			left = left > 20 ? left - 20 : 0;
	}
	free(path);
	return true;
}
