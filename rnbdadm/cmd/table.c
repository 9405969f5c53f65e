// SPDX-License-Identifier: GPL-2.0
/* The command table. */
#include "cmd/commands.h"
#include "cmd/table-access.h"
#include "grammar/parse.h"
#include "output/to-json.h"
#include "rds/commands.h"
#include "stats/columns.h"

#define LIST_OPTS	OPT_FIELDS, OPT_SORT, OPT_FILTER, OPT_UNIT, OPT_NO_HEADERS, \
			OPT_WIDE, OPT_BRIEF
#define SHOW_OPTS	OPT_FIELDS, OPT_UNIT, OPT_WIDE

#define WAIT_OPTS	OPT_WAIT, OPT_NO_WAIT
#define SETTINGS_OPTS	OPT_MAX_RECONNECT, OPT_HEARTBEAT_INTERVAL, OPT_HEARTBEAT_MISSES, \
			OPT_RECONNECT_DELAY, OPT_RECONNECT_DELAY_MAX, OPT_CONNECT_TIMEOUT, \
			OPT_IO_TIMEOUT, OPT_NO_PATH_TIMEOUT, OPT_LOST_WRITES

#define OPTS(...)	(const unsigned char[]){ __VA_ARGS__, 0 }

#define ARG_SESSION	{ "SESSION", .help = "name of a session" }
#define ARG_DEVICE	{ "DEVICE", \
			  .help = "rnbdN, /dev/rnbdN, a link to it, or its name on the server" }

#define ARG_ANY_SESSION	{ "SESSION", .optional = true, .help = "name of a session" }
#define ARG_NEW_PATHS	{ "PATH", .repeat = true, .help = "[SRC@]DST" }
#define ARG_ANY_PATHS	{ "PATH", .optional = true, .repeat = true, \
			  .help = "[SRC@]DST of a path, or id:N" }

#define ARG_EXPORT	{ "DEVICE", .help = "block device of this host, as sdb or /dev/sdb" }

#define ARG_PORT	{ "PORT", .help = "HCA:PORT, as 'server port list' prints it" }
#define ARG_CLIENT	{ "SESSION", .help = "session of the client, as 'server client list' prints it" }

#define ARG_CONFIG	{ "FILE", .optional = true, \
			  .help = "instead of the files below /etc/rnbd; - is stdin" }
#define EMPTY_CONFIG	"\"defaults\":{},\"sessions\":[],\"devices\":[],\"peers\":[],\"exports\":[]"
#define EMPTY_PLAN	.empty = "{\"changed\":false,\"mode\":null,\"dry_run\":false,\"changes\":[],"	\
				 "\"unlisted\":[],\"unmet\":[],\"summary\":{\"add\":0,"		\
				 "\"change\":0,\"remove\":0,\"unlisted\":0,\"failed\":0}}"

static const struct cmd cmds[] = {
	{ "status", NULL, "show sessions, paths, devices and exports of this host",
	  { { "NAME", .optional = true, .help = "only this session or mapped device" } },
	  .opts = OPTS(OPT_ROLE, OPT_CHECK_STATE, OPT_UNIT, OPT_WIDE),
	  .text = "An object that is not up is no failure, unless --check-state is given. When "
		  "no module is loaded the exit code is 8.",
	  .examples = { "rnbdadm status", "rnbdadm status --role client --check-state -j" },
	  .topic = "status",
	  .empty = "{\"client\":{\"sessions\":[],\"devices\":[]},"
		   "\"server\":{\"exports\":[],\"clients\":[]},"
		   "\"summary\":{\"sessions_total\":0,\"sessions_degraded\":0,\"sessions_down\":0,"
		   "\"paths_total\":0,\"paths_down\":0,\"devices_total\":0,\"devices_down\":0,"
		   "\"clients_total\":0,\"clients_down\":0,\"exports_total\":0},\"modules\":[]}",
	  .page = "rnbdadm", .flags = CMD_PLAIN, .run = cmd_status },
	{ "show", NULL, "show the object of that name",
	  { { "NAME", .help = "a session, device, path [SRC@]DST, export or client" } },
	  .opts = OPTS(OPT_UNIT, OPT_WIDE),
	  .text = "A name that fits several objects is refused (exit 6) with a list of them.",
	  .examples = { "rnbdadm show rnbd0", "rnbdadm show cl1@srv1 -j" },
	  .topic = "show",
	  .empty = "{\"sessions\":[],\"paths\":[],\"devices\":[],\"exports\":[],\"clients\":[]}",
	  .page = "rnbdadm", .flags = CMD_PLAIN, .run = cmd_show },
	{ "session", "list", "list the sessions of this client",
	  .opts = OPTS(LIST_OPTS, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm session list", "rnbdadm session list -F name,state -j" },
	  .topic = "session", .empty = "{\"sessions\":[]}", .page = "rnbdadm-session",
	  .view = &session_view, .run = cmd_session_list },
	{ "session", "show", "show one session", { ARG_SESSION },
	  .opts = OPTS(SHOW_OPTS, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm session show cl1@srv1", "rnbdadm session show cl1@srv1 --stats -p" },
	  .topic = "session", .empty = "{\"sessions\":[]}", .page = "rnbdadm-session",
	  .view = &session_view, .run = cmd_session_show },
	{ "session", "set", "change settings of a session", { ARG_SESSION },
	  .opts = OPTS(OPT_SET_POLICY, SETTINGS_OPTS, WAIT_OPTS),
	  .text = "Only different values are written; they take effect at once.",
	  .examples = { "rnbdadm session set cl1@srv1 --mp-policy min-latency",
			"rnbdadm session set cl1@srv1 --no-path-timeout 30s --io-timeout 1m -n" },
	  .topic = "session", .empty = "{\"changed\":false,\"sessions\":[],\"changes\":[]}",
	  .page = "rnbdadm-session", .view = &session_view, .flags = CMD_CHANGES,
	  .check = cmd_session_set_check, .run = cmd_session_set },
	{ "session", "add", "make a session that needs no device", { ARG_SESSION },
	  .opts = OPTS(OPT_PATH, OPT_DEST_PORT, OPT_MP_POLICY, SETTINGS_OPTS, OPT_CONNECTIONS,
		       OPT_POLL_QUEUES, WAIT_OPTS),
	  .text = "It stays until it is removed; devices are mapped over it by its name. Needs at "
		  "least one --path. --timeout bounds each step in the kernel, 100ms to 10m (30s).",
	  .examples = { "rnbdadm session add cl1@srv1 --path 10.0.0.1@10.0.0.2 --path 10.0.1.2",
			"rnbdadm session add cl1@srv1 --path 10.0.0.2 --no-path-timeout 30s" },
	  .topic = "session", .empty = "{\"changed\":false,\"sessions\":[]}",
	  .page = "rnbdadm-session", .view = &session_view, .flags = CMD_CHANGES,
	  .check = cmd_session_add_check, .run = cmd_session_add },
	{ "session", "remove", "remove a session that was added", { ARG_SESSION },
	  .opts = OPTS(WAIT_OPTS),
	  .text = "Refused (exit 7) while devices are mapped over it; --force unmaps them first.",
	  .examples = { "rnbdadm session remove cl1@srv1",
			"rnbdadm session remove cl1@srv1 --idempotent -n" },
	  .topic = "session", .empty = "{\"changed\":false,\"sessions\":[]}",
	  .page = "rnbdadm-session", .view = &session_view, .flags = CMD_CHANGES,
	  .run = cmd_session_remove },
	{ "recover", NULL, "connect lost paths, then remap disconnected devices",
	  { ARG_ANY_SESSION, ARG_ANY_PATHS },
	  .opts = OPTS(OPT_HCA, OPT_ALL, OPT_ADD_MISSING, WAIT_OPTS),
	  .text = "Paths that are not connected are connected again, then devices that are "
		  "disconnected are opened on the server again; healthy objects are left alone. "
		  "--add-missing adds the paths that the configuration lists, in between. "
		  "--timeout bounds each step in the kernel, 100ms to 10m. --wait goes on until "
		  "the paths are connected and the nodes of the devices can be opened.",
	  .examples = { "rnbdadm recover --all", "rnbdadm recover cl1@srv1 --timeout 5s -n" },
	  .topic = "recover", .empty = "{\"changed\":false,\"recovered\":[],\"failed\":[]}",
	  .page = "rnbdadm-path", .flags = CMD_CHANGES | CMD_PLAIN,
	  .check = cmd_recover_check, .run = cmd_recover },
	{ "path", "list", "list the paths of all sessions",
	  .opts = OPTS(LIST_OPTS, OPT_SESSION, OPT_DOWN, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm path list --down", "rnbdadm path list --session cl1@srv1 -o csv" },
	  .topic = "path", .empty = "{\"paths\":[]}", .page = "rnbdadm-path",
	  .view = &path_view, .run = cmd_path_list },
	{ "path", "show", "show one path",
	  { ARG_SESSION, { "PATH", .optional = true, .help = "[SRC@]DST of a path, or id:N" } },
	  .opts = OPTS(SHOW_OPTS, OPT_HCA, OPT_STATS, OPT_DETAILS),
	  .text = "The path is named by its addresses or by --hca; it must be the only one that fits.",
	  .examples = { "rnbdadm path show cl1@srv1 ip:10.0.0.1@ip:10.0.0.2",
			"rnbdadm path show cl1@srv1 --hca mlx5_0:1" },
	  .topic = "path", .empty = "{\"paths\":[]}", .page = "rnbdadm-path",
	  .view = &path_view, .check = cmd_path_show_check, .run = cmd_path_show },
	{ "path", "add", "add paths to a session", { ARG_SESSION, ARG_NEW_PATHS },
	  .opts = OPTS(OPT_DEST_PORT, WAIT_OPTS),
	  .text = "Returns when the paths are connected, at the latest after 30 seconds for each "
		  "or the time of --wait. A path that cannot be connected is not kept, and the "
		  "others go on. --timeout bounds each step in the kernel, 100ms to 10m.",
	  .examples = { "rnbdadm path add cl1@srv1 ip:10.0.1.1@ip:10.0.1.2",
			"rnbdadm path add cl1@srv1 10.0.1.2 10.0.2.2 --timeout 5s" },
	  .topic = "path", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-path", .view = &path_change_view, .flags = CMD_CHANGES, .check = cmd_path_add_check, .run = cmd_path_add },
	{ "path", "remove", "take paths out of a session", { ARG_SESSION, ARG_ANY_PATHS },
	  .opts = OPTS(OPT_HCA, WAIT_OPTS),
	  .text = "The requests of a path move to another one. The last connected path of a "
		  "session with devices is refused (exit 7) unless --force is given.",
	  .examples = { "rnbdadm path remove cl1@srv1 ip:10.0.1.1@ip:10.0.1.2",
			"rnbdadm path remove cl1@srv1 10.0.1.2 -n" },
	  .topic = "path", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-path", .view = &path_change_view, .flags = CMD_CHANGES, .check = cmd_path_named_check, .run = cmd_path_remove },
	{ "path", "reconnect", "connect paths again",
	  { ARG_ANY_SESSION, ARG_ANY_PATHS },
	  .opts = OPTS(OPT_HCA, OPT_ALL, OPT_ONLY_DOWN, WAIT_OPTS),
	  .text = "One after the other, those first that are down; without PATH all paths of the "
		  "session. The last connected path of a session with devices is refused (exit "
		  "7) unless --force is given. --all is all sessions. "
		  "With --wait an attempt that fails is no failure yet: the path is tried further, and "
		  "waited for. --timeout bounds each step in the kernel, 100ms to 10m.",
	  .examples = { "rnbdadm path reconnect cl1@srv1 --only-down",
			"rnbdadm path reconnect --all --only-down" },
	  .topic = "path", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-path", .view = &path_change_view,
	  .flags = CMD_CHANGES,
	  .check = cmd_path_reconnect_check, .run = cmd_path_reconnect },
	{ "path", "disconnect", "take paths down, and leave them so",
	  { ARG_ANY_SESSION, ARG_ANY_PATHS }, .opts = OPTS(OPT_HCA, OPT_ALL, WAIT_OPTS),
	  .text = "They stay down until 'path reconnect'; without PATH all paths of the session. "
		  "The last connected path of a session with devices is refused (exit 7) unless "
		  "--force is given. --all is all sessions; nothing is taken down if one is refused.",
	  .examples = { "rnbdadm path disconnect cl1@srv1 ip:10.0.1.1@ip:10.0.1.2",
			"rnbdadm path disconnect cl1@srv1 --force" },
	  .topic = "path", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-path", .view = &path_change_view, .flags = CMD_CHANGES, .check = cmd_path_disconnect_check, .run = cmd_path_disconnect },
	{ "map", NULL, "map a device of a server",
	  { { "DEVICE_PATH", .help = "name of the device on the server" } },
	  .opts = OPTS(OPT_SESSION, OPT_SERVER_HOST, OPT_PATH, OPT_ACCESS, OPT_IO_MODE, OPT_FUA, OPT_POLL_QUEUES,
		       OPT_CONNECTIONS, OPT_DEST_PORT, OPT_MP_POLICY, SETTINGS_OPTS, OPT_ADD_PATHS, OPT_NAME, OPT_OWNER,
		       OPT_SAVE_MAP, OPT_WAIT, OPT_NO_WAIT, OPT_FIELDS),
	  .text = "Prints the node of the new disk and returns when it can be opened. A session "
		  "that does not exist yet is made; it needs at least one --path, or a --server "
		  "whose name resolves; the settings are those of a new session, too. --timeout "
		  "bounds each step in the kernel, 100ms to 10m (30s).",
	  .examples = { "rnbdadm map vol0 --session cl1@srv1 --path ip:10.0.0.1@ip:10.0.0.2",
			"rnbdadm map vol0 --server 10.0.0.2 --access ro --idempotent" },
	  .topic = "map", .empty = "{\"changed\":false,\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &device_view, .flags = CMD_CHANGES, .check = cmd_map_check, .run = cmd_map },
	{ "unmap", NULL, "unmap devices",
	  { { "DEVICE", .optional = true, .repeat = true,
	      .help = "rnbdN, /dev/rnbdN, a link to it, or its name on the server" } },
	  .opts = OPTS(OPT_SESSION, OPT_ALL, OPT_LAZY, WAIT_OPTS),
	  .text = "A device in use is refused (exit 7) with its users; --force unmaps it all the "
		  "same. --all and --session alone name all devices, of that session; those in "
		  "use stay, the others go. "
		  "--timeout bounds the waits of the kernel, and --lazy.",
	  .examples = { "rnbdadm unmap rnbd0", "rnbdadm unmap vol0 --session cl1@srv1 --idempotent" },
	  .topic = "unmap", .empty = "{\"changed\":false,\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &unmap_view, .flags = CMD_CHANGES, .check = cmd_unmap_check, .run = cmd_unmap },
	{ "remap", NULL, "open disconnected devices on the server again",
	  { { "DEVICE", .optional = true, .repeat = true,
	      .help = "rnbdN, /dev/rnbdN, a link to it, or its name on the server" } },
	  .opts = OPTS(OPT_SESSION, OPT_ALL, OPT_ONLY_DISCONNECTED, OPT_RECREATE, WAIT_OPTS),
	  .text = "The disk stays, with the size and the limits that the server's device has "
		  "now. Mapped devices are left alone. "
		  "--recreate makes a new disk and prints its node; a disk in use is refused "
		  "(exit 7) unless --force is given. --timeout bounds each step in the kernel, "
		  "100ms to 10m.",
	  .examples = { "rnbdadm remap rnbd0", "rnbdadm remap --all --only-disconnected" },
	  .topic = "remap", .empty = "{\"changed\":false,\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &remap_view, .flags = CMD_CHANGES, .check = cmd_remap_check, .run = cmd_remap },
	{ "resize", NULL, "change the size of a mapped disk",
	  { ARG_DEVICE, { "SIZE",
			  .help = "10G, 2048s, 1000000K; +N and -N are relative to the size now" } },
	  .opts = OPTS(OPT_SESSION, OPT_ALLOW_SHRINK, WAIT_OPTS),
	  .text = "The server is not asked: I/O behind the end of its device fails. A size is a "
		  "multiple of the logical block; K, M, G, T, P are powers of 1024, KB of 1000, "
		  "s is 512 bytes. Data beyond a smaller size is lost, so shrinking needs "
		  "--allow-shrink and --force. The size is read back afterwards.",
	  .examples = { "rnbdadm resize rnbd0 +10G", "rnbdadm resize rnbd0 20G -n -v" },
	  .topic = "resize",
	  .empty = "{\"changed\":false,\"device\":null,\"old_size_bytes\":null,"
		   "\"new_size_bytes\":null}",
	  .page = "rnbdadm-device", .flags = CMD_CHANGES | CMD_PLAIN,
	  .check = cmd_resize_check, .run = cmd_resize },
	{ "device", "list", "list the mapped devices",
	  .opts = OPTS(LIST_OPTS, OPT_SESSION, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm device list", "rnbdadm device list --filter state!=mapped -o csv" },
	  .topic = "device", .empty = "{\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &device_view, .run = cmd_device_list },
	{ "device", "show", "show one mapped device", { ARG_DEVICE },
	  .opts = OPTS(SHOW_OPTS, OPT_SESSION, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm device show rnbd0", "rnbdadm device show vol0 --session cl1@srv1 -p" },
	  .topic = "device", .empty = "{\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &device_view, .check = cmd_device_check, .run = cmd_device_show },
	{ "device", "wait", "wait until a device is mapped and its node is there",
	  { { "DEVICE", .help = "rnbdN, /dev/rnbdN, a link to be, or its name on the server" } },
	  .opts = OPTS(OPT_SESSION, OPT_FIELDS, OPT_UNIT),
	  .text = "Waits for events of the kernel, up to --timeout (30s); then the exit code is 10.",
	  .examples = { "rnbdadm device wait vol0 --session cl1@srv1 --timeout 1m",
			"rnbdadm device wait /dev/rnbd0 && mount /dev/rnbd0 /data" },
	  .topic = "device", .empty = "{\"devices\":[]}", .page = "rnbdadm-device",
	  .view = &device_view, .check = cmd_device_check, .run = cmd_device_wait },
	{ "device", "set", "change the access of a mapped device", { ARG_DEVICE },
	  .opts = OPTS(OPT_SET_ACCESS, OPT_SESSION, WAIT_OPTS),
	  .text = "A device in migration becomes rw, and stays in use. Refused (exit 7) while another client "
		  "has it open for writing. --timeout bounds each step in the kernel, 100ms to 10m.",
	  .examples = { "rnbdadm device set rnbd0 --access rw", "rnbdadm device set vol0 --access rw -n" },
	  .topic = "device", .empty = "{\"changed\":false,\"devices\":[],\"changes\":[]}",
	  .page = "rnbdadm-device", .view = &device_view, .flags = CMD_CHANGES,
	  .check = cmd_device_set_check, .run = cmd_device_set },
	{ "server export", "list", "list the block devices that clients have open here",
	  .opts = OPTS(LIST_OPTS, OPT_SESSION, OPT_DETAILS),
	  .examples = { "rnbdadm server export list", "rnbdadm server export list --session cl1@srv1 -j" },
	  .topic = "export", .empty = "{\"exports\":[]}", .page = "rnbdadm-server",
	  .view = &export_view, .run = cmd_export_list },
	{ "server export", "show", "show one of them and its clients", { ARG_EXPORT },
	  .opts = OPTS(SHOW_OPTS, OPT_DETAILS),
	  .examples = { "rnbdadm server export show sdb", "rnbdadm server export show /dev/sdb -p" },
	  .topic = "export", .empty = "{\"exports\":[]}", .page = "rnbdadm-server",
	  .view = &export_view, .run = cmd_export_show },
	{ "server export", "close", "close a device that clients have open", { ARG_EXPORT },
	  .opts = OPTS(OPT_SESSION, OPT_ALL, WAIT_OPTS),
	  .text = "Refused (exit 7) with its clients, unless --force is given. The client keeps "
		  "its disk, but its I/O fails until it remaps it. Returns when the device is "
		  "released.",
	  .examples = { "rnbdadm server export close sdb --session cl1@srv1 --force",
			"rnbdadm server export close sdb --all -n -f" },
	  .topic = "export-close", .empty = "{\"changed\":false,\"closed\":[]}",
	  .page = "rnbdadm-server", .view = &close_view, .flags = CMD_CHANGES,
	  .check = cmd_export_close_check, .run = cmd_export_close },
	{ "server export", "revalidate", "tell clients the new size of a device", { ARG_EXPORT },
	  .opts = OPTS(OPT_SESSION, WAIT_OPTS),
	  .text = "Each client that has it open asks for the size again and resizes its disk. "
		  "Clients with the kernel's own module cannot be told (exit 9, or 3 if others "
		  "were): use 'resize' there. A device that became smaller is refused (exit 7) "
		  "unless --force is given. --timeout, or the time of --wait, bounds the wait "
		  "for each client, 100ms to 10m (5s).",
	  .examples = { "rnbdadm server export revalidate sdb",
			"rnbdadm server export revalidate sdb --session cl1@srv1 -j" },
	  .topic = "export-revalidate",
	  .empty = "{\"changed\":false,\"old_size_bytes\":null,\"new_size_bytes\":null,"
		   "\"clients\":[]}",
	  .page = "rnbdadm-server", .view = &revalidate_view, .flags = CMD_CHANGES,
	  .check = cmd_export_revalidate_check, .run = cmd_export_revalidate },
	{ "server client", "list", "list the clients of this server",
	  .opts = OPTS(LIST_OPTS, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm server client list", "rnbdadm server client list --stats -p" },
	  .topic = "client", .empty = "{\"clients\":[]}", .page = "rnbdadm-server",
	  .view = &client_view, .run = cmd_client_list },
	{ "server client", "show", "show one client", { ARG_CLIENT },
	  .opts = OPTS(SHOW_OPTS, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm server client show cl1@srv1",
			"rnbdadm server client show cl1@srv1 -F pinned_bytes" },
	  .topic = "client", .empty = "{\"clients\":[]}", .page = "rnbdadm-server",
	  .view = &client_view, .run = cmd_client_show },
	{ "server client", "disconnect", "take down all paths of a client", { ARG_CLIENT },
	  .opts = OPTS(WAIT_OPTS),
	  .text = "Refused (exit 7) with its open devices, unless --force is given. Nothing "
		  "keeps the client from coming back; close its exports first where that "
		  "matters.",
	  .examples = { "rnbdadm server client disconnect cl1@srv1 --force",
			"rnbdadm server client disconnect cl1@srv1 -n -f" },
	  .topic = "client", .empty = "{\"changed\":false,\"clients\":[]}",
	  .page = "rnbdadm-server", .view = &client_view, .flags = CMD_CHANGES,
	  .run = cmd_client_disconnect },
	{ "server path", "list", "list the paths of the clients of this server",
	  .opts = OPTS(LIST_OPTS, OPT_SESSION, OPT_DOWN, OPT_STATS, OPT_DETAILS),
	  .examples = { "rnbdadm server path list", "rnbdadm server path list --session cl1@srv1 -j" },
	  .topic = "path", .empty = "{\"paths\":[]}", .page = "rnbdadm-server",
	  .view = &server_path_view, .run = cmd_server_path_list },
	{ "server path", "show", "show one of them",
	  { ARG_CLIENT, { "PATH", .optional = true, .help = "[SRC@]DST of a path, or id:N" } },
	  .opts = OPTS(SHOW_OPTS, OPT_HCA, OPT_STATS, OPT_DETAILS),
	  .text = "The path is named by its addresses or by --hca; it must be the only one that fits.",
	  .examples = { "rnbdadm server path show cl1@srv1 ip:10.0.0.1@ip:10.0.0.2",
			"rnbdadm server path show cl1@srv1 --hca mlx5_0:1" },
	  .topic = "path", .empty = "{\"paths\":[]}", .page = "rnbdadm-server",
	  .view = &server_path_view, .check = cmd_path_show_check, .run = cmd_server_path_show },
	{ "server path", "disconnect", "take down paths of a client", { ARG_CLIENT, ARG_ANY_PATHS },
	  .opts = OPTS(OPT_HCA, WAIT_OPTS),
	  .text = "Nothing keeps the client from making them anew; see 'server port drain'. The last "
		  "connected path of a client with devices open is refused (exit 7) unless --force "
		  "is given.",
	  .examples = { "rnbdadm server path disconnect cl1@srv1 ip:10.0.1.1@ip:10.0.1.2",
			"rnbdadm server path disconnect cl1@srv1 id:7 -n" },
	  .topic = "path", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-server", .view = &path_change_view, .flags = CMD_CHANGES,
	  .check = cmd_path_named_check, .run = cmd_server_path_disconnect },
	{ "server port", "list", "list the ports that this server listens on", .opts = OPTS(LIST_OPTS),
	  .examples = { "rnbdadm server port list", "rnbdadm server port list --filter drained=true" },
	  .topic = "port", .empty = "{\"ports\":[]}", .page = "rnbdadm-server",
	  .view = &port_view, .run = cmd_port_list },
	{ "server port", "drain", "take no more paths over a port, and close its paths",
	  { ARG_PORT }, .opts = OPTS(WAIT_OPTS),
	  .text = "Holds until 'server port undrain', or until the module is unloaded. Clients try "
		  "further, and come back when it is over. Refused as a whole (exit 7) if a client would "
		  "lose its last path, unless --force is given. --wait waits until no path over it is "
		  "left.",
	  .examples = { "rnbdadm server port drain mlx5_0:1", "rnbdadm server port drain mlx5_0:1 -n" },
	  .topic = "port-change",
	  .empty = "{\"changed\":false,\"paths_closed\":[],\"refused\":[]}",
	  .page = "rnbdadm-server", .view = &port_change_view, .flags = CMD_CHANGES,
	  .run = cmd_port_drain },
	{ "server port", "undrain", "take paths over a port again", { ARG_PORT },
	  .opts = OPTS(WAIT_OPTS),
	  .text = "Clients come back by themselves, at their next attempt.",
	  .examples = { "rnbdadm server port undrain mlx5_0:1",
			"rnbdadm server port undrain mlx5_0:1 -j" },
	  .topic = "port-change",
	  .empty = "{\"changed\":false,\"paths_closed\":[],\"refused\":[]}",
	  .page = "rnbdadm-server", .view = &port_change_view, .flags = CMD_CHANGES,
	  .run = cmd_port_undrain },
	ACCESS_COMMANDS,
	{ "stats", NULL, "show counters",
	  { { "SELECTOR", .optional = true, .help = "a session or a mapped device" },
	    { "PATH", .optional = true, .help = "[SRC@]DST of a path of that session, or id:N" } },
	  .opts = OPTS(OPT_HCA, OPT_INTERVAL, OPT_COUNT, OPT_RATE, OPT_PER_CPU, OPT_SKIP_FIRST,
		       OPT_BY, OPT_LATENCY, OPT_TEXTFILE,
		       OPT_ROLE, OPT_FIELDS, OPT_SORT, OPT_FILTER, OPT_UNIT, OPT_NO_HEADERS,
		       OPT_TOTALS, OPT_WIDE, OPT_BRIEF),
	  .text = "Totals since the path came up or the last reset. With -i the totals come "
		  "first, then the difference of each interval; JSON is then one line per "
		  "sample. In text and CSV --per-cpu and --latency have tables of their "
		  "own. -o prom is for Prometheus.",
	  .examples = { "rnbdadm stats", "rnbdadm stats cl1@srv1 -i 1 -c 10 --rate" },
	  .topic = "stats", .empty = "{\"interval_ns\":null,\"reset\":false,\"stats\":[]}",
	  .page = "rnbdadm-stats", .view = &stats_view, .choose = cmd_stats_view, .flags = CMD_PROM | CMD_STREAM,
	  .check = cmd_stats_check, .run = cmd_stats },
	{ "stats", "latency", "plot how long requests took",
	  { { "SELECTOR", .optional = true, .help = "a session or a mapped device" },
	    { "PATH", .optional = true, .help = "[SRC@]DST of a path of that session, or id:N" } },
	  .opts = OPTS(OPT_HCA, OPT_LOG, OPT_FIELDS, OPT_SORT, OPT_FILTER,
		       OPT_NO_HEADERS, OPT_WIDE, OPT_BRIEF),
	  .text = "From submission to completion, since the path came up or the last reset, of all "
		  "paths of a session together. Times of a quantile (~) are estimated from powers of two. "
		  "Where the modules do not count it: exit code 9.",
	  .examples = { "rnbdadm stats latency", "rnbdadm stats latency cl1@srv1 --log" },
	  .topic = "stats-latency", .empty = "{\"sessions\":[]}",
	  .page = "rnbdadm-stats", .view = &latency_view,
	  .check = cmd_stats_latency_check, .run = cmd_stats_latency },
	{ "stats", "reset", "set counters to zero",
	  { { "SELECTOR", .optional = true, .help = "a session or a mapped device" },
	    { "PATH", .optional = true, .help = "[SRC@]DST of a path of that session, or id:N" } },
	  .opts = OPTS(OPT_HCA, OPT_ALL, OPT_COUNTERS, OPT_ROLE, WAIT_OPTS),
	  .text = "The number of requests in flight is not reset.",
	  .examples = { "rnbdadm stats reset cl1@srv1 --counters latency,sg",
			"rnbdadm stats reset --all" },
	  .topic = "stats-reset", .empty = "{\"changed\":false,\"paths\":[]}",
	  .page = "rnbdadm-stats", .view = &reset_view, .flags = CMD_CHANGES,
	  .check = cmd_stats_reset_check, .run = cmd_stats_reset },
	{ "monitor", NULL, "show changes as they happen",
	  { { "TYPE", .optional = true, .repeat = true,
	      .values = "session|path|device|export|client|access|rds",
	      .help = "session, path, device, export, client, access, none is all of these; or rds" } },
	  .opts = OPTS(OPT_FILTER, OPT_DIFF, OPT_FULL, OPT_NO_SNAPSHOT, OPT_ONCE, OPT_EVENTS,
		       OPT_INTERVAL, OPT_RCVBUF, OPT_FOLLOW),
	  .text = "First the existing objects, up to a line 'sync'; then creations, changes with "
		  "the old state and the reason, and ends. 'overrun' says that the kernel "
		  "dropped some; the existing objects follow anew. JSON is one line per event. "
		  "Ends by a signal, or after --timeout; with --count that is exit code 10. "
		  "-i adds the counters of the paths that types and --filter leave, at the start, too. "
		  "'rds' stands alone: up, down, refused.",
	  .examples = { "rnbdadm monitor", "rnbdadm monitor path --filter state!=connected -j" },
	  .topic = "event",
	  .empty = "{\"seq\":null,\"monotonic_ns\":null,\"event\":null,\"object\":null,"
		   "\"role\":null,\"session\":null,\"name\":null,\"resync\":false,\"state\":null,"
		   "\"old_state\":null,\"reason\":null,\"changes\":{},\"source\":null}",
	  .page = "rnbdadm-monitor", .view = &event_view, .flags = CMD_STREAM | CMD_PLAIN,
	  .run = cmd_monitor },
	{ "wait", NULL, "wait until something is so",
	  { { "NAME", .help = "a session or a mapped device" },
	    { "PATH", .optional = true, .help = "[SRC@]DST of a path of that session, or id:N" } },
	  .opts = OPTS(OPT_FOR, OPT_SESSION, OPT_HCA, OPT_TEST),
	  .text = "Looks at each event of the kernel, up to --timeout (30s); then the exit code is "
		  "10. The fields are those of 'session list', 'device list' and 'path list'; "
		  "'paths' is paths_connected.",
	  .examples = { "rnbdadm wait cl1@srv1 --for 'paths>=2' --timeout 1m",
			"rnbdadm wait rnbd0 --for state=mapped --test" },
	  .topic = "wait",
	  .empty = "{\"condition\":null,\"met\":false,\"object\":null,\"waited_ms\":null}",
	  .page = "rnbdadm-monitor", .flags = CMD_PLAIN, .check = cmd_wait_check, .run = cmd_wait },
	{ "config", "save", "print or store the running state as a configuration",
	  { { "FILE", .optional = true, .help = "where to; none and - are stdout" } },
	  .opts = OPTS(OPT_SESSION),
	  .text = "Sessions, their paths and settings, and devices, as 'config apply' makes them "
		  "again. A file that exists stays unless --force is given.",
	  .examples = { "rnbdadm config save", "rnbdadm config save /etc/rnbd/rnbdadm.conf --force" },
	  .topic = "config", .empty = "{" EMPTY_CONFIG "}", .page = "rnbdadm-config",
	  .flags = CMD_PLAIN, .run = cmd_config_save },
	{ "config", "show", "show the configuration and where each value is from", { ARG_CONFIG },
	  .opts = OPTS(OPT_RESOLVED, OPT_LENIENT),
	  .examples = { "rnbdadm config show", "rnbdadm config show --resolved -p" },
	  .topic = "config", .empty = "{" EMPTY_CONFIG "}", .page = "rnbdadm-config",
	  .flags = CMD_PLAIN, .run = cmd_config_show },
	{ "config", "validate", "check the configuration", { ARG_CONFIG }, .opts = OPTS(OPT_LENIENT),
	  .text = "Mistakes come as FILE:LINE:COLUMN, with exit code 2. Nothing else is looked at.",
	  .examples = { "rnbdadm config validate", "rnbdadm config validate new.conf -j" },
	  .topic = "config-validate", .empty = "{\"files\":[],\"problems\":[]}",
	  .page = "rnbdadm-config", .flags = CMD_PLAIN, .run = cmd_config_validate },
	{ "config", "diff", "show the changes of 'config apply'", { ARG_CONFIG },
	  .opts = OPTS(OPT_MODE, OPT_PRUNE, OPT_ONLY, OPT_LENIENT),
	  .text = "The exit code is 11 if anything differs, also if apply cannot change it while "
		  "the object exists (!): access of a mapping, connections and poll queues of a "
		  "session.",
	  .examples = { "rnbdadm config diff", "rnbdadm config save | rnbdadm config diff -" },
	  .topic = "plan", EMPTY_PLAN, .page = "rnbdadm-config", .flags = CMD_PLAIN,
	  .check = cmd_config_only_check, .run = cmd_config_diff },
	{ "config", "apply", "make the running state match the configuration",
	  { ARG_CONFIG },
	  .opts = OPTS(OPT_MODE, OPT_PRUNE, OPT_ONLY, OPT_STOP_ON_ERROR, OPT_LENIENT, WAIT_OPTS),
	  .text = "New sessions and paths first, then settings, then devices; a path that is "
		  "not listed goes when another one of its session is connected. Existing "
		  "objects are left alone, so the command may be repeated, after any failure as "
		  "well. A failure does not stop the rest (exit 3). Returns when new disks can be "
		  "opened; --wait says for how long it waits for that. --prune=all is refused "
		  "(exit 7) unless --force is given, which a disk in use needs, too.",
	  .examples = { "rnbdadm config apply", "rnbdadm config apply new.conf --prune -n" },
	  .topic = "plan", EMPTY_PLAN, .page = "rnbdadm-config", .flags = CMD_CHANGES | CMD_PLAIN,
	  .check = cmd_config_only_check, .run = cmd_config_apply },
	{ "config", "edit-hints", "print a configuration to start from, with all keys explained",
	  .examples = { "rnbdadm config edit-hints", "rnbdadm config edit-hints > new.conf" },
	  .topic = "help", .empty = "{\"lines\":[]}", .page = "rnbdadm.conf", .flags = CMD_PLAIN,
	  .run = cmd_config_edit_hints },
	RDS_COMMANDS,
	{ "udev", NULL, "print the links of a disk for the rules of udev",
	  { { "NAME", .help = "rnbdN, or a partition of it" } },
	  .text = "KEY=VALUE, escaped for udev; nothing for a disk that is not mapped (yet). Takes no "
		  "lock and asks the kernel nothing.",
	  .examples = { "rnbdadm udev rnbd0", "rnbdadm udev rnbd0 -j" },
	  .topic = "udev",
	  .empty = "{\"session\":null,\"device_path\":null,\"by_session\":null,"
		   "\"by_name\":null,\"by_path\":[],\"id_serial\":null,\"id_path\":null}",
	  .page = "rnbdadm-device", .flags = CMD_PLAIN, .run = cmd_udev },
	{ "check", NULL, "find faults of this host, and their cures",
	  { { "CHECK", .optional = true, .repeat = true,
	      .help = "all, modules, netlink, rdma, net, session, device, server, system, config, "
		      "or one of 'rnbdadm help checks'" } },
	  .opts = OPTS(OPT_CHECK_SERVER, OPT_CHECK_PATH, OPT_STRICT, OPT_FIX_HINTS),
	  .text = "Changes nothing. Exit code 11 if anything fails. Prints failures, warnings and a "
		  "count; with -v, or of the checks that are named, the rest, too.",
	  .examples = { "rnbdadm check", "rnbdadm check rdma net.mtu --strict -j" },
	  .topic = "check",
	  .empty = "{\"results\":[],\"summary\":{\"pass\":0,\"warn\":0,\"fail\":0,\"skip\":0}}",
	  .page = "rnbdadm-check", .flags = CMD_PLAIN, .check = cmd_check_check, .run = cmd_check },
	{ "version", NULL, "version of the tool",
	  .text = "With -v also those of the libraries, the family and the modules.",
	  .examples = { "rnbdadm version", "rnbdadm version -j" },
	  .topic = "version",
	  .empty = "{\"version\":null,\"libnl\":null,\"jansson\":null,"
		   "\"family_version\":null,\"modules\":[]}",
	  .page = "rnbdadm", .flags = CMD_PLAIN,
	  .run = cmd_version },
	{ "help", NULL, "help on a command or topic",
	  { { "WORD", .optional = true, .repeat = true,
	      .help = "a command, or exit-codes, selectors, checks, fields OBJECT" } },
	  .examples = { "rnbdadm help map", "rnbdadm help exit-codes" },
	  .topic = "help", .empty = "{\"lines\":[]}", .page = "rnbdadm", .flags = CMD_PLAIN,
	  .check = cmd_help_check, .run = cmd_help },
	{ "completion", NULL, "the script that completes commands in a shell",
	  { { "SHELL", .values = "bash|zsh|fish", .help = "bash, zsh or fish" } },
	  .text = "Packages install it; without one: source <(rnbdadm completion bash).",
	  .examples = { "rnbdadm completion bash >/etc/bash_completion.d/rnbdadm",
			"rnbdadm completion fish | source" },
	  .topic = "completion", .empty = "{\"lines\":[]}", .page = "rnbdadm",
	  .flags = CMD_PLAIN, .run = cmd_completion },
	{ "__complete", NULL, "possible next words of a command line",
	  { { "CWORD", .help = "the word to complete" },
	    { "WORD", .repeat = true, .help = "all words, after --" } },
	  .topic = "completion", .empty = "{\"lines\":[]}", .page = "rnbdadm",
	  .flags = CMD_PLAIN | CMD_HIDDEN, .run = cmd_complete },
	{ "metadata", NULL, "the command table as JSON",
	  .examples = { "rnbdadm metadata", "rnbdadm metadata -j | jq '.commands[].name'" },
	  .topic = "metadata", .empty = "{\"commands\":[],\"options\":[],\"exit_codes\":[],\"checks\":[]}",
	  .page = "rnbdadm", .flags = CMD_PLAIN, .run = cmd_metadata },
	{ "schema", NULL, "JSON Schema of a document",
	  { { "TOPIC", .optional = true, .help = "session, path, device, ...; none lists them" } },
	  .opts = OPTS(OPT_LIST),
	  .examples = { "rnbdadm schema --list", "rnbdadm schema session" },
	  .topic = "schema", .empty = "{\"topics\":[]}", .page = "rnbdadm-json",
	  .flags = CMD_PLAIN, .run = cmd_schema },
};

/* Names of earlier versions, and what has taken their place. */
static const struct gone gone[] = {
	{ "ls", "list" }, { "sess", "session" }, { "dev", "device" }, { "srv", "server" },
	{ "del", "remove" }, { "rm", "remove" },
	{ "session add-path", "path add" }, { "session remove-path", "path remove" },
	{ "session reconnect", "path reconnect" }, { "session disconnect", "path disconnect" },
	{ "session recover", "recover" }, { "path recover", "recover" }, { "path readd", "path reconnect" },
	{ "mp-policy", "session set --mp-policy" }, { "save", "config save" }, { "restore", "config apply" },
	{ "batch", "config apply" }, { "-b", "config apply" },
	{ "server access reload", "server access apply" },
	{ "--from-server", "server export revalidate" }, { "--json-version", "-j" },
	{ "--no-tree", "list" }, { "--tree", "status" }, { "--no-totals", "--totals" },
	{ "status --client", "--role client" }, { "status --server", "--role server" },
	{ "stats --server", "--role server" }, { "stats reset --server", "--role server" },
	{ "stats reset --only", "--counters" }, { "monitor --stats", "--interval" },
	{ "--client", "--session" }, { "--all-clients", "--all" }, { "--if-exists", "--idempotent" },
	{ "--since", "-o prom, or -i" }, { "--save", "-o prom, or -i" }, { "--from-diskstats", "iostat -x" },
	{ "--sg", "-o prom" }, { "--yes", "--force" }, { "-y", "--force" },
};

static const struct object_desc objects[] = {
	{ "session", "sessions: associations with servers" },
	{ "path", "paths: the connections of a session" },
	{ "device", "mapped devices" },
	{ "config", "the configuration: the wanted sessions and devices" },
	{ "server", "the server side: clients and their open devices" },
	{ "server export", "block devices that clients have open here" },
	{ "server access", "the access list: clients and their exports" },
	{ "server peer", "clients that the access list knows" },
	{ "server client", "clients of this server" },
	{ "server path", "paths of the clients" },
	{ "server port", "ports of RDMA devices that this server listens on" },
	{ "rds", "reliable datagram sockets" },
};

const struct grammar rnbdadm_grammar = {
	.cmds = cmds, .ncmds = ARRAY_SIZE(cmds),
	.gone = gone, .ngone = ARRAY_SIZE(gone),
	.objects = objects, .nobjects = ARRAY_SIZE(objects),
	.checks = check_list_text, .complete = complete_argument,
};
