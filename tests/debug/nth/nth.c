// SPDX-License-Identifier: GPL-2.0
/*
 * Fails the first allocation of an operation, then the second, and so on until the operation runs through without meeting
 * the one that was to fail. After each failure whatever was created must be gone. The next attempt shows that nothing is in its
 * way: it fails for want of memory, too. An error of another kind may be of something left behind: there the operation must work.
 *
 *   nth load MODULE.ko [PARAM=VALUE]...   the module is loaded (and unloaded again): fail-nth of the loading task
 *   nth any slab|page DO UNDO [STEP]      DO is done and undone: the n-th allocation of any task; of many alike each STEP-th
 *
 * DO and UNDO are FILE=TEXT, TEXT being written to FILE, "!" and a command of the shell, or "@SESSION=DEVICE", which is mapped
 * over netlink, or "+STATE", which the access list of the server gets. UNDO of a file that is not there has nothing to do. Which allocations count is said before, by the filters of
 * /sys/kernel/debug/{failslab,fail_page_alloc}.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "netlink.h"

#define MOST		20000
/* As many runs in a row must not meet the allocation that was to fail: not each makes the same number of them */
#define MISSES		2
/* Seconds: for an operation, for the last object to go, and for all of it, on a slow guest; what takes SLOW is told */
#define LIMIT		180
#define CENSUS_LIMIT	60
#define TOTAL_LIMIT	600
#define SLOW		10
#define CENSUS		"/sys/kernel/debug/rtrs/objects"
#define RDS_CENSUS	"/sys/kernel/debug/rds/objects"

/* Of the modules that are loaded */
static const char *census(void)
{
	return access(CENSUS, R_OK) ? RDS_CENSUS : CENSUS;
}

static unsigned int refused, survived;
static time_t begin, last;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "nth: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	exit(1);
}

static int write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static unsigned long read_number(int fd)
{
	char buf[32] = "";
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);

	if (n < 0 && errno == ESPIPE)	/* debugfs: read once */
		n = read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		die("cannot read how many allocations are left: %s", strerror(errno));
	return strtoul(buf, NULL, 10);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000000 }, NULL);
}

/* Objects that are there, of all kinds */
static long objects(void)
{
	unsigned long created, destroyed;
	FILE *f = fopen(census(), "r");
	char name[64];
	long n = 0;

	if (!f)
		die("%s: %s", census(), strerror(errno));
	while (fscanf(f, "%63s %lu %lu", name, &created, &destroyed) == 3)
		n += created - destroyed;
	fclose(f);
	return n;
}

static void await_census(unsigned int n, long before)
{
	time_t until = time(NULL) + CENSUS_LIMIT;

	while (objects() != before) {
		if (time(NULL) > until) {
			if (system(access(CENSUS, R_OK) ? "cat " RDS_CENSUS " >&2" : "cat " CENSUS " >&2"))
				die("no census");
			die("allocation %u: %ld objects are there, not %ld", n, objects(), before);
		}
		nap();
	}
}

/* Each attempt begins with it: the one before is over */
static void next_attempt(unsigned int n)
{
	time_t now = time(NULL);

	if (!begin)
		begin = last = now;
	if (now - last >= SLOW)
		printf("# the attempt before allocation %u took %ld s\n", n, (long)(now - last));
	if (now - begin > TOTAL_LIMIT)
		die("allocation %u: this takes too long, %ld s until now", n, (long)(now - begin));
	last = now;
	alarm(LIMIT);
}

static void count(int rc)
{
	if (rc)
		refused++;
	else
		survived++;
}

static void summary(unsigned int n)
{
	if (n < 2)
		die("not one allocation was seen");
	printf("# %u allocations failed: %u refused the operation, %u did not\n", refused + survived, refused, survived);
}

/* --- loading of a module --------------------------------------------------------------------------------------------- */

static int load(int ko, const char *params, int nth, unsigned int n, unsigned long *left)
{
	char text[16];
	int rc;

	snprintf(text, sizeof(text), "%u", n);
	if (n && pwrite(nth, text, strlen(text), 0) < 0)
		die("fail-nth: %s", strerror(errno));
	rc = syscall(SYS_finit_module, ko, params, 0) ? -errno : 0;
	if (n) {
		*left = read_number(nth);
		if (pwrite(nth, "0", 1, 0) < 0)
			die("fail-nth: %s", strerror(errno));
	}
	return rc;
}

static void unload(const char *name)
{
	time_t until = time(NULL) + CENSUS_LIMIT;

	while (syscall(SYS_delete_module, name, O_NONBLOCK)) {
		if (time(NULL) > until)
			die("%s does not unload: %s", name, strerror(errno));
		nap();
	}
}

static int sweep_load(char **argv)
{
	int ko = open(argv[0], O_RDONLY | O_CLOEXEC), nth = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC), rc;
	char name[64], params[256] = "", *p;
	unsigned long left = 0;
	unsigned int n;

	if (ko < 0 || nth < 0)
		die("%s: %s", argv[0], strerror(errno));
	snprintf(name, sizeof(name), "%s", strrchr(argv[0], 0x2f) + 1);
	name[strcspn(name, ".")] = 0;
	for (p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	while (*++argv)
		snprintf(params + strlen(params), sizeof(params) - strlen(params), "%s ", *argv);
	for (n = 1; n < MOST; n++) {
		next_attempt(n);
		rc = load(ko, params, nth, n, &left);
		if (!rc)
			unload(name);
		if (left) {
			if (rc)
				die("%s does not load: %s", name, strerror(-rc));
			break;
		}
		count(rc);
		if (!rc || rc == -ENOMEM)
			continue;
		rc = load(ko, params, nth, 0, &left);
		if (rc)
			die("%s does not load after allocation %u failed: %s", name, n, strerror(-rc));
		unload(name);
	}
	summary(n);
	return 0;
}

/* --- any operation --------------------------------------------------------------------------------------------------- */

static char attr[64], state[64];
static unsigned long met;	/* Allocations that the kernel has counted since boot */

static void set(const char *name, unsigned long value)
{
	char file[128], text[24];

	snprintf(file, sizeof(file), "%s/%s", attr, name);
	snprintf(text, sizeof(text), "%lu", value);
	if (write_file(file, text))
		die("%s cannot be set", file);
}

static int act(const char *what)
{
	const char *text = strchr(what, '=');
	char file[128];
	int rc;

	if (*what == '!') {
		rc = system(what + 1);
		return rc ? -EIO : 0;
	}
	if (*what == '+')
		return netlink_access(what + 1);
	snprintf(file, sizeof(file), "%.*s", (int)(text - what), what);
	if (*file == '@')
		return netlink_map(file + 1, text + 1);
	return write_file(file, text + 1);
}

static void undo(const char *what, unsigned int n)
{
	time_t until = time(NULL) + CENSUS_LIMIT;
	int rc;

	while ((rc = act(what)) && rc != -ENOENT) {
		if (time(NULL) > until)
			die("allocation %u: %s: %s", n, what, strerror(-rc));
		nap();
	}
}

/* The kernel fails each allocation whose number is a multiple of the interval; the next one is @target itself */
static int try_it(const char *what, unsigned long target, int *fired)
{
	char file[128];
	int rc, fd;

	set("interval", target);
	set("times", 1);
	set("probability", 100);
	rc = act(what);
	set("probability", 0);
	snprintf(file, sizeof(file), "%s/times", attr);
	fd = open(file, O_RDONLY);
	*fired = !read_number(fd);
	close(fd);
	return rc;
}

static void save(void)
{
	FILE *f = fopen(state, "w");

	if (!f || fprintf(f, "%lu\n", met) < 0 || fclose(f))
		die("%s: %s", state, strerror(errno));
}

/*
 * How many allocations the last attempts met is not known: let the kernel stop at a number that is far enough. Each attempt that
 * was in vain met less than @n of them, and there were two at most.
 */
static void meet_again(const char *what, const char *back, unsigned int n, long before)
{
	unsigned long target = met + 4ul * n + 16;
	int fired = 0;

	while (!fired) {
		next_attempt(n);
		try_it(what, target, &fired);
		undo(back, n);
		await_census(n, before);
	}
	met = target;
	save();
}

static int sweep_any(char **argv)
{
	const char *what = argv[1], *back = argv[2];
	unsigned int n, step = argv[3] ? strtoul(argv[3], NULL, 10) : 1, missed = 0;
	long before = objects();
	int fired, rc;
	FILE *f;

	snprintf(attr, sizeof(attr), "/sys/kernel/debug/%s", strcmp(argv[0], "page") ? "failslab" : "fail_page_alloc");
	snprintf(state, sizeof(state), "/run/lab/nth.%s", argv[0]);
	f = fopen(state, "r");
	if (f) {
		if (fscanf(f, "%lu", &met) != 1)
			die("%s: what is this?", state);
		fclose(f);
	}
	for (n = 1; n < MOST; n += step) {
		next_attempt(n);
		rc = try_it(what, met + n, &fired);
		undo(back, n);
		await_census(n, before);
		if (!fired) {
			if (rc)
				die("%s: %s, and no allocation failed", what, strerror(-rc));
			meet_again(what, back, n, before);
			if (++missed == MISSES)
				break;
			n -= step;
			continue;
		}
		missed = 0;
		/* An interval of 1 fails the next one and counts nothing */
		if (met + n > 1)
			met += n;
		count(rc);
		if (!rc || rc == -ENOMEM)
			continue;
		rc = act(what);
		if (rc)
			die("%s: %s, after allocation %u failed", what, strerror(-rc), n);
		undo(back, n);
		await_census(n, before);
	}
	await_census(n, before);
	summary(n);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 3 && !strcmp(argv[1], "load"))
		return sweep_load(argv + 2);
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "any"))
		return sweep_any(argv + 2);
	fprintf(stderr, "usage: nth load MODULE.ko [PARAM=VALUE]... | nth any slab|page DO UNDO [STEP]\n");
	return 2;
}
