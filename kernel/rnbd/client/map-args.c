// SPDX-License-Identifier: GPL-2.0
/* Parser of what is written to map_device. Pure: the unit tests build it on the host. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "map-args.h"

#define NUMBER_LEN	24	/* digits of a number, leading zeros included */
#define NAME_ACCEPTED	255	/* one byte more than is kept, as users of the interface know it */

static const char *const access_mode_name[] = { "ro", "rw", "migration" };
static const char *const io_mode_name[] = {
	[RNBD_IO_BLOCK] = "blockio",
	[RNBD_IO_FILE] = "fileio",
};

/* Each is an int, or an unsigned int that is too large where a negative number was given. */
static const struct setting {
	const char *name;
	size_t offset;
} settings_table[] = {
	{ "max_reconnect_attempts", offsetof(struct rtrs_client_settings, max_reconnects) },
	{ "heartbeat_interval_ms", offsetof(struct rtrs_client_settings, hb_interval_ms) },
	{ "heartbeat_misses", offsetof(struct rtrs_client_settings, hb_misses) },
	{ "reconnect_delay_ms", offsetof(struct rtrs_client_settings, reconnect_ms) },
	{ "reconnect_delay_max_ms", offsetof(struct rtrs_client_settings, reconnect_max_ms) },
	{ "connect_timeout_ms", offsetof(struct rtrs_client_settings, connect_ms) },
	{ "io_timeout_ms", offsetof(struct rtrs_client_settings, io_ms) },
	{ "no_path_timeout_ms", offsetof(struct rtrs_client_settings, no_path_ms) },
	{ "lost_writes", offsetof(struct rtrs_client_settings, lost_writes) },
};

/**
 * struct option - one "name=value" of the text, pointing into it
 * @name: not terminated
 * @name_len: bytes
 * @value: not terminated
 * @value_len: bytes, not 0
 */
struct option {
	const char *name;
	size_t name_len;
	const char *value;
	size_t value_len;
};

static bool is_white(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool word_equals(const char *str, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(str, word, len);
}

static int parse_name(const struct option *opt, char *out, size_t size)
{
	size_t len = opt->value_len;

	if (len > NAME_ACCEPTED)
		return -EINVAL;
	if (len > size - 1)
		len = size - 1;
	memcpy(out, opt->value, len);
	out[len] = '\0';
	return 0;
}

/* C syntax. Sign and digits only, as kstrto*() would take a new line, too. */
static int parse_number(const struct option *opt, int min, int max, int *out)
{
	char buf[NUMBER_LEN + 1];
	int n;

	if (opt->value_len > NUMBER_LEN || is_white(opt->value[opt->value_len - 1]))
		return -EINVAL;
	memcpy(buf, opt->value, opt->value_len);
	buf[opt->value_len] = '\0';
	if (kstrtoint(buf, 0, &n) || n < min || n > max)
		return -EINVAL;
	*out = n;
	return 0;
}

static int parse_access_mode(const struct option *opt, u8 *out)
{
	u8 mode;

	for (mode = 0; mode <= RNBD_WIRE_ACCESS_MAX; mode++) {
		if (word_equals(opt->value, opt->value_len, access_mode_name[mode])) {
			*out = mode;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_io_mode(const struct option *opt, u8 *out)
{
	u8 mode;

	for (mode = RNBD_IO_BLOCK; mode <= RNBD_IO_FILE; mode++) {
		if (word_equals(opt->value, opt->value_len, io_mode_name[mode])) {
			*out = mode;
			return 0;
		}
	}
	return -EINVAL;
}

/* Both are taken: scripts of the first version of this interface say one of them. */
static int parse_input_mode(const struct option *opt, bool *rq)
{
	*rq = word_equals(opt->value, opt->value_len, "rq");
	return *rq || word_equals(opt->value, opt->value_len, "mq") ? 0 : -EINVAL;
}

static int parse_path(const struct option *opt, struct rnbd_client_map_args *args)
{
	int err;

	if (args->path_count == RNBD_CLIENT_PATHS_MAX)
		return -ENOMEM;
	/* The port is known at the end of the text only. */
	err = rtrs_addr_parse_path(opt->value, opt->value_len, 0, &args->path[args->path_count]);
	if (!err)
		args->path_count++;
	return err;
}

/* path= of one address; the first one names the session where sessname= does not. */
static int parse_server(const struct option *opt, struct option *server,
			struct rnbd_client_map_args *args)
{
	if (memchr(opt->value, '@', opt->value_len) || memchr(opt->value, ',', opt->value_len))
		return -EINVAL;
	if (!server->value)
		*server = *opt;
	return parse_path(opt, args);
}

/*
 * HOST@ADDR: the server tells clients apart by the names of their sessions, which have neither '.'
 * nor '/'.
 */
static int name_session(const char *host, const struct option *server, char *out, size_t size)
{
	size_t len = strlen(host), i;

	if (len + 1 + server->value_len >= size)
		return -EINVAL;
	memcpy(out, host, len);
	out[len++] = '@';
	memcpy(out + len, server->value, server->value_len);
	len += server->value_len;
	out[len] = '\0';
	for (i = 0; i < len; i++)
		if (out[i] == '.' || out[i] == '/')
			out[i] = '-';
	return 0;
}

static int parse_setting(const struct option *opt, struct rtrs_client_settings *settings)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings_table); i++)
		if (word_equals(opt->name, opt->name_len, settings_table[i].name))
			return parse_number(opt, -1, INT_MAX,
					    (int *)((char *)settings + settings_table[i].offset));
	return -EINVAL;
}

static int parse_option(const struct option *opt, int cpus, int *port, struct option *server,
			struct rtrs_client_settings *settings, struct rnbd_client_map_args *args)
{
	int err, n = 0;

	if (word_equals(opt->name, opt->name_len, "sessname"))
		return parse_name(opt, args->session, sizeof(args->session));
	if (word_equals(opt->name, opt->name_len, "device_path"))
		return parse_name(opt, args->device_path, sizeof(args->device_path));
	if (word_equals(opt->name, opt->name_len, "path"))
		return parse_path(opt, args);
	if (word_equals(opt->name, opt->name_len, "server"))
		return parse_server(opt, server, args);
	if (word_equals(opt->name, opt->name_len, "dest_port"))
		return parse_number(opt, 0, 65535, port);
	if (word_equals(opt->name, opt->name_len, "access_mode"))
		return parse_access_mode(opt, &args->access_mode);
	if (word_equals(opt->name, opt->name_len, "io_mode"))
		return parse_io_mode(opt, &args->io_mode);
	if (word_equals(opt->name, opt->name_len, "input_mode"))
		return parse_input_mode(opt, &args->input_rq);
	if (word_equals(opt->name, opt->name_len, "always_fua")) {
		err = parse_number(opt, 0, 1, &n);
		args->always_fua = n;
		return err;
	}
	if (word_equals(opt->name, opt->name_len, "nr_poll_queues")) {
		err = parse_number(opt, -1, cpus, &n);
		if (!err)
			args->poll_queues = n < 0 ? cpus : n;
		return err;
	}
	args->settings = settings;
	return parse_setting(opt, settings);
}

void rnbd_client_map_args_init(struct rnbd_client_map_args *args)
{
	memset(args, 0, sizeof(*args));
	args->access_mode = 1;
	args->poll_queues = RNBD_CLIENT_POLL_ANY;
}

/* The word at *pos, split at its first '='; moves *pos behind it. */
static int next_option(const char **pos, const char *end, struct option *opt)
{
	const char *word = *pos, *stop, *eq;

	stop = memchr(word, ' ', end - word);
	if (!stop)
		stop = end;
	eq = memchr(word, '=', stop - word);
	if (!eq || eq + 1 == stop)
		return -EINVAL;
	*opt = (struct option){ word, eq - word, eq + 1, stop - eq - 1 };
	*pos = stop;
	return 0;
}

int rnbd_client_map_args_parse(const char *text, size_t len, unsigned int cpus, const char *host,
			       struct rtrs_client_settings *settings,
			       struct rnbd_client_map_args *args)
{
	const char *pos = text, *end = text + strnlen(text, len);
	int port = RNBD_CLIENT_PORT_DEFAULT;
	struct option server = {};
	unsigned int i;
	int err;

	rnbd_client_map_args_init(args);
	while (pos < end && is_white(*pos))
		pos++;
	while (end > pos && is_white(end[-1]))
		end--;

	while (pos < end) {
		struct option opt;

		if (*pos == ' ') {
			pos++;
			continue;
		}
		err = next_option(&pos, end, &opt);
		if (!err)
			err = parse_option(&opt, cpus, &port, &server, settings, args);
		if (err)
			return err;
	}
	if (!args->session[0] && server.value) {
		err = name_session(host, &server, args->session, sizeof(args->session));
		if (err)
			return err;
	}
	if (!args->session[0] || !args->device_path[0])
		return -EINVAL;
	for (i = 0; i < args->path_count; i++)
		rtrs_addr_set_port(&args->path[i].dst, port);
	return 0;
}
