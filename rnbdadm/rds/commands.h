/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the command table that is of RDS. cmd/table.c has it in its midst. */
#ifndef RNBDADM_RDS_COMMANDS_H
#define RNBDADM_RDS_COMMANDS_H

#include "app/app.h"
#include "rds/views.h"

int cmd_rds_status(struct ctx *ctx);
int cmd_rds_socket(struct ctx *ctx);
int cmd_rds_connection(struct ctx *ctx);
int cmd_rds_stats(struct ctx *ctx);
int cmd_rds_ping(struct ctx *ctx);
int cmd_rds_check(struct ctx *ctx);
int cmd_rds_monitor(struct ctx *ctx);
int cmd_rds_ping_check(struct ctx *ctx);

#define RDS_LIST_OPTS	OPT_FIELDS, OPT_SORT, OPT_FILTER, OPT_UNIT, OPT_NO_HEADERS, OPT_WIDE

#define RDS_COMMANDS									\
	{ "rds", "status", "show the modules, transports, listeners and sums of RDS",	\
	  .text = "When no module is loaded the exit code is 8.",			\
	  .examples = { "rnbdadm rds status", "rnbdadm rds status -j | jq .summary" },	\
	  .topic = "rds-status",							\
	  .empty = "{\"modules\":[],\"transports\":[],\"listeners\":[],\"summary\":null}",	\
	  .page = "rnbdadm-rds", .flags = CMD_PLAIN | CMD_INFO, .run = cmd_rds_status },	\
	{ "rds", "socket", "list the RDS sockets of this host",				\
	  .opts = OPTS(RDS_LIST_OPTS),							\
	  .text = "Processes of other users are seen by root alone.",			\
	  .examples = { "rnbdadm rds socket",						\
			"rnbdadm rds socket --filter 'receive_queue_bytes>0'" },	\
	  .topic = "rds-socket", .empty = "{\"sockets\":[]}", .page = "rnbdadm-rds",	\
	  .view = &rds_socket_view, .flags = CMD_INFO, .run = cmd_rds_socket },		\
	{ "rds", "connection", "list the RDS connections of this host",			\
	  .opts = OPTS(RDS_LIST_OPTS),							\
	  .text = "Sequence numbers are those of the first path.",			\
	  .examples = { "rnbdadm rds connection",					\
			"rnbdadm rds connection --filter 'state!=connected' -j" },	\
	  .topic = "rds-connection", .empty = "{\"connections\":[]}", .page = "rnbdadm-rds",	\
	  .view = &rds_connection_view, .flags = CMD_INFO, .run = cmd_rds_connection },	\
	{ "rds", "stats", "show the counters of RDS",					\
	  .opts = OPTS(OPT_FIELDS, OPT_SORT, OPT_FILTER, OPT_NO_HEADERS, OPT_WIDE),	\
	  .text = "They count since the module was loaded, for all namespaces together.",	\
	  .examples = { "rnbdadm rds stats", "rnbdadm rds stats --filter 'value>0'" },	\
	  .topic = "rds-stats", .empty = "{\"counters\":[]}", .page = "rnbdadm-rds",	\
	  .view = &rds_stats_view, .flags = CMD_INFO, .run = cmd_rds_stats },		\
	{ "rds", "ping", "ask the RDS of a host for answers",				\
	  { { "HOST", .help = "IPv4 or IPv6 address, or a name" } },			\
	  .opts = OPTS(OPT_PINGS),							\
	  .text = "One each second, until a signal comes or -c of them are sent. --timeout is for "	\
		  "each answer (5s). Exit code 10 if nothing is answered, 3 if not all are.",	\
	  .examples = { "rnbdadm rds ping 10.0.0.2 -c 3",				\
			"rnbdadm rds ping fd00::2 -c 1 --timeout 500ms -j" },		\
	  .topic = "rds-ping",								\
	  .empty = "{\"source\":null,\"destination\":null,\"transport\":null,\"sent\":0,"	\
		   "\"answered\":0,\"round_trip_min_ns\":null,\"round_trip_mean_ns\":null,"	\
		   "\"round_trip_max_ns\":null,\"answers\":[]}",				\
	  .page = "rnbdadm-rds", .flags = CMD_PLAIN | CMD_INFO,				\
	  .check = cmd_rds_ping_check, .run = cmd_rds_ping },				\
	{ "rds", "check", "find faults of RDS on this host, and their cures",	\
	  .text = "Changes nothing. Exit code 11 if anything fails.",			\
	  .examples = { "rnbdadm rds check", "rnbdadm rds check -j" },			\
	  .topic = "check",								\
	  .empty = "{\"results\":[],\"summary\":{\"pass\":0,\"warn\":0,\"fail\":0,\"skip\":0}}",	\
	  .page = "rnbdadm-rds", .flags = CMD_PLAIN | CMD_INFO, .run = cmd_rds_check }

#endif
