// SPDX-License-Identifier: GPL-2.0
#include "base/embed.h"
#include "base/text.h"
#include "cmd/schema.h"

/* The list that make writes has a line SCHEMA(export_close, "export-close") for each schema. */
#define SCHEMA(id, file)	EMBED(schema, id, "../build/schema/" file ".json");
#include "schema-list.h"
#undef SCHEMA

const struct schema schema_table[] = {
#define SCHEMA(id, file)	{ file, EMBEDDED(schema, id) },
#include "schema-list.h"
};

const size_t schema_count = ARRAY_SIZE(schema_table);
