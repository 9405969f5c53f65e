/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel, the lock and the user, as one run meets them. */
#ifndef RNBDADM_APP_APP_H
#define RNBDADM_APP_APP_H

#include "app/ctx.h"
#include "app/document.h"
#include "app/report.h"

/* The open way to the kernel, or NULL with ctx->fail set. */
struct kernel *ctx_kernel(struct ctx *ctx);
/* The same to another family, or NULL with why in @e. It is ctx->kernel then, and that of ctx_kernel(). */
struct kernel *ctx_kernel_family(struct ctx *ctx, const struct nl_family *family,
				 struct nl_error *e);

/*
 * Reads lists of one side; on failure sets ctx->fail and returns false. Lists
 * that never came to rest give a warning.
 */
bool ctx_snapshot(struct ctx *ctx, enum m_role role, unsigned int what,
		  struct snapshot *s);

/*
 * The lock of changing commands: held while one looks and decides, and given back before its first request of
 * a change or a wait, so that a silent server holds up nobody else. What
 * changed meanwhile the kernel finds out.
 */
bool ctx_lock(struct ctx *ctx);
/* Was it held? */
bool ctx_unlock(void);

#endif
