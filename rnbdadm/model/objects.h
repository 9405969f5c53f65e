/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tool knows of sessions, paths, devices and counters. Plain data:
 * no netlink, no JSON, no I/O.
 */
#ifndef RNBDADM_MODEL_OBJECTS_H
#define RNBDADM_MODEL_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/address.h"

#define M_UNKNOWN	UINT64_MAX	/* the kernel did not say */
#define M_UNKNOWN_INT	INT64_MIN

#define M_ID_LOCAL	0x80000000u	/* an id that this program gave: the kernel has none */

#define M_NAME_MAX	256		/* session names, device paths */
#define M_PATH_MAX	192		/* SRC@DST */
#define M_HCA_MAX	64
#define M_DISK_MAX	32

enum m_role { M_CLIENT, M_SERVER };

struct counters {
	uint64_t read_ios, read_bytes, write_ios, write_bytes;
	uint64_t inflight, failovers, reconnects_ok, reconnects_failed;
};

/* Of a distribution bucket i ends at 2^i ns, or at 2^(i-1) entries, the first one at none; the last one has no end. */
#define M_LATENCY_N	65
#define M_SG_N		34
/* The family's first and last bucket with an end: 1 us, 69 s. Beyond is what has none. */
#define M_LATENCY_FIRST	10
#define M_LATENCY_LAST	36
/* The same of entries: 128. */
#define M_SG_LAST	8

enum m_op { M_READ, M_WRITE };

/* What a path and a CPU count alike. */
struct distributions {
	uint64_t completions, polls, completions_max;
	bool counted;			/* what follows, not so on a server */
	uint64_t max_ns[2];
	uint64_t latency[2][M_LATENCY_N];
	uint64_t sg[M_SG_N];
};

struct cpu_counters {
	uint64_t cpu;
	uint64_t read_ios, read_bytes, write_ios, write_bytes;
	uint64_t inflight, failovers, migrations_from, migrations_to;
	struct distributions d;
};

/* Counters of one path. */
struct stats {
	uint32_t path_id, session_id, generation;
	char path[M_PATH_MAX], session[M_NAME_MAX], hca[M_HCA_MAX];
	uint64_t role, hca_port, heartbeat_ns;
	struct counters c;
	struct distributions d;
	struct cpu_counters *cpu;
	size_t ncpus;
};

struct path {
	uint32_t id, session_id, generation;
	char session[M_NAME_MAX], name[M_PATH_MAX], hca[M_HCA_MAX];
	uint64_t role, state, hca_port, connections, reconnect_attempts;
	bool removing;			/* it will not stay, whatever its state */
	uint64_t heartbeat_ns, since_ns;
	int64_t last_error;
	struct addr client, server;
	/* from sysfs */
	char netdev[M_HCA_MAX], link_layer[M_HCA_MAX];
	int64_t gid_index;
};

/* In the order of the family's attribute set "settings". */
enum m_setting {
	SET_MAX_RECONNECT_ATTEMPTS, SET_HEARTBEAT_INTERVAL_MS, SET_HEARTBEAT_MISSES,
	SET_RECONNECT_DELAY_MS, SET_RECONNECT_DELAY_MAX_MS, SET_CONNECT_TIMEOUT_MS,
	SET_IO_TIMEOUT_MS, SET_NO_PATH_TIMEOUT_MS, SET_LOST_WRITES,
	SET_N
};

/* What a session was told; unknown: not told, or leave it. */
struct session_settings {
	uint64_t mp_policy;
	int64_t v[SET_N];
};

struct session {
	uint32_t id, generation;
	char name[M_NAME_MAX];
	uint64_t role, state, queue_depth, max_io_bytes, poll_queues, held;
	bool removing;			/* it will not stay */
	uint64_t paths_connected, paths_configured, devices, pinned_bytes, pinned_max_bytes;
	char peer[M_NAME_MAX];		/* of the access list, "" without one */
	struct session_settings set;
};

struct device {
	uint32_t id, session_id, generation;
	char name[M_DISK_MAX], session[M_NAME_MAX], device_path[M_NAME_MAX];
	uint64_t major, minor, access, state, size_bytes;
	uint64_t logical_block, physical_block;
	uint64_t read_only, write_cache, fua;
	uint64_t always_fua, write_losses, io_mode;
	uint64_t poll_queues, hw_queues, open_count;
	int64_t last_error;
	/* from /sys, /proc and /dev */
	struct strlist holders, mountpoints, links, users, openers;
};

/* A device of this server, opened by one session. */
struct export {
	uint32_t id, session_id, generation;
	char name[M_NAME_MAX], session[M_NAME_MAX], device_path[M_NAME_MAX];
	uint64_t major, minor, access, size_bytes, logical_block, read_only, since_ns;
	uint64_t told_bytes, io_mode;
	char peer[M_NAME_MAX], listed[M_NAME_MAX];	/* by the access list, "" without one */
	struct strlist users;	/* from /sys and /proc: what this host itself does with it */
};

/* What became of the word of a new size, in the order of the family. */
enum m_reach { REACH_TOLD, REACH_NO_ANSWER, REACH_DEAF };

/* A port of an RDMA device that this server listens on. */
struct port {
	uint32_t generation;
	char hca[M_HCA_MAX];
	uint64_t number, listening_port, drained;
	struct addr gid;
};

struct path_list { struct path *v; size_t n; };
struct session_list { struct session *v; size_t n; };
struct device_list { struct device *v; size_t n; };
struct stats_list { struct stats *v; size_t n; };
struct export_list { struct export *v; size_t n; };
struct port_list { struct port *v; size_t n; };

/* Positions in a list by the id of something, made once, so that no list is walked for each object. */
struct index_entry { uint32_t key, pos; };
struct index { struct index_entry *v; size_t n; };

/* Everything of one side, read together. */
struct snapshot {
	struct session_list sessions;
	struct path_list paths;
	struct device_list devices;
	struct stats_list stats;
	struct export_list exports;
	struct port_list ports;
	/* of the lists above, in their order; made by snapshot_sort() */
	struct index session_paths, session_devices, session_stats, session_exports;
	struct index path_stats;
};

/* What map and, without device, session-add ask of the kernel. */
struct map_request {
	const char *session, *device_path;
	uint64_t access, io_mode, poll_queues, connections, timeout_ms;
	bool always_fua;
	struct session_settings set;
	const struct addr_pair *paths;
	size_t npaths;
};

/* All fields unknown. */
void path_init(struct path *p);
void session_init(struct session *s);
void settings_init(struct session_settings *s);
void device_init(struct device *d);
void stats_init(struct stats *s);
void export_init(struct export *e);
void port_init(struct port *p);

/* Words of the enums; "unknown" for a value this tool does not know. */
const char *path_state_name(uint64_t v);
const char *session_state_name(uint64_t v);
const char *device_state_name(uint64_t v);
const char *device_kernel_state_name(uint64_t v);
const char *role_name(uint64_t v);
/* NULL for an unknown value. */
const char *mp_policy_name(uint64_t v);
const char *access_name(uint64_t v);
const char *io_mode_name(uint64_t v);
/* "heartbeat_interval_ms" */
const char *setting_name(enum m_setting i);
/* The values of SET_LOST_WRITES. */
const char *lost_writes_name(int64_t v);
bool lost_writes_parse(const char *s, int64_t *v);
/* The reverse; false if there is no such word. */
bool mp_policy_parse(const char *s, uint64_t *v);
bool access_parse(const char *s, uint64_t *v);
bool io_mode_parse(const char *s, uint64_t *v);
bool path_state_parse(const char *s, uint64_t *v);
bool device_kernel_state_parse(const char *s, uint64_t *v);

const struct session *snapshot_session(const struct snapshot *s, const char *name);
const struct stats *snapshot_stats(const struct snapshot *s, uint32_t path_id);
/* I/O connections of each path of the session; M_UNKNOWN where the kernel does not tell. */
uint64_t snapshot_connections(const struct snapshot *s, const struct session *sess);
/* The entries of one key, in the order of the list; their number is in @n. */
const struct index_entry *index_find(const struct index *ix, uint32_t key, size_t *n);
/* Natural order of names everywhere, and the indexes. */
void snapshot_sort(struct snapshot *s);
void snapshot_free(struct snapshot *s);

/* a += b, unknown parts left out; unknown only if both are. */
void counters_add(struct counters *a, const struct counters *b);

void cpu_counters_add(struct cpu_counters *a, const struct cpu_counters *b);

/* The same; the larger maximum. */
void distributions_init(struct distributions *d);
void distributions_add(struct distributions *a, const struct distributions *b);
/* As counters_delta(); a maximum that did not grow says nothing of the interval. */
bool distributions_delta(const struct distributions *now, const struct distributions *before,
			 struct distributions *d);
/* The upper end of bucket @i; M_UNKNOWN: it has none. */
uint64_t latency_end(size_t i);
uint64_t sg_end(size_t i);
/* The bucket that @v is in. */
size_t latency_bucket(uint64_t ns);
size_t sg_bucket(uint64_t entries);
uint64_t latency_count(const struct distributions *d, enum m_op op);
/*
 * The time in ns below which @percent of the requests stayed, as if those of a bucket lay evenly in it; M_UNKNOWN
 * where there were none.
 */
/* Of reads and writes together. */
uint64_t latency_quantile_all(const struct distributions *d, double percent);
uint64_t latency_quantile(const struct distributions *d, enum m_op op, double percent);

/*
 * now - before for the monotonic parts; the others are taken from now. Returns true
 * if a counter went backwards; that part is unknown then.
 */
bool counters_delta(const struct counters *now, const struct counters *before,
		    struct counters *d);

#endif
