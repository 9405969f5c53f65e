/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel as the commands see it: requests in terms of the model, failures as
 * struct nl_error. Behind it is the rnbd netlink family or, for drivers without it,
 * /sys. No netlink type appears here, but for the family's enum of refusals.
 */
#ifndef RNBDADM_KERNEL_KERNEL_H
#define RNBDADM_KERNEL_KERNEL_H

#include <linux/rnbd.h>

#include "kernel/access.h"
#include "model/objects.h"

struct nl_family;

/* The families of this project. */
extern const struct nl_family netlink_family_rnbd, netlink_family_rds;

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
	enum rnbd_refusal refusal;	/* who refuses, where the errno leaves it open */
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
		json_t *access;		/* to be released */
	};
};

enum nl_next {
	NL_NEXT_NONE,
	NL_NEXT_EVENT,
	NL_NEXT_OVERRUN,	/* the kernel dropped some */
	NL_NEXT_LOST,		/* the family is gone */
};

/* @path_id or @session_id 0: not used; both 0: all paths of @role. */
struct nl_stats_reset {
	enum m_role role;
	uint32_t path_id, session_id;
	uint32_t groups;		/* bits of the family's counters, 0: all */
};

/* The list, another one in its place, or what it would say. */
enum access_ask { ACCESS_GET, ACCESS_SET, ACCESS_TEST };

struct kernel;

/* What can be asked of the kernel. A false comes with @e filled; sysfs refuses where it has no file. */
struct kernel_ops {
	void (*close)(struct kernel *k);
	/*
	 * Reads the wanted lists of one side, sorted. Reads again when the kernel says
	 * that they changed meanwhile; @torn is set when that never ended.
	 */
	bool (*snapshot)(struct kernel *k, enum m_role role, unsigned int what, struct snapshot *s,
			 bool *torn, struct nl_error *e);
	/* Events of one of the groups session, path, device, export, access; from the call on. */
	bool (*listen)(struct kernel *k, const char *group, struct nl_error *e);
	bool (*has_group)(const struct kernel *k, const char *group);
	/* The next one that has arrived, or that was recorded. */
	enum nl_next (*next_event)(struct kernel *k, struct nl_event *ev);
	/*
	 * Takes all that have arrived, in a replay the next one recorded; false if there is none.
	 * For those to whom it is the moment to take another snapshot.
	 */
	bool (*events)(struct kernel *k);

	/* Before a disk that is to be mapped again is unmapped: does this kernel take such requests? */
	bool (*can_map)(struct kernel *k, const struct map_request *req, struct nl_error *e);
	/* These change things; they block until the kernel is done. */
	bool (*map)(struct kernel *k, const struct map_request *req, struct device *dev,
		    struct nl_error *e);
	bool (*unmap)(struct kernel *k, const struct device *dev, bool force, struct nl_error *e);
	/* @dev is what the kernel says of it afterwards. */
	bool (*remap)(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct device *dev,
		      struct nl_error *e);
	bool (*resize)(struct kernel *k, uint32_t id, uint64_t bytes, struct device *dev,
		       struct nl_error *e);
	bool (*device_set_rw)(struct kernel *k, uint32_t id, uint64_t timeout_ms,
			      struct device *dev,
			      struct nl_error *e);
	bool (*session_set)(struct kernel *k, uint32_t id, const struct session_settings *want,
			    struct session *now, struct nl_error *e);
	/* @req: device_path and access are not used. */
	bool (*session_add)(struct kernel *k, const struct map_request *req, struct session *now,
			    struct nl_error *e);
	bool (*session_del)(struct kernel *k, uint32_t id, struct nl_error *e);
	/* For those who would do more before. */
	bool (*can_session_del)(struct kernel *k, struct nl_error *e);
	/* @timeout_ms: M_UNKNOWN is what the session has. */
	bool (*path_add)(struct kernel *k, uint32_t session_id, const struct addr_pair *pair,
			 uint64_t timeout_ms, struct path *now, struct nl_error *e);
	bool (*path_del)(struct kernel *k, uint32_t id, struct nl_error *e);
	bool (*path_reconnect)(struct kernel *k, uint32_t id, uint64_t timeout_ms, struct path *now,
			       struct nl_error *e);
	bool (*path_disconnect)(struct kernel *k, uint32_t id, struct path *now,
				struct nl_error *e);
	/* The server's side. */
	bool (*export_close)(struct kernel *k, uint32_t id, struct nl_error *e);
	bool (*session_disconnect)(struct kernel *k, uint32_t id, struct nl_error *e);
	/* @now: what is told afterwards. @timeout_ms: M_UNKNOWN is that of the kernel. */
	bool (*export_revalidate)(struct kernel *k, uint32_t id, uint64_t timeout_ms,
				  struct export *now,
				  enum m_reach *reach, struct nl_error *e);
	bool (*port_drain)(struct kernel *k, const struct port *p, bool force, struct nl_error *e);
	bool (*port_undrain)(struct kernel *k, const struct port *p, struct nl_error *e);
	/*
	 * Of the access list; @reply is to be freed. A dry run of the request is sent in a dry run of the program, too:
	 * it changes nothing.
	 */
	bool (*access)(struct kernel *k, enum access_ask what, const struct access_list *request,
		       struct access_list *reply, struct nl_error *e);
	bool (*stats_reset)(struct kernel *k, const struct nl_stats_reset *r, struct nl_error *e);
};

struct kernel {
	const struct kernel_ops *ops;
	struct nl_config cfg;
	unsigned int version;		/* of the family, 0: there is none */
	bool stuck;			/* a change went beyond the limit: nothing is answered any more */
	int event_fd;			/* to poll() for events, -1: there is none */
};

/* Returns NULL and fills @e on failure. */
struct kernel *kernel_open(const struct nl_config *cfg, struct nl_error *e);
void kernel_close(struct kernel *k);
bool kernel_is_sysfs(const struct kernel *k);
/* Not by sysfs: operations that the family does not list; returns how many the tool knows. */
unsigned int netlink_missing_ops(const struct kernel *k, struct strlist *missing);

#endif
