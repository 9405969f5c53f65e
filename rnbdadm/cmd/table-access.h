/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the command table that is of the access list. cmd/table.c has it in its midst. */
#ifndef RNBDADM_CMD_TABLE_ACCESS_H
#define RNBDADM_CMD_TABLE_ACCESS_H

#define EMPTY_ACCESS_CHANGE	"{\"changed\":false,\"state\":null,\"number\":null,\"changes\":[],"	\
				"\"ended\":[]}"
#define ACCESS_DIFF(...)								\
	.examples = { __VA_ARGS__ }, .topic = "access-change", .empty = EMPTY_ACCESS_CHANGE,	\
	.page = "rnbdadm-access"
#define ACCESS_CHANGE(...)	ACCESS_DIFF(__VA_ARGS__), .flags = CMD_CHANGES | CMD_PLAIN

#define ACCESS_COMMANDS									\
	{ "server access", "show", "show the loaded access list and its use",	\
	  { { "NAME", .optional = true, .help = "only this peer or export" } },		\
	  .opts = OPTS(OPT_UNIT, OPT_WIDE),						\
	  .text = "open: every client may map every device below dev_search_path. closed: no client may map "	\
		  "anything. listed: the list names the clients and their exports.",	\
	  .examples = { "rnbdadm server access show", "rnbdadm server access show vol0 -j" },	\
	  .topic = "access",								\
	  .empty = "{\"state\":null,\"number\":null,\"loaded\":null,\"loaded_by_uid\":null,"	\
		   "\"denied_total\":null,\"peers\":[],\"exports\":[]}",		\
	  .page = "rnbdadm-access", .flags = CMD_PLAIN, .run = cmd_access_show },	\
	{ "server access", "apply", "load the access list of the configuration",	\
	  { ARG_CONFIG }, .opts = OPTS(OPT_LENIENT, WAIT_OPTS),				\
	  .text = "Reads [peer] and [export], and replaces the list in one step. Openings and paths outside the "	\
		  "new list are ended in the same step; if there are any, the command is refused (exit 7) "	\
		  "unless --force is given. A configuration without these sections is refused (exit 4).",	\
	  ACCESS_CHANGE("rnbdadm server access apply", "rnbdadm server access apply new.conf -n"),	\
	  .run = cmd_access_set },							\
	{ "server access", "diff", "show the changes of 'server access apply'",		\
	  { ARG_CONFIG }, .opts = OPTS(OPT_LENIENT),					\
	  .text = "The exit code is 11 if anything differs.", .flags = CMD_PLAIN,	\
	  ACCESS_DIFF("rnbdadm server access diff", "rnbdadm server access diff new.conf"),	\
	  .run = cmd_access_diff },							\
	{ "server access", "test", "ask whether a client may open an export",		\
	  { { "EXPORT", .help = "name of an export, as a client gives it" } },		\
	  .opts = OPTS(OPT_PEER, OPT_TEST_SESSION, OPT_FROM_ADDR, OPT_ACCESS, OPT_LENIENT),	\
	  .text = "Asks the kernel, and names the line of the configuration that decides. Needs "	\
		  "--peer, or --session and --from. The exit code is 11 if it may not.",	\
	  .examples = { "rnbdadm server access test vol0 --peer web1 --access ro",	\
			"rnbdadm server access test vol0 --session web1@srv1 --from 10.0.0.7" },	\
	  .topic = "access-test",							\
	  .empty = "{\"allowed\":false,\"reason\":null,\"peer\":null,\"export\":null,\"path\":null,"	\
		   "\"access\":null,\"granted\":null,\"source\":null}",			\
	  .page = "rnbdadm-access", .flags = CMD_PLAIN,					\
	  .check = cmd_access_test_check, .run = cmd_access_test },			\
	{ "server access", "close", "let nobody in, and end all use", .opts = OPTS(WAIT_OPTS),	\
	  .text = "Holds until 'server access apply'. If anything is in use, the command is refused "	\
		  "(exit 7) unless --force is given.",					\
	  ACCESS_CHANGE("rnbdadm server access close", "rnbdadm server access close --force -n"),	\
	  .run = cmd_access_set },							\
	{ "server access", "open", "let everybody in, without a list", .opts = OPTS(WAIT_OPTS),	\
	  .text = "Every client that reaches this server can map every device below dev_search_path, under "	\
		  "any name. Refused (exit 7) unless --force is given.",	\
	  ACCESS_CHANGE("rnbdadm server access open --force", "rnbdadm server access open --force -n"),	\
	  .run = cmd_access_set },	\
	{ "server export", "add", "put an export on the access list",			\
	  { { "FILE", .help = "block device or regular file; a directory ends with '/'" } },	\
	  .opts = OPTS(OPT_EXPORT_NAME, OPT_ALLOW, OPT_IO_MODE, OPT_SAVE_ACCESS, WAIT_OPTS),	\
	  .text = "Changes the list that is loaded; --save keeps it for the next boot. On a server "	\
		  "that is open there is no list to add to (exit 6).",			\
	  ACCESS_CHANGE("rnbdadm server export add /dev/vg0/vol0 --allow web1 --save",	\
			"rnbdadm server export add /dev/vg1/ --name vms/ --allow hv:migration"),	\
	  .check = cmd_access_add_check, .run = cmd_access_add },			\
	{ "server export", "remove", "take an export off the access list",		\
	  { { "EXPORT", .help = "name of an export of the list" } }, .opts = OPTS(WAIT_OPTS),	\
	  .text = "Its openings are closed in the same step; if there are any, the "		\
		  "command is refused (exit 7) unless --force is given.",				\
	  ACCESS_CHANGE("rnbdadm server export remove vol0", "rnbdadm server export remove vol0 -n -f"),	\
	  .run = cmd_access_remove },							\
	{ "server peer", "add", "put a peer on the access list",			\
	  { { "NAME", .help = "name of the peer on this server" } },				\
	  .opts = OPTS(OPT_AUTH, OPT_PATTERN, OPT_FROM, OPT_MAX_SESSIONS, OPT_MAX_DEVICES,	\
		       OPT_MAX_MEMORY, OPT_SAVE_ACCESS, WAIT_OPTS),			\
	  .text = "Needs --auth none, --session and --from. It may open the exports that allow it. --save keeps "	\
		  "it for the next boot. On a server that is open there is no list to add to (exit 6).",	\
	  ACCESS_CHANGE("rnbdadm server peer add old1 --auth none --session old1@srv1 --from 10.0.0.7",	\
			"rnbdadm server peer add hv --auth none --session 'hv*' --from 10.0.0.0/24"),	\
	  .check = cmd_access_add_check, .run = cmd_access_add },			\
	{ "server peer", "remove", "take a peer off the access list",			\
	  { { "PEER", .help = "name of a peer of the list" } }, .opts = OPTS(WAIT_OPTS),	\
	  .text = "It leaves the exports that allow it, too, and its sessions are ended in the same "	\
		  "step; if there are any, the command is refused (exit 7) unless --force is given.",	\
	  ACCESS_CHANGE("rnbdadm server peer remove old1", "rnbdadm server peer remove old1 --force"),	\
	  .run = cmd_access_remove }

#endif
