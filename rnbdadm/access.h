/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may what on this server: the access list as the kernel has it, or as a configuration
 * says. Plain data: no netlink, no JSON, no I/O.
 */
#ifndef RNBDADM_ACCESS_H
#define RNBDADM_ACCESS_H

#include "model.h"

/* In the order of the family. */
enum access_state { ACCESS_OPEN, ACCESS_CLOSED, ACCESS_LISTED };

#define ACCESS_NAME_MAX		254
#define ACCESS_PEER_MAX		63
#define ACCESS_PATH_MAX		4095

/* Of the reasons of a refusal those that are looked at. */
#define ACCESS_REASON_CLOSED	1
#define ACCESS_REASON_MODE	10

/* Addresses that agree with @addr in the first @bits. */
struct access_from {
	struct addr addr;
	unsigned int bits;
};

/* In the order of the family. */
enum access_limit { ACCESS_SESSIONS, ACCESS_DEVICES, ACCESS_MEMORY, ACCESS_LIMITS };

struct access_peer {
	char *name;
	struct strlist sessions;	/* patterns */
	struct access_from *from;
	size_t nfrom;
	uint64_t limit[ACCESS_LIMITS];	/* M_UNKNOWN: none */
	/* from the kernel */
	uint64_t used[ACCESS_LIMITS], denied;
};

struct access_grant {
	char *peer;			/* "*": each peer of the list */
	uint64_t mode;			/* as of access_name() */
};

struct access_export {
	char *name, *path;
	uint64_t io_mode;
	struct access_grant *allow;	/* by peer, each once */
	size_t nallow;
	/* from the kernel */
	uint64_t openings;
};

struct access_list {
	uint64_t state, number, loaded_ns, uid, denied;
	struct access_peer *peers;	/* in their order, which counts */
	struct access_export *exports;
	size_t npeers, nexports;
};

/* What access-set asks for. */
struct access_request {
	uint64_t state;
	const struct access_list *list;	/* where @state is ACCESS_LISTED */
	uint64_t expect;		/* the number that was read, M_UNKNOWN: any */
	bool force, dry_run;
};

#define ACCESS_ENDED_IDS	256

/* What a change ends, or has ended: how many paths and openings, and the ids of the first of them. */
struct access_ended {
	uint64_t number;		/* of the list that holds then */
	uint32_t paths, exports, path_ids[ACCESS_ENDED_IDS], export_ids[ACCESS_ENDED_IDS];
	size_t npath_ids, nexport_ids;
};

struct access_question {
	const char *peer;		/* or NULL, then: */
	const char *session;
	struct addr from;
	const char *export;
	uint64_t mode;
};

struct access_answer {
	bool allowed;
	uint64_t reason, granted;	/* the most that it may ask for */
	char peer[M_NAME_MAX], export[M_NAME_MAX], path[M_NAME_MAX];
};

/* One decision, as the group "access" tells it. */
struct access_event {
	uint64_t seq, time_ns, kind, step, reason, suppressed, access, number, old_number, state, old_state;
	uint64_t peers, exports, uid, loginuid;
	int64_t err;
	char peer[M_NAME_MAX], session[M_NAME_MAX], device_path[M_NAME_MAX], export[M_NAME_MAX];
	char path[M_NAME_MAX];
	struct addr client, server;
};

const char *access_event_name(uint64_t v);
const char *access_step_name(uint64_t v);
/* "access-mode"; "unknown" for a value this tool does not know, "" for none. */
const char *access_reason_name(uint64_t v);
const char *access_state_name(uint64_t v);

/* Each tells what is wrong with a word, to be freed, or NULL. */
char *access_peer_problem(const char *name);
char *access_export_problem(const char *name);
char *access_pattern_problem(const char *pattern);
char *access_path_problem(const char *path);
/* "ip:10.0.0.0/24" */
char *access_from_parse(const char *text, struct access_from *f);
/* "PEER:MODE, .."; @e may be NULL, to look only */
char *access_allow_parse(const char *text, struct access_export *e);

unsigned int access_bits(const struct addr *a);
char *access_from_text(const struct access_from *f);
/* "web1:rw, old1:ro" */
char *access_allow_text(const struct access_export *e);
bool access_is_directory(const char *name);

/* These return the new one, all unknown and empty. */
struct access_peer *access_add_peer(struct access_list *l, const char *name);
struct access_export *access_add_export(struct access_list *l, const char *name);
struct access_peer *access_peer(const struct access_list *l, const char *name);
struct access_export *access_export(const struct access_list *l, const char *name);
/* What is in @from once more, without what the kernel counts. */
void access_copy(struct access_list *l, const struct access_list *from);
/* Moves all of @from to the end of @l. */
void access_move(struct access_list *l, struct access_list *from);
void access_revoke(struct access_export *e, const char *peer);
void access_remove_peer(struct access_list *l, struct access_peer *p);
void access_remove_export(struct access_list *l, struct access_export *e);
/* Raises the right of @peer to @mode. */
void access_grant(struct access_export *e, const char *peer, uint64_t mode);
/* Exports by name, as access_find() looks for them. */
void access_sort(struct access_list *l);
void access_free(struct access_list *l);

/* The export that a client means by @name: of that name, or the longest directory above it. */
struct access_export *access_find(const struct access_list *l, const char *name);
/* Is there a client without a key whom both would take? */
bool access_overlap(const struct access_peer *a, const struct access_peer *b);

#endif
