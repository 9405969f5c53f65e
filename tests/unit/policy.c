// SPDX-License-Identifier: GPL-2.0
/* The paths of a session and the choice among them: kernel/rtrs/client/{path-set,policy}.c. */
#include "stub/client.h"
#include "tap.h"

#define PATHS	5

static struct rtrs_client_path path[PATHS];
static struct rtrs_client_session session;
static u32 cursor;

/* A session of the first @n paths, of which those of @mask are connected. */
static void open_session(unsigned int n, unsigned int mask)
{
	unsigned int i;

	session = (struct rtrs_client_session){ .cursor = &cursor };
	cursor = 0;
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

static void policies(void)
{
	EQ(rtrs_client_policy_check(RTRS_CLIENT_ROUND_ROBIN), 0);
	EQ(rtrs_client_policy_check(RTRS_CLIENT_POLICY_COUNT), -EOPNOTSUPP);
	EQ(rtrs_client_policy_check(~0U), -EOPNOTSUPP);
}

/* All numbers of paths, all subsets of them connected: each that is, once, and no other. */
static void each_once(void)
{
	unsigned int n, mask, i;
	int first;

	for (n = 0; n <= PATHS; n++)
		for (mask = 0; mask < 1U << n; mask++) {
			open_session(n, mask);
			for (i = 0; i < 7; i++) {
				NOTE("%u paths, connected 0x%x, request %u", n, mask, i);
				EQ(candidates(&first), mask);
			}
			close_session();
		}
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

int main(void)
{
	RUN(policies, "policies that there are");
	RUN(each_once, "every connected path is tried once, no other: all subsets of 5");
	RUN(in_turn, "round-robin takes the paths in turn");
	RUN(overflow, "the same where the cursor overflows");
	RUN(other_states, "only connected paths carry requests");
	RUN(removal, "paths are taken out and put in");
	RUN(no_memory, "no memory: the set stays as it was");
	return tap_end();
}
