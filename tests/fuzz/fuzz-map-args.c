// SPDX-License-Identifier: GPL-2.0
/* What is written to map_device. Input: the text. */
#include "fuzz.h"
#include "kernel/rnbd/client/map-args.h"
#include "kernel/rtrs/core/addr.h"

#define CPUS	4

static struct rtrs_client_settings settings;

int rtrs_addr_scope_index(const char *name, size_t len)
{
	return len == 4 && !memcmp(name, "eth0", 4) ? 2 : -EINVAL;
}

/* What was understood, as one would write it. */
static int write_again(const struct rnbd_client_map_args *a, char *text, size_t size)
{
	static const char *const access[] = { "ro", "rw", "migration" };
	int n = snprintf(text, size, "device_path=%s sessname=%s access_mode=%s",
			 a->device_path, a->session, access[a->access_mode]);

	if (a->poll_queues != RNBD_CLIENT_POLL_ANY)
		n += snprintf(text + n, size - n, " nr_poll_queues=%u", a->poll_queues);
	char addr[RTRS_PATH_NAME_LEN];
	unsigned int i;

	for (i = 0; i < a->path_count; i++) {
		if (a->path[i].src.ss_family == AF_UNSPEC)
			rtrs_addr_print(&a->path[i].dst, addr, sizeof(addr));
		else
			rtrs_addr_print_path(&a->path[i], addr, sizeof(addr));
		n += snprintf(text + n, size - n, " path=%s", addr);
	}
	if (a->path_count)
		n += snprintf(text + n, size - n, " dest_port=%u", rtrs_addr_port(&a->path[0].dst));
	MUST((size_t)n < size);
	return n;
}

static void holds(const struct rnbd_client_map_args *a)
{
	static struct rnbd_client_map_args again;
	static char text[16384];
	unsigned int i;

	MUST(a->session[0] && memchr(a->session, 0, sizeof(a->session)) && !strchr(a->session, ' '));
	MUST(a->device_path[0] && memchr(a->device_path, 0, sizeof(a->device_path)));
	MUST(!strchr(a->device_path, ' '));
	MUST(a->access_mode <= RNBD_WIRE_ACCESS_MAX);
	MUST(a->poll_queues <= CPUS || a->poll_queues == RNBD_CLIENT_POLL_ANY);
	MUST(!a->timeout_ms && !a->connections && !a->policy);
	MUST(a->path_count <= RNBD_CLIENT_PATHS_MAX);
	for (i = 0; i < a->path_count; i++) {
		MUST(rtrs_addr_len(&a->path[i].dst));
		MUST(rtrs_addr_port(&a->path[i].dst) == rtrs_addr_port(&a->path[0].dst));
	}
	MUST(!rnbd_client_map_args_parse(text, write_again(a, text, sizeof(text)), CPUS, "host", &settings, &again));
	MUST(!strcmp(a->session, again.session) && !strcmp(a->device_path, again.device_path));
	MUST(a->access_mode == again.access_mode && a->poll_queues == again.poll_queues);
	MUST(a->path_count == again.path_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rnbd_client_map_args a;
	char *text = exact(data, size);
	int err = rnbd_client_map_args_parse(text, size, CPUS, "host", &settings, &a);

	MUST(err == 0 || err == -EINVAL || err == -EPROTONOSUPPORT || err == -ENOMEM);
	if (!err) {
		accepted++;
		holds(&a);
	}
	free(text);
	return 0;
}
