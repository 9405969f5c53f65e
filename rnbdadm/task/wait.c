// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "host/disks.h"
#include "kernel/kernel.h"
#include "task/wait.h"

int node_wait(struct ctx *ctx, const struct device *d, int64_t limit)
{
	int64_t start = now_ms(), waited = 0;
	long pause = 2;

	/* without a kernel there is no node */
	if (!limit || (ctx->nl_replay && !*ctx->test_root))
		return XC_OK;
	while (!sys_node_ready(ctx->test_root, d, waited)) {
		waited = now_ms() - start;
		if (limit > 0 && waited >= limit) {
			ctx->fail.err = ETIMEDOUT;
			fail_object(&ctx->fail, "device", d->name);
			fail_hint(&ctx->fail, "the device stays mapped; rnbdadm unmap %s", d->name);
			return fail_set(&ctx->fail, XC_TIMEOUT,
					"/dev/%s cannot be opened after %lld ms", d->name,
					(long long)waited);
		}
		/* what udev does to it, no event of the kernel tells */
		sleep_ms(pause);
		if (pause < 50)
			pause *= 2;
	}
	return XC_OK;
}

int64_t wait_limit(const struct ctx *ctx, int64_t without)
{
	static const enum opt_id waits[] = { OPT_WAIT, OPT_NO_WAIT };

	switch (args_last(&ctx->args, waits, ARRAY_SIZE(waits))) {
	case OPT_WAIT:
		return args_time(&ctx->args, OPT_WAIT, without ? without : 10000);
	case OPT_NO_WAIT:
		return 0;
	default:
		return without;
	}
}

bool wait_begin(struct ctx *ctx, const struct wait *w)
{
	struct kernel *kernel = ctx_kernel(ctx);
	const char *group = w->group;
	struct nl_error e;
	bool ok = kernel;

	/* sysfs is looked at again and again instead */
	if (ok && kernel_is_sysfs(kernel))
		return true;
	while (ok && *group) {
		char *one = xstrndup(group, strcspn(group, " "));

		ok = kernel->ops->listen(kernel, one, &e);
		if (!ok)
			fail_nl(&ctx->fail, &e, "client");
		group += strlen(one);
		group += strspn(group, " ");
		free(one);
	}
	return ok;
}

/* Watches the directory of @node, or the nearest one above that exists. */
static void watch(int fd, const char *root, const char *node)
{
	char *path = xasprintf("%s%s", root, node), *slash;
	size_t top = strlen(root);

	while ((slash = strrchr(path + top, '/')) && slash != path + top) {
		*slash = '\0';
		if (inotify_add_watch(fd, path, IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ATTRIB) >= 0)
			break;
	}
	free(path);
}

static void drain(int fd)
{
	char buf[4096] __attribute__((aligned(8)));

	while (read(fd, buf, sizeof(buf)) > 0)
		;
}

/* Until something happened, at most until @end; false when that has come. */
static bool sleep_until_event(struct ctx *ctx, int node_fd, int64_t end)
{
	struct pollfd p[2] = {
		{ .fd = ctx->kernel->event_fd, .events = POLLIN },
		{ .fd = node_fd, .events = POLLIN },
	};
	int64_t left = end < 0 ? -1 : end - now_ms();
	int most = kernel_is_sysfs(ctx->kernel) ? 100 : 3600000;

	/* a recording has no more to tell when its events are over */
	if (ctx->nl_replay)
		return ctx->kernel->ops->events(ctx->kernel);
	if (end >= 0 && left <= 0)
		return false;
	if (poll(p, 2, left < 0 || left > most ? most : (int)left) < 0 && errno != EINTR)
		return false;
	ctx->kernel->ops->events(ctx->kernel);
	if (node_fd >= 0)
		drain(node_fd);
	return true;
}

int wait_end(struct ctx *ctx, const struct wait *w, int64_t limit)
{
	int64_t end = limit < 0 ? -1 : now_ms() + limit;
	int fd = w->node ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1, rc = XC_OK;
	enum wait_is is;

	for (;;) {
		/* the watch first, so that nothing happens between look and watch */
		if (fd >= 0)
			watch(fd, ctx->test_root, w->node);
		is = w->look(ctx, w->arg);
		if (is == WAIT_FAIL)
			rc = ctx->fail.code;
		if (is != WAIT_MORE)
			break;
		if (!sleep_until_event(ctx, fd, end)) {
			rc = XC_TIMEOUT;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

#define REST_MS	10000

struct rest {
	unsigned int what;
	const char *session;
	struct snapshot *s;
};

/* What is on its way out, of this session, or of all. */
static char *leaving(const struct rest *r)
{
	const struct snapshot *s = r->s;

	for (size_t i = 0; i < s->paths.n; i++)
		if (s->paths.v[i].removing &&
		    (!r->session || !strcmp(s->paths.v[i].session, r->session)))
			return xasprintf("path %s of session %s", s->paths.v[i].name,
					 s->paths.v[i].session);
	for (size_t i = 0; i < s->sessions.n; i++)
		if (s->sessions.v[i].removing &&
		    (!r->session || !strcmp(s->sessions.v[i].name, r->session)))
			return xasprintf("session %s", s->sessions.v[i].name);
	return NULL;
}

static enum wait_is look_at_rest(struct ctx *ctx, void *arg)
{
	const struct rest *r = arg;
	char *name;

	snapshot_free(r->s);
	if (!ctx_snapshot(ctx, M_CLIENT, r->what, r->s))
		return WAIT_FAIL;
	name = leaving(r);
	free(name);
	return name ? WAIT_MORE : WAIT_DONE;
}

bool read_at_rest(struct ctx *ctx, unsigned int what, const char *session, struct snapshot *s)
{
	struct rest r = { .what = what, .session = session, .s = s };
	struct wait w = { .group = "path session", .look = look_at_rest, .arg = &r };
	int64_t limit = REST_MS;
	enum wait_is is;
	bool held;
	char *name;

	memset(s, 0, sizeof(*s));
	is = look_at_rest(ctx, &r);
	if (is != WAIT_MORE)
		return is == WAIT_DONE;
	if (ctx->timeout_ms >= 0 && ctx->timeout_ms < limit)
		limit = ctx->timeout_ms;
	held = ctx_unlock();
	if (!wait_begin(ctx, &w) || (wait_end(ctx, &w, limit) && ctx->fail.code) ||
	    (held && (!ctx_lock(ctx) || look_at_rest(ctx, &r) == WAIT_FAIL))) {
		snapshot_free(s);
		return false;
	}
	name = leaving(&r);
	if (name)
		warn(ctx, "%s is still being removed; run this again when it is gone", name);
	free(name);
	return true;
}
