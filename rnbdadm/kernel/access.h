/* SPDX-License-Identifier: GPL-2.0 */
/* Who may what on this server: the access list as the kernel has it, or as a configuration says. */
#ifndef RNBDADM_KERNEL_ACCESS_H
#define RNBDADM_KERNEL_ACCESS_H

#include <jansson.h>

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
	int attr;			/* of the family: of the value itself or, where it has parts, of their nest */
	int word, addr, n;		/* the parts that there are */
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

/* A list, and each message about it. */
struct access_list {
	json_t *says;			/* all but the items: {"state": 2, "number": 14}, by the names of the family */
	struct access_items of[ACCESS_KINDS];	/* peers in their order, which counts; exports by name */
};

enum access_words { AW_STATE, AW_EVENT, AW_STEP, AW_REASON };

/* "unknown" for a value that this tool does not know. */
const char *access_word(enum access_words which, uint64_t v);

/* "" and M_UNKNOWN where there is none. */
const char *access_str(const json_t *says, const char *key);
uint64_t access_uint(const json_t *says, const char *key);
enum access_state access_state(const struct access_list *l);

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

struct access_list access_empty(enum access_state state);
struct access_item *access_new(struct access_list *l, enum access_kind kind, const char *name);
/* Of a list that is sorted. */
struct access_item *access_get(const struct access_list *l, enum access_kind kind, const char *name);
/* Another one: what a section says of it, but what is allowed to @without, which may be NULL. */
void access_copy(struct access_list *l, enum access_kind kind, const struct access_item *x, const char *without);
/* Whom of the values of @allow the list does not have; NULL if it has all. */
const struct access_value *access_stranger(const struct access_list *l, const struct access_values *allow);
/* To be done when the last one was added. */
void access_sort(struct access_list *l);
/* "did you mean web1?", to be freed, or NULL; ACCESS_KINDS: of both. */
char *access_suggest(const struct access_list *l, enum access_kind kind, const char *name);
void access_free(struct access_list *l);

/* The first peer before this one that could take the same client; NULL if there is none. */
const struct access_item *access_first_like(const struct access_items *peers, size_t peer);

#endif
