// SPDX-License-Identifier: GPL-2.0
/* What the user typed, or wrote into a configuration, for an attribute of a request. */
#include <string.h>

#include "grammar/settings.h"

static const struct {
	const char *attr;
	enum opt_id opts[2];
	const char *args[3];
	const char *key;		/* of a configuration, where it is no option of that name */
} table[] = {
	{ .attr = "name", .args = { "SESSION" } },
	{ .attr = "session-name", .opts = { OPT_SESSION }, .args = { "SESSION" } },
	{ .attr = "session-id", .opts = { OPT_SESSION }, .args = { "SESSION", "SELECTOR" } },
	{ .attr = "path-id", .args = { "PATH" } },
	{ .attr = "device-path", .args = { "DEVICE_PATH", "DEVICE" }, .key = "device-path" },
	{ .attr = "access-mode", .opts = { OPT_ACCESS, OPT_SET_ACCESS } },
	{ .attr = "io-mode", .opts = { OPT_IO_MODE } },
	{ .attr = "always-fua", .opts = { OPT_FUA } },
	{ .attr = "poll-queues", .opts = { OPT_POLL_QUEUES } },
	{ .attr = "connections", .opts = { OPT_CONNECTIONS } },
	{ .attr = "mp-policy", .opts = { OPT_MP_POLICY, OPT_SET_POLICY } },
	{ .attr = "timeout-ms", .opts = { OPT_TIMEOUT }, .key = "wait" },
	{ .attr = "size-bytes", .args = { "SIZE" } },
	{ .attr = "force", .opts = { OPT_FORCE } },
	{ .attr = "path", .opts = { OPT_PATH }, .args = { "PATH" } },
	{ .attr = "client-addr", .opts = { OPT_PATH }, .args = { "PATH" } },
	{ .attr = "server-addr", .opts = { OPT_PATH }, .args = { "PATH" } },
	{ .attr = "hca-name", .args = { "PORT" } },
	{ .attr = "hca-port", .args = { "PORT" } },
	{ .attr = "groups", .opts = { OPT_COUNTERS } },
};

/* The argument of @cmd with this name. */
static const char *arg_of(const struct cmd *cmd, const char *name)
{
	for (size_t i = 0; name && i < CMD_ARGS; i++)
		if (cmd->args[i].name && !strcmp(cmd->args[i].name, name))
			return name;
	return NULL;
}

/* An id is of what the failure speaks of. */
static const char *arg_of_object(const struct cmd *cmd, const char *type)
{
	static const char *const names[][2] = {
		{ "device", "DEVICE" }, { "export", "DEVICE" }, { "path", "PATH" },
		{ "session", "SESSION" }, { "client", "SESSION" },
		/* what a client has open */
		{ "session", "DEVICE" },
	};
	const char *arg = NULL;

	for (size_t i = 0; type && !arg && i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i][0], type))
			arg = arg_of(cmd, names[i][1]);
	return arg;
}

/* "io-timeout-ms" belongs to --io-timeout. */
static enum opt_id setting_of(const char *attr)
{
	for (int i = 0; i < SET_N; i++) {
		const char *name = opt_table[setting_opt(i)].name;
		size_t n = strlen(name);

		if (!strncmp(attr, name, n) && (!attr[n] || !strcmp(attr + n, "-ms")))
			return setting_opt(i);
	}
	return OPT_NONE;
}

static char *option_text(const struct cmd *cmd, enum opt_id id)
{
	/* a configuration has them as keys */
	return xasprintf("%s%s", cmd_has_opt(cmd, id) ? "--" : "", opt_table[id].name);
}

char *attr_option(const struct cmd *cmd, const char *object_type, const char *attr)
{
	const char *last = strrchr(attr, '.'), *arg = NULL;
	enum opt_id id = OPT_NONE;

	last = last ? last + 1 : attr;
	if (!cmd)
		return NULL;
	if (!strcmp(last, "id")) {
		arg = arg_of_object(cmd, object_type);
		return arg ? xstrdup(arg) : NULL;
	}
	if (setting_of(last))
		return option_text(cmd, setting_of(last));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strcmp(table[i].attr, last))
			continue;
		/* what apply asks for is in a configuration */
		if (table[i].key && cmd_has_opt(cmd, OPT_MODE))
			return xstrdup(table[i].key);
		for (size_t k = 0; !arg && k < ARRAY_SIZE(table[i].args); k++)
			arg = arg_of(cmd, table[i].args[k]);
		if (arg)
			return xstrdup(arg);
		for (size_t k = 0; k < ARRAY_SIZE(table[i].opts); k++)
			if (table[i].opts[k] && (!id || cmd_has_opt(cmd, table[i].opts[k])))
				id = table[i].opts[k];
		return id ? option_text(cmd, id) : NULL;
	}
	return NULL;
}
