// SPDX-License-Identifier: GPL-2.0
/* Settings of a session: defaults, ranges, attributes of netlink. */
#include <linux/export.h>
#include <rtrs/nl.h>
#include "client.h"

static_assert(RTRS_CLIENT_LOST_FAIL_FLUSH == (int)RNBD_LOST_WRITES_FAIL_FLUSH);
static_assert(RTRS_CLIENT_LOST_DISCONNECT == (int)RNBD_LOST_WRITES_DISCONNECT);

#define RECONNECTS_MAX	9999
#define MS_MAX		(600 * 1000)
#define MS_DAY		(24 * 3600 * 1000)

void rtrs_client_settings_init(struct rtrs_client_settings *settings)
{
	*settings = (struct rtrs_client_settings){
		.policy = RTRS_CLIENT_ROUND_ROBIN,
		.max_reconnects = -1,
		.hb_interval_ms = RTRS_HB_INTERVAL_MS,
		.hb_misses = RTRS_HB_MISSED_MAX,
		.reconnect_ms = 1000,
		.reconnect_max_ms = 30000,
		.connect_ms = RTRS_CLIENT_TIMEOUT_MS,
	};
}
EXPORT_SYMBOL_GPL(rtrs_client_settings_init);

static int check_range(const char *what, s64 value, s64 min, s64 max,
		       struct netlink_ext_ack *extack)
{
	if (value >= min && value <= max)
		return 0;
	return rtrs_fail(extack, -EINVAL, "%s: %lld is not in %lld..%lld", what, value, min, max);
}

int rtrs_client_settings_check(const struct rtrs_client_settings *s,
			       struct netlink_ext_ack *extack)
{
	if (s->policy >= RTRS_CLIENT_POLICY_COUNT)
		return rtrs_fail(extack, -EOPNOTSUPP, "there is no such path policy");
	return check_range("attempts to reconnect", s->max_reconnects, -1, RECONNECTS_MAX,
			   extack) ?:
	       check_range("heartbeat interval in ms", s->hb_interval_ms, 200, 60000, extack) ?:
	       check_range("missed heartbeats", s->hb_misses, 2, 100, extack) ?:
	       check_range("reconnect delay in ms", s->reconnect_ms, 10, MS_MAX, extack) ?:
	       check_range("largest reconnect delay in ms", s->reconnect_max_ms, 10, MS_MAX,
			   extack) ?:
	       check_range("connect time-out in ms", s->connect_ms, 100, MS_MAX, extack) ?:
	       check_range("I/O time-out in ms", s->io_ms, s->io_ms ? 1000 : 0, MS_DAY, extack) ?:
	       check_range("no-path time-out in ms", s->no_path_ms, -1, MS_DAY, extack) ?:
	       check_range("lost writes", s->lost_writes, 0, RTRS_CLIENT_LOST_COUNT - 1,
			   extack);
}

static void parse_u32(struct nlattr *attr, unsigned int *value)
{
	if (attr)
		*value = nla_get_u32(attr);
}

static void parse_s32(struct nlattr *attr, int *value)
{
	if (attr)
		*value = nla_get_s32(attr);
}

int rtrs_client_settings_parse(const struct nlattr *nest, struct rtrs_client_settings *settings,
			       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[RNBD_A_SETTINGS_MAX + 1];
	int err;

	if (!nest)
		return 0;
	/* The netlink policy of the command has validated the nest. */
	err = nla_parse_nested(tb, RNBD_A_SETTINGS_MAX, nest, NULL, extack);
	if (err)
		return err;
	parse_s32(tb[RNBD_A_SETTINGS_MAX_RECONNECT_ATTEMPTS], &settings->max_reconnects);
	parse_u32(tb[RNBD_A_SETTINGS_HEARTBEAT_INTERVAL_MS], &settings->hb_interval_ms);
	parse_u32(tb[RNBD_A_SETTINGS_HEARTBEAT_MISSES], &settings->hb_misses);
	parse_u32(tb[RNBD_A_SETTINGS_RECONNECT_DELAY_MS], &settings->reconnect_ms);
	parse_u32(tb[RNBD_A_SETTINGS_RECONNECT_DELAY_MAX_MS], &settings->reconnect_max_ms);
	parse_u32(tb[RNBD_A_SETTINGS_CONNECT_TIMEOUT_MS], &settings->connect_ms);
	parse_u32(tb[RNBD_A_SETTINGS_IO_TIMEOUT_MS], &settings->io_ms);
	parse_s32(tb[RNBD_A_SETTINGS_NO_PATH_TIMEOUT_MS], &settings->no_path_ms);
	parse_u32(tb[RNBD_A_SETTINGS_LOST_WRITES], &settings->lost_writes);
	err = rtrs_client_settings_check(settings, extack);
	if (err)
		NL_SET_BAD_ATTR(extack, nest);
	return err;
}
EXPORT_SYMBOL_GPL(rtrs_client_settings_parse);

int rtrs_client_settings_put(struct sk_buff *msg, const struct rtrs_client_settings *s)
{
	struct nlattr *nest = nla_nest_start(msg, RNBD_A_SESSION_SETTINGS);

	if (!nest ||
	    nla_put_s32(msg, RNBD_A_SETTINGS_MAX_RECONNECT_ATTEMPTS,
			READ_ONCE(s->max_reconnects)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_HEARTBEAT_INTERVAL_MS, READ_ONCE(s->hb_interval_ms)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_HEARTBEAT_MISSES, READ_ONCE(s->hb_misses)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_RECONNECT_DELAY_MS, READ_ONCE(s->reconnect_ms)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_RECONNECT_DELAY_MAX_MS,
			READ_ONCE(s->reconnect_max_ms)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_CONNECT_TIMEOUT_MS, READ_ONCE(s->connect_ms)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_IO_TIMEOUT_MS, READ_ONCE(s->io_ms)) ||
	    nla_put_s32(msg, RNBD_A_SETTINGS_NO_PATH_TIMEOUT_MS, READ_ONCE(s->no_path_ms)) ||
	    nla_put_u32(msg, RNBD_A_SETTINGS_LOST_WRITES, READ_ONCE(s->lost_writes)))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

const struct rtrs_client_settings *rtrs_client_settings(const struct rtrs_client_session *session)
{
	return &session->settings;
}
EXPORT_SYMBOL_GPL(rtrs_client_settings);
