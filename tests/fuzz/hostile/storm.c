// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of the access list that allow and forbid, while a client opens, reads and opens again. It
 * knows which change has returned: what it begins after one that forbids must not be served.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../debug/nth/netlink.h"
#include "device.h"

#define CHANGES	1000

/**
 * struct storm - what both processes see
 * @forbidden: odd from the return of a change that forbids to the begin of the next one
 * @tries: requests of the client that were answered
 * @opened: of them, those that opened
 * @revoked: those that found their device closed
 */
struct storm {
	atomic_uint forbidden, tries, opened, revoked;
};

static struct storm *storm;

/* Until the client has had so many answers more */
static void client_tries(unsigned int count)
{
	unsigned int end = storm->tries + count;

	while ((int)(storm->tries - end) < 0)
		usleep(200);
}

static int changes(void)
{
	unsigned int i;

	for (i = 0; i < CHANGES / 2; i++) {
		WANT(netlink_access("listed"), 0);
		client_tries(i % 3);
		WANT(netlink_access("none"), 0);
		storm->forbidden++;
		client_tries(2);	/* the first one may have been under way */
		storm->forbidden++;
	}
	return 0;
}

/* Holds what it has opened until that is taken away */
static int client(pid_t pid, int *status)
{
	struct rnbd_io io = { .op = RNBD_OP_READ, .bytes = 512 };
	bool open = false;
	struct path p;

	WANT(path_up(&p, 2), 0);
	while (!waitpid(pid, status, WNOHANG)) {
		unsigned int forbidden = storm->forbidden;
		int err = open ? device_io(&p, &io, true, NULL, 512) : device_open(&p, "v", 0, &io.device_id);

		/* All of it between two changes */
		if (forbidden & 1 && forbidden == storm->forbidden)
			WANT_FOR(err, open ? ENOTCONN : ENOENT, "try %u", storm->tries);
		WANT(err, !err ? 0 : open ? ENOTCONN : ENOENT);
		if (err && open)
			WANT(device_close(&p, io.device_id), 0);
		storm->opened += !err && !open;
		storm->revoked += err && open;
		open = !err;
		storm->tries++;
	}
	path_down(&p);
	return 0;
}

static int access_storm(void)
{
	int err, status = 1;
	pid_t pid;

	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	WANT(storm == MAP_FAILED, false);
	WANT(netlink_access("listed"), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		err = changes();
		fflush(stdout);
		_exit(err);
	}
	err = client(pid, &status);
	if (err)
		kill(pid, SIGKILL);
	printf("%u changes, %u answers, %u opened, %u revoked\n", CHANGES, storm->tries, storm->opened,
	       storm->revoked);
	WANT(err ? err : status, 0);
	WANT(storm->revoked > CHANGES / 10, true);
	return 0;
}

const struct test storm_tests[] = {
	{ "storm-of-changes", access_storm },
	{ NULL, NULL },
};
