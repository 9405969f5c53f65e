// SPDX-License-Identifier: GPL-2.0
/* Decisions about access, as monitor tells them. They are no objects: nothing is known of them before or after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "task/known.h"

enum shape { NUMBER, TEXT, TIME, ERRNO, MODE, STEP, STATE };

/* The keys of a document, and the attributes that they are made of. */
static const struct { const char *key, *attr; enum shape shape; } told[] = {
	{ "seq", "seq", NUMBER }, { "decided_at", "time-ns", TIME }, { "step", "step", STEP },
	{ "peer", "peer-name", TEXT }, { "client_addr", "client-addr", TEXT }, { "server_addr", "server-addr", TEXT },
	{ "export", "export-name", TEXT }, { "path", "path", TEXT }, { "access", "access-mode", MODE },
	{ "errno", "error", ERRNO }, { "suppressed", "suppressed", NUMBER }, { "number", "number", NUMBER },
	{ "old_number", "old-number", NUMBER }, { "list_state", "state", STATE },
	{ "old_list_state", "old-state", STATE }, { "peers", "peers", NUMBER }, { "exports", "exports", NUMBER },
	{ "uid", "uid", NUMBER }, { "loginuid", "loginuid", NUMBER },
};

static json_t *js_event(const json_t *ev)
{
	json_t *o = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		const char *text = access_str(ev, told[i].attr);
		uint64_t n = access_uint(ev, told[i].attr);

		if (told[i].shape == TIME)
			js_set(o, told[i].key, js_time(n));
		else if (told[i].shape == NUMBER)
			js_set(o, told[i].key, js_u64(n));
		else if (told[i].shape == ERRNO)
			js_set(o, told[i].key, js_errno(json_integer_value(json_object_get(ev, told[i].attr))));
		else if (told[i].shape == MODE)
			text = access_name(n);
		else if (told[i].shape != TEXT && n != M_UNKNOWN)
			text = access_word(told[i].shape == STEP ? AW_STEP : AW_STATE, n);
		if (!json_object_get(o, told[i].key))
			js_set(o, told[i].key, js_str_or_null(text));
	}
	return o;
}

/* "-" stands for what must be there and is unknown. */
static void put(struct strbuf *b, const char *key, const char *raw, bool must)
{
	char *text = printable(raw && *raw ? raw : "-");

	if (must || (raw && *raw))
		strbuf_printf(b, " %s=%s", key, text);
	free(text);
}

static void put_loaded(struct strbuf *b, const json_t *ev)
{
	static const char *const counts[] = { "number", "peers", "exports", "uid", "loginuid" };

	strbuf_printf(b, "list  state=%s->%s", access_word(AW_STATE, access_uint(ev, "old-state")),
		      access_word(AW_STATE, access_uint(ev, "state")));
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (json_object_get(ev, counts[i]))
			strbuf_printf(b, " %s=%" PRIu64, counts[i], access_uint(ev, counts[i]));
}

/* @o: the document. */
static void put_decision(struct strbuf *b, const json_t *ev, const json_t *o, const char *name, const char *reason)
{
	const char *step = access_str(o, "step"), *err = access_str(o, "errno");
	char *text = printable(name);

	strbuf_printf(b, "%-4s %s%s", *step ? step : "-", *text ? " " : "", text);
	free(text);
	put(b, "peer", access_str(ev, "peer-name"), true);
	put(b, "session", access_str(ev, "session-name"), true);
	put(b, "from", access_str(ev, "client-addr"), true);
	put(b, "access", access_str(o, "access"), false);
	put(b, "path", access_str(ev, "path"), false);
	put(b, "reason", reason, false);
	if (reason && *err)
		strbuf_printf(b, " (%s)", err);
	if (json_integer_value(json_object_get(ev, "suppressed")))
		strbuf_printf(b, " suppressed=%" PRIu64, access_uint(ev, "suppressed"));
}

const char *watch_access(const json_t *ev, struct seen *s)
{
	const char *path = access_str(ev, "device-path"), *name = *path ? path : access_str(ev, "export-name");
	const char *event = access_word(AW_EVENT, access_uint(ev, "event")), *session = access_str(ev, "session-name");
	uint64_t reason = access_uint(ev, "reason");
	struct strbuf b = { 0 };

	*s = (struct seen){ .what = WATCH_ACCESS, .object = "access", .time_ns = access_uint(ev, "time-ns") };
	if (reason && reason != M_UNKNOWN)
		s->reason = access_word(AW_REASON, reason);
	s->access = js_event(ev);
	s->data = json_pack("{ss}", "role", "server");
	if (*session)
		js_set_str(s->data, "session", session);
	if (*name)
		js_set_str(s->data, "name", name);
	if (!strcmp(event, "loaded"))
		put_loaded(&b, ev);
	else
		put_decision(&b, ev, s->access, name, s->reason);
	s->text = b.s;
	return event;
}
