/* SPDX-License-Identifier: GPL-2.0 */
/* The document of a run, and its lists and objects in the format that was asked for. */
#ifndef RNBDADM_APP_DOCUMENT_H
#define RNBDADM_APP_DOCUMENT_H

#include "app/ctx.h"

/* "netlink", "sysfs", "replay" or "info": what is open, or would be. */
const char *ctx_backend(const struct ctx *ctx);
json_t *js_now(const struct ctx *ctx);
/* "error" of a document. */
json_t *js_fail(const struct ctx *ctx, const struct fail *f);
/* Writes the document of this run with what ctx->data holds. */
void json_document(struct ctx *ctx);
/* Writes one line of a stream. Takes the reference to @data. */
void json_line(struct ctx *ctx, json_t *data);

/* A list of objects as the options say. Takes the reference to @list. */
void out_list(struct ctx *ctx, const struct view *v, json_t *list);
/* One object, a block in text. Takes the reference. */
void out_show(struct ctx *ctx, const struct view *v, json_t *obj);
/* The list filtered, sorted and projected, into the document only. */
void out_attach(struct ctx *ctx, const struct view *v, json_t *list);
/* What a change was about: rows of CSV, part of the document, nothing in text. Takes the reference. */
void out_changed(struct ctx *ctx, const struct view *v, json_t *list);

#endif
