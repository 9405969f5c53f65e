/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of the model as JSON, and the views that print them. */
#ifndef RNBDADM_OUTPUT_TO_JSON_H
#define RNBDADM_OUTPUT_TO_JSON_H

#include "model/objects.h"
#include "output/output.h"

extern const struct view session_view, path_view, device_view;
extern const struct view unmap_view, remap_view, export_view, close_view, client_view;
extern const struct view server_path_view, revalidate_view, port_view, port_change_view;
/* Sets io_p50_ns and io_p99_ns. */
void js_quantiles(json_t *o, const struct distributions *d);

extern const struct view event_view, path_change_view;

struct object_opts {
	bool stats;		/* add "counters" */
	bool details;		/* add ids and limits */
	bool role;		/* of paths */
	const char *root;
};

/* @s holds the paths, devices and counters of the session. */
json_t *js_session(const struct session *sess, const struct snapshot *s,
		   const struct object_opts *o);
json_t *js_path(const struct path *p, const struct snapshot *s,
		const struct object_opts *o);
json_t *js_device(const struct device *d, const struct object_opts *o);
/* One block device of this server; @list are its @n openings. */
json_t *js_export(const struct export *list, size_t n, const struct object_opts *o);
/* All of them, by block device, or only @device. */
json_t *js_exports(const struct export_list *l, const char *device, const struct object_opts *o);
/* The value of a setting: a number, or a word where those who set it use one; null: unknown. */
json_t *js_setting(enum m_setting i, int64_t v);
/* The name of a negative errno, null for none. */
json_t *js_errno(int64_t err);
json_t *js_counters(const struct counters *c);

/* cells.c: columns that say more than one field */
char *col_paths(const json_t *obj, const struct out_opts *o);
char *col_listed(const json_t *obj, const struct out_opts *o);
char *col_clients(const json_t *obj, const struct out_opts *o);
char *col_hca(const json_t *obj, const struct out_opts *o);
char *col_users(const json_t *obj, const struct out_opts *o);
char *col_short_path(const json_t *obj, const struct out_opts *o);
char *col_reconnects(const json_t *obj, const struct out_opts *o);
char *col_mib_read(const json_t *obj, const struct out_opts *o);
char *col_mib_write(const json_t *obj, const struct out_opts *o);
char *col_iops_read(const json_t *obj, const struct out_opts *o);
char *col_iops_write(const json_t *obj, const struct out_opts *o);
char *col_read_ios(const json_t *obj, const struct out_opts *o);
char *col_write_ios(const json_t *obj, const struct out_opts *o);
void export_children(const json_t *obj, const struct out_opts *o, struct strlist *lines);

/* Lines of the tree below an object: cells under each other. */
#define GRID_COLS	6

struct grid {
	char **cells;			/* NULL or to be freed, row by row */
	size_t rows;
	unsigned int width[GRID_COLS];
	bool right[GRID_COLS], whole[GRID_COLS];
};

/* Takes the cells. */
void grid_add(struct grid *g, char *const *cells);
void grid_fit(struct grid *g, unsigned int indent, const struct out_opts *o);
char *grid_line(const struct grid *g, size_t row, const struct out_opts *o);
void grid_free(struct grid *g);

#define BRANCH_WIDTH	3		/* of what a line has before it */

void branch_line(struct strlist *lines, const struct out_opts *o, bool last, const char *text);
/* A text of the object for people, "-" if it has none. To be freed. */
char *shown(const json_t *obj, const char *key);

#endif
