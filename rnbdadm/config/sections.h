/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration: sections with values, where each stands, and what is wrong with them. It
 * is the same for files of text, for JSON, and for what runs.
 */
#ifndef RNBDADM_CONFIG_SECTIONS_H
#define RNBDADM_CONFIG_SECTIONS_H

#include <jansson.h>

#include "app/app.h"

enum conf_kind { CONF_DEFAULTS, CONF_SESSION, CONF_DEVICE, CONF_PEER, CONF_EXPORT, CONF_KINDS };

#define CONF_OF(access_kind)	((enum conf_kind)(CONF_PEER + (access_kind)))

/* The settings of a session come first. */
enum conf_key {
	CK_SETTINGS = SET_N,
	CK_MP_POLICY = CK_SETTINGS, CK_DEST_PORT, CK_CONNECTIONS, CK_POLL_QUEUES, CK_WAIT,
	CK_PATH, CK_SESSION, CK_DEVICE_PATH, CK_ACCESS, CK_IO_MODE, CK_FUA, CK_OPTIONAL,
	/* of the access list */
	CK_KEY, CK_AUTH, CK_PEER_SESSION, CK_FROM, CK_MAX_SESSIONS, CK_MAX_DEVICES, CK_MAX_MEMORY,
	CK_EXPORT_PATH, CK_ALLOW,
	CK_N
};

struct conf_place {
	const char *file;		/* of conf->files */
	unsigned int line, col;		/* 0: of the file as a whole */
	unsigned int key_col;		/* of the key that the value at @col is for, 0: as @col */
};

struct conf_value {
	char *text;			/* NULL: not given; "": what the kernel takes by itself */
	struct conf_place at;
};

struct conf_path {
	char *text;			/* [SRC@]DST as it was given */
	struct addr_pair pair;		/* port: what is given with this path, or 0 */
	bool resolved;			/* @pair holds; names of hosts and devices may wait */
	struct conf_place at;
};

/* A key that may be repeated. */
struct conf_entry {
	enum conf_key key;
	struct conf_value v;
};

struct conf_section {
	enum conf_kind kind;
	char *name;
	struct conf_place at;
	struct conf_value v[CK_N];
	struct conf_path *paths;
	size_t npaths;
	struct conf_entry *entries;
	size_t nentries;
};

struct conf_problem {
	struct conf_place at;
	char *message;
	bool warning;
};

struct conf {
	struct strlist files;
	struct conf_section *v;		/* pointers into it hold until the next section */
	size_t n;
	json_t *index;			/* into @v, of names, and of what devices map */
	struct access_list access;	/* what is read of [peer] and [export], which it refers to */
	struct conf_problem *problems;
	size_t nproblems, errors;
	bool lenient;			/* unknown keys are warnings */
};

const char *conf_kind_name(enum conf_kind k);
const char *conf_key_name(enum conf_key k);
/* Name and kind of value in JSON: "heartbeat_interval_ms" is an integer. To be freed. */
char *conf_key_json(enum conf_key k);
enum conf_json { CONF_JSON_TEXT, CONF_JSON_INT, CONF_JSON_MS, CONF_JSON_BOOL, CONF_JSON_BYTES, CONF_JSON_LIST };
enum conf_json conf_key_json_kind(enum conf_key k);
/* NULL, or what is wrong with the name of a device, which becomes a link. To be freed. */
char *device_name_problem(const char *name);
bool conf_key_fits(enum conf_key k, enum conf_kind kind);
/* What it means, for people. */
const char *conf_key_help(enum conf_key k);

/* May it be repeated? Its values are among the entries of the section then. */
bool conf_key_is_list(enum conf_key k);
/* The n-th value of any key but CK_PATH; NULL behind the last. */
const struct conf_value *conf_nth(const struct conf_section *s, enum conf_key k, size_t n);

void conf_warning(struct conf *c, const struct conf_place *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void conf_problem(struct conf *c, const struct conf_place *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The copy of a file's name that places refer to. */
const char *conf_file(struct conf *c, const char *name);
/* A section; problems of its name are noted, and it is there all the same. */
struct conf_section *conf_section(struct conf *c, enum conf_kind kind, const char *name,
				  const struct conf_place *at);
/* One value of it, as text; what is wrong is noted. */
void conf_set(struct conf *c, struct conf_section *s, const char *key, const char *text,
	      const struct conf_place *at);
/* What can only be seen when all of it is there: references, duplicates, what is missing. */
void conf_check(struct conf *c);
/* Asks for the addresses of hosts and interfaces that have names; warnings for those without. */
void conf_resolve(struct conf *c);
/* Takes [defaults] away, when each section has its own of what they say. */
void conf_drop_defaults(struct conf *c);
void conf_free(struct conf *c);

const struct conf_section *conf_find(const struct conf *c, enum conf_kind kind, const char *name);
/* The [device] of a mapping, or NULL. */
const struct conf_section *conf_device(const struct conf *c, const char *session,
				       const char *device_path);
/* The value that holds for @s, its own or that of [defaults]; NULL: the kernel's own. */
const struct conf_value *conf_get(const struct conf *c, const struct conf_section *s,
				  enum conf_key k);
/* The same where it is empty, which asks for the kernel's own; NULL: nothing is said. */
const struct conf_value *conf_given(const struct conf *c, const struct conf_section *s,
				    enum conf_key k);
/* The same as a number, or @none. */
uint64_t conf_uint(const struct conf *c, const struct conf_section *s, enum conf_key k,
		   uint64_t none);
/* "yes" is what holds. */
bool conf_yes(const struct conf *c, const struct conf_section *s, enum conf_key k);
/* Poll queues may be asked for by a device; a session has as many as any of its devices wants. */
uint64_t conf_poll_queues(const struct conf *c, const struct conf_section *session);
/* The section that asks for that many: the session, or a device. */
const struct conf_section *conf_poll_section(const struct conf *c,
					     const struct conf_section *session);
/* Milliseconds that the kernel may take to connect. */
uint64_t conf_wait(const struct conf *c, const struct conf_section *s);
/* Policy and settings that are given; the others are unknown. */
void conf_settings(const struct conf *c, const struct conf_section *s,
		   struct session_settings *set);
/* The same of a session that is there: what is empty is what a new one would have. */
void conf_settings_now(const struct conf *c, const struct conf_section *s,
		       struct session_settings *set);
/* The address pair with its port, 0 for the usual one. */
struct addr_pair conf_pair(const struct conf *c, const struct conf_section *s,
			   const struct conf_path *p);
/* The same to look for it: a path is one of the usual port where no other is given. */
struct addr_pair conf_pair_sought(const struct conf *c, const struct conf_section *s,
				  const struct conf_path *p);
/* "FILE:LINE", to be freed; NULL if there is no file. */
char *conf_place_text(const struct conf_place *at);

/*
 * What runs, as far as it can be made again; names of devices are those that @named has for
 * them. @root as in ctx, for what this host takes by itself, which is left out. @left gets a
 * sentence for each session that cannot be made again.
 */
void conf_running(struct conf *c, const struct snapshot *s, const char *session,
		  const struct conf *named, const char *root, struct strlist *left);

/*
 * One device of it, as @name or, where that is NULL, one that is free, with its session where
 * @named does not have that; false if it cannot be made again.
 */
bool conf_running_device(struct conf *c, const struct snapshot *s, const struct device *d,
			 const char *name, const struct conf *named, const char *root);

/*
 * files.c: @file, "-" for stdin, NULL for those of the system; checked. An exit code; with
 * XC_USAGE the problems are in @c and in ctx->fail.
 */
int conf_load(struct ctx *ctx, const char *file, struct conf *c);
/* Reads and checks without judging. */
int conf_read(struct ctx *ctx, const char *file, struct conf *c);
/* What conf_write_file() would refuse, or fail with as far as that is to be seen before. */
int conf_check_file(struct ctx *ctx, const char *file);
/* Puts @text in place of @file at once; what is there stays unless --force is given. */
int conf_write_file(struct ctx *ctx, const char *file, const char *text);

/* ini.c: reads @len bytes of text; writes sections. */
void conf_ini_read(struct conf *c, const char *file, const char *text, size_t len);
/* @sources: with a comment that says where each value is from. */
void conf_ini_write(const struct conf *c, struct strbuf *b, bool sources);

/* access.c: the sections of the access list, as @c->access; then what can only be seen when all of it is there. */
extern const enum conf_key conf_access_keys[AK_N];
void conf_access_read(struct conf *c);
void conf_access_check(struct conf *c);
/* The list, which is that of @c; NULL if it is empty. */
const struct access_list *conf_access(const struct conf *c);
/* The sections of a list. */
void conf_access_running(struct conf *c, const struct access_list *l);

/* json.c. Adds "defaults", "sessions", "devices", "peers" and "exports" to @o. */
void conf_json_write(const struct conf *c, json_t *o, bool sources);

#endif
