// SPDX-License-Identifier: GPL-2.0
/* Model to JSON: every key of an object is set, null where it is unknown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/disks.h"
#include "host/owners.h"
#include "output/to-json.h"

json_t *js_counters(const struct counters *c)
{
	json_t *o = json_object();

	js_set(o, "read_ios", js_u64(c->read_ios));
	js_set(o, "read_bytes", js_u64(c->read_bytes));
	js_set(o, "write_ios", js_u64(c->write_ios));
	js_set(o, "write_bytes", js_u64(c->write_bytes));
	js_set(o, "inflight", js_u64(c->inflight));
	js_set(o, "failovers", js_u64(c->failovers));
	js_set(o, "reconnects_ok", js_u64(c->reconnects_ok));
	js_set(o, "reconnects_failed", js_u64(c->reconnects_failed));
	return o;
}

static json_t *js_word(const char *s)
{
	return s ? json_string(s) : json_null();
}

/* Numbers that this program gave are of no use to another one. */
static json_t *js_id(uint32_t id)
{
	return id & M_ID_LOCAL ? json_null() : json_integer(id);
}

static json_t *js_flag(uint64_t v)
{
	return v == M_UNKNOWN ? json_null() : json_boolean(v);
}

static json_t *js_addr(const struct addr *a)
{
	char buf[ADDR_TEXT_MAX];

	addr_format(a, buf);
	return json_string(buf);
}

json_t *js_errno(int64_t err)
{
	if (!err || err <= -INT32_MAX)
		return json_null();
	return json_string(errno_name((int)(err < 0 ? -err : err)));
}

static const char *path_family(const struct path *p)
{
	if (p->server.family != ADDR_NONE)
		return addr_family_name(p->server.family);
	return p->client.family != ADDR_NONE ? addr_family_name(p->client.family) : NULL;
}

void js_quantiles(json_t *o, const struct distributions *d)
{
	js_set(o, "io_p50_ns", js_u64(latency_quantile_all(d, 50)));
	js_set(o, "io_p99_ns", js_u64(latency_quantile_all(d, 99)));
}

json_t *js_path(const struct path *p, const struct snapshot *s, const struct object_opts *o)
{
	const struct stats *st = o->stats ? snapshot_stats(s, p->id) : NULL;
	struct stats none;
	json_t *j = json_object();

	js_set_str(j, "session", p->session);
	js_set_str(j, "name", p->name);
	if (o->role)
		js_set(j, "role", json_string(role_name(p->role)));
	js_set(j, "client_addr", js_addr(&p->client));
	js_set(j, "server_addr", js_addr(&p->server));
	js_set(j, "family", js_word(path_family(p)));
	js_set(j, "hca", js_str_or_null(p->hca));
	js_set(j, "hca_port", js_u64(p->hca_port));
	js_set(j, "netdev", js_str_or_null(p->netdev));
	js_set(j, "link_layer", js_str_or_null(p->link_layer));
	js_set(j, "gid_index", js_s64(p->gid_index));
	js_set(j, "state", json_string(path_state_name(p->state)));
	js_set(j, "connections", js_u64(p->connections));
	js_set(j, "reconnect_attempts", js_u64(p->reconnect_attempts));
	js_set(j, "last_error", js_errno(p->last_error));
	js_set(j, "heartbeat_latency_ns", js_u64(p->heartbeat_ns));
	js_set(j, "since", js_time(p->since_ns));
	if (o->details)
		js_set(j, "id", js_id(p->id));
	if (o->stats) {
		stats_init(&none);
		js_quantiles(j, st ? &st->d : &none.d);
		js_set(j, "counters", js_counters(st ? &st->c : &none.c));
	}
	return j;
}

static json_t *session_counters(const struct session *sess, const struct snapshot *s)
{
	const struct index_entry *e;
	struct stats sum;
	size_t n;

	stats_init(&sum);
	e = index_find(&s->session_stats, sess->id, &n);
	for (size_t i = 0; i < n; i++)
		counters_add(&sum.c, &s->stats.v[e[i].pos].c);
	return js_counters(&sum.c);
}

json_t *js_setting(enum m_setting i, int64_t v)
{
	return i == SET_LOST_WRITES ? js_word(lost_writes_name(v)) : js_s64(v);
}

json_t *js_session(const struct session *sess, const struct snapshot *s,
		   const struct object_opts *o)
{
	char *owner = o->root && sess->role != M_SERVER ?
		      registry_owner(o->root, sess->name, NULL) : NULL;
	json_t *j = json_object(), *paths = json_array(), *devices = json_array();
	uint64_t connected = 0;
	const struct index_entry *e;
	size_t npaths, ndevices, nexports;

	e = index_find(&s->session_paths, sess->id, &npaths);
	for (size_t i = 0; i < npaths; i++) {
		const struct path *p = &s->paths.v[e[i].pos];

		json_array_append_new(paths, js_path(p, s, o));
		connected += !strcmp(path_state_name(p->state), "connected");
	}
	e = index_find(&s->session_devices, sess->id, &ndevices);
	for (size_t i = 0; i < ndevices; i++)
		json_array_append_new(devices, js_str(s->devices.v[e[i].pos].name));
	/* on the server: the block devices that the client has open */
	e = index_find(&s->session_exports, sess->id, &nexports);
	for (size_t i = 0; i < nexports; i++)
		json_array_append_new(devices, js_str(s->exports.v[e[i].pos].name));
	js_set_str(j, "name", sess->name);
	js_set(j, "role", json_string(role_name(sess->role)));
	js_set(j, "state", json_string(session_state_name(sess->state)));
	js_set(j, "mp_policy", js_word(mp_policy_name(sess->set.mp_policy)));
	for (int k = 0; k < SET_N; k++)
		js_set(j, setting_name(k), js_setting(k, sess->set.v[k]));
	js_set(j, "queue_depth", js_u64(sess->queue_depth));
	js_set(j, "max_io_bytes", js_u64(sess->max_io_bytes));
	js_set(j, "paths_connected", js_u64(sess->paths_connected == M_UNKNOWN ?
					    connected : sess->paths_connected));
	js_set(j, "paths_configured", js_u64(sess->paths_configured == M_UNKNOWN ?
					     npaths : sess->paths_configured));
	js_set(j, "devices_mapped", js_u64(sess->devices == M_UNKNOWN ?
					   ndevices + nexports : sess->devices));
	js_set(j, "pinned_bytes", js_u64(sess->pinned_bytes));
	js_set(j, "pinned_max_bytes", js_u64(sess->pinned_max_bytes));
	/* with an access list alone */
	if (*sess->peer)
		js_set(j, "peer", js_str(sess->peer));
	js_set(j, "poll_queues", js_u64(sess->poll_queues));
	js_set(j, "held", js_flag(sess->held));
	js_set(j, "owner", owner ? js_str(owner) : json_null());
	free(owner);
	js_set(j, "paths", paths);
	js_set(j, "devices", devices);
	if (o->details)
		js_set(j, "id", js_id(sess->id));
	if (o->stats)
		js_set(j, "counters", session_counters(sess, s));
	return j;
}

static json_t *device_queue(const struct device *d, const char *root)
{
	json_t *q = json_object();
	uint64_t kb = sys_disk_number(root, d->name, "queue/max_sectors_kb");
	uint64_t ra = sys_disk_number(root, d->name, "queue/read_ahead_kb");
	char *sched = sys_disk_word(root, d->name, "queue/scheduler"), *open, *close;

	js_set(q, "max_io_bytes", js_u64(kb < UINT32_MAX ? kb * 1024 : M_UNKNOWN));
	js_set(q, "max_segments", js_u64(sys_disk_number(root, d->name, "queue/max_segments")));
	js_set(q, "requests", js_u64(sys_disk_number(root, d->name, "queue/nr_requests")));
	js_set(q, "read_ahead_bytes", js_u64(ra < UINT32_MAX ? ra * 1024 : M_UNKNOWN));
	/* "mq-deadline [none]": the one in brackets is in use */
	open = sched ? strchr(sched, '[') : NULL;
	close = open ? strchr(open, ']') : NULL;
	if (close)
		*close = '\0';
	js_set(q, "scheduler", js_str_or_null(open ? open + 1 : sched));
	free(sched);
	return q;
}

json_t *js_device(const struct device *d, const struct object_opts *o)
{
	json_t *j = json_object();
	struct stats none;
	char *s;

	js_set_str(j, "name", d->name);
	s = xasprintf("/dev/%s", d->name);
	js_set_str(j, "node", s);
	free(s);
	if (d->major == M_UNKNOWN || d->minor == M_UNKNOWN) {
		js_set(j, "devnum", json_null());
	} else {
		s = xasprintf("%" PRIu64 ":%" PRIu64, d->major, d->minor);
		js_set(j, "devnum", json_string(s));
		free(s);
	}
	js_set_str(j, "session", d->session);
	js_set_str(j, "device_path", d->device_path);
	js_set(j, "state", json_string(device_state_name(d->state)));
	js_set(j, "kernel_state", json_string(device_kernel_state_name(d->state)));
	js_set(j, "access", js_word(access_name(d->access)));
	js_set(j, "size_bytes", js_u64(d->size_bytes));
	js_set(j, "logical_block_bytes", js_u64(d->logical_block));
	js_set(j, "physical_block_bytes", js_u64(d->physical_block));
	js_set(j, "read_only", js_flag(d->read_only));
	js_set(j, "write_cache", js_flag(d->write_cache));
	js_set(j, "fua", js_flag(d->fua));
	js_set(j, "always_fua", js_flag(d->always_fua));
	js_set(j, "io_mode", js_word(io_mode_name(d->io_mode)));
	js_set(j, "poll_queues", js_u64(d->poll_queues));
	js_set(j, "hw_queues", js_u64(d->hw_queues));
	js_set(j, "open_count", js_u64(d->open_count));
	js_set(j, "last_error", js_errno(d->last_error));
	js_set(j, "write_losses", js_u64(d->write_losses));
	js_set(j, "holders", js_list(&d->holders));
	js_set(j, "mountpoints", js_list(&d->mountpoints));
	js_set(j, "links", js_list(&d->links));
	js_set(j, "openers", js_list(&d->openers));
	if (o->details) {
		js_set(j, "id", js_id(d->id));
		js_set(j, "queue", device_queue(d, o->root));
	}
	if (o->stats) {
		stats_init(&none);
		sys_disk_counters(o->root, d->name, &none.c);
		js_set(j, "counters", js_counters(&none.c));
	}
	return j;
}

static json_t *js_client(const struct export *e)
{
	json_t *c = json_object();

	js_set_str(c, "session", e->session);
	js_set_str(c, "device_path", e->device_path);
	js_set(c, "access", js_word(access_name(e->access)));
	js_set(c, "read_only", js_flag(e->read_only));
	js_set(c, "opened_at", js_time(e->since_ns));
	return c;
}

/* The name of a node has '/' where that of the disk has '!'. */
static char *export_node(const char *name)
{
	char *node = xasprintf("/dev/%s", name);

	for (char *p = node; *p; p++)
		if (*p == '!')
			*p = '/';
	return node;
}

json_t *js_export(const struct export *list, size_t n, const struct object_opts *o)
{
	json_t *j = json_object(), *clients = json_array();
	char *s = export_node(list->name);

	js_set_str(j, "device", list->name);
	js_set_str(j, "node", s);
	free(s);
	if (list->major == M_UNKNOWN || list->minor == M_UNKNOWN) {
		js_set(j, "devnum", json_null());
	} else {
		s = xasprintf("%" PRIu64 ":%" PRIu64, list->major, list->minor);
		js_set(j, "devnum", json_string(s));
		free(s);
	}
	js_set(j, "size_bytes", js_u64(list->size_bytes));
	js_set(j, "logical_block_bytes", js_u64(list->logical_block));
	js_set(j, "io_mode", js_word(io_mode_name(list->io_mode)));
	js_set(j, "read_only", js_flag(sys_block_read_only(o->root, list->name)));
	for (size_t i = 0; i < n; i++) {
		json_t *c = js_client(&list[i]);

		if (*list[i].peer)
			js_set(c, "peer", js_str(list[i].peer));
		if (*list[i].listed)
			js_set_str(c, "export", list[i].listed);
		if (o->details) {
			js_set(c, "id", js_id(list[i].id));
			js_set(c, "told_size_bytes", js_u64(list[i].told_bytes));
		}
		json_array_append_new(clients, c);
	}
	js_set(j, "clients", clients);
	js_set(j, "used_by", js_list(&list->users));
	return j;
}

json_t *js_exports(const struct export_list *l, const char *device, const struct object_opts *o)
{
	json_t *list = json_array();
	size_t n;

	/* they are sorted by block device */
	for (size_t i = 0; i < l->n; i += n) {
		for (n = 1; i + n < l->n && !strcmp(l->v[i + n].name, l->v[i].name); n++)
			;
		if (!device || !strcmp(l->v[i].name, device))
			json_array_append_new(list, js_export(&l->v[i], n, o));
	}
	return list;
}
