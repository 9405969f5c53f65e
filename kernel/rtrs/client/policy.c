// SPDX-License-Identifier: GPL-2.0
/* Which path a request takes. */
#include <linux/rcupdate.h>
#include "client.h"

int rtrs_client_policy_check(unsigned int policy)
{
	return policy == RTRS_CLIENT_ROUND_ROBIN ? 0 : -EOPNOTSUPP;
}

/* Round-robin, a cursor for each CPU; one that is moved away in between does no harm. */
void rtrs_client_pick_start(struct rtrs_client_pick *pick, struct rtrs_client_session *session)
{
	pick->set = rcu_dereference(session->paths);
	pick->start = this_cpu_inc_return(*session->cursor);
	/* Small, so that the sum below does not overflow and meet a path twice. */
	if (pick->set->count)
		pick->start %= pick->set->count;
	pick->tried = 0;
}

struct rtrs_client_path *rtrs_client_pick_next(struct rtrs_client_pick *pick)
{
	const struct rtrs_client_path_set *set = pick->set;

	while (pick->tried < set->count) {
		struct rtrs_client_path *path =
			set->path[(pick->start + pick->tried++) % set->count];

		if (rtrs_client_path_connected(path))
			return path;
	}
	return NULL;
}
