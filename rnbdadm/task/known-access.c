// SPDX-License-Identifier: GPL-2.0
/* Decisions about access, as monitor tells them. They are no objects: nothing is known of them before or after. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "task/known.h"

static const char *step_word(const struct access_event *ev)
{
	return ev->step == M_UNKNOWN ? "" : access_word(AW_STEP, ev->step);
}

static json_t *js_event(const struct access_event *ev, bool loaded)
{
	char client[ADDR_TEXT_MAX], server[ADDR_TEXT_MAX];
	json_t *o = json_object();

	addr_format(&ev->client, client);
	addr_format(&ev->server, server);
	js_set(o, "seq", js_u64(ev->seq));
	js_set(o, "decided_at", js_time(ev->time_ns));
	js_set(o, "step", js_str_or_null(loaded ? "" : step_word(ev)));
	js_set(o, "peer", js_str_or_null(ev->peer));
	js_set(o, "client_addr", js_str_or_null(client));
	js_set(o, "server_addr", js_str_or_null(server));
	js_set(o, "export", js_str_or_null(ev->export));
	js_set(o, "path", js_str_or_null(ev->path));
	js_set(o, "access", js_str_or_null(access_name(ev->access)));
	js_set(o, "errno", js_errno(ev->err > 0 ? -ev->err : ev->err));
	js_set(o, "suppressed", js_u64(ev->suppressed));
	js_set(o, "number", js_u64(ev->number));
	js_set(o, "old_number", js_u64(ev->old_number));
	js_set(o, "list_state", js_str_or_null(loaded ? access_word(AW_STATE, ev->state) : ""));
	js_set(o, "old_list_state", js_str_or_null(loaded ? access_word(AW_STATE, ev->old_state) : ""));
	js_set(o, "peers", js_u64(ev->peers));
	js_set(o, "exports", js_u64(ev->exports));
	js_set(o, "uid", js_u64(ev->uid));
	js_set(o, "loginuid", js_u64(ev->loginuid));
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

static void put_count(struct strbuf *b, const char *key, uint64_t n)
{
	if (n != M_UNKNOWN)
		strbuf_printf(b, " %s=%" PRIu64, key, n);
}

static void put_loaded(struct strbuf *b, const struct access_event *ev)
{
	strbuf_printf(b, "list  state=%s->%s", access_word(AW_STATE, ev->old_state), access_word(AW_STATE, ev->state));
	put_count(b, "number", ev->number);
	put_count(b, "peers", ev->peers);
	put_count(b, "exports", ev->exports);
	put_count(b, "uid", ev->uid);
	put_count(b, "loginuid", ev->loginuid);
}

static void put_decision(struct strbuf *b, const struct access_event *ev, const char *name, const char *reason)
{
	char *text = printable(name), addr[ADDR_TEXT_MAX];

	strbuf_printf(b, "%-4s %s%s", *step_word(ev) ? step_word(ev) : "-", *text ? " " : "", text);
	free(text);
	addr_format(&ev->client, addr);
	put(b, "peer", ev->peer, true);
	put(b, "session", ev->session, true);
	put(b, "from", addr, true);
	put(b, "access", access_name(ev->access), false);
	put(b, "path", ev->path, false);
	put(b, "reason", reason, false);
	if (reason && ev->err)
		strbuf_printf(b, " (%s)", errno_name(ev->err < 0 ? (int)-ev->err : (int)ev->err));
	if (ev->suppressed)
		put_count(b, "suppressed", ev->suppressed);
}

const char *watch_access(const struct access_event *ev, struct seen *s)
{
	const char *name = *ev->device_path ? ev->device_path : ev->export, *event = access_word(AW_EVENT, ev->kind);
	bool loaded = !strcmp(event, "loaded");
	struct strbuf b = { 0 };

	*s = (struct seen){ .what = WATCH_ACCESS, .object = "access", .time_ns = ev->time_ns };
	if (ev->reason && ev->reason != M_UNKNOWN)
		s->reason = access_word(AW_REASON, ev->reason);
	s->access = js_event(ev, loaded);
	s->data = json_object();
	js_set(s->data, "role", json_string("server"));
	if (*ev->session)
		js_set_str(s->data, "session", ev->session);
	if (*name)
		js_set_str(s->data, "name", name);
	if (loaded)
		put_loaded(&b, ev);
	else
		put_decision(&b, ev, name, s->reason);
	s->text = b.s;
	return event;
}
