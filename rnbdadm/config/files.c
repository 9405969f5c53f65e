// SPDX-License-Identifier: GPL-2.0
/* Files of the configuration. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/replace.h"
#include "config/sections.h"

#define MAIN_FILE	"/etc/rnbd/rnbdadm.conf"
#define DROPIN_DIR	"/etc/rnbd/conf.d"

/* Of the files that nobody named: nobody writes to a pipe there. /dev/null, as a link, stands for nothing. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISREG(st.st_mode) ||
	       (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

/* @name is what people know it by. */
static int read_file(struct ctx *ctx, struct conf *c, const char *path, const char *name)
{
	struct strbuf b = { 0 };
	int err = whole_read(path, &b);

	if (!err)
		conf_ini_read(c, strcmp(path, "-") ? name : "stdin", b.s, b.len);
	free(b.s);
	return err ? whole_fail(&ctx->fail, name, err) : XC_OK;
}

/* The others are read all the same, and one mistake is told with all. */
static int read_own(struct ctx *ctx, struct conf *c, const char *path, const char *name)
{
	struct conf_place at = { 0 };

	if (is_file(path))
		return read_file(ctx, c, path, name);
	at.file = conf_file(c, name);
	conf_problem(c, &at, "no regular file");
	return XC_OK;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* *.conf in the order in which systemd and udev have such files: "10" comes before "9". */
static int list_dropins(struct ctx *ctx, const char *dir, struct strlist *l)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return errno == ENOENT ? XC_OK : whole_fail(&ctx->fail, DROPIN_DIR, errno);
	while ((e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (e->d_name[0] != '.' && n > 5 && !strcmp(e->d_name + n - 5, ".conf"))
			strlist_add(l, e->d_name);
	}
	closedir(d);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_bytes);
	return XC_OK;
}

static int read_system(struct ctx *ctx, struct conf *c)
{
	char *main_file = xasprintf("%s" MAIN_FILE, ctx->test_root);
	char *dir = xasprintf("%s" DROPIN_DIR, ctx->test_root);
	struct strlist l = { 0 };
	int rc = read_own(ctx, c, main_file, MAIN_FILE);

	/* none is as good as an empty one */
	if (rc && ctx->fail.err == ENOENT) {
		fail_clear(&ctx->fail);
		rc = XC_OK;
	}
	if (!rc)
		rc = list_dropins(ctx, dir, &l);
	for (size_t i = 0; i < l.n && !rc; i++) {
		char *path = xasprintf("%s/%s", dir, l.v[i]);
		char *name = xasprintf(DROPIN_DIR "/%s", l.v[i]);

		rc = read_own(ctx, c, path, name);
		free(path);
		free(name);
	}
	strlist_free(&l);
	free(dir);
	free(main_file);
	return rc;
}

int conf_read(struct ctx *ctx, const char *file, struct conf *c)
{
	int rc;

	if (!file)
		file = args_value(&ctx->args, OPT_CONFIG);
	if (!file)
		file = getenv("RNBDADM_CONFIG");
	rc = file && *file ? read_file(ctx, c, file, file) : read_system(ctx, c);
	if (!rc)
		conf_check(c);
	return rc;
}

static char *place_of(const struct conf_problem *p)
{
	if (p->at.line)
		return xasprintf("%s:%u:%u", p->at.file, p->at.line, p->at.col);
	return conf_place_text(&p->at);
}

int conf_load(struct ctx *ctx, const char *file, struct conf *c)
{
	int rc = conf_read(ctx, file, c);

	for (size_t i = 0; i < c->nproblems && !rc; i++) {
		const struct conf_problem *p = &c->problems[i];
		char *where = place_of(p);

		if (p->warning)
			warn(ctx, "%s: %s", where, p->message);
		else
			strlist_addf(&ctx->fail.details, "%s: %s", where, p->message);
		free(where);
	}
	if (rc || !c->errors)
		return rc;
	return fail_set(&ctx->fail, XC_USAGE, "the configuration has %zu mistake%s", c->errors,
			c->errors == 1 ? "" : "s");
}

int conf_check_file(struct ctx *ctx, const char *file)
{
	struct stat st;
	bool there = !stat(file, &st);
	int err;

	/* a file takes its place, which would cut a device off from its name */
	if (there && !S_ISREG(st.st_mode)) {
		fail_object(&ctx->fail, "file", file);
		return fail_set(&ctx->fail, XC_CONFLICT, "%s is no regular file", file);
	}
	if (there && !ctx->force) {
		fail_object(&ctx->fail, "file", file);
		fail_hint(&ctx->fail, "--force replaces it");
		return fail_set(&ctx->fail, XC_CONFLICT, "%s exists", file);
	}
	err = replace_problem(file);
	return err ? whole_fail(&ctx->fail, file, err) : XC_OK;
}

int conf_write_file(struct ctx *ctx, const char *file, const char *text)
{
	int rc = conf_check_file(ctx, file), err;

	if (rc)
		return rc;
	err = replace_file(file, text, strlen(text));
	return err ? whole_fail(&ctx->fail, file, err) : XC_OK;
}
