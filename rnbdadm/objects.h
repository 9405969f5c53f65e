/* SPDX-License-Identifier: GPL-2.0 */
/* The objects of the model as JSON, and the views that print them. */
#ifndef RNBDADM_OBJECTS_H
#define RNBDADM_OBJECTS_H

#include "model.h"
#include "out.h"

extern const struct view session_view, path_view, device_view;
extern const struct view stats_view, stats_cpu_view, unmap_view, reset_view;

struct object_opts {
	bool stats;		/* add "counters" */
	bool details;		/* add ids and limits */
	const char *root;
};

/* @s holds the paths, devices and counters of the session. */
json_t *js_session(const struct session *sess, const struct snapshot *s,
		   const struct object_opts *o);
json_t *js_path(const struct path *p, const struct snapshot *s,
		const struct object_opts *o);
json_t *js_device(const struct device *d, const struct object_opts *o);
json_t *js_counters(const struct counters *c);

/* view-text.c: columns that say more than one field */
char *col_paths(const json_t *obj, const struct out_opts *o);
char *col_hca(const json_t *obj, const struct out_opts *o);
char *col_users(const json_t *obj, const struct out_opts *o);
char *col_short_path(const json_t *obj, const struct out_opts *o);
char *col_reconnects(const json_t *obj, const struct out_opts *o);
char *col_latency_us(const json_t *obj, const struct out_opts *o);
char *col_mib_read(const json_t *obj, const struct out_opts *o);
char *col_mib_write(const json_t *obj, const struct out_opts *o);
char *col_iops_read(const json_t *obj, const struct out_opts *o);
char *col_iops_write(const json_t *obj, const struct out_opts *o);
char *col_read_ios(const json_t *obj, const struct out_opts *o);
char *col_write_ios(const json_t *obj, const struct out_opts *o);
void session_children(const json_t *obj, const struct out_opts *o, struct strlist *lines);

#endif
