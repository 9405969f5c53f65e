// SPDX-License-Identifier: GPL-2.0
/* The server side of this host, and a server that --server names. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check.h"
#include "host/disks.h"
#include "host/rdma-listeners.h"
#include "host/routes.h"
#include "host/sysfs-file.h"

static bool have_server(struct checkup *k)
{
	if (check_loaded(k, "rnbd_server"))
		return true;
	check_tell(k, CHECK_SKIP, "", "server module not loaded");
	return false;
}

/*
 * The RDMA device in software over the interface of the default route, the one by which everybody
 * reaches this host; NULL: there is none, or the server does not listen on it.
 */
static char *open_to_all(struct checkup *k, const struct strlist *on)
{
	/* Nobody has this address, and no route but the default one leads there. */
	static const struct addr nobody = { .family = ADDR_IPV4, .raw = { 192, 0, 2, 1 } }, any;
	char *dev = rtnl_route(k->root, &nobody, &any), *hca = dev ? check_rdma_of(k, dev) : NULL;
	bool listens = false;

	for (size_t i = 0; hca && i < on->n; i++)
		if (!strncmp(on->v[i], hca, strlen(hca)) && on->v[i][strlen(hca)] == ':')
			listens = true;
	free(dev);
	if (listens && !sys_exists(k->root, "/sys/class/infiniband/%s/device", hca))
		return hca;
	free(hca);
	return NULL;
}

/* Who has the port that the server wants, to be freed; NULL where that is nobody, or not known. */
static char *taken_by(struct checkup *k, uint64_t port)
{
	struct strlist who = { 0 };
	char *list;

	if (!*k->root && k->hcas.n)
		rdma_listeners((unsigned int)port, &who);
	list = who.n ? strlist_join(&who, ", ") : NULL;
	strlist_free(&who);
	return list;
}

/* With which port modprobe would load rnbd_server: the last that its configuration names. */
static uint64_t port_to_be(const char *root)
{
	uint64_t port = ADDR_DEFAULT_PORT;
	struct strlist files = { 0 };

	sys_list(root, &files, "/etc/modprobe.d");
	for (size_t i = 0; i < files.n; i++) {
		char *file = xasprintf("/etc/modprobe.d/%s", files.v[i]), *text = sys_text(root, file), *rest = text;
		char *line, *value;

		while (rest && (line = strsep(&rest, "\n"))) {
			int n = 0;

			sscanf(line, " options rnbd%*1[-_]server %n", &n);
			value = n ? strstr(line + n, "port_nr=") : NULL;
			if (value)
				port = strtoull(value + strlen("port_nr="), NULL, 10);
		}
		free(text);
		free(file);
	}
	strlist_free(&files);
	return port;
}

/* rnbd_server is not loaded. Where rtrs_server is, it may have been refused. */
static void tell_refused(struct checkup *k)
{
	uint64_t port = port_to_be(k->root);
	char *who = taken_by(k, port);

	if (!who) {
		check_tell(k, CHECK_SKIP, "", "server module not loaded");
	} else if (check_loaded(k, "rtrs_server")) {
		check_tell(k, CHECK_FAIL, "", "%s has port %" PRIu64 ": rnbd_server is refused", who, port);
		check_hint(k, "end that, or load rnbd_server with another port_nr");
	} else {
		check_tell(k, CHECK_SKIP, "", "server module not loaded; %s has port %" PRIu64, who, port);
	}
	free(who);
}

/* What the family says of the ports: those that take paths, and those that are drained. */
static void tell_ports(struct checkup *k, uint64_t number, const struct port_list *ports)
{
	struct strlist on = { 0 }, off = { 0 };
	char *list, *drained, *soft;

	for (size_t i = 0; i < ports->n; i++)
		strlist_addf(ports->v[i].drained == 1 ? &off : &on, "%s:%" PRIu64, ports->v[i].hca,
			     ports->v[i].number);
	list = strlist_join(&on, ", ");
	drained = strlist_join(&off, ", ");
	soft = open_to_all(k, &on);
	if (!ports->n) {
		check_tell(k, CHECK_FAIL, "", "port %" PRIu64 ", but it listens on no RDMA device",
			   number);
		check_hint(k, "is it taken? 'rdma resource show cm_id' names the program; "
			      "another port_nr of rnbd_server");
	} else if (!on.n) {
		check_tell(k, CHECK_FAIL, "", "port %" PRIu64 ", but no client can connect: %s "
			   "drained", number, drained);
		check_hint(k, "rnbdadm server port undrain %s", off.v[0]);
	} else if (off.n) {
		check_tell(k, CHECK_WARN, "", "port %" PRIu64 " of %s; drained: %s", number, list,
			   drained);
		check_hint(k, "rnbdadm server port undrain %s, when the work is done", off.v[0]);
	} else if (soft) {
		check_tell(k, CHECK_WARN, "", "port %" PRIu64 " of %s; %s is in software, over the "
			   "interface of the default route", number, list, soft);
		check_hint(k, "rtrs_server listen=DEVICE,... without %s, or anybody may connect", soft);
	} else {
		check_tell(k, CHECK_PASS, "", "port %" PRIu64 " of %s", number, list);
	}
	free(soft);
	free(drained);
	free(list);
	strlist_free(&on);
	strlist_free(&off);
}

static void server_listen(struct checkup *k)
{
	struct snapshot s = { 0 };
	uint64_t port;

	if (!check_loaded(k, "rnbd_server")) {
		tell_refused(k);
		return;
	}
	port = sys_number(k->root, "/sys/module/rnbd_server/parameters/port_nr");
	if (port == UINT64_MAX)
		port = ADDR_DEFAULT_PORT;
	if (!k->hcas.n) {
		check_tell(k, CHECK_FAIL, "", "port %" PRIu64 ", but there is no RDMA device to listen on",
			   port);
		check_hint(k, "rnbdadm check rdma.devices");
	} else if (!check_server(k)) {
		return;
	} else if (ctx_snapshot(k->ctx, M_SERVER, NL_PORTS, &s)) {
		tell_ports(k, port, &s.ports);
	} else {
		fail_clear(&k->ctx->fail);
		check_tell(k, CHECK_SKIP, "", "port %" PRIu64 "; the module does not tell of which "
			   "RDMA devices", port);
	}
	check_data(k, "port", js_u64(port));
	snapshot_free(&s);
}

/*
 * The directory that is the same for all sessions: what stands for %SESSNAME%, and so what is
 * below it, differs. The module opens devices as root; another user may see less than that.
 */
static void tell_directory(struct checkup *k, const char *dir, bool for_each)
{
	char *path = xasprintf("%s%s", k->root, dir);
	struct stat st;
	int err = stat(path, &st) || (S_ISDIR(st.st_mode) && access(path, R_OK | X_OK)) ? errno : 0;

	if (err == EACCES && geteuid()) {
		check_tell(k, CHECK_SKIP, dir, "this user may not look into it, the module may");
	} else if (err == EACCES) {
		check_tell(k, CHECK_FAIL, dir, "cannot be read, not even by root");
		check_hint(k, "permissions, or the options of its file system (root_squash)");
	} else if (err) {
		check_tell(k, CHECK_FAIL, dir, "does not exist: no client can open anything");
		check_hint(k, "mkdir -p %s, or load rnbd_server with another dev_search_path", dir);
	} else if (!S_ISDIR(st.st_mode)) {
		check_tell(k, CHECK_FAIL, dir, "is no directory: no client can open anything");
		check_hint(k, "load rnbd_server with another dev_search_path");
	} else {
		check_tell(k, CHECK_PASS, dir, "can be read%s", for_each ?
			   "; the directories of sessions below it were not looked at" : "");
	}
	free(path);
}

static void server_search_path(struct checkup *k)
{
	char *dir, *at;

	if (!have_server(k))
		return;
	dir = sys_read(k->root, "/sys/module/rnbd_server/parameters/dev_search_path");
	if (!dir || !*dir) {
		check_tell(k, CHECK_SKIP, "", "the module does not tell");
		free(dir);
		return;
	}
	at = strstr(dir, "%SESSNAME%");
	if (at)
		*at = '\0';
	/* it may be the end of a name */
	if (at && strrchr(dir, '/'))
		strrchr(dir, '/')[1] = '\0';
	tell_directory(k, dir, at);
	free(dir);
}

/* Can the file be written, or made? Errno of what is in the way. */
static int record_errno(struct checkup *k, const char *file)
{
	char *path = xasprintf("%s%s", k->root, file), *slash = strrchr(path, '/');
	int err = access(path, W_OK) ? errno : 0;

	if (err == ENOENT && slash) {
		slash[1] = '\0';
		err = access(path, W_OK | X_OK) ? errno : 0;
	}
	free(path);
	return err;
}

static void server_record(struct checkup *k)
{
	char *file;
	int err;

	if (!have_server(k))
		return;
	file = sys_read(k->root, "/sys/module/rnbd_server/parameters/record");
	err = file && *file ? record_errno(k, file) : 0;
	if (!file) {
		check_tell(k, CHECK_SKIP, "", "the module keeps none");
	} else if (!*file) {
		check_tell(k, CHECK_WARN, "", "none is kept: clients that write have to be remapped "
			   "after a restart of this server");
		check_hint(k, "load rnbd_server with record=/var/lib/rnbd-writers");
	} else if (err == EACCES && geteuid()) {
		check_tell(k, CHECK_SKIP, file, "this user may not write to it, the module may");
	} else if (err) {
		check_tell(k, CHECK_WARN, file, "cannot be written (%s): clients that write have to be "
			   "remapped after a restart of this server, or are refused", errno_name(err));
		check_hint(k, "a directory and a file system that can be written to, or load rnbd_server "
			   "with another record");
	} else {
		check_tell(k, CHECK_PASS, file, "can be written");
	}
	free(file);
}

/* sdb, sdb1, dm-3, loop0: given in the order in which disks come */
static bool name_moves(const char *path)
{
	const char *slash = strrchr(path, '/');
	regex_t moves;
	bool match;

	if (regcomp(&moves, "^((s|v|xv)d[a-z]+[0-9]*|(dm-|loop)[0-9]+)$", REG_EXTENDED | REG_NOSUB))
		return false;
	match = !regexec(&moves, slash ? slash + 1 : path, 0, NULL, 0);
	regfree(&moves);
	return match;
}

static void server_names(struct checkup *k)
{
	const struct export_list *l = &k->exports.exports;
	size_t j;

	if (!have_server(k) || !check_server(k))
		return;
	for (size_t i = 0; i < l->n; i = j) {
		const char *moves = NULL;

		for (j = i; j < l->n && !strcmp(l->v[j].name, l->v[i].name); j++)
			if (name_moves(l->v[j].device_path))
				moves = l->v[j].device_path;
		if (moves) {
			check_tell(k, CHECK_WARN, l->v[i].name, "is open as %s, a name that may be another "
				   "disk's after a boot", moves);
			check_hint(k, "offer links of lasting names instead: /dev/disk/by-id, /dev/VG/LV");
		} else {
			check_tell(k, CHECK_PASS, l->v[i].name, "is open by a name that lasts");
		}
	}
	if (!l->n)
		check_tell(k, CHECK_SKIP, "", "nothing is exported");
}

static void server_export_perm(struct checkup *k)
{
	const struct export_list *l = &k->exports.exports;

	if (!have_server(k) || !check_server(k))
		return;
	for (size_t i = 0; i < l->n; i++) {
		const struct export *e = &l->v[i];

		if (i && !strcmp(e->name, l->v[i - 1].name))
			continue;
		if (*e->name != '/' && !sys_exists(k->root, "/sys/class/block/%s", e->name)) {
			check_tell(k, CHECK_FAIL, e->name, "is open for %s, and gone from this host",
				   e->session);
			check_hint(k, "bring it back, or rnbdadm server export close %s --all",
				   e->name);
		} else if (e->read_only != 1 && sys_block_read_only(k->root, e->name) == 1) {
			check_tell(k, CHECK_WARN, e->name, "is read-only here and open for writing for %s",
				   e->session);
			check_hint(k, "clients map it with --access ro, or 'blockdev --setrw /dev/%s'",
				   e->name);
		} else {
			check_tell(k, CHECK_PASS, e->name, "is there");
		}
	}
	if (!l->n)
		check_tell(k, CHECK_SKIP, "", "nothing is exported");
}

/* Two that write to one device without knowing of each other. */
static void server_writers(struct checkup *k)
{
	const struct export_list *l = &k->exports.exports;
	size_t j;

	if (!have_server(k) || !check_server(k))
		return;
	for (size_t i = 0; i < l->n; i = j) {
		size_t writers = 0;

		for (j = i; j < l->n && !strcmp(l->v[j].name, l->v[i].name); j++)
			writers += l->v[j].read_only != 1;
		if (writers > 1) {
			check_tell(k, CHECK_WARN, l->v[i].name, "%zu clients may write to it", writers);
			check_hint(k, "right for a cluster file system and during a migration only; "
				   "rnbdadm server export show %s", l->v[i].name);
		} else {
			check_tell(k, CHECK_PASS, l->v[i].name, "%zu writer%s", writers,
				   writers == 1 ? "" : "s");
		}
	}
	if (!l->n)
		check_tell(k, CHECK_SKIP, "", "nothing is exported");
}

/* What this host mounts, or builds on, while a client writes to it. */
static void server_in_use(struct checkup *k)
{
	const struct export_list *l = &k->exports.exports;
	size_t j;

	if (!have_server(k) || !check_server(k))
		return;
	for (size_t i = 0; i < l->n; i = j) {
		const struct strlist *users = &l->v[i].users;
		const char *writer = NULL;
		char *list;

		for (j = i; j < l->n && !strcmp(l->v[j].name, l->v[i].name); j++)
			if (l->v[j].read_only != 1)
				writer = l->v[j].session;
		if (!users->n) {
			check_tell(k, CHECK_PASS, l->v[i].name, "this host does nothing with it");
			continue;
		}
		list = strlist_join(users, ", ");
		if (writer) {
			check_tell(k, CHECK_FAIL, l->v[i].name, "%s may write to it, and this host uses it: %s",
				   writer, list);
			check_hint(k, "end one of them, or its data is lost; rnbd_server "
				      "share_local=N keeps them apart");
		} else {
			check_tell(k, CHECK_WARN, l->v[i].name, "clients read it, and this host uses it: %s",
				   list);
			check_hint(k, "right where nobody writes to it: clients do not see the "
				      "changes");
		}
		free(list);
	}
	if (!l->n)
		check_tell(k, CHECK_SKIP, "", "nothing is exported");
}

/* One opening whose client was told another size than the device has now; smaller is worse. */
static const struct export *other_size(const struct export *v, size_t n, bool *known)
{
	const struct export *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (v[i].told_bytes == M_UNKNOWN || v[i].size_bytes == M_UNKNOWN)
			continue;
		*known = true;
		if (v[i].told_bytes > v[i].size_bytes)
			return &v[i];
		if (v[i].told_bytes < v[i].size_bytes && !found)
			found = &v[i];
	}
	return found;
}

static void server_size(struct checkup *k)
{
	const struct export_list *l = &k->exports.exports;
	size_t j;

	if (!have_server(k) || !check_server(k))
		return;
	for (size_t i = 0; i < l->n; i = j) {
		const char *name = l->v[i].name;
		const struct export *e;
		bool known = false;

		for (j = i; j < l->n && !strcmp(l->v[j].name, name); j++)
			;
		e = other_size(&l->v[i], j - i, &known);
		if (!known) {
			check_tell(k, CHECK_SKIP, name, "the module does not tell the size that "
							"its clients know");
		} else if (!e) {
			check_tell(k, CHECK_PASS, name, "%" PRIu64 " bytes, as its clients were told",
				   l->v[i].size_bytes);
		} else if (e->told_bytes > e->size_bytes) {
			check_tell(k, CHECK_FAIL, name, "has %" PRIu64 " bytes only, %s was told %" PRIu64,
				   e->size_bytes, e->session, e->told_bytes);
			check_hint(k, "make it as large again, or rnbdadm server export revalidate %s --force",
				   name);
		} else {
			check_tell(k, CHECK_WARN, name, "has %" PRIu64 " bytes, %s was told %" PRIu64,
				   e->size_bytes, e->session, e->told_bytes);
			check_hint(k, "rnbdadm server export revalidate %s", name);
		}
	}
	if (!l->n)
		check_tell(k, CHECK_SKIP, "", "nothing is exported");
}

static void server_memory(struct checkup *k)
{
	char *text, *at;
	uint64_t depth, chunk, free_kb, need;

	if (!have_server(k))
		return;
	depth = sys_number(k->root, "/sys/module/rtrs_server/parameters/sess_queue_depth");
	chunk = sys_number(k->root, "/sys/module/rtrs_server/parameters/max_chunk_size");
	text = sys_text(k->root, "/proc/meminfo");
	at = text ? strstr(text, "MemAvailable:") : NULL;
	free_kb = at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) : UINT64_MAX;
	free(text);
	if (depth > 1 << 20 || chunk > 1 << 30 || free_kb == UINT64_MAX) {
		check_tell(k, CHECK_SKIP, "", "the module does not tell");
		return;
	}
	need = depth * chunk >> 20;
	if (need > free_kb >> 10) {
		check_tell(k, CHECK_FAIL, "", "each client pins %" PRIu64 " MiB, available are %" PRIu64 " MiB",
			   need, free_kb >> 10);
		check_hint(k, "load rtrs_server with a smaller sess_queue_depth or max_chunk_size");
	} else {
		check_tell(k, CHECK_PASS, "", "%" PRIu64 " MiB for each client, %" PRIu64 " MiB available",
			   need, free_kb >> 10);
	}
	check_data(k, "pinned_bytes", js_u64(depth * chunk));
}

/* The address in brackets; NULL where it is none of IPv6, or more than a port comes behind. */
static char *in_brackets(const char *server, const char **colon)
{
	const char *end = strchr(server, ']');
	char *host;

	if (!end || (end[1] && end[1] != ':'))
		return NULL;
	*colon = end[1] ? end + 1 : NULL;
	host = xstrndup(server + 1, (size_t)(end - server - 1));
	if (!strchr(host, ':')) {
		free(host);
		return NULL;
	}
	return host;
}

char *check_host(const char *server, uint64_t *port)
{
	const char *colon = strrchr(server, ':');
	char *host;

	*port = 0;
	/* "::1" is an address and has no port */
	if (colon && (strchr(server, ':') != colon || colon[1 + strspn(colon + 1, "0123456789")]))
		colon = NULL;
	host = *server == '[' ? in_brackets(server, &colon) :
	       xstrndup(server, colon ? (size_t)(colon - server) : strlen(server));
	if (!host || !*host || (colon && (!parse_uint(colon + 1, port) || !*port || *port > 65535))) {
		free(host);
		return NULL;
	}
	return host;
}

/* The path of a session to that server, a connected one if there is; the kernel connects them by RDMA. */
static const struct path *path_to(const struct checkup *k, const struct addr *a, uint64_t port)
{
	const struct path *found = NULL;

	for (size_t i = 0; i < k->client.paths.n; i++) {
		const struct path *p = &k->client.paths.v[i];

		if (!addr_equal(&p->server, a) || (port && p->server.port != port))
			continue;
		if (!strcmp(path_state_name(p->state), "connected"))
			return p;
		found = p;
	}
	return found;
}

/* What the kernel's own attempts say; false where no session makes any. */
static bool told_by_path(struct checkup *k, const struct addr *a, uint64_t port)
{
	const struct path *p = path_to(k, a, port);
	const char *state = p ? path_state_name(p->state) : "";

	if (!p)
		return false;
	if (!strcmp(state, "connected")) {
		check_tell(k, CHECK_PASS, k->server, "session %s is connected to it", p->session);
	} else if (p->last_error) {
		check_tell(k, CHECK_FAIL, k->server, "session %s cannot connect to it: %s", p->session,
			   errno_name((int)llabs(p->last_error)));
		check_hint(k, "rnbdadm check session.paths_down net rdma");
	} else {
		check_tell(k, CHECK_SKIP, k->server, "session %s has a path to it, which is %s", p->session,
			   state);
		check_hint(k, "rnbdadm path reconnect %s %s", p->session, p->name);
	}
	check_data(k, "path", js_str(p->name));
	return true;
}

/* Is there anything on the way that an attempt would fail at? More cannot be known without one. */
static void tell_way(struct checkup *k, const struct addr *a, uint64_t port)
{
	const struct addr any = { .family = ADDR_NONE };
	char *dev = rtnl_route(k->root, a, &any), *hca = dev ? check_rdma_of(k, dev) : NULL;
	char *dest = port ? xasprintf(" --dest-port %" PRIu64, port) : xstrdup("");
	char text[ADDR_TEXT_MAX];

	addr_format_bare(a, text);
	if (!dev) {
		check_tell(k, CHECK_FAIL, k->server, "no route");
		check_hint(k, "ip route get %s", text);
	} else if (strcmp(dev, "lo") && !hca) {
		check_tell(k, CHECK_FAIL, k->server, "the route leaves through %s, which has no RDMA", dev);
		check_hint(k, "an address of the server in the RDMA network, or a route; 'rdma link'");
	} else if (!rtnl_neighbour(k->root, a, dev)) {
		check_tell(k, CHECK_FAIL, k->server, "does not answer %s on %s",
			   a->family == ADDR_IPV4 ? "ARP" : "NDP", dev);
		check_hint(k, "is the server up and in the same network (VLAN, switch port)? 'ip neigh'");
	} else {
		if (hca)
			check_tell(k, CHECK_SKIP, k->server,
				   "no connection was tried; %s is reached through %s, of RDMA device %s", text,
				   dev, hca);
		else
			check_tell(k, CHECK_SKIP, k->server,
				   "no connection was tried; %s is an address of this host", text);
		check_hint(k, "rnbdadm session add NAME --path %s%s tries one", text, dest);
	}
	free(dest);
	free(hca);
	free(dev);
}

static void server_reachable(struct checkup *k)
{
	char *host, *text, *msg;
	uint64_t port;
	struct addr a;

	if (!k->server) {
		check_tell(k, CHECK_SKIP, "", "--server names none");
		return;
	}
	host = check_host(k->server, &port);
	text = addr_of_host(host);
	msg = addr_parse(text, &a);
	free(text);
	if (msg) {
		check_tell(k, CHECK_FAIL, k->server, "%s", msg);
		check_hint(k, "an address, or a name that DNS or /etc/hosts has");
	} else if (!told_by_path(k, &a, port)) {
		tell_way(k, &a, port);
	}
	free(msg);
	free(host);
}

const struct check server_checks[] = {
	{ "server.listen", "the server listens on the ports of its RDMA devices", server_listen,
	  .cause = "there is no RDMA device, another program has the port, ports were drained, or one is open to the management network",
	  .cure = "rnbdadm check rdma.devices; another port_nr; rnbdadm server port undrain PORT; listen= of rtrs_server" },
	{ "server.search_path", "its dev_search_path is a directory that can be read",
	  server_search_path, .cause = "the directory was never made, or is not mounted yet",
	  .cure = "mkdir it, or load rnbd_server with another dev_search_path" },
	{ "server.access", "an access list names the clients and their exports", server_access,
	  .cause = "the server is open, or closed since its boot; or an address is no proof on InfiniBand",
	  .cure = "[peer] and [export] sections and rnbdadm server access apply; from = gid:GID" },
	{ "server.access_dirs", "the devices of the access list exist, and its directories are "
				"root's alone", server_access_dirs,
	  .cause = "a disk or file was moved, or a directory may be written to by others than root",
	  .cure = "correct the path of the export; chown root, chmod go-w" },
	{ "server.record", "the last writer of each disk can be kept", server_record,
	  .cause = "the directory is missing or read-only, or there is no record by choice",
	  .cure = "load rnbd_server with a record in a directory that outlasts a boot" },
	{ "server.names", "clients open disks by names that last", server_names,
	  .cause = "sdb, dm-3 or loop0 may be another disk after a boot; its clients stay away then",
	  .cure = "offer links of lasting names, as those in /dev/disk/by-id" },
	{ "server.export_perm", "open devices of clients exist, and are writable", server_export_perm,
	  .cause = "the disk below was removed, or is write-protected",
	  .cure = "bring it back, or rnbdadm server export close DEVICE --all" },
	{ "server.writers", "one writer for each device", server_writers,
	  .cause = "two clients map the device for writing",
	  .cure = "right for a cluster file system and during a migration only; --access ro elsewhere" },
	{ "server.in_use", "devices that clients write to are not used by this host, too", server_in_use,
	  .cause = "it is mounted here, swap, or below dm, md or LVM, which share_local=Y of rnbd_server allows",
	  .cure = "unmount it here; a filter in lvm.conf keeps LVM off the disks of clients" },
	{ "server.size", "clients know the size that each device has", server_size,
	  .cause = "the disk below was made larger or smaller after the clients had mapped it",
	  .cure = "rnbdadm server export revalidate DEVICE tells them" },
	{ "server.memory", "there is memory for one more client", server_memory,
	  .cause = "queue depth times chunk size is pinned for each client",
	  .cure = "load rtrs_server with a smaller sess_queue_depth or max_chunk_size" },
	{ "server.reachable", "a session is connected to --server; without one it is skipped", server_reachable,
	  .cause = "the name has no address, the route leaves without RDMA, the server is down",
	  .cure = "an address of the server in the RDMA network; 'ip route get', 'rdma link'" },
	{ 0 }
};
