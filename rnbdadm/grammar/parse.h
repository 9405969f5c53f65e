/* SPDX-License-Identifier: GPL-2.0 */
/* The parser, and the tables that drive it: of options here, of commands in cmd/table.c. */
#ifndef RNBDADM_GRAMMAR_PARSE_H
#define RNBDADM_GRAMMAR_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct ctx;
struct view;

enum opt_id {
	OPT_NONE,
	/* global */
	OPT_JSON, OPT_PRETTY, OPT_OUTPUT, OPT_QUIET, OPT_VERBOSE, OPT_TRACE,
	OPT_DRY_RUN, OPT_FORCE, OPT_IDEMPOTENT, OPT_TIMEOUT, OPT_COLOR, OPT_BACKEND,
	OPT_NO_LOCK, OPT_LOCK_TIMEOUT, OPT_CONFIG, OPT_HELP, OPT_VERSION,
	OPT_TEST_ROOT, OPT_TEST_TIME, OPT_NL_RECORD, OPT_NL_REPLAY,
	OPT_GLOBAL_LAST = OPT_NL_REPLAY,
	/* output of lists */
	OPT_FIELDS, OPT_SORT, OPT_FILTER, OPT_UNIT, OPT_NO_HEADERS, OPT_TOTALS,
	OPT_WIDE, OPT_BRIEF,
	/* selection */
	OPT_SESSION, OPT_HCA, OPT_DOWN, OPT_STATS, OPT_DETAILS, OPT_ALL, OPT_ROLE,
	/* map, unmap */
	OPT_SERVER_HOST, OPT_PATH, OPT_ACCESS, OPT_POLL_QUEUES, OPT_CONNECTIONS, OPT_DEST_PORT,
	OPT_MP_POLICY, OPT_WAIT, OPT_NO_WAIT, OPT_LAZY, OPT_NAME, OPT_OWNER, OPT_SAVE_MAP,
	OPT_ADD_PATHS, OPT_FUA, OPT_IO_MODE,
	/* remap, resize, session set, server, status */
	OPT_ONLY_DISCONNECTED, OPT_RECREATE, OPT_ALLOW_SHRINK, OPT_SET_POLICY,
	OPT_MAX_RECONNECT, OPT_HEARTBEAT_INTERVAL, OPT_HEARTBEAT_MISSES, OPT_RECONNECT_DELAY,
	OPT_RECONNECT_DELAY_MAX, OPT_CONNECT_TIMEOUT, OPT_IO_TIMEOUT, OPT_NO_PATH_TIMEOUT, OPT_LOST_WRITES,
	OPT_CHECK_STATE, OPT_SET_ACCESS,
	/* paths */
	OPT_ONLY_DOWN, OPT_ADD_MISSING,
	/* monitor, wait */
	OPT_DIFF, OPT_FULL, OPT_NO_SNAPSHOT, OPT_ONCE, OPT_EVENTS, OPT_FOR, OPT_TEST,
	OPT_RCVBUF, OPT_FOLLOW,
	/* stats */
	OPT_INTERVAL, OPT_COUNT, OPT_RATE, OPT_PER_CPU, OPT_SKIP_FIRST, OPT_BY, OPT_LATENCY,
	OPT_TEXTFILE, OPT_COUNTERS, OPT_LOG,
	/* config */
	OPT_MODE, OPT_PRUNE, OPT_ONLY, OPT_STOP_ON_ERROR, OPT_RESOLVED, OPT_LENIENT,
	/* check */
	OPT_CHECK_SERVER, OPT_CHECK_PATH, OPT_STRICT, OPT_FIX_HINTS,
	/* schema */
	OPT_LIST,
	/* access list */
	OPT_AUTH, OPT_PATTERN, OPT_FROM, OPT_MAX_SESSIONS, OPT_MAX_DEVICES, OPT_MAX_MEMORY, OPT_ALLOW,
	OPT_EXPORT_NAME, OPT_PEER, OPT_TEST_SESSION, OPT_FROM_ADDR, OPT_SAVE_ACCESS,
	/* rds ping */
	OPT_PINGS,
	OPT_MAX
};

enum opt_arg { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL };

enum opt_type { T_TEXT, T_WORD, T_UINT, T_TIME };

struct opt {
	const char *name;
	char letter;
	enum opt_arg arg;
	enum opt_type type;
	const char *metavar;
	const char *values;	/* T_WORD: "a|b|c", with "#" any number too */
	uint64_t min, max;	/* T_UINT */
	bool repeat, hidden;
	const char *help;
};

struct arg {
	const char *name;
	bool optional, repeat;
	const char *help;
	const char *values;	/* "a|b|c" where there is a fixed set */
};

#define CMD_ARGS	4

enum {
	CMD_CHANGES	= 1 << 0,	/* takes the lock, needs privilege */
	CMD_PLAIN	= 1 << 1,	/* text is no table: no csv */
	CMD_STREAM	= 1 << 2,	/* may print several documents */
	CMD_HIDDEN	= 1 << 3,	/* no help and no metadata has it */
	CMD_PROM	= 1 << 5,	/* has prom output */
	CMD_INFO	= 1 << 4,	/* asks RDS_INFO_*, no netlink and no files of a driver */
};

struct cmd {
	const char *object, *verb;	/* verb NULL: the object is the command */
	const char *summary;
	struct arg args[CMD_ARGS];
	const unsigned char *opts;	/* enum opt_id, ends with 0 */
	const char *text;		/* paragraph for the help, or NULL */
	const char *examples[2];
	const char *topic;		/* of its JSON document */
	const char *empty;		/* collections that are always present */
	const char *page;		/* manual page */
	const struct view *view;	/* its table, or NULL */
	unsigned int flags;
	/*
	 * What is wrong with the words and values, without the kernel and without a name
	 * server; may be NULL. An exit code, XC_USAGE, with ctx->fail set; or XC_OK.
	 */
	int (*check)(struct ctx *ctx);
	/* The table of this command line, where it depends on options; may be NULL. */
	const struct view *(*choose)(const struct ctx *ctx);
	int (*run)(struct ctx *ctx);
};

extern const struct opt opt_table[OPT_MAX];

/* A command or an option of an earlier version. */
struct gone {
	const char *old, *now;
};

struct object_desc {
	const char *object, *summary;
};

struct complete;

struct grammar {
	const struct cmd *cmds;
	size_t ncmds;
	const struct gone *gone;
	size_t ngone;
	const struct object_desc *objects;
	size_t nobjects;
	char *(*checks)(void);		/* the text of "help checks", to be freed */
	/* offers what an argument of that name may be */
	void (*complete)(struct complete *c, const char *what);
};

/* main() sets it before anything else. */
extern const struct grammar *grammar;

struct optval {
	enum opt_id id;
	const char *value;		/* NULL if none was given */
};

struct parsed {
	const struct cmd *cmd;		/* NULL: help or usage error */
	const char *object;		/* known object without a verb */
	struct optval *opts;
	size_t nopts;
	const char **args;
	size_t nargs;
	char *label;			/* "session show cl1@srv1" for messages */
	bool help;
	bool literal;			/* "--" came: no more options */
	enum opt_id pending;		/* the last word is this option, its value is missing */
};

/*
 * Parses the command line. On a usage error fills @message and @hint (to be freed)
 * and returns false; what was understood so far is in @p.
 */
bool args_parse(int argc, char **argv, struct parsed *p, char **message, char **hint);
/* The words of a line that is still being typed; false if they are wrong already. */
bool args_words(int argc, char **argv, struct parsed *p);
void args_free(struct parsed *p);

/*
 * What a command line that is wrong somewhere still says: does it want JSON on stdout,
 * and how quiet is it?
 */
bool args_scan(int argc, char **argv, int *quiet);

/* Adds it as one word of a command line: "--wait=5s". */
void optval_word(const struct optval *v, struct strlist *words);

bool args_has(const struct parsed *p, enum opt_id id);
/* The last value of an option, or NULL. */
const char *args_value(const struct parsed *p, enum opt_id id);
/* --role server */
bool args_server(const struct parsed *p);
/* The n-th value of a repeated option, or NULL. */
const char *args_nth(const struct parsed *p, enum opt_id id, size_t n);
/* The last one of several options that was given; OPT_NONE if none was. */
enum opt_id args_last(const struct parsed *p, const enum opt_id *ids, size_t n);
uint64_t args_uint(const struct parsed *p, enum opt_id id, uint64_t none);
/* Milliseconds; -1 for "infinite". */
int64_t args_time(const struct parsed *p, enum opt_id id, int64_t none);

/*
 * NULL, or what is wrong with a value of the option, to be freed as is @hint; the option is
 * called by its name after @dashes.
 */
char *opt_problem(const struct opt *o, const char *dashes, const char *v, char **hint);
bool cmd_has_opt(const struct cmd *cmd, enum opt_id id);
/* The long option of that command, or of all; other commands may have one of the same name. */
enum opt_id opt_find(const struct cmd *cmd, const char *name, size_t len);
/*
 * The option or argument of the command, or the key of a configuration, that an attribute of a
 * request comes from, to be freed; NULL if nobody typed it. @object_type is what an id is of.
 */
char *attr_option(const struct cmd *cmd, const char *object_type, const char *attr);
/* First words of commands; verbs, or second words, of an object. */
void legal_objects(struct strlist *l);
void legal_verbs(const char *object, struct strlist *l);

/* "500ms", "30s", "5m", "1h", "1d", "infinite"; false if it is no time. */
bool parse_time(const char *s, int64_t *ms);

/* help.c; texts are to be freed */
char *help_for(const struct parsed *p);
/* "help WORDS": NULL with message and hint if there is no such thing. */
char *help_words(const char *const *words, size_t n, char **message, char **hint);
/* One line, for usage errors. */
char *usage_line(const struct parsed *p);

#endif
