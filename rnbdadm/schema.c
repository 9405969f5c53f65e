// SPDX-License-Identifier: GPL-2.0
#include "schema.h"
#include "util.h"

/* Puts schema/FILE.json into the read-only data between two symbols. */
#define EMBED(id, file)							\
	__asm__(".pushsection .rodata\n"				\
		".global schema_" #id "_start\n"			\
		"schema_" #id "_start: .incbin \"schema/" file ".json\"\n" \
		".global schema_" #id "_end\n"				\
		"schema_" #id "_end: .byte 0\n"				\
		".popsection\n");					\
	extern const char schema_##id##_start[], schema_##id##_end[]

#define ENTRY(id, file)	{ file, schema_##id##_start, schema_##id##_end }

EMBED(check, "check");
EMBED(client, "client");
EMBED(config, "config");
EMBED(config_validate, "config-validate");
EMBED(device, "device");
EMBED(error, "error");
EMBED(event, "event");
EMBED(export, "export");
EMBED(export_close, "export-close");
EMBED(help, "help");
EMBED(map, "map");
EMBED(metadata, "metadata");
EMBED(mp_policy, "mp-policy");
EMBED(mp_policy_list, "mp-policy-list");
EMBED(path, "path");
EMBED(path_change, "path-change");
EMBED(plan, "plan");
EMBED(recover, "recover");
EMBED(remap, "remap");
EMBED(resize, "resize");
EMBED(schema, "schema");
EMBED(session, "session");
EMBED(stats, "stats");
EMBED(stats_reset, "stats-reset");
EMBED(status, "status");
EMBED(udev, "udev");
EMBED(unmap, "unmap");
EMBED(version, "version");
EMBED(wait, "wait");

const struct schema schema_table[] = {
	ENTRY(check, "check"),
	ENTRY(client, "client"),
	ENTRY(config, "config"),
	ENTRY(config_validate, "config-validate"),
	ENTRY(device, "device"),
	ENTRY(error, "error"),
	ENTRY(event, "event"),
	ENTRY(export, "export"),
	ENTRY(export_close, "export-close"),
	ENTRY(help, "help"),
	ENTRY(map, "map"),
	ENTRY(metadata, "metadata"),
	ENTRY(mp_policy, "mp-policy"),
	ENTRY(mp_policy_list, "mp-policy-list"),
	ENTRY(path, "path"),
	ENTRY(path_change, "path-change"),
	ENTRY(plan, "plan"),
	ENTRY(recover, "recover"),
	ENTRY(remap, "remap"),
	ENTRY(resize, "resize"),
	ENTRY(schema, "schema"),
	ENTRY(session, "session"),
	ENTRY(stats, "stats"),
	ENTRY(stats_reset, "stats-reset"),
	ENTRY(status, "status"),
	ENTRY(udev, "udev"),
	ENTRY(unmap, "unmap"),
	ENTRY(version, "version"),
	ENTRY(wait, "wait"),
};

const size_t schema_count = ARRAY_SIZE(schema_table);
