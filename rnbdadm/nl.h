/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rnbd netlink family as the commands see it: requests in terms of the
 * model, failures as struct nl_error. No netlink type appears here.
 */
#ifndef RNBDADM_NL_H
#define RNBDADM_NL_H

#include "model.h"

struct nl;

enum nl_fail {
	NL_FAIL_NONE,
	NL_FAIL_KERNEL,		/* the kernel answered with an error */
	NL_FAIL_LOCAL,		/* the socket failed */
	NL_FAIL_NO_FAMILY,	/* the modules are not loaded */
	NL_FAIL_NO_OP,		/* the module lacks the operation */
	NL_FAIL_REPLAY,		/* the recording has no such answer */
};

struct nl_error {
	enum nl_fail kind;
	int err;		/* positive errno */
	char extack[256];	/* text of the kernel, or "" */
	char attr[64];		/* "access-mode", "path.server-addr", or "" */
	bool missing;		/* @attr was not given but is needed */
	char warning[256];	/* extack text of a success */
};

struct nl_config {
	const char *record;	/* file to write, or NULL */
	const char *replay;	/* file to read instead of the kernel, or NULL */
	bool trace;		/* decoded messages to stderr */
	bool verbose;		/* one line per request to stderr */
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
};

/* Returns NULL and fills @e on failure. */
struct nl *rnl_open(const struct nl_config *cfg, struct nl_error *e);
void rnl_close(struct nl *nl);
unsigned int rnl_family_version(const struct nl *nl);

/*
 * Reads the wanted lists of one side, sorted. Reads again when the kernel says
 * that they changed meanwhile; @torn is set when that never ended.
 */
bool rnl_snapshot(struct nl *nl, enum m_role role, unsigned int what,
		 struct snapshot *s, bool *torn, struct nl_error *e);

/* These change things; they block until the kernel is done. */
bool rnl_map(struct nl *nl, const struct map_request *req, struct device *dev,
	    struct nl_error *e);
bool rnl_unmap(struct nl *nl, const struct device *dev, bool force,
	      struct nl_error *e);

/* @path_id or @session_id 0: not used; both 0: all paths of @role. */
bool rnl_stats_reset(struct nl *nl, enum m_role role, uint32_t path_id,
		    uint32_t session_id, struct nl_error *e);

#endif
