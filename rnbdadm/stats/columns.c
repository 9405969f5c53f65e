// SPDX-License-Identifier: GPL-2.0
/* Views of counters. */
#include <string.h>

#include "output/columns.h"
#include "output/to-json.h"
#include "stats/columns.h"

static const struct field stats_fields[] = {
	{ "object", NULL, F_STR, false, "path, session, device, hca, or total" },
	{ "session", NULL, F_STR, false, "session" },
	{ "name", NULL, F_STR, false, "path, SRC@DST" },
	{ "hca", NULL, F_STR, false, "RDMA device" },
	{ "hca_port", NULL, F_COUNT, false, "port of the RDMA device" },
	COUNTER_FIELDS(false),
	{ "completions", "polling", F_COUNT, false, "completions of work requests" },
	{ "polls", "polling", F_COUNT, false, "polls that found them" },
	{ "completions_max", "polling", F_COUNT, false, "most of them in one poll" },
	{ "read_ios_per_second", "rates", F_REAL, true, "reads per second" },
	{ "read_bytes_per_second", "rates", F_REAL, true, "bytes read per second" },
	{ "write_ios_per_second", "rates", F_REAL, true, "writes per second" },
	{ "write_bytes_per_second", "rates", F_REAL, true, "bytes written per second" },
	LATENCY_FIELDS(false),
	{ "heartbeat_latency_ns", NULL, F_NS, false, "round trip of the last heartbeat" },
	{ "per_cpu", NULL, F_JSON, true, "the same for each CPU, in JSON alone" },
	{ "latency", NULL, F_JSON, true, "how long requests took, in JSON alone" },
	{ 0 }
};

#define HEAD_PATH								\
	{ .title = "SESSION", .field = "session" },			\
	{ .title = "PATH", .field = "name", .text = col_short_path }

static const char group_read[] = "READ", group_write[] = "WRITE", group_migrations[] = "MIGRATIONS";

#define COLUMNS_TOTAL								\
	{ .title = "IOS", .field = "read_ios", .group = group_read, .right = true, \
	  .text = col_read_ios },						\
	{ .title = "BYTES", .field = "read_bytes", .group = group_read, .right = true }, \
	{ .title = "IOS", .field = "write_ios", .group = group_write, .right = true, \
	  .text = col_write_ios },						\
	{ .title = "BYTES", .field = "write_bytes", .group = group_write, .right = true }

#define COLUMNS_RATE								\
	{ .title = "IOPS", .field = "read_ios_per_second", .group = group_read,	\
	  .right = true, .text = col_iops_read },				\
	{ .title = "MiB/s", .field = "read_bytes_per_second", .group = group_read, \
	  .right = true, .text = col_mib_read },				\
	{ .title = "IOPS", .field = "write_ios_per_second", .group = group_write, \
	  .right = true, .text = col_iops_write },				\
	{ .title = "MiB/s", .field = "write_bytes_per_second", .group = group_write, \
	  .right = true, .text = col_mib_write }

#define INFLIGHT	{ .title = "INFL", .field = "inflight", .right = true }

#define TAIL									\
	INFLIGHT,								\
	{ .title = "FAILOVER", .field = "failovers", .right = true }, \
	{ .title = "RECONN", .field = "reconnects_ok", .right = true,		\
	  .text = col_reconnects },					\
	{ .title = "P50", .field = "io_p50_ns", .right = true },		\
	{ .title = "P99", .field = "io_p99_ns", .right = true },		\
	{ .title = "HB RTT", .field = "heartbeat_latency_ns", .right = true },	\
	{ 0 }

static const struct column path_columns[] = { HEAD_PATH, COLUMNS_TOTAL, TAIL };
static const struct column path_rate_columns[] = { HEAD_PATH, COLUMNS_RATE, TAIL };

static const struct column device_columns[] = {
	{ .title = "DEVICE", .field = "name" }, { .title = "SESSION", .field = "session" },
	COLUMNS_TOTAL, INFLIGHT, { 0 }
};

static const struct column device_rate_columns[] = {
	{ .title = "DEVICE", .field = "name" }, { .title = "SESSION", .field = "session" },
	COLUMNS_RATE, INFLIGHT, { 0 }
};

#define HEAD_SESSION	{ .title = "SESSION", .field = "name" }
#define HEAD_HCA	{ .title = "HCA", .field = "name" }

static const struct column session_columns[] = { HEAD_SESSION, COLUMNS_TOTAL, TAIL };
static const struct column session_rate_columns[] = { HEAD_SESSION, COLUMNS_RATE, TAIL };
static const struct column hca_columns[] = { HEAD_HCA, COLUMNS_TOTAL, TAIL };
static const struct column hca_rate_columns[] = { HEAD_HCA, COLUMNS_RATE, TAIL };

/* Rates where the sample has them, names of what the rows are. */
static const struct column *stats_pick(const json_t *list)
{
	const json_t *first = json_array_get(list, 0);
	const char *object = json_string_value(json_object_get(first, "object"));
	bool rates = json_object_get(first, "rates");

	if (object && !strcmp(object, "session"))
		return rates ? session_rate_columns : session_columns;
	if (object && !strcmp(object, "hca"))
		return rates ? hca_rate_columns : hca_columns;
	if (object && !strcmp(object, "device"))
		return rates ? device_rate_columns : device_columns;
	return rates ? path_rate_columns : path_columns;
}

const struct view stats_view = {
	.name = "stats", .key = "stats", .fields = stats_fields, .columns = path_columns,
	.pick = stats_pick, .brief = "name",
};

/* Rows of one path, of all its CPUs or, with --per-cpu, of each */
#define ROW_FIELDS								\
	{ "session", NULL, F_STR, false, "session" },				\
	{ "name", NULL, F_STR, false, "path, session or RDMA port" }

#define CPU_FIELD(opt)	{ "cpu", NULL, F_COUNT, opt, "number of the CPU" }

static const struct field stats_cpu_fields[] = {
	ROW_FIELDS,
	CPU_FIELD(false),
	{ "read_ios", NULL, F_COUNT, false, "reads" },
	{ "read_bytes", NULL, F_BYTES, false, "bytes read" },
	{ "write_ios", NULL, F_COUNT, false, "writes" },
	{ "write_bytes", NULL, F_BYTES, false, "bytes written" },
	{ "inflight", NULL, F_COUNT, false, "requests in flight, submitted on it" },
	{ "failovers", NULL, F_COUNT, false, "requests submitted on it that moved to another path" },
	{ "migrations_from", NULL, F_COUNT, false, "completions that went to another CPU" },
	{ "migrations_to", NULL, F_COUNT, false, "completions that came from another CPU" },
	{ "completions", "polling", F_COUNT, false, "completions of work requests" },
	{ "polls", "polling", F_COUNT, false, "polls that found them" },
	{ "completions_max", "polling", F_COUNT, false, "most of them in one poll" },
	{ 0 }
};

static const struct column stats_cpu_columns[] = {
	HEAD_PATH,
	{ .title = "CPU", .field = "cpu", .right = true },
	{ .title = "IOS", .field = "read_ios", .group = group_read, .right = true },
	{ .title = "BYTES", .field = "read_bytes", .group = group_read, .right = true },
	{ .title = "IOS", .field = "write_ios", .group = group_write, .right = true },
	{ .title = "BYTES", .field = "write_bytes", .group = group_write, .right = true },
	{ .title = "INFL", .field = "inflight", .right = true },
	{ .title = "FROM", .field = "migrations_from", .group = group_migrations,
	  .right = true },
	{ .title = "TO", .field = "migrations_to", .group = group_migrations,
	  .right = true },
	{ .title = "POLLS", .field = "polls", .right = true },
	{ .title = "MAX", .field = "completions_max", .right = true },
	{ 0 }
};

const struct view stats_cpu_view = {
	.name = "stats-cpu", .key = "stats", .fields = stats_cpu_fields,
	.columns = stats_cpu_columns, .brief = "name",
};

static const struct field stats_latency_fields[] = {
	ROW_FIELDS,
	CPU_FIELD(true),
	{ "le_ns", NULL, F_NS, false, "at most so long, and longer than the row before" },
	{ "read", NULL, F_COUNT, false, "reads" },
	{ "write", NULL, F_COUNT, false, "writes" },
	{ 0 }
};

#define CPU_COLUMN	{ .title = "CPU", .field = "cpu", .right = true }
#define LATENCY_COLUMNS								\
	{ .title = "UP TO", .field = "le_ns", .right = true },			\
	{ .title = "READS", .field = "read", .right = true },			\
	{ .title = "WRITES", .field = "write", .right = true },			\
	{ 0 }

static const struct column latency_columns[] = { HEAD_PATH, LATENCY_COLUMNS };
static const struct column latency_cpu_columns[] = { HEAD_PATH, CPU_COLUMN, LATENCY_COLUMNS };

static const struct column *latency_pick(const json_t *list)
{
	return json_object_get(json_array_get(list, 0), "cpu") ? latency_cpu_columns :
								 latency_columns;
}

const struct view stats_latency_view = {
	.name = "stats-latency", .key = "stats", .fields = stats_latency_fields,
	.columns = latency_columns, .pick = latency_pick, .brief = "name",
};

/* stats latency */
#define QUANTILES(op)								\
	{ op "_ios", NULL, F_COUNT, false, op "s" },				\
	{ op "_p50_ns", NULL, F_NS, false, "half of them took up to, about" },	\
	{ op "_p90_ns", NULL, F_NS, false, "90 percent of them" },		\
	{ op "_p99_ns", NULL, F_NS, false, "99 percent" },			\
	{ op "_p999_ns", NULL, F_NS, false, "99.9 percent" },			\
	{ op "_max_ns", NULL, F_NS, false, "the longest" }

static const struct field latency_fields[] = {
	{ "session", NULL, F_STR, false, "session" },
	QUANTILES("read"),
	QUANTILES("write"),
	{ "buckets", NULL, F_JSON, false, "the distribution, in JSON alone" },
	{ 0 }
};

static const struct column latency_text_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "READS", .field = "read_ios", .right = true },
	{ .title = "P50", .field = "read_p50_ns", .right = true },
	{ .title = "P99", .field = "read_p99_ns", .right = true },
	{ .title = "MAX", .field = "read_max_ns", .right = true },
	{ .title = "WRITES", .field = "write_ios", .right = true },
	{ .title = "P50", .field = "write_p50_ns", .right = true },
	{ .title = "P99", .field = "write_p99_ns", .right = true },
	{ .title = "MAX", .field = "write_max_ns", .right = true },
	{ 0 }
};

const struct view latency_view = {
	.name = "latency", .key = "sessions", .fields = latency_fields,
	.columns = latency_text_columns, .brief = "session",
};

static const struct field reset_fields[] = {
	{ "session", NULL, F_STR, false, "session" },
	{ "name", NULL, F_STR, false, "path, SRC@DST" },
	{ "result", NULL, F_STR, false, "reset or would-reset" },
	{ 0 }
};

static const struct column reset_columns[] = {
	{ .title = "SESSION", .field = "session" },
	{ .title = "PATH", .field = "name" },
	{ .title = "RESULT", .field = "result" },
	{ 0 }
};

const struct view reset_view = {
	.name = "stats-reset", .key = "paths", .fields = reset_fields,
	.columns = reset_columns, .brief = "name",
};
