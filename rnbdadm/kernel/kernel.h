/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel as the commands see it: requests in terms of the model, failures as
 * struct nl_error. Behind it is the rnbd netlink family or, for drivers without it,
 * sysfs/sysfs.h. No netlink type appears here. What rds/family.c asks of its own family goes
 * the same way.
 */
#ifndef RNBDADM_KERNEL_KERNEL_H
#define RNBDADM_KERNEL_KERNEL_H

#include "model/access.h"
#include "model/objects.h"

struct nl;
struct nl_family;

/* The families of this project. */
extern const struct nl_family rnl_family_rnbd, rnl_family_rds;

enum nl_fail {
	NL_FAIL_NONE,
	NL_FAIL_KERNEL,		/* the kernel answered with an error */
	NL_FAIL_LOCAL,		/* the socket failed */
	NL_FAIL_NO_FAMILY,	/* the modules are not loaded */
	NL_FAIL_NO_OP,		/* the module lacks the operation */
	NL_FAIL_REPLAY,		/* the recording has no such answer */
	NL_FAIL_TIMEOUT,	/* the kernel was not done in time */
	NL_FAIL_NO_FILE,	/* sysfs has nothing for it, as @extack says */
	NL_FAIL_USAGE,		/* no file takes that, as @extack says */
};

struct nl_error {
	enum nl_fail kind;
	int err;		/* positive errno */
	char extack[256];	/* text of the kernel, or "" */
	char attr[64];		/* "access-mode", "path.server-addr", or "" */
	bool missing;		/* @attr was not given but is needed */
	char warning[256];	/* extack text of a success */
	/* a file of sysfs: no text of the kernel, but what the errno means there, or NULL */
	bool by_sysfs;
	const char *says;
	int code;		/* of the program, where @says is set */
};

enum nl_backend { NL_AUTO, NL_NETLINK, NL_SYSFS };

struct nl_config {
	const struct nl_family *family;
	enum nl_backend backend;
	const char *root;	/* of sysfs, "" or a prefix */
	const char *record;	/* file to write, or NULL */
	const char *replay;	/* file to read instead of the kernel, or NULL */
	bool trace;		/* decoded messages to stderr */
	bool verbose;		/* one line per request to stderr */
	bool quiet;
	bool dry_run;		/* changes are not made; what would be written to sysfs is shown unless quiet */
	int64_t limit_ms;	/* for one change; -1 no limit */
	int rcvbuf;		/* of the events, in bytes */
	void (*before_change)(void);	/* a request of a change is to be sent, which may wait; NULL: nobody cares */
};

/* What to read into a snapshot. */
enum {
	NL_SESSIONS	= 1 << 0,
	NL_PATHS	= 1 << 1,
	NL_DEVICES	= 1 << 2,
	NL_STATS	= 1 << 3,
	/* devices and counters may be missing without an error */
	NL_DEVICES_OPT	= 1 << 4,
	NL_STATS_OPT	= 1 << 5,
	NL_EXPORTS	= 1 << 6,
	NL_EXPORTS_OPT	= 1 << 7,
	NL_PORTS	= 1 << 8,
};

/* Returns NULL and fills @e on failure. */
struct nl *rnl_open(const struct nl_config *cfg, struct nl_error *e);
void rnl_close(struct nl *nl);
/* The limit of the changes to come; -1 none. */
void rnl_set_limit(struct nl *nl, int64_t ms);
/* A change that went beyond it is still in the kernel: this family answers nothing any more. */
bool rnl_is_stuck(const struct nl *nl);
void rnl_set_dry_run(struct nl *nl, bool on);
bool rnl_is_sysfs(const struct nl *nl);
/* 0: there is no family */
unsigned int rnl_family_version(const struct nl *nl);
/* Operations that the tool knows and the family does not list; returns how many it knows. */
unsigned int rnl_missing_ops(const struct nl *nl, struct strlist *missing);
bool rnl_has_group(const struct nl *nl, const char *group);
/* The last path policy that the loaded modules take; M_UNKNOWN: they do not tell, as by sysfs. */
uint64_t rnl_max_mp_policy(struct nl *nl);

/*
 * Reads the wanted lists of one side, sorted. Reads again when the kernel says
 * that they changed meanwhile; @torn is set when that never ended.
 */
bool rnl_snapshot(struct nl *nl, enum m_role role, unsigned int what,
		 struct snapshot *s, bool *torn, struct nl_error *e);

enum nl_kind { NL_IS_SESSION, NL_IS_PATH, NL_IS_DEVICE, NL_IS_EXPORT, NL_IS_ACCESS };
/* In the order of the family. */
enum nl_edge { NL_CREATE, NL_CHANGE, NL_DESTROY };

/* What a multicast message tells. */
struct nl_event {
	enum nl_kind kind;
	uint64_t edge, old_state;
	union {
		struct session session;
		struct path path;
		struct device device;
		struct export export;
		struct access_event access;
	};
};

enum nl_next {
	NL_NEXT_NONE,
	NL_NEXT_EVENT,
	NL_NEXT_OVERRUN,	/* the kernel dropped some */
	NL_NEXT_LOST,		/* the family is gone */
};

/* Events of one of the groups session, path, device, export, access; from the call on. sysfs has none. */
bool rnl_listen(struct nl *nl, const char *group, struct nl_error *e);
/* To poll() for events; -1 in a replay. */
int rnl_event_fd(const struct nl *nl);
/* The next one that has arrived, or that was recorded. */
enum nl_next rnl_next_event(struct nl *nl, struct nl_event *ev);
/*
 * Takes all that have arrived, in a replay the next one recorded; false if there is none. For
 * those to whom it is the moment to take another snapshot.
 */
bool rnl_events(struct nl *nl);

/* Before a disk that is to be mapped again is unmapped: does this kernel take such requests? */
bool rnl_can_map(struct nl *nl, const struct map_request *req, struct nl_error *e);

/* These change things; they block until the kernel is done. */
bool rnl_map(struct nl *nl, const struct map_request *req, struct device *dev,
	    struct nl_error *e);
bool rnl_unmap(struct nl *nl, const struct device *dev, bool force,
	      struct nl_error *e);

/* @dev is what the kernel says of it afterwards. */
bool rnl_remap(struct nl *nl, uint32_t id, uint64_t timeout_ms, struct device *dev,
	       struct nl_error *e);
bool rnl_resize(struct nl *nl, uint32_t id, uint64_t bytes, struct device *dev,
		struct nl_error *e);
bool rnl_device_set_rw(struct nl *nl, uint32_t id, uint64_t timeout_ms, struct device *dev,
		       struct nl_error *e);
bool rnl_session_set(struct nl *nl, uint32_t id, const struct session_settings *want,
		     struct session *now, struct nl_error *e);
/* @req: device_path and access are not used. */
bool rnl_session_add(struct nl *nl, const struct map_request *req, struct session *now,
		     struct nl_error *e);
bool rnl_session_del(struct nl *nl, uint32_t id, struct nl_error *e);
/* False, with why in @e, where no session can be removed; for those who would do more before. */
bool rnl_can_session_del(const struct nl *nl, struct nl_error *e);
/* @timeout_ms: M_UNKNOWN is what the session has. */
bool rnl_path_add(struct nl *nl, uint32_t session_id, const struct addr_pair *pair,
		  uint64_t timeout_ms, struct path *now, struct nl_error *e);
bool rnl_path_del(struct nl *nl, uint32_t id, struct nl_error *e);
bool rnl_path_reconnect(struct nl *nl, uint32_t id, uint64_t timeout_ms, struct path *now,
			struct nl_error *e);
bool rnl_path_disconnect(struct nl *nl, uint32_t id, struct path *now, struct nl_error *e);
/* The server's side. */
bool rnl_export_close(struct nl *nl, uint32_t id, struct nl_error *e);
bool rnl_session_disconnect(struct nl *nl, uint32_t id, struct nl_error *e);
/* @now: what is told afterwards. @timeout_ms: M_UNKNOWN is that of the kernel. */
bool rnl_export_revalidate(struct nl *nl, uint32_t id, uint64_t timeout_ms, struct export *now,
			   enum m_reach *reach, struct nl_error *e);
bool rnl_port_drain(struct nl *nl, const struct port *p, bool force, struct nl_error *e);
bool rnl_port_undrain(struct nl *nl, const struct port *p, struct nl_error *e);

/* netlink/access.c: the access list; it is read as a whole, and replaced as a whole. */
bool rnl_access_get(struct nl *nl, struct access_list *l, struct nl_error *e);
/* A dry run of the request is sent in a dry run of the program, too: it changes nothing. */
bool rnl_access_set(struct nl *nl, const struct access_request *req, struct access_ended *end,
		    struct nl_error *e);
bool rnl_access_test(struct nl *nl, const struct access_question *q, struct access_answer *a,
		     struct nl_error *e);

/* @path_id or @session_id 0: not used; both 0: all paths of @role. */
struct nl_stats_reset {
	enum m_role role;
	uint32_t path_id, session_id;
	uint32_t groups;		/* bits of the family's counters, 0: all */
};

bool rnl_stats_reset(struct nl *nl, const struct nl_stats_reset *r, struct nl_error *e);

#endif
