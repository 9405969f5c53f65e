// SPDX-License-Identifier: GPL-2.0
/* What is written to map_device: kernel/rnbd/client/map-args.c against section 3.1 of the sysfs ABI. */
#include <linux/rnbd.h>
#include <rtrs/client.h>
#include "kernel/rnbd/client/map-args.h"
#include "kernel/rtrs/core/addr.h"
#include "tap.h"

#define CPUS	4
#define MUST	"sessname=s device_path=d "

static struct rnbd_client_map_args a;
static struct rtrs_client_settings settings;
static const char *host = "web1.example.com";

int rtrs_addr_scope_index(const char *name, size_t len)
{
	return len == 4 && !memcmp(name, "eth0", 4) ? 2 : -EINVAL;
}

static int parse_n(const char *text, size_t len)
{
	memset(&a, 0xa5, sizeof(a));
	NOTE("\"%.*s\"", (int)(len > 100 ? 100 : len), text);
	return rnbd_client_map_args_parse(EXACT(text, len), len, CPUS, host, &settings, &a);
}

static int parse(const char *text)
{
	return parse_n(text, strlen(text));
}

static void path_is(unsigned int i, const char *want, u16 port)
{
	char buf[RTRS_PATH_NAME_LEN];

	CHECK(i < a.path_count);
	rtrs_addr_print_path(&a.path[i], buf, sizeof(buf));
	STR(buf, want);
	EQ(rtrs_addr_port(&a.path[i].dst), port);
	EQ(rtrs_addr_port(&a.path[i].src), 0);
}

static void defaults(void)
{
	EQ(parse("sessname=clt device_path=ram0"), 0);
	STR(a.session, "clt");
	STR(a.device_path, "ram0");
	EQ(a.access_mode, RNBD_ACCESS_MODE_RW);
	EQ(a.poll_queues, RNBD_CLIENT_POLL_ANY);
	EQ(a.connections, 0);
	EQ(a.policy, RTRS_CLIENT_ROUND_ROBIN);
	EQ(a.timeout_ms, 0);
	EQ(a.path_count, 0);
}

static void all_options(void)
{
	EQ(parse("nr_poll_queues=2 access_mode=migration device_path=/dev/ram0 dest_port=4321 "
		 "path=ip:10.0.0.1,ip:10.0.0.2 sessname=clt@srv path=gid:fe80::1@gid:fe80::2 path=ip:fe80::1%eth0"), 0);
	STR(a.session, "clt@srv");
	STR(a.device_path, "/dev/ram0");
	EQ(a.access_mode, RNBD_ACCESS_MODE_MIGRATION);
	EQ(a.poll_queues, 2);
	EQ(a.path_count, 3);
	path_is(0, "ip:10.0.0.1@ip:10.0.0.2", 4321);
	path_is(1, "gid:fe80:0000:0000:0000:0000:0000:0000:0001@gid:fe80:0000:0000:0000:0000:0000:0000:0002", 4321);
	path_is(2, "<none>@ip:fe80::1", 4321);
	EQ(((struct sockaddr_in6 *)&a.path[2].dst)->sin6_scope_id, 2);
}

static void settings_of_the_session(void)
{
	static const char *const bad[] = {
		"no_path_timeout_ms=-2", "no_path_timeout_ms=", "io_timeout_ms=2147483648", "io_timeout=1000", "heartbeat_misses=x",
		"always_fua=2", "always_fua=-1", "always_fua=", "lost_writes=disconnect",
	};
	struct rtrs_client_settings before;
	char text[100];
	size_t i;

	memset(&settings, 0, sizeof(settings));
	EQ(parse(MUST), 0);
	CHECK(!a.settings);
	EQ(parse(MUST "max_reconnect_attempts=-1 heartbeat_interval_ms=200 heartbeat_misses=2 reconnect_delay_ms=3 "
		 "reconnect_delay_max_ms=4 connect_timeout_ms=5 io_timeout_ms=6 no_path_timeout_ms=7 "
		 "lost_writes=1"), 0);
	CHECK(!a.always_fua);
	CHECK(a.settings == &settings);
	EQ(settings.max_reconnects, -1);
	EQ(settings.hb_interval_ms, 200);
	EQ(settings.hb_misses, 2);
	EQ(settings.reconnect_ms, 3);
	EQ(settings.reconnect_max_ms, 4);
	EQ(settings.connect_ms, 5);
	EQ(settings.io_ms, 6);
	EQ(settings.no_path_ms, 7);
	EQ(settings.lost_writes, 1);
	EQ(parse(MUST "always_fua=1"), 0);
	CHECK(a.always_fua && !a.settings);
	before = settings;
	EQ(parse(MUST "no_path_timeout_ms=-1"), 0);
	before.no_path_ms = -1;
	CHECK(!memcmp(&before, &settings, sizeof(before)));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), MUST "%s", bad[i]);
		EQ(parse(text), -EINVAL);
	}
}

static void spaces(void)
{
	static const char *const good[] = {
		"sessname=s device_path=d", "  sessname=s device_path=d", "sessname=s device_path=d  ",
		"sessname=s    device_path=d", "sessname=s device_path=d\n", "\n sessname=s device_path=d \n\n",
		"\t sessname=s device_path=d\t \r\n", "device_path=d sessname=s",
	};
	static const char *const bad[] = {
		"", " ", "\n", "sessname=s\tdevice_path=d", "sessname=s\ndevice_path=d", "sessname =s device_path=d",
		"sessname= s device_path=d", "sessname=s device_path=", "sessname=s,device_path=d",
	};
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		EQ(parse(good[i]), 0);
		STR(a.session, "s");
		STR(a.device_path, "d");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EQ(parse(bad[i]), -EINVAL);
}

static void mandatory(void)
{
	EQ(parse("sessname=s"), -EINVAL);
	EQ(parse("device_path=d"), -EINVAL);
	EQ(parse("path=ip:1.2.3.4"), -EINVAL);
	EQ(parse("sessname=s path=ip:1.2.3.4 access_mode=rw dest_port=1 nr_poll_queues=1"), -EINVAL);
	EQ(parse("device_path=d path=ip:1.2.3.4 access_mode=rw dest_port=1 nr_poll_queues=1"), -EINVAL);
	EQ(parse(MUST), 0);
}

static void unknown(void)
{
	static const char *const bad[] = {
		"x=1", "=", "=1", "sessname", "sessnam=s", "sessname2=s", "SESSNAME=s", "Path=ip:1.2.3.4", "x",
		"input=mq", "iomode=fileio", "io-mode=fileio", "servers=ip:1.2.3.4", "-", "#", "path", "access_mode", "dest_port",
		"device=d", "sess=s",
	};
	char text[100];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), MUST "%s", bad[i]);
		EQ(parse(text), -EINVAL);
		snprintf(text, sizeof(text), "%s " MUST, bad[i]);
		EQ(parse(text), -EINVAL);
	}
}

static void empty_values(void)
{
	static const char *const names[] = {
		"sessname", "device_path", "path", "dest_port", "access_mode", "nr_poll_queues", "io_mode", "input_mode", "server",
	};
	char text[100];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), MUST "%s=", names[i]);
		EQ(parse(text), -EINVAL);
		snprintf(text, sizeof(text), MUST "%s= ", names[i]);
		EQ(parse(text), -EINVAL);
		snprintf(text, sizeof(text), "%s= " MUST, names[i]);
		EQ(parse(text), -EINVAL);
	}
}

/* 255 are accepted, 254 are kept, as users of the interface know it. */
static void names(void)
{
	char text[1200], x[300];
	size_t n;

	memset(x, 'x', sizeof(x));
	for (n = 1; n <= 260; n += n < 250 ? 50 : 1) {
		snprintf(text, sizeof(text), "sessname=%.*s device_path=d", (int)n, x);
		EQ(parse(text), n <= 255 ? 0 : -EINVAL);
		if (n <= 255)
			EQ(strlen(a.session), n < 255 ? n : 254);
		snprintf(text, sizeof(text), "device_path=%.*s sessname=s", (int)n, x);
		EQ(parse(text), n <= 255 ? 0 : -EINVAL);
		if (n <= 255)
			EQ(strlen(a.device_path), n < 255 ? n : 254);
	}
	EQ(parse("sessname=a=b device_path=c==d="), 0);
	STR(a.session, "a=b");
	STR(a.device_path, "c==d=");
	EQ(parse("sessname=\xff device_path=\x01"), 0);
}

static void last_wins(void)
{
	EQ(parse("sessname=1 sessname=2 device_path=3 device_path=4 access_mode=ro access_mode=rw "
		 "dest_port=1 dest_port=2 nr_poll_queues=1 nr_poll_queues=3 path=ip:1.2.3.4"), 0);
	STR(a.session, "2");
	STR(a.device_path, "4");
	EQ(a.access_mode, RNBD_ACCESS_MODE_RW);
	EQ(a.poll_queues, 3);
	path_is(0, "<none>@ip:1.2.3.4", 2);
	/* a shorter one leaves nothing of a longer one */
	EQ(parse("sessname=longer sessname=s device_path=longer device_path=d"), 0);
	STR(a.session, "s");
	STR(a.device_path, "d");
	/* a bad one is not made good */
	EQ(parse(MUST "access_mode=x access_mode=ro"), -EINVAL);
}

static void access_modes(void)
{
	static const char *const bad[] = { "RO", "Rw", "r", "rwx", "migratio", "migrations", "0", "1", "ro,rw", "w" };
	char text[100];
	size_t i;

	EQ(parse(MUST "access_mode=ro"), 0);
	EQ(a.access_mode, RNBD_ACCESS_MODE_RO);
	EQ(parse(MUST "access_mode=rw"), 0);
	EQ(a.access_mode, RNBD_ACCESS_MODE_RW);
	EQ(parse(MUST "access_mode=migration"), 0);
	EQ(a.access_mode, RNBD_ACCESS_MODE_MIGRATION);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), MUST "access_mode=%s", bad[i]);
		EQ(parse(text), -EINVAL);
	}
}

static void io_modes(void)
{
	static const char *const bad[] = {
		"io_mode=file", "io_mode=FILEIO", "io_mode=fileio2", "io_mode=block", "io_mode=0", "io_mode=1", "io_mode=fileio,blockio",
		"input_mode=m", "input_mode=MQ", "input_mode=rqx", "input_mode=0", "input_mode=mq,rq",
	};
	char text[100];
	size_t i;

	EQ(parse(MUST), 0);
	EQ(a.io_mode, RNBD_IO_ANY);
	CHECK(!a.input_rq);
	EQ(parse(MUST "io_mode=blockio"), 0);
	EQ(a.io_mode, RNBD_IO_BLOCK);
	EQ(parse("io_mode=blockio " MUST "io_mode=fileio"), 0);
	EQ(a.io_mode, RNBD_IO_FILE);
	EQ(parse(MUST "input_mode=rq"), 0);
	CHECK(a.input_rq);
	EQ(parse(MUST "input_mode=rq input_mode=mq"), 0);
	CHECK(!a.input_rq);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), MUST "%s", bad[i]);
		EQ(parse(text), -EINVAL);
	}
}

/* The line of the first version of this interface: no session, no path. */
static void server(void)
{
	char longest[RTRS_NAME_MAX + 1];

	EQ(parse("server=ip:10.50.100.64 device_path=/dev/ram1 input_mode=mq"), 0);
	STR(a.session, "web1-example-com@ip:10-50-100-64");
	STR(a.device_path, "/dev/ram1");
	EQ(a.path_count, 1);
	path_is(0, "<none>@ip:10.50.100.64", 1234);
	EQ(parse("device_path=d server=gid:fe80::2 dest_port=7 server=ip:10.0.0.2"), 0);
	STR(a.session, "web1-example-com@gid:fe80::2");
	EQ(a.path_count, 2);
	path_is(1, "<none>@ip:10.0.0.2", 7);
	EQ(parse("device_path=d server=ip:10.0.0.2 path=ip:10.0.0.3 sessname=s"), 0);
	STR(a.session, "s");
	EQ(a.path_count, 2);
	EQ(parse("server=ip:10.0.0.2"), -EINVAL);
	EQ(parse("device_path=d server=ip:10.0.0.1@ip:10.0.0.2"), -EINVAL);
	EQ(parse("device_path=d server=ip:10.0.0.1,ip:10.0.0.2"), -EINVAL);
	EQ(parse("device_path=d server=10.0.0.2"), -EPROTONOSUPPORT);
	EQ(parse("device_path=d server=ip:x"), -EINVAL);

	/* A name that does not fit is not cut: two hosts would have one. */
	memset(longest, 'h', sizeof(longest));
	longest[RTRS_NAME_MAX - strlen("@ip:1.2.3.4")] = '\0';
	host = longest;
	EQ(parse("device_path=d server=ip:1.2.3.4"), 0);
	EQ(strlen(a.session), RTRS_NAME_MAX);
	EQ(parse("device_path=d server=ip:1.2.3.44"), -EINVAL);
	host = "a/b.c";
	EQ(parse("device_path=d server=ip:1.2.3.4"), 0);
	STR(a.session, "a-b-c@ip:1-2-3-4");
}

static void port(const char *value, int want)
{
	char text[100];

	snprintf(text, sizeof(text), MUST "path=ip:1.2.3.4 dest_port=%s", value);
	EQ(parse(text), want < 0 ? want : 0);
	if (want >= 0)
		path_is(0, "<none>@ip:1.2.3.4", want);
}

static void ports(void)
{
	static const char *const bad[] = {
		"65536", "-1", "99999999999999999999", "0x10000", "0200000", "4294967296", "4294968530", "1x", "x", "1.0",
		"0x", "08", "--1", "1-", "1\tx", "1\n1", "18446744073709551617",
	};
	size_t i;

	port("0", 0);
	port("1", 1);
	port("1234", 1234);
	port("65535", 65535);
	port("0x4d2", 1234);
	port("0X4D2", 1234);
	port("0xffff", 65535);
	port("02322", 1234);
	port("00", 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		port(bad[i], -EINVAL);
	EQ(parse(MUST "path=ip:1.2.3.4"), 0);
	path_is(0, "<none>@ip:1.2.3.4", 1234);
	/* of all paths, wherever it stands */
	EQ(parse(MUST "path=ip:1.2.3.4 dest_port=7 path=ip:1.2.3.5"), 0);
	path_is(0, "<none>@ip:1.2.3.4", 7);
	path_is(1, "<none>@ip:1.2.3.5", 7);
}

static void poll_queues(void)
{
	static const struct { const char *value; int want; } c[] = {
		{ "0", 0 }, { "1", 1 }, { "4", 4 }, { "-1", CPUS }, { "0x2", 2 }, { "03", 3 }, { "5", -EINVAL },
		{ "-2", -EINVAL }, { "4294967295", -EINVAL }, { "-4294967295", -EINVAL }, { "x", -EINVAL }, { "-", -EINVAL },
		{ "2147483648", -EINVAL },
	};
	char text[100];
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		snprintf(text, sizeof(text), MUST "nr_poll_queues=%s", c[i].value);
		EQ(parse(text), c[i].want < 0 ? c[i].want : 0);
		if (c[i].want >= 0)
			EQ(a.poll_queues, c[i].want);
	}
}

static void paths(void)
{
	static const struct { const char *value; int want; } c[] = {
		{ "ip:1.2.3.4", 0 }, { "ip:1.2.3.4,ip:1.2.3.5", 0 }, { "ip:1.2.3.4@ip:1.2.3.5", 0 }, { "ip:::1", 0 },
		{ "gid:fe80::1", 0 }, { "ip:fe80::1%eth0", 0 }, { "ip:fe80::1%eth1", -EINVAL }, { "ip:1.2.3", -EINVAL },
		{ "1.2.3.4", -EPROTONOSUPPORT }, { "host:x", -EPROTONOSUPPORT }, { "IP:1.2.3.4", -EPROTONOSUPPORT },
		{ "ip:1.2.3.4@1.2.3.5", -EPROTONOSUPPORT }, { "ip:1.2.3.4@", -EPROTONOSUPPORT },
		{ "1.2.3.4@ip:1.2.3.5", -EINVAL }, { "x@y", -EINVAL }, { "@ip:1.2.3.4", -EINVAL },
		{ "gid:1.2.3.4", -EINVAL },
	};
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		snprintf(text, sizeof(text), MUST "path=%s", c[i].value);
		EQ(parse(text), c[i].want);
		if (!c[i].want)
			EQ(a.path_count, 1);
	}
}

static void many_paths(void)
{
	char text[4096];
	unsigned int n, i;
	size_t len;

	CHECK(RNBD_CLIENT_PATHS_MAX >= 6);
	for (n = 0; n <= RNBD_CLIENT_PATHS_MAX + 2; n++) {
		len = snprintf(text, sizeof(text), MUST);
		for (i = 0; i < n; i++)
			len += snprintf(text + len, sizeof(text) - len, "path=ip:10.0.0.%u ", i);
		EQ(parse(text), n <= RNBD_CLIENT_PATHS_MAX ? 0 : -ENOMEM);
		if (n > RNBD_CLIENT_PATHS_MAX)
			continue;
		EQ(a.path_count, n);
		for (i = 0; i < n; i++)
			EQ(((u8 *)&((struct sockaddr_in *)&a.path[i].dst)->sin_addr)[3], i);
	}
}

/* Cut anywhere, the text is never read beyond and is either taken or refused. */
static void cut(void)
{
	static const char text[] = "sessname=s device_path=d path=ip:1.2.3.4,ip:1.2.3.5 dest_port=1 access_mode=migration "
				   "nr_poll_queues=-1 path=gid:fe80::1";
	static const char *const bad[] = { "sessname=s device_path=d\0 x", "sessname=s\0 device_path=d" };
	size_t len;

	for (len = 0; len < sizeof(text); len++) {
		int err = parse_n(text, len);

		CHECK(err == 0 || err == -EINVAL || err == -EPROTONOSUPPORT);
		if (len < 24)
			EQ(err, -EINVAL);
		if (len == 24 || len == 25 || len == sizeof(text) - 1)
			EQ(err, 0);
	}
	/* a NUL ends it */
	EQ(parse_n(bad[0], 27), 0);
	EQ(parse_n(bad[1], 25), -EINVAL);
}

static void junk(void)
{
	char text[600];
	int c;

	for (c = 0; c < 256; c++) {
		memset(text, c, sizeof(text));
		NOTE("%d", c);
		EQ(parse_n(text, sizeof(text)), -EINVAL);
		memcpy(text, "path=", 5);
		EQ(parse_n(text, sizeof(text)), c == ' ' || !c || (c >= '\t' && c <= '\r') || c == ',' || c == '@' ?
		   -EINVAL : -EPROTONOSUPPORT);
	}
}

int main(void)
{
	RUN(defaults, "what holds where nothing is said");
	RUN(all_options, "all options, any order");
	RUN(spaces, "white space");
	RUN(mandatory, "missing sessname= or device_path=");
	RUN(unknown, "unknown options");
	RUN(empty_values, "empty values");
	RUN(names, "lengths of sessname= and device_path=");
	RUN(last_wins, "the last one counts");
	RUN(settings_of_the_session, "settings of the session");
	RUN(access_modes, "access_mode=");
	RUN(io_modes, "io_mode= and input_mode=");
	RUN(server, "server= in place of sessname= and path=");
	RUN(ports, "dest_port=");
	RUN(poll_queues, "nr_poll_queues=");
	RUN(paths, "path=");
	RUN(many_paths, "more paths than there may be: ENOMEM");
	RUN(cut, "text cut anywhere");
	RUN(junk, "junk");
	return tap_end();
}
