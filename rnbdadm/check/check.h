/* SPDX-License-Identifier: GPL-2.0 */
/* check: what is looked at, and what was found. */
#ifndef RNBDADM_CHECK_CHECK_H
#define RNBDADM_CHECK_CHECK_H

#include "app/app.h"
#include "task/new-paths.h"

enum check_status { CHECK_PASS, CHECK_WARN, CHECK_FAIL, CHECK_SKIP, CHECK_N };

/* A path of the configuration that does not run. */
struct check_planned {
	struct path path;
	char *at;			/* FILE:LINE */
	char *problem;			/* why it has no address, or NULL */
};

/* What a check looks at; read once for all of them. */
struct checkup {
	struct ctx *ctx;
	const char *root, *id;
	json_t *results;
	unsigned int counts[CHECK_N];
	struct ways only;		/* --path */
	const char *server;		/* --server, or NULL */
	struct fail no_nl;		/* why there is no family, if so */
	bool client_ok, server_ok;	/* the lists were read */
	int64_t read_ms;		/* when */
	struct fail client_why, server_why;	/* why not, where the module is there; told once */
	struct snapshot client, exports;
	struct snapshot later;		/* the client's counters, a while after that */
	struct check_planned *planned;
	size_t nplanned;
	bool planned_read;
	struct strlist hcas;
	struct check_errors *errors;	/* of ports, at the first of two looks */
	size_t nerrors;
};

struct check {
	const char *id;
	const char *what;		/* one line for the help */
	void (*run)(struct checkup *k);
	const char *cause, *cure;	/* of what is not so, for the manual; hints of results are of their object */
};

#define CHECK_LOOK_MS	500	/* between two looks at counters, to see which rise */

/* The tables of the areas end with a NULL id. */
extern const struct check modules_checks[], netlink_checks[], rdma_checks[], net_checks[];
extern const struct check session_checks[], device_checks[], server_checks[], system_checks[];
extern const struct check config_checks[];

/* access.c: of the server's */
void server_access(struct checkup *k);
void server_access_dirs(struct checkup *k);

/* One result of the check that runs. @object "" is the host. */
void check_tell(struct checkup *k, enum check_status status, const char *object, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The cure of the last result. */
void check_hint(struct checkup *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A key of the last result's "data". Takes the reference. */
void check_data(struct checkup *k, const char *key, json_t *v);

/*
 * Of HOST[:PORT] or [IPv6][:PORT] the host, to be freed, and the port, 0 where there is none;
 * NULL where it is neither.
 */
char *check_host(const char *server, uint64_t *port);

/* The lists of the client or of the server; else the check is skipped. */
bool check_client(struct checkup *k);
bool check_server(struct checkup *k);
/* Is the path one of --path? Without that all are. */
bool check_wants(const struct checkup *k, const struct path *p);
/* Fills @k->planned, once. */
void check_planned(struct checkup *k);
/* The last result is of a path that is configured only: where to correct it. */
void check_source(struct checkup *k, const struct check_planned *p);
/* The netlink family; not so with in-tree drivers. */
bool check_family(const struct checkup *k);
bool check_loaded(const struct checkup *k, const char *module);
/* The file that modprobe would load, or NULL. To be freed. */
char *check_module_file(const struct checkup *k, const char *module);
/* Prints the results. XC_OK, or XC_DIFFERS with ctx->fail set. */
int check_report(struct checkup *k);

/* A port of an RDMA device, for which "HCA/PORT" is in @name. */
struct check_port {
	const char *hca;
	char *port, name[M_HCA_MAX * 2], link_layer[16], netdev[M_HCA_MAX];
	bool soft;			/* no device behind it: rxe, siw */
};

/* The RDMA device of an interface, to be freed; NULL if it has none. */
char *check_rdma_of(const struct checkup *k, const char *dev);

/* Calls @each for all ports; skips the check when there are none. */
void check_ports(struct checkup *k, void (*each)(struct checkup *k, const struct check_port *p));

#endif
