// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink layer of rnbdadm: a recording, of which every byte may be wrong, stands for the kernel. Input: flags of
 * a byte (bit 0: trace, bit 1: server), the file.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "rnbdadm/kernel/kernel.h"

static FILE *real_stderr;
static int fd;
static char path[32];

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	real_stderr = stderr;
	stderr = fopen("/dev/null", "w");
	fd = memfd_create("recording", 0);
	if (!stderr || fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return 0;
}

__attribute__((destructor)) static void restore(void)
{
	if (real_stderr)
		stderr = real_stderr;
}

static void terminated(const char *s, size_t size)
{
	MUST(memchr(s, 0, size));
}

#define TERMINATED(f)	terminated(f, sizeof(f))

static void holds(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->sessions.n; i++)
		TERMINATED(s->sessions.v[i].name);
	for (i = 0; i < s->paths.n; i++) {
		TERMINATED(s->paths.v[i].session);
		TERMINATED(s->paths.v[i].name);
		TERMINATED(s->paths.v[i].hca);
	}
	for (i = 0; i < s->devices.n; i++) {
		TERMINATED(s->devices.v[i].name);
		TERMINATED(s->devices.v[i].session);
		TERMINATED(s->devices.v[i].device_path);
	}
	for (i = 0; i < s->stats.n; i++) {
		TERMINATED(s->stats.v[i].path);
		MUST(!s->stats.v[i].ncpus == !s->stats.v[i].cpu);
	}
}

static void failed(const struct nl_error *e)
{
	MUST(e->kind != NL_FAIL_NONE);
	TERMINATED(e->extack);
	TERMINATED(e->attr);
	TERMINATED(e->warning);
}

static void use(struct kernel *kernel, enum m_role role)
{
	static const unsigned int what[] = { NL_SESSIONS, NL_PATHS, NL_DEVICES_OPT, NL_STATS_OPT };
	struct addr_pair pair = { .dst = { .family = ADDR_IPV4, .raw = { 10, 0, 0, 1 } } };
	struct map_request req = { .session = "s", .device_path = "d", .access = 1, .poll_queues = M_UNKNOWN,
				   .connections = M_UNKNOWN, .timeout_ms = 1000,
				   .paths = &pair, .npaths = 1 };
	struct session session;
	struct snapshot s;
	struct nl_error e;
	struct device dev;
	struct nl_event ev;
	enum nl_next next;
	struct path p;
	bool torn;
	size_t i;

	settings_init(&req.set);
	req.set.v[SET_IO_TIMEOUT_MS] = 1000;
	for (i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		if (kernel->ops->snapshot(kernel, role, what[i], &s, &torn, &e)) {
			accepted++;
			holds(&s);
			snapshot_free(&s);
		} else {
			failed(&e);
		}
	}
	if (!kernel->ops->map(kernel, &req, &dev, &e))
		failed(&e);
	else
		TERMINATED(dev.name);
	if (!kernel->ops->session_add(kernel, &req, &session, &e))
		failed(&e);
	else
		TERMINATED(session.name);
	if (!kernel->ops->path_add(kernel, 1, &pair, 1000, &p, &e))
		failed(&e);
	else
		TERMINATED(p.name);
	/* each event is handed out once, so this ends */
	while ((next = kernel->ops->next_event(kernel, &ev)) != NL_NEXT_NONE)
		MUST(next != NL_NEXT_EVENT || ev.kind <= NL_IS_EXPORT);
	if (!kernel->ops->unmap(kernel, &dev, true, &e))
		failed(&e);
	if (!kernel->ops->stats_reset(kernel, &(struct nl_stats_reset){ .role = role, .path_id = 1, .groups = 1 }, &e))
		failed(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nl_config cfg = { .family = &netlink_family_rnbd, .replay = path };
	struct nl_error e;
	struct kernel *kernel;
	uint8_t flags;

	if (!take(&data, &size, &flags, 1))
		return 0;
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	cfg.trace = flags & 1;
	cfg.verbose = flags & 1;
	kernel = kernel_open(&cfg, &e);
	if (!kernel) {
		failed(&e);
		return 0;
	}
	use(kernel, flags & 2 ? M_SERVER : M_CLIENT);
	kernel_close(kernel);
	return 0;
}
