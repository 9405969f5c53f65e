// SPDX-License-Identifier: GPL-2.0
/* device list, device show */
#include <string.h>

#include "app/object-opts.h"
#include "cmd/commands.h"
#include "host/disks.h"
#include "task/select.h"

int cmd_device_list(struct ctx *ctx)
{
	const char *name = args_value(&ctx->args, OPT_SESSION);
	struct object_opts o = object_opts(ctx, &device_view);
	json_t *list;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES | (name ? NL_SESSIONS : 0), &s))
		return ctx->fail.code;
	if (name && !select_session(&s, name, &ctx->fail)) {
		snapshot_free(&s);
		return ctx->fail.code;
	}
	sys_devices(ctx->test_root, &s.devices);
	sys_openers(ctx->test_root, &s.devices);
	list = json_array();
	for (size_t i = 0; i < s.devices.n; i++)
		if (!name || !strcmp(s.devices.v[i].session, name))
			json_array_append_new(list, js_device(&s.devices.v[i], &o));
	out_list(ctx, &device_view, list);
	snapshot_free(&s);
	return XC_OK;
}

int cmd_device_check(struct ctx *ctx)
{
	return device_word_ok(ctx->args.args[0], &ctx->fail) ? XC_OK : XC_USAGE;
}

int cmd_device_show(struct ctx *ctx)
{
	struct object_opts o = object_opts(ctx, &device_view);
	const struct device *d;
	struct snapshot s;

	if (!ctx_snapshot(ctx, M_CLIENT, NL_DEVICES, &s))
		return ctx->fail.code;
	sys_devices(ctx->test_root, &s.devices);
	sys_openers(ctx->test_root, &s.devices);
	d = select_device(&s, ctx->args.args[0], args_value(&ctx->args, OPT_SESSION),
			  ctx->test_root, &ctx->fail);
	if (d)
		out_show(ctx, &device_view, js_device(d, &o));
	snapshot_free(&s);
	return ctx->fail.code;
}
