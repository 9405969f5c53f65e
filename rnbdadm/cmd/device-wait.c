// SPDX-License-Identifier: GPL-2.0
/* device wait: until a device is there and mapped */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "host/disks.h"
#include "output/to-json.h"
#include "task/select.h"
#include "task/wait.h"

struct look {
	const char *word;
	json_t *found;			/* the device, once it is ready */
	char *missing;			/* what it lacks */
};

static enum wait_is look_device(struct ctx *ctx, void *arg)
{
	struct look *l = arg;
	struct object_opts o = { .root = ctx->test_root };
	enum wait_is is = WAIT_MORE;
	struct fail f = { 0 };
	const struct device *d;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
		return WAIT_FAIL;
	free(l->missing);
	l->missing = NULL;
	d = select_device(&s, l->word, args_value(&ctx->args, OPT_SESSION), ctx->test_root, &f);
	if (!d && f.code != XC_NOT_FOUND) {
		fail_clear(&ctx->fail);
		ctx->fail = f;
		memset(&f, 0, sizeof(f));
		is = WAIT_FAIL;
	} else if (!d) {
		l->missing = xstrdup("there is no such device");
	} else if (strcmp(device_state_name(d->state), "mapped")) {
		l->missing = xasprintf("%s is %s", d->name, device_state_name(d->state));
	} else if (!sys_node_exists(ctx->test_root, d)) {
		l->missing = xasprintf("there is no /dev/%s", d->name);
	} else {
		sys_devices(ctx->test_root, &s.devices);
		l->found = js_device(d, &o);
		is = WAIT_DONE;
	}
	fail_clear(&f);
	snapshot_free(&s);
	return is;
}

int cmd_device_wait(struct ctx *ctx)
{
	const char *word = ctx->args.args[0];
	char *node = *word == '/' ? xstrdup(word) : xasprintf("/dev/%s", word);
	struct look l = { .word = word };
	struct wait w = { .group = "device", .node = node, .look = look_device, .arg = &l };
	int64_t limit = ctx->timeout_ms == M_UNKNOWN_INT ? 30000 : ctx->timeout_ms;
	json_t *list = json_array();
	int rc;

	rc = wait_begin(ctx, &w) ? wait_end(ctx, &w, limit) : (int)ctx->fail.code;
	if (rc == XC_TIMEOUT && !ctx->fail.code) {
		ctx->fail.err = ETIMEDOUT;
		fail_set(&ctx->fail, XC_TIMEOUT, "%s", l.missing ? l.missing : "not in time");
		fail_object(&ctx->fail, "device", word);
		fail_hint(&ctx->fail, "--timeout=TIME waits longer");
	}
	if (l.found) {
		json_array_append_new(list, l.found);
		if (ctx->out.fmt == OUT_TEXT && !ctx->out.fields) {
			say(ctx, "%s is mapped and its node is there",
			    json_string_value(json_object_get(l.found, "name")));
			json_decref(list);
		} else {
			out_list(ctx, &device_view, list);
		}
	} else {
		json_decref(list);
	}
	free(l.missing);
	free(node);
	return rc;
}
