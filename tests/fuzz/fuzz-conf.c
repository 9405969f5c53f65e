// SPDX-License-Identifier: GPL-2.0
/*
 * Configurations of rnbdadm; after @ an address or two, after + a size. What is valid comes back from what is written of it.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "rnbdadm/base/size.h"
#include "rnbdadm/config/plan.h"
#include "rnbdadm/model/address.h"

static char *text_of(const struct conf *c)
{
	struct strbuf b = { 0 };

	strbuf_puts(&b, "");
	conf_ini_write(c, &b, false);
	return b.s;
}

static void again(const struct conf *c)
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

static void address_again(const struct addr *a)
{
	char text[ADDR_TEXT_MAX];
	uint8_t bin[ADDR_BIN_MAX];
	struct addr b;

	if (a->family == ADDR_NONE)
		return;
	addr_format(a, text);
	MUST(!addr_parse(text, &b));
	b.scope = a->scope;	/* is not printed */
	MUST(!memcmp(a, &b, sizeof(b)));
	MUST(addr_from_bin(bin, addr_to_bin(a, bin), &b));
	MUST(b.family == a->family && b.scope == a->scope && !memcmp(b.raw, a->raw, sizeof(b.raw)));
	MUST(a->scope <= INT32_MAX);
}

static void addresses(const char *text)
{
	struct addr_pair p;
	char *msg;

	/* asks name servers */
	if (strstr(text, "host:"))
		return;
	msg = addr_pair_parse(text, &p);
	MUST(msg || (p.dst.family != ADDR_NONE && addr_pair_matches(&p, &p.src, &p.dst)));
	if (!msg) {
		address_again(&p.src);
		address_again(&p.dst);
	}
	free(msg);
}

static void sizes(const char *text)
{
	uint64_t bytes, again;
	char *s;

	if (!parse_size(text, &bytes))
		return;
	MUST(*text >= '0' && *text <= '9');
	s = size_text(bytes, 'B');
	MUST(parse_size(s, &again) && again == bytes);
	free(s);
	s = size_text(bytes, 0);
	MUST(strlen(s) <= strlen("1023.9 GiB"));
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct conf c = { 0 };
	char *text;

	if (size && (*data == '@' || *data == '+')) {
		text = strndup((const char *)data + 1, size - 1);
		(*data == '@' ? addresses : sizes)(text);
		free(text);
		return 0;
	}
	text = exact(data, size);
	conf_ini_read(&c, "input", text, size);
	free(text);
	conf_check(&c);
	if (!c.errors) {
		accepted++;
		again(&c);
		plan(&c);
	}
	conf_free(&c);
	return 0;
}
