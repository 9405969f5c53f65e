// SPDX-License-Identifier: GPL-2.0
/* Configurations of rnbdadm, as text or JSON. What is valid comes back from what is written of it. */
#define _GNU_SOURCE
#include "rnbdadm/plan.h"
#include "fuzz.h"

static char *text_of(const struct conf *c)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	conf_ini_write(c, &b, false);
	return b.s;
}

static json_t *json_of(const struct conf *c)
{
	json_t *o = json_object();

	conf_json_write(c, o, false);
	return o;
}

static void again_as_text(const struct conf *c)
{
	struct conf d = { 0 };
	char *first = text_of(c), *second;

	conf_ini_read(&d, "again", first, strlen(first));
	conf_check(&d);
	MUST(!d.errors);
	MUST(d.n == c->n);
	second = text_of(&d);
	MUST(!strcmp(first, second));
	free(first);
	free(second);
	conf_free(&d);
}

static void again_as_json(const struct conf *c)
{
	struct conf d = { 0 };
	json_t *first = json_of(c), *second;
	char *text = json_dumps(first, 0);

	MUST(text);
	conf_json_read(&d, "again", text, strlen(text));
	conf_check(&d);
	MUST(!d.errors);
	second = json_of(&d);
	MUST(json_equal(first, second));
	free(text);
	json_decref(first);
	json_decref(second);
	conf_free(&d);
}

/* To what runs nothing: each session and device is to be added, in the order of work. */
static void plan(const struct conf *c)
{
	struct snapshot s = { 0 };
	struct plan_opts o = { 0 };
	struct plan p;
	size_t paths = 0, devices = 0, n[3] = { 0 };

	plan_make(&p, c, &s, &o);
	for (size_t i = 0; i < c->n; i++) {
		paths += c->v[i].npaths;
		devices += c->v[i].kind == CONF_DEVICE;
	}
	for (size_t i = 0; i < p.n; i++) {
		MUST(p.v[i].action == PLAN_ADD);
		MUST(!i || p.v[i].stage >= p.v[i - 1].stage);
		n[p.v[i].object]++;
	}
	MUST(n[PLAN_SESSION] + n[PLAN_PATH] == paths && n[PLAN_DEVICE] == devices);
	plan_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf c = { 0 };
	char *text = exact(data, size);

	if (size && text[0] == '{')
		conf_json_read(&c, "input", text, size);
	else
		conf_ini_read(&c, "input", text, size);
	free(text);
	conf_check(&c);
	if (!c.errors) {
		accepted++;
		again_as_text(&c);
		again_as_json(&c);
		plan(&c);
	}
	conf_free(&c);
	return 0;
}
