// SPDX-License-Identifier: GPL-2.0
/*
 * The tree of /sys into the model. What a file does not tell, or tells in words that nobody
 * knows, is unknown. An object that goes while it is read is left out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/sysfs-file.h"
#include "kernel/sysfs/sysfs.h"

#define CLIENTS		"/sys/class/rtrs-client"
#define SERVERS		"/sys/class/rtrs-server"
#define MAPPED		"/sys/class/rnbd-client"
#define EXPORTED	"/sys/class/rnbd-server"

/* As the words of path_states[] and session_states[] are counted in model/objects.c */
enum { PATH_CONNECTED = 1 };
enum { SESSION_CONNECTED, SESSION_DEGRADED, SESSION_DISCONNECTED = 3 };

bool sysfs_there(const char *root)
{
	return sys_exists(root, CLIENTS) || sys_exists(root, SERVERS) || sys_exists(root, MAPPED) ||
	       sys_exists(root, EXPORTED);
}

static bool unloaded(struct nl_error *e, const char *class)
{
	memset(e, 0, sizeof(*e));
	e->kind = NL_FAIL_NO_FAMILY;
	e->err = ENOENT;
	snprintf(e->extack, sizeof(e->extack), "%s absent", class);
	return true;
}

bool sysfs_unloaded(const struct sysfs *f, enum m_role role, struct nl_error *e)
{
	const char *class = role == M_SERVER ? EXPORTED : MAPPED;
	const char *rtrs = role == M_SERVER ? SERVERS : CLIENTS;

	return !sys_exists(f->root, "%s", class) && !sys_exists(f->root, "%s", rtrs) &&
	       unloaded(e, class);
}

struct kernel *sysfs_open(const struct nl_config *cfg, struct nl_error *e)
{
	struct sysfs *f;

	memset(e, 0, sizeof(*e));
	if (!sysfs_there(cfg->root)) {
		unloaded(e, MAPPED " and rnbd-server");
		return NULL;
	}
	f = xcalloc(1, sizeof(*f));
	f->k = (struct kernel){ .ops = &sysfs_ops, .cfg = *cfg, .event_fd = -1 };
	f->root = cfg->root;
	f->ids = json_object();
	return &f->k;
}

void sysfs_close(struct kernel *k)
{
	struct sysfs *f = to_sysfs(k);

	json_decref(f->ids);
	strlist_free(&f->dirs);
	free(f);
}

static uint32_t id_of(struct sysfs *f, const char *dir)
{
	json_t *known = json_object_get(f->ids, dir);

	if (known)
		return M_ID_LOCAL | (uint32_t)json_integer_value(known);
	strlist_add(&f->dirs, dir);
	json_object_set_new_nocheck(f->ids, dir, json_integer((json_int_t)f->dirs.n));
	return M_ID_LOCAL | (uint32_t)f->dirs.n;
}

const char *sysfs_dir(const struct sysfs *f, uint32_t id)
{
	uint32_t i = id & ~M_ID_LOCAL;

	return id & M_ID_LOCAL && i && i <= f->dirs.n ? f->dirs.v[i - 1] : NULL;
}

/* The number of DIR/NAME. */
static uint32_t id_below(struct sysfs *f, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	uint32_t id = id_of(f, path);

	free(path);
	return id;
}

/* The content of a file without its line end; NULL if there is none. */
static char *get(const struct sysfs *f, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *s = sys_text(f->root, path);
	size_t n = s ? strlen(s) : 0;

	free(path);
	if (n && s[n - 1] == '\n')
		s[--n] = '\0';
	if (!n) {
		free(s);
		s = NULL;
	}
	return s;
}

static void get_str(const struct sysfs *f, const char *dir, const char *name, char *dst,
		    size_t size)
{
	char *s = get(f, dir, name);

	snprintf(dst, size, "%s", s ? s : "");
	free(s);
}

#define GET_STR(f, dir, name, field) get_str(f, dir, name, field, sizeof(field))

static uint64_t get_uint(const struct sysfs *f, const char *dir, const char *name)
{
	char *s = get(f, dir, name);
	uint64_t v;

	if (!s || !parse_uint(s, &v))
		v = M_UNKNOWN;
	free(s);
	return v;
}

static int64_t get_int(const struct sysfs *f, const char *dir, const char *name)
{
	char *s = get(f, dir, name), *end;
	int64_t v = M_UNKNOWN_INT;

	if (s && (*s == '-' || (*s >= '0' && *s <= '9'))) {
		errno = 0;
		v = strtoll(s, &end, 10);
		if (errno || *end || end == s)
			v = M_UNKNOWN_INT;
	}
	free(s);
	return v;
}

/* 0 or 1 */
static uint64_t get_flag(const struct sysfs *f, const char *dir, const char *name)
{
	uint64_t v = get_uint(f, dir, name);

	return v <= 1 ? v : M_UNKNOWN;
}

static uint64_t get_word(const struct sysfs *f, const char *dir, const char *name,
			 bool (*parse)(const char *s, uint64_t *v))
{
	char *s = get(f, dir, name);
	uint64_t v;

	/* "round-robin (RR: 0)" */
	if (s)
		s[strcspn(s, " ")] = '\0';
	if (!s || !parse(s, &v))
		v = M_UNKNOWN;
	free(s);
	return v;
}

/* Numbers with spaces between; one that is none, or negative, is unknown. Returns how many. */
static size_t get_list(const struct sysfs *f, const char *dir, const char *name, uint64_t *v,
		       size_t max)
{
	char *s = get(f, dir, name), *save = NULL;
	size_t n = 0;

	for (char *t = s ? strtok_r(s, " ", &save) : NULL; t && n < max; n++) {
		if (!parse_uint(t, &v[n]))
			v[n] = M_UNKNOWN;
		t = strtok_r(NULL, " ", &save);
	}
	for (size_t i = n; i < max; i++)
		v[i] = M_UNKNOWN;
	free(s);
	return n;
}

static void get_addr(const struct sysfs *f, const char *dir, const char *name, struct addr *a)
{
	char *s = get(f, dir, name), *msg;

	memset(a, 0, sizeof(*a));
	/* as the kernel spells them: no names to be resolved */
	if (s && (!strncmp(s, "ip:", 3) || !strncmp(s, "gid:", 4))) {
		msg = addr_parse(s, a);
		if (msg)
			memset(a, 0, sizeof(*a));
		free(msg);
	}
	free(s);
}

static void get_devnum(const struct sysfs *f, const char *dir, uint64_t *major, uint64_t *minor)
{
	char *s = get(f, dir, "dev");

	if (!s || sscanf(s, "%" SCNu64 ":%" SCNu64, major, minor) != 2)
		*major = *minor = M_UNKNOWN;
	free(s);
}

static uint64_t get_size(const struct sysfs *f, const char *dir)
{
	uint64_t sectors = get_uint(f, dir, "size");

	return sectors <= INT64_MAX / 512 ? sectors * 512 : M_UNKNOWN;
}

static bool is_there(const struct sysfs *f, const char *dir)
{
	return sys_exists(f->root, "%s", dir);
}

static const char *base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

void sysfs_read_path(struct sysfs *f, const char *dir, enum m_role role, struct path *p)
{
	/* SESSION/paths/NAME, and SESSION may be called paths */
	size_t session_len = (size_t)(base_name(dir) - dir) - strlen("/paths/");
	char *session = xstrndup(dir, session_len), *s;

	path_init(p);
	p->id = id_of(f, dir);
	p->session_id = id_of(f, session);
	snprintf(p->session, sizeof(p->session), "%s", base_name(session));
	snprintf(p->name, sizeof(p->name), "%s", base_name(dir));
	free(session);
	p->role = role;
	GET_STR(f, dir, "hca_name", p->hca);
	p->hca_port = get_uint(f, dir, "hca_port");
	/* on both sides the source is the client */
	get_addr(f, dir, "src_addr", &p->client);
	get_addr(f, dir, "dst_addr", &p->server);
	if (role == M_SERVER) {
		/* the directory is there as long as the path is connected */
		p->state = PATH_CONNECTED;
		return;
	}
	p->state = get_word(f, dir, "state", path_state_parse);
	/* "42110 ns"; 0 before the first heartbeat */
	s = get(f, dir, "cur_latency");
	if (s)
		s[strcspn(s, " ")] = '\0';
	if (s && (!parse_uint(s, &p->heartbeat_ns) || !p->heartbeat_ns))
		p->heartbeat_ns = M_UNKNOWN;
	free(s);
}

static void read_paths(struct sysfs *f, enum m_role role, const char *class, struct path_list *l)
{
	struct strlist sessions = { 0 };

	sys_list(f->root, &sessions, "%s", class);
	for (size_t i = 0; i < sessions.n; i++) {
		struct strlist names = { 0 };

		sys_list(f->root, &names, "%s/%s/paths", class, sessions.v[i]);
		for (size_t k = 0; k < names.n; k++) {
			char *dir = xasprintf("%s/%s/paths/%s", class, sessions.v[i], names.v[k]);

			l->v = xgrow(l->v, l->n, sizeof(*l->v));
			sysfs_read_path(f, dir, role, &l->v[l->n]);
			l->n += is_there(f, dir);
			free(dir);
		}
		strlist_free(&names);
	}
	strlist_free(&sessions);
}

void sysfs_read_session(struct sysfs *f, const char *dir, struct session *s)
{
	session_init(s);
	s->id = id_of(f, dir);
	snprintf(s->name, sizeof(s->name), "%s", base_name(dir));
	s->role = strncmp(dir, SERVERS "/", strlen(SERVERS "/")) ? M_CLIENT : M_SERVER;
	if (s->role == M_SERVER)
		return;
	s->set.mp_policy = get_word(f, dir, "mpath_policy", mp_policy_parse);
	for (int i = 0; i < SET_N; i++)
		s->set.v[i] = get_int(f, dir, setting_name(i));
}

/* What the states of its paths come to. */
static void count_paths(struct session *s, const struct path_list *paths)
{
	s->paths_connected = s->paths_configured = 0;
	for (size_t i = 0; i < paths->n; i++) {
		if (paths->v[i].session_id != s->id)
			continue;
		s->paths_configured++;
		s->paths_connected += paths->v[i].state == PATH_CONNECTED;
	}
	s->state = !s->paths_connected			    ? SESSION_DISCONNECTED :
		   s->paths_connected < s->paths_configured ? SESSION_DEGRADED :
							      SESSION_CONNECTED;
}

static void read_sessions(struct sysfs *f, const char *class, struct session_list *l)
{
	struct strlist names = { 0 };

	sys_list(f->root, &names, "%s", class);
	for (size_t i = 0; i < names.n; i++) {
		char *dir = xasprintf("%s/%s", class, names.v[i]);

		l->v = xgrow(l->v, l->n, sizeof(*l->v));
		sysfs_read_session(f, dir, &l->v[l->n]);
		l->n += is_there(f, dir);
		free(dir);
	}
	strlist_free(&names);
}

/* As the server has told, or of the in-tree driver, whose queue is as that. */
static uint64_t write_cache(const struct sysfs *f, const char *dir)
{
	char *told = get(f, dir, "rnbd/write_cache");
	char *s = told ? told : get(f, dir, "queue/write_cache");
	uint64_t v = !s				 ? M_UNKNOWN :
		     !strcmp(s, "write back")	 ? 1 :
		     !strcmp(s, "write through") ? 0 :
						   M_UNKNOWN;

	free(s);
	return v;
}

void sysfs_read_device(struct sysfs *f, const char *dir, struct device *d)
{
	struct strlist queues = { 0 };

	device_init(d);
	d->id = id_of(f, dir);
	snprintf(d->name, sizeof(d->name), "%s", base_name(dir));
	GET_STR(f, dir, "rnbd/session", d->session);
	GET_STR(f, dir, "rnbd/mapping_path", d->device_path);
	d->session_id = id_below(f, CLIENTS, d->session);
	d->state = get_word(f, dir, "rnbd/state", device_kernel_state_parse);
	d->access = get_word(f, dir, "rnbd/access_mode", access_parse);
	d->poll_queues = get_uint(f, dir, "rnbd/nr_poll_queues");
	get_devnum(f, dir, &d->major, &d->minor);
	d->size_bytes = get_size(f, dir);
	d->logical_block = get_uint(f, dir, "queue/logical_block_size");
	d->physical_block = get_uint(f, dir, "queue/physical_block_size");
	d->read_only = get_flag(f, dir, "ro");
	d->write_cache = write_cache(f, dir);
	d->fua = get_flag(f, dir, "rnbd/fua");
	if (d->fua == M_UNKNOWN)
		d->fua = get_flag(f, dir, "queue/fua");
	d->always_fua = get_flag(f, dir, "rnbd/always_fua");
	d->io_mode = get_word(f, dir, "rnbd/io_mode", io_mode_parse);
	sys_list(f->root, &queues, "%s/mq", dir);
	if (queues.n)
		d->hw_queues = queues.n;
	strlist_free(&queues);
}

static void read_devices(struct sysfs *f, struct device_list *l)
{
	struct strlist names = { 0 };

	sys_list(f->root, &names, "/sys/block");
	for (size_t i = 0; i < names.n; i++) {
		char *dir = xasprintf("/sys/block/%s", names.v[i]);

		/* it comes after the disk, and goes before it */
		if (!strncmp(names.v[i], "rnbd", 4) && sys_exists(f->root, "%s/rnbd", dir)) {
			l->v = xgrow(l->v, l->n, sizeof(*l->v));
			sysfs_read_device(f, dir, &l->v[l->n]);
			l->n += sys_exists(f->root, "%s/rnbd", dir);
		}
		free(dir);
	}
	strlist_free(&names);
}

static void read_export(struct sysfs *f, const char *device, const char *dir, struct export *e)
{
	char *disk = xasprintf("/sys/class/block/%s", device);
	char *above = xasprintf(EXPORTED "/ctl/devices/%s/block_dev", device);

	export_init(e);
	e->id = id_of(f, dir);
	snprintf(e->name, sizeof(e->name), "%s", device);
	snprintf(e->session, sizeof(e->session), "%s", base_name(dir));
	/* opened twice by one session: the second time NAME.N, and names have no dot */
	e->session[strcspn(e->session, ".")] = '\0';
	e->session_id = id_below(f, SERVERS, e->session);
	GET_STR(f, dir, "mapping_path", e->device_path);
	e->access = get_word(f, dir, "access_mode", access_parse);
	e->read_only = get_flag(f, dir, "read_only");
	get_devnum(f, disk, &e->major, &e->minor);
	e->size_bytes = get_size(f, disk);
	/* that of the whole disk */
	e->logical_block = get_uint(f, above, "queue/logical_block_size");
	free(above);
	free(disk);
}

static void read_exports(struct sysfs *f, struct export_list *l)
{
	struct strlist devices = { 0 };

	sys_list(f->root, &devices, EXPORTED "/ctl/devices");
	for (size_t i = 0; i < devices.n; i++) {
		struct strlist names = { 0 };

		sys_list(f->root, &names, EXPORTED "/ctl/devices/%s/sessions", devices.v[i]);
		for (size_t k = 0; k < names.n; k++) {
			char *dir = xasprintf(EXPORTED "/ctl/devices/%s/sessions/%s", devices.v[i],
					      names.v[k]);

			l->v = xgrow(l->v, l->n, sizeof(*l->v));
			read_export(f, devices.v[i], dir, &l->v[l->n]);
			l->n += is_there(f, dir);
			free(dir);
		}
		strlist_free(&names);
	}
	strlist_free(&devices);
}

static void add_cpus(struct stats *st, const uint64_t *from, const uint64_t *to, size_t n)
{
	st->cpu = xcalloc(n, sizeof(*st->cpu));
	st->ncpus = n;
	for (size_t i = 0; i < n; i++) {
		struct cpu_counters *c = &st->cpu[i];

		c->cpu = i;
		c->read_ios = c->read_bytes = c->write_ios = c->write_bytes = M_UNKNOWN;
		c->inflight = c->failovers = M_UNKNOWN;
		c->migrations_from = from[i];
		c->migrations_to = to[i];
		distributions_init(&c->d);
	}
}

#define CPUS_MAX	8192

/* Two files, or the one of older drivers: a line of CPUs, "from: N.." and "to  : N..". */
static void read_cpus(const struct sysfs *f, const char *dir, struct stats *st)
{
	uint64_t *from = xcalloc(2 * CPUS_MAX, sizeof(*from)), *to = from + CPUS_MAX;
	char *table, *line, *save = NULL;
	size_t n, k = 0;

	n = get_list(f, dir, "cpu_migration_from", from, CPUS_MAX);
	get_list(f, dir, "cpu_migration_to", to, CPUS_MAX);
	table = n ? NULL : get(f, dir, "cpu_migration");
	for (line = table ? strtok_r(table, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		uint64_t *v = !strncmp(line, "from:", 5) ? from :
			      !strncmp(line, "to  :", 5) ? to :
							   NULL;
		char *at = line + 5, *end;

		for (k = 0; v && k < CPUS_MAX; k++, at = end) {
			uint64_t count = strtoull(at, &end, 10);

			if (end == at)
				break;
			v[k] = count;
		}
		if (v && k > n)
			n = k;
	}
	if (n)
		add_cpus(st, from, to, n);
	free(table);
	free(from);
}

/* What else is known of the path comes from it. @policy: of the session */
static void read_stats(const struct sysfs *f, const struct path *p, uint64_t policy,
		       struct stats *st)
{
	char *dir = xasprintf("%s/stats", sysfs_dir(f, p->id));
	uint64_t v[6], inflight = M_UNKNOWN;

	stats_init(st);
	st->path_id = p->id;
	st->session_id = p->session_id;
	memcpy(st->path, p->name, sizeof(st->path));
	memcpy(st->session, p->session, sizeof(st->session));
	memcpy(st->hca, p->hca, sizeof(st->hca));
	st->role = p->role;
	st->hca_port = p->hca_port;
	st->heartbeat_ns = p->heartbeat_ns;
	get_list(f, dir, "rdma", v, ARRAY_SIZE(v));
	st->c.read_ios = v[0];
	st->c.read_bytes = v[1];
	st->c.write_ios = v[2];
	st->c.write_bytes = v[3];
	/* counted for that policy only; below zero after a reset under load */
	if (policy == 1 && v[4] <= INT32_MAX)
		inflight = v[4];
	if (p->role == M_CLIENT) {
		st->c.inflight = inflight;
		st->c.failovers = v[5];
		/* -1 before the first connection */
		get_list(f, dir, "reconnects", v, 2);
		st->c.reconnects_ok = v[0];
		st->c.reconnects_failed = v[1];
		read_cpus(f, dir, st);
	}
	free(dir);
}

static void read_all_stats(struct sysfs *f, const struct path_list *paths, struct stats_list *l)
{
	uint32_t session = 0;
	uint64_t policy = M_UNKNOWN;

	l->v = xcalloc(paths->n, sizeof(*l->v));
	for (size_t i = 0; i < paths->n; i++) {
		const struct path *p = &paths->v[i];

		if (p->session_id != session && p->role == M_CLIENT)
			policy = get_word(f, sysfs_dir(f, p->session_id), "mpath_policy",
					  mp_policy_parse);
		session = p->session_id;
		read_stats(f, p, policy, &l->v[l->n++]);
	}
}

bool sysfs_snapshot(struct sysfs *f, enum m_role role, unsigned int what, struct snapshot *s,
		    struct nl_error *e)
{
	const char *class = role == M_SERVER ? SERVERS : CLIENTS;

	memset(s, 0, sizeof(*s));
	memset(e, 0, sizeof(*e));
	if (sysfs_unloaded(f, role, e))
		return false;
	if (what & NL_PORTS)
		return sysfs_cannot(e, "tell which ports the server listens on");
	/* the state of a session is that of its paths */
	if (what & (NL_SESSIONS | NL_PATHS | NL_STATS | NL_STATS_OPT))
		read_paths(f, role, class, &s->paths);
	if (what & NL_SESSIONS)
		read_sessions(f, class, &s->sessions);
	for (size_t i = 0; i < s->sessions.n; i++)
		count_paths(&s->sessions.v[i], &s->paths);
	if (role == M_CLIENT && what & (NL_DEVICES | NL_DEVICES_OPT))
		read_devices(f, &s->devices);
	if (role == M_SERVER && what & (NL_EXPORTS | NL_EXPORTS_OPT))
		read_exports(f, &s->exports);
	if (what & (NL_STATS | NL_STATS_OPT))
		read_all_stats(f, &s->paths, &s->stats);
	if (!(what & NL_PATHS)) {
		free(s->paths.v);
		memset(&s->paths, 0, sizeof(s->paths));
	}
	snapshot_sort(s);
	return true;
}
