// SPDX-License-Identifier: GPL-2.0
/* The paths of a session and the choice among them: kernel/rtrs/client/{path-set,policy}.c. */
#include "stub/client.h"
#include "tap.h"

#define PATHS	5
#define MS	1000000ULL
#define US	1000ULL

unsigned int stub_cpu;
u64 stub_now;

static struct rtrs_client_path path[PATHS];
static struct rtrs_client_session session;
static u32 cursor;
static enum rtrs_client_policy policy;

/* A session of the first @n paths, of which those of @mask are connected. */
static void open_session(unsigned int n, unsigned int mask)
{
	unsigned int i;

	session = (struct rtrs_client_session){ .cursor = &cursor, .settings.policy = policy };
	cursor = 0;
	stub_cpu = 0;
	stub_now = 3600ULL * 1000 * MS;
	memset(path, 0, sizeof(path));
	EQ(rtrs_client_path_set_init(&session), 0);
	for (i = 0; i < n; i++) {
		path[i].state = mask & 1U << i ? RTRS_CLIENT_PATH_CONNECTED : RTRS_CLIENT_PATH_RECONNECTING;
		EQ(rtrs_client_path_set_add(&session, &path[i]), 0);
	}
}

static void close_session(void)
{
	free(session.paths);
}

/* Every candidate of one request, as a set; the first of them in *first. */
static unsigned int candidates(int *first)
{
	struct rtrs_client_pick pick;
	struct rtrs_client_path *p;
	unsigned int seen = 0, n = 0;

	*first = -1;
	rtrs_client_pick_start(&pick, &session);
	while ((p = rtrs_client_pick_next(&pick)) && n++ < 2 * PATHS) {
		CHECK(!(seen & 1U << (p - path)));
		seen |= 1U << (p - path);
		if (*first < 0)
			*first = p - path;
	}
	CHECK(!rtrs_client_pick_next(&pick));
	return seen;
}

/* All numbers of paths, all subsets of them connected: each that is, once, and no other. */
static void each_once_by(enum rtrs_client_policy by)
{
	unsigned int n, mask, i;
	int first;

	policy = by;
	for (n = 0; n <= PATHS; n++)
		for (mask = 0; mask < 1U << n; mask++) {
			open_session(n, mask);
			for (i = 0; i < 7; i++) {
				NOTE("policy %u, %u paths, connected 0x%x, request %u", by, n, mask, i);
				EQ(candidates(&first), mask);
				if (first >= 0)
					path[first].inflight.v++;
			}
			close_session();
		}
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

static void each_once(void)
{
	unsigned int by;

	for (by = 0; by < RTRS_CLIENT_POLICY_COUNT; by++)
		each_once_by(by);
}

static void in_turn(void)
{
	unsigned int n, i;
	int first, last;

	for (n = 1; n <= PATHS; n++) {
		open_session(n, ~0U);
		candidates(&last);
		for (i = 0; i < 3 * n; i++) {
			NOTE("%u paths, request %u", n, i);
			candidates(&first);
			EQ(first, (last + 1) % n);
			last = first;
		}
		close_session();
	}
}

/* The cursor runs on for ever. */
static void overflow(void)
{
	unsigned int n, mask, i;
	int first;

	for (n = 1; n <= PATHS; n++)
		for (mask = 1; mask < 1U << n; mask++) {
			open_session(n, mask);
			cursor = ~0U - 4;
			for (i = 0; i < 10; i++) {
				NOTE("%u paths, connected 0x%x, cursor 0x%x", n, mask, cursor);
				EQ(candidates(&first), mask);
			}
			close_session();
		}
}

static void other_states(void)
{
	unsigned int state;
	int first;

	open_session(1, 0);
	for (state = 0; state < RTRS_CLIENT_PATH_STATE_COUNT; state++) {
		path[0].state = state;
		NOTE("state %u", state);
		EQ(candidates(&first), state == RTRS_CLIENT_PATH_CONNECTED);
	}
	close_session();
}

static void removal(void)
{
	unsigned int i;
	int first;

	for (i = 0; i < PATHS; i++) {
		open_session(PATHS, ~0U);
		rtrs_client_path_set_del(&session, &path[i]);
		NOTE("without %u", i);
		EQ(session.paths->count, PATHS - 1);
		EQ(candidates(&first), 31 & ~(1U << i));
		/* one that is not there */
		rtrs_client_path_set_del(&session, &path[i]);
		EQ(session.paths->count, PATHS - 1);
		close_session();
	}
	open_session(1, 1);
	rtrs_client_path_set_del(&session, &path[0]);
	EQ(session.paths->count, 0);
	EQ(candidates(&first), 0);
	EQ(rtrs_client_path_set_add(&session, &path[0]), 0);
	EQ(candidates(&first), 1);
	close_session();
}

static void no_memory(void)
{
	int first;

	shim_alloc_fail = 1;
	EQ(rtrs_client_path_set_init(&session), -ENOMEM);
	open_session(2, 3);
	shim_alloc_fail = 1;
	EQ(rtrs_client_path_set_add(&session, &path[2]), -ENOMEM);
	EQ(session.paths->count, 2);
	EQ(candidates(&first), 3);
	close_session();
}

static int chosen(void)
{
	int first;

	candidates(&first);
	return first;
}

static void fewest(void)
{
	unsigned int i, seen = 0;

	policy = RTRS_CLIENT_MIN_INFLIGHT;
	open_session(3, 7);
	path[0].inflight.v = 2;
	path[1].inflight.v = 1;
	path[2].inflight.v = 3;
	for (i = 0; i < 6; i++)
		EQ(chosen(), 1);
	path[1].inflight.v = 2;
	/* two are equal now: both have their turn */
	for (i = 0; i < 6; i++)
		seen |= 1U << chosen();
	EQ(seen, 3);
	path[0].state = RTRS_CLIENT_PATH_CLOSING;
	path[1].state = RTRS_CLIENT_PATH_CLOSING;
	EQ(chosen(), 2);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

static struct rtrs_client_latency *latency(int i)
{
	return &path[i].stats[stub_cpu].latency;
}

/* A request of @ns from the CPU that runs. */
static void took(int i, u64 ns)
{
	u32 waiting = rtrs_client_latency_chosen(latency(i), stub_now);

	stub_now += ns;
	rtrs_client_latency_sample(latency(i), stub_now, ns, waiting);
}

static void fastest(void)
{
	unsigned int i;

	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(3, 7);
	for (i = 0; i < 10; i++) {
		took(0, 300 * US);
		took(1, 100 * US);
		took(2, 200 * US);
	}
	EQ(chosen(), 1);
	/* it becomes slow; a single request does not decide */
	took(1, 250 * US);
	EQ(chosen(), 1);
	for (i = 0; i < 40; i++)
		took(1, 400 * US);
	took(0, 300 * US);
	took(2, 200 * US);
	EQ(chosen(), 2);
	path[2].state = RTRS_CLIENT_PATH_CLOSING;
	took(1, 400 * US);
	EQ(chosen(), 0);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

static void new_path(void)
{
	unsigned int i;

	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(2, 1);
	for (i = 0; i < 10; i++)
		took(0, 100 * US);
	path[1].state = RTRS_CLIENT_PATH_CONNECTED;
	EQ(chosen(), 1);
	/* one request tries it, those behind it do not wait for what it will be like */
	EQ(rtrs_client_latency_chosen(latency(1), stub_now), 1);
	for (i = 0; i < 10; i++) {
		EQ(chosen(), 0);
		took(0, 100 * US);
	}
	/* the first result counts in full */
	rtrs_client_latency_sample(latency(1), stub_now, 50 * US, 1);
	EQ(chosen(), 1);
	EQ(latency(1)->ns, 50 * US);
	/* a result of no time at all is not the mark of a new path */
	latency(0)->ns = 0;
	took(0, 0);
	CHECK(latency(0)->ns);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

/* What was slow once is tried again, by one request at a time. */
static void fading(void)
{
	u64 start;
	int i;

	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(2, 3);
	took(0, 100 * US);
	took(1, 50 * MS);
	start = stub_now;
	for (i = 0; i < 100000 && chosen() == 0; i++)
		took(0, 100 * US);
	NOTE("after %llu ms", (stub_now - start) / MS);
	CHECK(stub_now - start > 1000 * MS);
	CHECK(stub_now - start < 5000 * MS);
	rtrs_client_latency_chosen(latency(1), stub_now);
	EQ(chosen(), 0);
	/* nor does it fade while that is under way */
	stub_now += 5000 * MS;
	took(0, 100 * US);
	EQ(chosen(), 0);
	/* it went to another path in the end: it tells nothing */
	rtrs_client_latency_undone(latency(1));
	EQ(chosen(), 1);
	EQ(latency(1)->ns, 50 * MS);
	/* never asked for longer than a word has bits */
	stub_now += 3600ULL * 24 * 365 * 1000 * MS;
	took(0, 100 * US);
	EQ(chosen(), 1);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

/*
 * 32 requests under way for a minute over two links. A request takes the link for
 * @busy[], and then @delay[] more; *done: how many each has carried.
 */
static void minute(const u64 *busy, const u64 *delay, unsigned int *done)
{
	u64 free_at[2], ready[32] = {}, since[32], end;
	u32 waiting[32];
	unsigned int i, n;
	int on[32];

	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(2, 3);
	done[0] = done[1] = 0;
	free_at[0] = free_at[1] = stub_now;
	for (end = stub_now + 60000 * MS; stub_now < end;) {
		/* the first that is ready, and another in its place */
		for (n = 0, i = 1; i < 32; i++)
			if (ready[i] < ready[n])
				n = i;
		if (ready[n]) {
			stub_now = ready[n];
			rtrs_client_latency_sample(latency(on[n]), stub_now, stub_now - since[n],
						   waiting[n]);
			done[on[n]]++;
		}
		on[n] = chosen();
		since[n] = stub_now;
		waiting[n] = rtrs_client_latency_chosen(latency(on[n]), stub_now);
		free_at[on[n]] = max(free_at[on[n]], stub_now) + busy[on[n]];
		ready[n] = free_at[on[n]] + delay[on[n]];
	}
	NOTE("%u and %u done", done[0], done[1]);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

static void queues(void)
{
	static const u64 narrow[2] = { 11 * MS, 110 * MS }, quick[2] = { US, US };
	static const u64 near[2] = { MS, 10 * MS };
	unsigned int done[2];

	/* one after the other: each link carries what it can */
	minute(narrow, quick, done);
	CHECK(done[0] > 60000 / 11 * 98 / 100);
	CHECK(done[1] > 60000 / 110 * 90 / 100);
	/* all at once: what is under way slows none down, and the far link has no share */
	minute(quick, near, done);
	CHECK(done[0] > 60000 * 30);
	CHECK(done[1] < 60000 / 10);
}

/* Heartbeats bound from below what a path can do, whether they are answered or not. */
static void heartbeats(void)
{
	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(2, 3);
	took(0, 100 * US);
	took(1, 90 * US);
	EQ(chosen(), 1);
	path[1].hb.rtt_ns.v = 30 * MS;
	EQ(chosen(), 0);
	/* however much its average has faded */
	stub_now += 10000 * MS;
	took(0, 100 * US);
	EQ(chosen(), 0);
	path[1].hb.rtt_ns.v = 10 * US;
	EQ(chosen(), 1);
	path[1].hb.missed.v = 1;
	path[1].hb.sent = stub_now - 20 * MS;
	EQ(chosen(), 0);
	path[1].hb.missed.v = 0;
	EQ(chosen(), 1);
	/* of a moment that is to come, as clocks of CPUs may have it */
	path[1].hb.missed.v = 1;
	path[1].hb.sent = stub_now + 20 * MS;
	path[1].stats[0].latency.at = stub_now + 20 * MS;
	CHECK(chosen() >= 0);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

static void cpus(void)
{
	policy = RTRS_CLIENT_MIN_LATENCY;
	open_session(2, 3);
	took(0, 100 * US);
	took(1, 200 * US);
	stub_cpu = 1;
	took(0, 200 * US);
	took(1, 100 * US);
	EQ(chosen(), 1);
	stub_cpu = 0;
	EQ(chosen(), 0);
	close_session();
	policy = RTRS_CLIENT_ROUND_ROBIN;
}

int main(void)
{
	RUN(each_once, "every connected path is tried once, no other: all policies, all subsets of 5");
	RUN(in_turn, "round-robin takes the paths in turn");
	RUN(overflow, "the same where the cursor overflows");
	RUN(other_states, "only connected paths carry requests");
	RUN(removal, "paths are taken out and put in");
	RUN(fewest, "min-inflight takes the path with the fewest requests of all CPUs");
	RUN(fastest, "min-latency takes the path whose requests take least");
	RUN(new_path, "min-latency tries a new path at once, with one request");
	RUN(fading, "min-latency tries a slow path again after a while");
	RUN(queues, "min-latency floods no path that is slow: two links carry what they can");
	RUN(heartbeats, "min-latency believes a heartbeat rather than an average");
	RUN(cpus, "min-latency of each CPU");
	RUN(no_memory, "no memory: the set stays as it was");
	return tap_end();
}
