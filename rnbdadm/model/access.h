/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who may what on this server: the access list as the kernel has it, or as a configuration
 * says. Plain data: no netlink, no JSON, no I/O.
 */
#ifndef RNBDADM_MODEL_ACCESS_H
#define RNBDADM_MODEL_ACCESS_H

#include "model/objects.h"

/* In the order of the family. */
enum access_state { ACCESS_OPEN, ACCESS_CLOSED, ACCESS_LISTED };

#define ACCESS_NAME_MAX		254
#define ACCESS_PEER_MAX		63
#define ACCESS_PATH_MAX		2047

/* Reasons of a refusal that the tool looks at. */
#define ACCESS_REASON_CLOSED	1
#define ACCESS_REASON_MODE	10

enum access_kind { ACCESS_PEER, ACCESS_EXPORT, ACCESS_KINDS };

/* What a section says and what the kernel counts: of a peer, then of an export. */
enum access_key {
	AK_SESSION, AK_FROM, AK_SESSIONS, AK_MAX_SESSIONS, AK_DEVICES, AK_MAX_DEVICES, AK_MEMORY, AK_MAX_MEMORY,
	AK_DENIED,
	AK_PATH, AK_IO_MODE, AK_ALLOW, AK_OPENINGS,
	AK_N
};

#define access_kind_of(key)	((key) < AK_PATH ? ACCESS_PEER : ACCESS_EXPORT)

struct access_key_desc {
	const char *json;
	bool many, counted;
};

extern const struct access_key_desc access_keys[AK_N];

struct conf_place;

struct access_value {
	char *word;			/* a pattern, a path, or the peer that is allowed ("*": each) */
	struct addr addr;
	uint64_t n;			/* a limit, a mode, or the bits of @addr */
	const struct conf_place *at;	/* NULL: not of a configuration */
};

struct access_values {
	struct access_value *v;
	size_t n;
};

/* A peer or an export. */
struct access_item {
	char *name;
	struct access_values of[AK_N];	/* sorted, each once */
	const struct conf_place *at;
};

struct access_items {
	struct access_item *v, **by_name;
	size_t n;
};

struct access_list {
	uint64_t state, number, loaded_ns, uid, denied;
	struct access_items of[ACCESS_KINDS];	/* peers in their order, which counts; exports by name */
};

/* What access-set asks for. */
struct access_request {
	const struct access_list *list;	/* its state, and its items if that is ACCESS_LISTED */
	uint64_t expect;		/* the number that was read */
	bool force, dry_run;
};

#define ACCESS_ENDED_IDS	256

/* What a change ends, or has ended: the number of all, and the ids of the first of them. */
struct access_ended {
	uint64_t number;		/* of the new list */
	struct {
		uint32_t n, ids[ACCESS_ENDED_IDS];
		size_t nids;
	} exports, paths;
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

enum access_words { AW_STATE, AW_EVENT, AW_STEP, AW_REASON };

/* "unknown" for a value that this tool does not know. */
const char *access_word(enum access_words which, uint64_t v);

/* What is wrong with a name, to be freed, or NULL. */
char *access_name_problem(enum access_kind kind, const char *name);
/* Adds what @text says; or returns what is wrong with it, to be freed. */
char *access_say(struct access_item *x, enum access_key k, const char *text, const struct conf_place *at);
/* By their words, or by addresses: what a range contains comes right behind it. */
int access_value_cmp(const struct access_value *a, const struct access_value *b);
/* Adds a value, or changes the only one; takes its word. */
void access_put(struct access_item *x, enum access_key k, const struct access_value *v);
/* As a configuration has it, to be freed. */
char *access_value_text(enum access_key k, const struct access_value *v);
/* All of them; NULL if there are none. */
char *access_text(const struct access_item *x, enum access_key k);
/* The only value as a number; M_UNKNOWN if there is none. */
uint64_t access_number(const struct access_item *x, enum access_key k);
unsigned int access_bits(const struct addr *a);
bool access_is_directory(const char *name);
void access_item_free(struct access_item *x);

struct access_item *access_new(struct access_list *l, enum access_kind kind, const char *name);
/* Of a list that is sorted. */
struct access_item *access_get(const struct access_list *l, enum access_kind kind, const char *name);
/* Adds all of @from but @without, which may be NULL, and what is allowed to it; sorts. */
void access_copy(struct access_list *l, const struct access_list *from, enum access_kind kind, const char *without);
/* To be done when the last one was added. */
void access_sort(struct access_list *l);
void access_free(struct access_list *l);

/* For each peer the first one that could take the same client; itself where there is none. To be freed. */
size_t *access_overlaps(const struct access_items *peers);

#endif
