// SPDX-License-Identifier: GPL-2.0
/* Changes by writing to files of /sys. The drivers tell no more of a failure than a number. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "host/sysfs-file.h"
#include "kernel/sysfs/sysfs.h"

#define MAP_FILE	"/sys/class/rnbd-client/ctl/map_device"
#define MAP_PATHS	6

/* As they are counted in model/objects.c */
enum { PATH_CLOSING = 3, PATH_DISCONNECTED = 4 };

enum sysfs_op {
	OP_MAP, OP_UNMAP, OP_REMAP, OP_RESIZE, OP_SET, OP_ADD_PATH, OP_REMOVE_PATH, OP_RECONNECT,
	OP_DISCONNECT, OP_CLOSE, OP_RESET,
};

/* Where it is not what the number says by itself. */
static const struct {
	enum sysfs_op op;
	int err;
	enum exit_code code;
	const char *says;
} meanings[] = {
	{ OP_MAP, EINVAL, XC_FAILED, "the driver does not take the name, an address or an option" },
	{ OP_MAP, ENOENT, XC_NOT_FOUND, "the server has no such device (its dev_search_path or exports)" },
	{ OP_MAP, EEXIST, XC_CONFLICT, "already mapped in that session" },
	{ OP_MAP, EPERM, XC_BUSY, "already open read-write by another client" },
	{ OP_MAP, EACCES, XC_FAILED, "the server may not open the device like that" },
	{ OP_MAP, EBUSY, XC_BUSY, "in use on the server" },
	{ OP_MAP, ENOTBLK, XC_FAILED, "on the server that is no block device" },
	{ OP_MAP, EMFILE, XC_FAILED, "the server allows this client no more devices (its max_devices)" },
	{ OP_MAP, ENXIO, XC_FAILED, "the server has no such device, or there is no path to it" },
	{ OP_UNMAP, EBUSY, XC_BUSY, "the device is in use" },
	{ OP_UNMAP, EALREADY, XC_CONFLICT, "the device is being unmapped already" },
	{ OP_UNMAP, ENODEV, XC_UNAVAILABLE, "the module is being unloaded" },
	{ OP_REMAP, EALREADY, XC_CONFLICT, "the device is mapped" },
	{ OP_REMAP, EBUSY, XC_BUSY, "the device is being mapped, or is in use on the server" },
	{ OP_REMAP, ENODEV, XC_CONFLICT, "the device is unmapped" },
	{ OP_REMAP, ENOENT, XC_NOT_FOUND, "the server has no such device any more" },
	{ OP_REMAP, EPERM, XC_BUSY, "already open read-write by another client" },
	{ OP_REMAP, ENOTCONN, XC_FAILED, "the session has no path that is connected" },
	{ OP_RESIZE, EINVAL, XC_FAILED, "the driver does not take this size" },
	{ OP_RESIZE, ERANGE, XC_FAILED, "the driver does not take this size" },
	{ OP_RESIZE, ENOENT, XC_CONFLICT, "the device is not mapped now" },
	{ OP_SET, EINVAL, XC_FAILED, "the driver does not take this value" },
	{ OP_SET, ERANGE, XC_FAILED, "the driver does not take this value" },
	{ OP_ADD_PATH, EINVAL, XC_FAILED, "the driver does not take this address" },
	{ OP_ADD_PATH, EEXIST, XC_CONFLICT,
	  "the session has this path already, or paths of another family" },
	{ OP_RECONNECT, EBUSY, XC_BUSY, "the path is connecting or closing just now" },
	{ OP_RECONNECT, ENOTCONN, XC_FAILED, "this attempt has failed" },
	{ OP_CLOSE, EBUSY, XC_BUSY,
	  "the client is opening or closing devices just now, nothing was done" },
};

static bool fail(struct nl_error *e, enum sysfs_op op, int err)
{
	e->kind = NL_FAIL_KERNEL;
	e->err = err;
	e->by_sysfs = true;
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
		if (meanings[i].op != op || meanings[i].err != err)
			continue;
		e->says = meanings[i].says;
		e->code = meanings[i].code;
	}
	return false;
}

bool sysfs_cannot(struct nl_error *e, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_NO_FILE;
	e->err = EOPNOTSUPP;
	n = (size_t)snprintf(e->extack, sizeof(e->extack), "the sysfs backend cannot ");
	va_start(ap, fmt);
	vsnprintf(e->extack + n, sizeof(e->extack) - n, fmt, ap);
	va_end(ap);
	return false;
}

static bool refuse(struct nl_error *e, const char *what)
{
	e->kind = NL_FAIL_USAGE;
	e->err = EINVAL;
	snprintf(e->extack, sizeof(e->extack), "%s", what);
	return false;
}

static void trace(const struct sysfs *f, const char *file, const char *text, double ms, int err)
{
	char *shown = printable(text), *where = printable(file);

	if (f->k.cfg.dry_run)
		fprintf(stderr, "rnbdadm: would write '%s' to %s\n", shown, where);
	else
		fprintf(stderr, "sysfs -> %8.3f ms '%s' to %s: %s\n", ms, shown, where,
			err ? errno_name(err) : "ok");
	free(where);
	free(shown);
}

/* 0 or an errno; in one piece, as the files want it. */
static int put(const struct sysfs *f, const char *file, const char *text)
{
	char *path = xasprintf("%s%s", f->root, file);
	size_t len = strlen(text);
	ssize_t n;
	int fd, err;

	if (f->k.cfg.before_change)
		f->k.cfg.before_change();
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	err = fd < 0 ? errno : 0;
	free(path);
	if (err)
		return err;
	n = write(fd, text, len);
	err = n < 0 ? errno : (size_t)n < len ? EIO : 0;
	close(fd);
	return err;
}

/* Whoever writes waits until the driver is done. */
static bool limits_time(const struct sysfs *f, enum sysfs_op op, struct nl_error *e)
{
	return f->k.cfg.limit_ms >= 0 && op != OP_UNMAP &&
	       !sysfs_cannot(e, "limit the time of a change; leave --timeout out");
}

/* The file is looked at first: that it is not there differs from an ENOENT of the driver. */
static bool file_put(struct sysfs *f, enum sysfs_op op, const char *dir, const char *name,
		     const char *text, struct nl_error *e)
{
	char *file = xasprintf("%s%s%s", dir, *name ? "/" : "", name);
	bool there = sys_exists(f->root, "%s", file), ok = false;
	uint64_t start = now_ns();
	int err;

	memset(e, 0, sizeof(*e));
	if (!there && sys_exists(f->root, "%s", dir) && *name) {
		sysfs_cannot(e, "do that: there is no file %s", file);
	} else if (!there) {
		fail(e, OP_RESET, ENOENT);
	} else if (limits_time(f, op, e)) {
		ok = false;
	} else if (f->k.cfg.dry_run) {
		if (!f->k.cfg.quiet)
			trace(f, file, text, 0, 0);
		ok = true;
	} else {
		char *path = xasprintf("%s%s", f->root, file);
		bool may = !access(path, W_OK);

		free(path);
		if (f->k.cfg.verbose)
			fprintf(stderr, "rnbdadm: write %s\n", file);
		err = may ? put(f, file, text) : errno;
		if (f->k.cfg.trace)
			trace(f, file, text, (double)(now_ns() - start) / 1e6, err);
		ok = !err;
		/* what the mode of the file forbids is no answer of a server */
		if (err && may)
			fail(e, op, err);
		else if (err)
			fail(e, OP_RESET, err);
	}
	free(file);
	return ok;
}

/* The same below the directory of an object. */
static bool object_put(struct sysfs *f, enum sysfs_op op, uint32_t id, const char *name,
		       const char *text, struct nl_error *e)
{
	const char *dir = sysfs_dir(f, id);

	memset(e, 0, sizeof(*e));
	return dir ? file_put(f, op, dir, name, text, e) : fail(e, op, ENOENT);
}

/* The files split their text at spaces, and end it at a line end. */
static bool is_one_word(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= ' ')
			return false;
	return true;
}

/* As the driver wants it, with the interface of a link-local address. */
static void put_addr(struct strbuf *b, const struct addr *a)
{
	char text[ADDR_TEXT_MAX];

	addr_format(a, text);
	strbuf_puts(b, text);
	if (a->scope)
		strbuf_printf(b, "%%%u", a->scope);
}

static void put_way(struct strbuf *b, const struct addr_pair *p)
{
	if (p->src.family != ADDR_NONE) {
		put_addr(b, &p->src);
		strbuf_puts(b, "@");
	}
	put_addr(b, &p->dst);
}

static bool can_map(struct kernel *k, const struct map_request *req, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);

	memset(e, 0, sizeof(*e));
	if (limits_time(f, OP_MAP, e))
		return false;
	if (!is_one_word(req->device_path))
		return refuse(e, "device path contains a space, which this kernel's sysfs "
				 "interface cannot take");
	if (!is_one_word(req->session))
		return refuse(e, "session name contains a space, which this kernel's sysfs "
				 "interface cannot take");
	if (req->npaths > MAP_PATHS)
		return refuse(e, "at most 6 paths, by this kernel's sysfs interface; "
				 "'path add' adds more");
	if (req->connections != M_UNKNOWN)
		return sysfs_cannot(e, "set a number of connections");
	if (io_mode_name(req->io_mode) && strcmp(io_mode_name(req->io_mode), "blockio"))
		return sysfs_cannot(e, "ask for fileio");
	if (req->always_fua)
		return sysfs_cannot(e, "map with FUA for every write");
	for (int i = SET_MAX_RECONNECT_ATTEMPTS + 1; i < SET_N; i++)
		if (req->set.v[i] != M_UNKNOWN_INT)
			return sysfs_cannot(e, "map with %s; 'session set' may set it then",
					    setting_name(i));
	return true;
}

/* The port goes first: it is that of the paths behind it. */
static char *map_text(const struct map_request *req)
{
	struct strbuf b = { 0 };

	strbuf_printf(&b, "sessname=%s", req->session);
	if (req->npaths && req->paths[0].dst.port)
		strbuf_printf(&b, " dest_port=%u", req->paths[0].dst.port);
	for (size_t i = 0; i < req->npaths; i++) {
		strbuf_puts(&b, " path=");
		put_way(&b, &req->paths[i]);
	}
	strbuf_printf(&b, " device_path=%s", req->device_path);
	if (access_name(req->access))
		strbuf_printf(&b, " access_mode=%s", access_name(req->access));
	if (req->poll_queues != M_UNKNOWN)
		strbuf_printf(&b, " nr_poll_queues=%" PRIu64, req->poll_queues);
	return b.s;
}

static bool find_mapped(struct sysfs *f, const struct map_request *req, struct device *dev)
{
	struct snapshot s;
	struct nl_error e;
	bool found = false;

	device_init(dev);
	if (!sysfs_snapshot(f, M_CLIENT, NL_DEVICES, &s, &e))
		return false;
	for (size_t i = 0; i < s.devices.n && !found; i++) {
		found = !strcmp(s.devices.v[i].session, req->session) &&
			!strcmp(s.devices.v[i].device_path, req->device_path);
		if (found)
			*dev = s.devices.v[i];
	}
	snapshot_free(&s);
	return found;
}

static bool put_settings(struct sysfs *f, const char *dir, const struct session_settings *want,
			 struct nl_error *e)
{
	const char *policy = mp_policy_name(want->mp_policy);
	bool ok = true;

	memset(e, 0, sizeof(*e));
	if (policy)
		ok = file_put(f, OP_SET, dir, "mpath_policy", policy, e);
	for (int i = 0; ok && i < SET_N; i++) {
		char *text = xasprintf("%" PRId64, want->v[i]);

		if (want->v[i] != M_UNKNOWN_INT)
			ok = file_put(f, OP_SET, dir, setting_name(i), text, e);
		free(text);
	}
	return ok;
}

static bool map(struct kernel *k, const struct map_request *req, struct device *dev,
		struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	struct nl_error late;
	char *text, *dir;
	bool ok;

	device_init(dev);
	if (!can_map(k, req, e))
		return false;
	text = map_text(req);
	ok = file_put(f, OP_MAP, MAP_FILE, "", text, e);
	free(text);
	if (!ok && !sys_exists(f->root, MAP_FILE)) {
		e->kind = NL_FAIL_NO_FAMILY;
		snprintf(e->extack, sizeof(e->extack), "%s absent", MAP_FILE);
	}
	if (!ok)
		return false;
	dir = xasprintf("/sys/class/rtrs-client/%s", req->session);
	/* the disk is mapped, so it is no failure */
	if (!f->k.cfg.dry_run && !put_settings(f, dir, &req->set, &late))
		snprintf(e->warning, sizeof(e->warning),
			 "mapped, but not all settings of session %.120s could be made",
			 req->session);
	free(dir);
	if (!f->k.cfg.dry_run)
		find_mapped(f, req, dev);
	return true;
}

static bool unmap(struct kernel *k, const struct device *dev, bool force, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);

	return object_put(f, OP_UNMAP, dev->id, "rnbd/unmap_device", force ? "force" : "normal", e);
}

static bool remap(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct device *dev,
		  struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	bool ok;

	device_init(dev);
	ok = object_put(f, OP_REMAP, id, "rnbd/remap_device", "1", e);
	if (ok)
		sysfs_read_device(f, sysfs_dir(f, id), dev);
	return ok;
}

static bool resize(struct kernel *k, uint32_t id, uint64_t bytes, struct device *dev,
		   struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	char *sectors = xasprintf("%" PRIu64, bytes / 512);
	bool ok = object_put(f, OP_RESIZE, id, "rnbd/resize", sectors, e);

	free(sectors);
	device_init(dev);
	if (ok)
		sysfs_read_device(f, sysfs_dir(f, id), dev);
	return ok;
}

static bool session_set(struct kernel *k, uint32_t id, const struct session_settings *want,
			struct session *now, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	const char *dir = sysfs_dir(f, id);

	session_init(now);
	memset(e, 0, sizeof(*e));
	if (!dir || !sys_exists(f->root, "%s", dir))
		return fail(e, OP_SET, ENOENT);
	if (!put_settings(f, dir, want, e))
		return false;
	sysfs_read_session(f, dir, now);
	return true;
}

static bool can_session_del(struct kernel *k, struct nl_error *e)
{
	return sysfs_cannot(e, "remove a session: it ends with its last device");
}

static bool session_del(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	const char *dir = sysfs_dir(f, id);

	memset(e, 0, sizeof(*e));
	if (!dir || !sys_exists(f->root, "%s", dir))
		return fail(e, OP_SET, ENOENT);
	return can_session_del(k, e);
}

/* The one to this address that was not there before. */
static void find_added(struct sysfs *f, const char *session, const struct strlist *before,
		       const struct addr_pair *pair, struct path *now)
{
	struct strlist names = { 0 };
	bool found = false;

	sys_list(f->root, &names, "%s/paths", session);
	for (size_t i = 0; i < names.n && !found; i++) {
		char *dir = xasprintf("%s/paths/%s", session, names.v[i]);

		sysfs_read_path(f, dir, M_CLIENT, now);
		found = !strlist_has(before, names.v[i]) &&
			addr_pair_matches(pair, &now->client, &now->server);
		free(dir);
	}
	if (!found)
		path_init(now);
	strlist_free(&names);
}

static bool path_add(struct kernel *k, uint32_t session_id, const struct addr_pair *pair,
		     uint64_t timeout_ms, struct path *now, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	const char *dir = sysfs_dir(f, session_id);
	struct strlist before = { 0 };
	struct strbuf b = { 0 };
	bool ok;

	path_init(now);
	if (pair->dst.port && pair->dst.port != ADDR_DEFAULT_PORT)
		return sysfs_cannot(e, "add a path to another port than that of the session");
	put_way(&b, pair);
	if (dir)
		sys_list(f->root, &before, "%s/paths", dir);
	ok = object_put(f, OP_ADD_PATH, session_id, "add_path", b.s, e);
	if (ok)
		find_added(f, dir, &before, pair, now);
	if (ok && !*now->name)
		snprintf(now->name, sizeof(now->name), "%s", b.s);
	strlist_free(&before);
	free(b.s);
	return ok;
}

static bool path_del(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);

	return object_put(f, OP_REMOVE_PATH, id, "remove_path", "1", e);
}

static bool path_reconnect(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct path *now,
			   struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	bool ok;

	path_init(now);
	ok = object_put(f, OP_RECONNECT, id, "reconnect", "1", e);
	if (ok)
		sysfs_read_path(f, sysfs_dir(f, id), M_CLIENT, now);
	return ok;
}

static bool path_disconnect(struct kernel *k, uint32_t id, struct path *now, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	bool ok = object_put(f, OP_DISCONNECT, id, "disconnect", "1", e);
	const char *dir = sysfs_dir(f, id);

	path_init(now);
	if (!ok)
		return false;
	/* a server does it later, and then its directory goes */
	if (!strncmp(dir, "/sys/class/rtrs-server/", 23))
		now->state = sys_exists(f->root, "%s", dir) ? PATH_CLOSING : PATH_DISCONNECTED;
	else
		sysfs_read_path(f, dir, M_CLIENT, now);
	return true;
}

static bool export_close(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	int64_t end = now_ms() + 1000;
	const char *dir = sysfs_dir(f, id);

	if (!object_put(f, OP_CLOSE, id, "force_close", "1", e))
		return false;
	/* it says nothing when it did nothing */
	while (!f->k.cfg.dry_run && sys_exists(f->root, "%s", dir)) {
		if (now_ms() >= end)
			return fail(e, OP_CLOSE, EBUSY);
		sleep_ms(20);
	}
	return true;
}

static bool session_disconnect(struct kernel *k, uint32_t id, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	const char *dir = sysfs_dir(f, id);
	struct strlist names = { 0 };
	bool ok = true;

	memset(e, 0, sizeof(*e));
	if (dir)
		sys_list(f->root, &names, "%s/paths", dir);
	if (!names.n)
		return fail(e, OP_DISCONNECT, ENOENT);
	for (size_t i = 0; ok && i < names.n; i++) {
		char *path = xasprintf("%s/paths/%s", dir, names.v[i]);

		ok = file_put(f, OP_DISCONNECT, path, "disconnect", "1", e);
		/* gone by itself is as good */
		if (!ok && e->kind == NL_FAIL_KERNEL && (e->err == ENOENT || e->err == ENODEV))
			ok = true;
		free(path);
	}
	strlist_free(&names);
	return ok;
}

/* In the order of the kernel's bits; the in-tree drivers have three of them. */
static const char *const group_files[] = {
	"stats/rdma", "stats/rdma_lat", "stats/sg_entries", "stats/cpu_migration_from",
	"stats/wc_completion", "stats/reconnects",
};

static bool reset_path(struct sysfs *f, const struct path *p, uint32_t groups, struct nl_error *e)
{
	const char *dir = sysfs_dir(f, p->id), *all = "stats/reset_all";
	bool ok = true;

	/* servers have it only here */
	if (p->role == M_SERVER && !sys_exists(f->root, "%s/%s", dir, all))
		all = group_files[0];
	if (!groups)
		return file_put(f, OP_RESET, dir, all, "1", e);
	for (size_t i = 0; ok && i < ARRAY_SIZE(group_files); i++)
		if (groups & 1U << i)
			ok = file_put(f, OP_RESET, dir, group_files[i], "1", e);
	return ok;
}

static bool stats_reset(struct kernel *k, const struct nl_stats_reset *r, struct nl_error *e)
{
	struct sysfs *f = to_sysfs(k);
	struct snapshot s;
	bool ok = sysfs_snapshot(f, r->role, NL_PATHS | NL_SESSIONS, &s, e), mixed = false;

	for (size_t i = 0; ok && i < s.paths.n; i++) {
		const struct path *p = &s.paths.v[i];

		if (r->path_id ? p->id != r->path_id :
				 r->session_id && p->session_id != r->session_id)
			continue;
		ok = reset_path(f, p, r->groups, e);
		/* ours, which have these files too, keep it */
		mixed |= r->role == M_CLIENT && (!r->groups || r->groups & 1) &&
			 !sys_exists(f->root, "%s/stats/rdma_lat", sysfs_dir(f, p->id)) &&
			 snapshot_session(&s, p->session) &&
			 snapshot_session(&s, p->session)->set.mp_policy == 1;
	}
	if (ok && mixed)
		snprintf(e->warning, sizeof(e->warning),
			 "in-tree drivers forget the requests in flight as well, and "
			 "min-inflight depends on them");
	snapshot_free(&s);
	return ok;
}

static bool snapshot(struct kernel *k, enum m_role role, unsigned int what, struct snapshot *s,
		     bool *torn, struct nl_error *e)
{
	*torn = false;
	return sysfs_snapshot(to_sysfs(k), role, what, s, e);
}

static bool has_group(const struct kernel *k, const char *group)
{
	return false;
}

static bool listen_to(struct kernel *k, const char *group, struct nl_error *e)
{
	return sysfs_cannot(e, "tell events");
}

static enum nl_next next_event(struct kernel *k, struct nl_event *ev)
{
	return NL_NEXT_NONE;
}

static bool events(struct kernel *k)
{
	return false;
}

static bool device_set_rw(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct device *dev,
			  struct nl_error *e)
{
	return sysfs_cannot(e, "change the access of a mapped device");
}

static bool session_add(struct kernel *k, const struct map_request *req, struct session *now,
			struct nl_error *e)
{
	return sysfs_cannot(e, "make a session without a device; map makes it");
}

static bool export_revalidate(struct kernel *k, uint32_t id, uint64_t timeout_ms,
			      struct export *now,
			      enum m_reach *reach, struct nl_error *e)
{
	return sysfs_cannot(e, "tell clients of a new size; use 'resize' on the client");
}

static bool port_drain(struct kernel *k, const struct port *p, bool force, struct nl_error *e)
{
	return sysfs_cannot(e, "drain ports");
}

static bool port_undrain(struct kernel *k, const struct port *p, struct nl_error *e)
{
	return sysfs_cannot(e, "drain ports");
}

static bool cannot_access(struct kernel *k, enum access_ask what, const struct access_list *request,
			  struct access_list *reply, struct nl_error *e)
{
	*reply = (struct access_list){ 0 };
	return sysfs_cannot(e, "tell or change the access list");
}

const struct kernel_ops sysfs_ops = {
	.close = sysfs_close, .snapshot = snapshot, .listen = listen_to,
	.has_group = has_group, .next_event = next_event, .events = events, .can_map = can_map,
	.map = map, .unmap = unmap, .remap = remap, .resize = resize, .device_set_rw = device_set_rw,
	.session_set = session_set, .session_add = session_add, .session_del = session_del,
	.can_session_del = can_session_del, .path_add = path_add, .path_del = path_del,
	.path_reconnect = path_reconnect, .path_disconnect = path_disconnect,
	.export_close = export_close, .session_disconnect = session_disconnect,
	.export_revalidate = export_revalidate, .port_drain = port_drain, .port_undrain = port_undrain,
	.access = cannot_access,
	.stats_reset = stats_reset,
};
