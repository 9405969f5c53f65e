/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State machines as data: a table of edges and one question. Needs no kernel:
 * the unit tests build the tables on the host and walk all pairs.
 *
 * The setter is the owner's: it asserts its lock, asks rtrs_fsm_may(), stores
 * and tells (trace, netlink). Whoever wins the edge does the work.
 */
#ifndef RTRS_FSM_H
#define RTRS_FSM_H

#include <linux/types.h>

/**
 * struct rtrs_fsm - a state machine
 * @count: states, at most 32
 * @edges: for each state the set of states (bit = 1 << state) that may follow
 */
struct rtrs_fsm {
	unsigned int count;
	const __u32 *edges;
};

static inline bool rtrs_fsm_may(const struct rtrs_fsm *fsm, unsigned int from, unsigned int to)
{
	return from < fsm->count && to < fsm->count && (fsm->edges[from] & (1U << to));
}

#endif /* RTRS_FSM_H */
