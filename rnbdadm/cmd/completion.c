// SPDX-License-Identifier: GPL-2.0
/* completion and the verb that its scripts call */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/embed.h"
#include "cmd/commands.h"
#include "cmd/schema.h"
#include "task/complete-live.h"

#define BUDGET_US	200000

EMBED(script, bash, "../completions/rnbdadm.bash");
EMBED(script, zsh, "../completions/_rnbdadm");
EMBED(script, fish, "../completions/rnbdadm.fish");

int cmd_completion(struct ctx *ctx)
{
	static const struct {
		const char *shell, *start, *end;
	} scripts[] = {
		{ "bash", EMBEDDED(script, bash) },
		{ "zsh", EMBEDDED(script, zsh) },
		{ "fish", EMBEDDED(script, fish) },
	};
	const char *shell = ctx->args.args[0];
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		if (strcmp(scripts[i].shell, shell))
			continue;
		text = xstrndup(scripts[i].start, (size_t)(scripts[i].end - scripts[i].start));
		if (ctx->out.fmt == OUT_TEXT)
			fputs(text, stdout);
		else
			js_set(ctx->data, "lines", js_lines(text));
		free(text);
		return XC_OK;
	}
	fail_set(&ctx->fail, XC_USAGE, "'%s' is not a shell (bash, zsh, fish)", shell);
	return XC_USAGE;
}

void complete_argument(struct complete *c, const char *what)
{
	struct strlist l = { 0 };

	if (!strcmp(what, "CHECK"))
		check_names(&l);
	else if (strcmp(what, "TOPIC"))
		complete_live(c, what);
	for (size_t i = 0; !strcmp(what, "TOPIC") && i < schema_count; i++)
		complete_add(c, schema_table[i].topic, "JSON Schema");
	for (size_t i = 0; i < l.n; i++)
		complete_add(c, l.v[i], "%s", "");
	strlist_free(&l);
}

/* Nothing was written yet, so there is nothing to offer. */
static void give_up(int sig)
{
	_exit(XC_OK);
}

/* Whoever presses TAB wants words soon, and no error text in the middle of the line. */
int cmd_complete(struct ctx *ctx)
{
	struct itimerval budget = { .it_value.tv_usec = BUDGET_US };
	struct complete c = { .ctx = ctx };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct strlist *l;
	uint64_t n;

	if (null >= 0)
		dup2(null, STDERR_FILENO);
	/* who has time ignores the signal */
	if (signal(SIGALRM, give_up) == SIG_IGN)
		signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &budget, NULL);
	ctx->streamed = true;
	/* CWORD is where in the words; what comes after it does not count */
	if (!parse_uint(ctx->args.args[0], &n) || n >= ctx->args.nargs - 1)
		return XC_OK;
	complete_words(&c, (int)n + 1, (char **)ctx->args.args + 1);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	l = c.offers.n ? &c.offers : &c.others;
	/* no word: names of files are meant */
	if (c.files && !l->n)
		puts("\tfiles");
	for (size_t i = 0; i < l->n; i++)
		puts(l->v[i]);
	strlist_free(&c.offers);
	strlist_free(&c.others);
	free(c.head);
	return XC_OK;
}
