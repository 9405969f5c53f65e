/* SPDX-License-Identifier: GPL-2.0 */
/* What views have in common. */
#ifndef RNBDADM_OUTPUT_COLUMNS_H
#define RNBDADM_OUTPUT_COLUMNS_H

#define LATENCY_FIELDS(opt)								\
	{ "io_p50_ns", NULL, F_NS, opt, "half of the requests took up to, about" },	\
	{ "io_p99_ns", NULL, F_NS, opt, "99 percent of them" }

#define COUNTER_FIELDS(opt)								\
	{ "read_ios", "counters", F_COUNT, opt, "reads" },				\
	{ "read_bytes", "counters", F_BYTES, opt, "bytes read" },			\
	{ "write_ios", "counters", F_COUNT, opt, "writes" },				\
	{ "write_bytes", "counters", F_BYTES, opt, "bytes written" },			\
	{ "inflight", "counters", F_COUNT, opt, "requests in flight" },			\
	{ "failovers", "counters", F_COUNT, opt, "requests moved to another path" },	\
	{ "reconnects_ok", "counters", F_COUNT, opt, "reconnections that succeeded" },	\
	{ "reconnects_failed", "counters", F_COUNT, opt, "reconnections that failed" }

#endif
