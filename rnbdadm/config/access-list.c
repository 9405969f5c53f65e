// SPDX-License-Identifier: GPL-2.0
/* The access list as the kernel has it, and as the configuration has it. */
#include <stdlib.h>
#include <string.h>

#include "config/access-list.h"

int access_load(struct ctx *ctx, struct access_list *l)
{
	struct kernel *kernel = ctx_kernel(ctx);
	struct nl_error e;

	memset(l, 0, sizeof(*l));
	if (!kernel)
		return ctx->fail.code;
	if (!kernel->ops->access_get(kernel, l, &e))
		return fail_nl(&ctx->fail, &e, "server");
	return XC_OK;
}

bool access_load_if(struct ctx *ctx, struct access_list *l, int *rc)
{
	*rc = access_load(ctx, l);
	if (*rc == XC_UNAVAILABLE || *rc == XC_UNSUPPORTED) {
		fail_clear(&ctx->fail);
		*rc = XC_OK;
		return false;
	}
	return !*rc;
}

int access_absent(struct ctx *ctx, const struct access_list *l, enum access_kind kind, const char *name)
{
	bool any = kind == ACCESS_KINDS;
	const char *object = any ? "access" : conf_kind_name(CONF_OF(kind));
	struct strlist known = { 0 };
	char *hint;

	for (int k = 0; k < ACCESS_KINDS; k++)
		for (size_t i = 0; i < l->of[k].n && (any || k == (int)kind); i++)
			strlist_add(&known, l->of[k].v[i].name);
	hint = suggest(name, &known);
	fail_object(&ctx->fail, object, name);
	fail_hint(&ctx->fail, "%s", hint ? hint : "rnbdadm server access show");
	free(hint);
	strlist_free(&known);
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the list has %s%s '%s'", any ? "neither a peer nor an " : "no ",
			any ? "export" : object, name);
}

int access_conf(struct ctx *ctx, struct conf *c, struct access_list *l)
{
	int rc = conf_load(ctx, ctx->args.nargs ? ctx->args.args[0] : NULL, c);

	*l = (struct access_list){ .state = ACCESS_LISTED };
	if (conf_access(c, l) || rc)
		return rc;
	fail_hint(&ctx->fail, "write some, see rnbdadm-access(8); 'rnbdadm server access open' lets everybody in");
	return fail_set(&ctx->fail, XC_NOT_FOUND, "the configuration has neither [peer] nor [export]");
}
