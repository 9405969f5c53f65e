// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "grammar/settings.h"

#define MINUTE	60000
#define DAY	86400000

/* Where an option says more than the parser of the command line checks. */
static const struct {
	enum opt_id opt;
	bool time;
	bool zero, infinite;		/* 0 and -1 are taken, too */
	int64_t min, max;
	int64_t normal;			/* what the kernel takes by itself */
	const char *range;
} table[SET_N] = {
	[SET_MAX_RECONNECT_ATTEMPTS] = { OPT_MAX_RECONNECT, .normal = -1 },
	[SET_HEARTBEAT_INTERVAL_MS] = { OPT_HEARTBEAT_INTERVAL, true, .min = 200, .max = MINUTE,
					.normal = 5000, .range = "from 200ms to 60s" },
	[SET_HEARTBEAT_MISSES] = { OPT_HEARTBEAT_MISSES, .normal = 5 },
	[SET_RECONNECT_DELAY_MS] = { OPT_RECONNECT_DELAY, true, .min = 10, .max = 10 * MINUTE,
				     .normal = 1000, .range = "from 10ms to 10m" },
	[SET_RECONNECT_DELAY_MAX_MS] = { OPT_RECONNECT_DELAY_MAX, true, .min = 10,
					 .max = 10 * MINUTE, .normal = 30000,
					 .range = "from 10ms to 10m" },
	[SET_CONNECT_TIMEOUT_MS] = { OPT_CONNECT_TIMEOUT, true, .min = 100, .max = 10 * MINUTE,
				     .normal = 30000, .range = "from 100ms to 10m" },
	[SET_IO_TIMEOUT_MS] = { OPT_IO_TIMEOUT, true, .zero = true, .min = 1000, .max = DAY,
				.range = "0 or from 1s to 1d" },
	[SET_NO_PATH_TIMEOUT_MS] = { OPT_NO_PATH_TIMEOUT, true, true, true, .min = 1, .max = DAY,
				     .range = "0, at most 1d, or infinite" },
	[SET_LOST_WRITES] = { OPT_LOST_WRITES },
};

bool max_reconnect_parse(const char *s, int64_t *v)
{
	uint64_t n;

	*v = -1;
	if (!strcmp(s, "-1") || !strcmp(s, "infinite") || !strcmp(s, "forever"))
		return true;
	if (!parse_uint(s, &n) || n > 9999)
		return false;
	*v = (int64_t)n;
	return true;
}

char *setting_parse(enum m_setting i, const char *dashes, const char *text, int64_t *v)
{
	const char *name = opt_table[table[i].opt].name;
	uint64_t n = 0;

	if (i == SET_MAX_RECONNECT_ATTEMPTS) {
		if (max_reconnect_parse(text, v))
			return NULL;
		/* numbers have passed so far, so it is too large */
		return xasprintf("%s%s: %s is more than 9999", dashes, name, text);
	}
	if (i == SET_LOST_WRITES) {
		lost_writes_parse(text, v);
		return NULL;
	}
	if (!table[i].time) {
		parse_uint(text, &n);
		*v = (int64_t)n;
		return NULL;
	}
	parse_time(text, v);
	if ((*v >= table[i].min && *v <= table[i].max) || (!*v && table[i].zero) ||
	    (*v == -1 && table[i].infinite))
		return NULL;
	return xasprintf("%s%s: '%s' is not %s", dashes, name, text, table[i].range);
}

int settings_parse(const struct parsed *a, struct session_settings *want, struct fail *f)
{
	settings_init(want);
	for (int i = 0; i < SET_N; i++) {
		const char *text = args_value(a, table[i].opt);
		char *msg = text ? setting_parse(i, "--", text, &want->v[i]) : NULL;

		if (msg)
			return fail_usage(f, msg, NULL);
	}
	return XC_OK;
}

enum opt_id setting_opt(enum m_setting i)
{
	return table[i].opt;
}

int64_t setting_default(enum m_setting i)
{
	return table[i].normal;
}

bool settings_any(const struct session_settings *s)
{
	for (int i = 0; i < SET_N; i++)
		if (s->v[i] != M_UNKNOWN_INT)
			return true;
	return false;
}

char *setting_text(enum m_setting i, int64_t v)
{
	if (v == -1 && table[i].time)
		return xstrdup("infinite");
	if (i == SET_LOST_WRITES && lost_writes_name(v))
		return xstrdup(lost_writes_name(v));
	return xasprintf("%lld%s", (long long)v, table[i].time && v ? "ms" : "");
}

void settings_words(struct strlist *w, const struct session_settings *want)
{
	for (int i = 0; i < SET_N; i++) {
		char *text;

		if (want->v[i] == M_UNKNOWN_INT)
			continue;
		text = setting_text(i, want->v[i]);
		strlist_addf(w, "--%s=%s", opt_table[table[i].opt].name, text);
		free(text);
	}
}
