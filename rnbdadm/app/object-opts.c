// SPDX-License-Identifier: GPL-2.0
#include "app/object-opts.h"

struct object_opts object_opts(const struct ctx *ctx, const struct view *v)
{
	bool all = out_names_all(&ctx->out);

	return (struct object_opts){
		.stats = args_has(&ctx->args, OPT_STATS) || all ||
			 out_names(&ctx->out, v, "counters", true),
		.details = args_has(&ctx->args, OPT_DETAILS) || all ||
			   out_names(&ctx->out, v, "counters", false),
		.root = ctx->test_root,
	};
}

unsigned int object_stats(const struct ctx *ctx, const struct object_opts *o)
{
	return args_has(&ctx->args, OPT_STATS) ? NL_STATS : o->stats ? NL_STATS_OPT : 0;
}
