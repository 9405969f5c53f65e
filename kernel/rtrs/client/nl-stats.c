// SPDX-License-Identifier: GPL-2.0
/* Counters of a path in netlink: totals, and those of each CPU. */
#include <linux/mm.h>
#include <rtrs/nl.h>
#include "client.h"

/* Attributes that totals of a path and counters of a CPU have in common. */
struct counts_attrs {
	u16 read_ios, read_bytes, write_ios, write_bytes;
	u16 completions, polls, completions_max;
	u16 read_max, write_max, latency, sg, pad;
};

static const struct counts_attrs path_attrs = {
	.read_ios	 = RNBD_A_STATS_READ_IOS,
	.read_bytes	 = RNBD_A_STATS_READ_BYTES,
	.write_ios	 = RNBD_A_STATS_WRITE_IOS,
	.write_bytes	 = RNBD_A_STATS_WRITE_BYTES,
	.completions	 = RNBD_A_STATS_COMPLETIONS,
	.polls		 = RNBD_A_STATS_POLLS,
	.completions_max = RNBD_A_STATS_COMPLETIONS_MAX,
	.read_max	 = RNBD_A_STATS_READ_LATENCY_MAX_NS,
	.write_max	 = RNBD_A_STATS_WRITE_LATENCY_MAX_NS,
	.latency	 = RNBD_A_STATS_LATENCY,
	.sg		 = RNBD_A_STATS_SG,
	.pad		 = RNBD_A_STATS_PAD,
};

static const struct counts_attrs cpu_attrs = {
	.read_ios	 = RNBD_A_CPU_STATS_READ_IOS,
	.read_bytes	 = RNBD_A_CPU_STATS_READ_BYTES,
	.write_ios	 = RNBD_A_CPU_STATS_WRITE_IOS,
	.write_bytes	 = RNBD_A_CPU_STATS_WRITE_BYTES,
	.completions	 = RNBD_A_CPU_STATS_COMPLETIONS,
	.polls		 = RNBD_A_CPU_STATS_POLLS,
	.completions_max = RNBD_A_CPU_STATS_COMPLETIONS_MAX,
	.read_max	 = RNBD_A_CPU_STATS_READ_LATENCY_MAX_NS,
	.write_max	 = RNBD_A_CPU_STATS_WRITE_LATENCY_MAX_NS,
	.latency	 = RNBD_A_CPU_STATS_LATENCY,
	.sg		 = RNBD_A_CPU_STATS_SG,
	.pad		 = RNBD_A_CPU_STATS_PAD,
};

static int put_latency(struct sk_buff *skb, u16 attr, const struct rtrs_client_counts *c,
		       unsigned int b)
{
	struct nlattr *nest;
	u64 end = rtrs_latency_end(b);

	if (!c->latency[0][b] && !c->latency[1][b])
		return 0;
	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    (end != U64_MAX && nla_put_u64_64bit(skb, RNBD_A_LATENCY_BUCKET_LE_NS, end,
						 RNBD_A_LATENCY_BUCKET_PAD)) ||
	    nla_put_u64_64bit(skb, RNBD_A_LATENCY_BUCKET_READ_IOS, c->latency[1][b],
			      RNBD_A_LATENCY_BUCKET_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_LATENCY_BUCKET_WRITE_IOS, c->latency[0][b],
			      RNBD_A_LATENCY_BUCKET_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_sg(struct sk_buff *skb, u16 attr, const struct rtrs_client_counts *c,
		  unsigned int b)
{
	struct nlattr *nest;
	u64 end = rtrs_sg_end(b);

	if (!c->sg[b])
		return 0;
	nest = nla_nest_start(skb, attr);
	if (!nest ||
	    (end != U64_MAX && nla_put_u32(skb, RNBD_A_SG_BUCKET_ENTRIES, end)) ||
	    nla_put_u64_64bit(skb, RNBD_A_SG_BUCKET_IOS, c->sg[b], RNBD_A_SG_BUCKET_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_counts(struct sk_buff *skb, const struct counts_attrs *a,
		      const struct rtrs_client_counts *c)
{
	unsigned int b;

	if (nla_put_u64_64bit(skb, a->read_ios, c->ios[1], a->pad) ||
	    nla_put_u64_64bit(skb, a->read_bytes, c->bytes[1], a->pad) ||
	    nla_put_u64_64bit(skb, a->write_ios, c->ios[0], a->pad) ||
	    nla_put_u64_64bit(skb, a->write_bytes, c->bytes[0], a->pad) ||
	    nla_put_u64_64bit(skb, a->completions, c->polls.total, a->pad) ||
	    nla_put_u64_64bit(skb, a->polls, c->polls.calls, a->pad) ||
	    nla_put_u64_64bit(skb, a->completions_max, c->polls.max, a->pad) ||
	    nla_put_u64_64bit(skb, a->read_max, c->latency_max[1], a->pad) ||
	    nla_put_u64_64bit(skb, a->write_max, c->latency_max[0], a->pad))
		return -EMSGSIZE;
	for (b = 0; b < RTRS_LATENCY_BUCKETS; b++)
		if (put_latency(skb, a->latency, c, b))
			return -EMSGSIZE;
	for (b = 0; b < RTRS_SG_BUCKETS; b++)
		if (put_sg(skb, a->sg, c, b))
			return -EMSGSIZE;
	return 0;
}

static int put_head(struct sk_buff *skb, struct rtrs_client_path *path)
{
	int err;

	spin_lock_bh(&path->session->state_lock);
	err = nla_put_u32(skb, RNBD_A_STATS_PATH_ID, path->id) ||
	      nla_put_string(skb, RNBD_A_STATS_PATH_NAME, path->name) ||
	      nla_put_u32(skb, RNBD_A_STATS_SESSION_ID, path->session->id) ||
	      nla_put_string(skb, RNBD_A_STATS_SESSION_NAME, path->session->name) ||
	      nla_put_u32(skb, RNBD_A_STATS_ROLE, RNBD_ROLE_CLIENT) ||
	      nla_put_string(skb, RNBD_A_STATS_HCA_NAME, path->hca_name) ||
	      nla_put_u32(skb, RNBD_A_STATS_HCA_PORT, path->hca_port);
	spin_unlock_bh(&path->session->state_lock);
	return err ? -EMSGSIZE : 0;
}

int rtrs_client_nl_put_stats(struct sk_buff *skb, struct rtrs_client_path *path)
{
	s64 rtt = atomic64_read(&path->hb.rtt_ns);
	struct rtrs_client_counts sum;

	rtrs_client_stats_sum(path, &sum);
	if (put_head(skb, path) || put_counts(skb, &path_attrs, &sum) ||
	    nla_put_u32(skb, RNBD_A_STATS_INFLIGHT, rtrs_client_stats_inflight(path)) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_FAILOVERS, rtrs_client_stats_failovers(path),
			      RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_RECONNECTS_OK,
			      atomic64_read(&path->reconnects_ok), RNBD_A_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_STATS_RECONNECTS_FAILED,
			      atomic64_read(&path->reconnects_failed), RNBD_A_STATS_PAD) ||
	    (rtt && nla_put_u64_64bit(skb, RNBD_A_STATS_HEARTBEAT_LATENCY_NS, rtt,
				      RNBD_A_STATS_PAD)))
		return -EMSGSIZE;
	return nla_put_u32(skb, RNBD_A_STATS_GENERATION, rtrs_nl_generation());
}

/**
 * struct stats_dump - arguments of put_path_stats() and put_cpu_stats()
 * @path: path
 * @moves: by CPU
 */
struct stats_dump {
	struct rtrs_client_path *path;
	struct rtrs_client_moves *moves;
};

static int put_cpu_stats(struct sk_buff *skb, void *arg, unsigned int cpu)
{
	const struct stats_dump *d = arg;
	const struct rtrs_client_cpu_stats *s = per_cpu_ptr(d->path->stats, cpu);
	const struct rtrs_client_moves *m = &d->moves[cpu];
	const struct rtrs_client_counts *c = &s->c;
	u64 failovers = READ_ONCE(s->failovers);
	struct nlattr *nest;

	if (!c->ios[0] && !c->ios[1] && !c->polls.total && !m->from && !m->to && !m->inflight &&
	    !failovers)
		return 0;
	nest = nla_nest_start(skb, RNBD_A_STATS_CPU);
	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, RNBD_A_CPU_STATS_CPU, cpu) || put_counts(skb, &cpu_attrs, c) ||
	    nla_put_u32(skb, RNBD_A_CPU_STATS_INFLIGHT, m->inflight) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_MIGRATIONS_FROM, m->from,
			      RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_MIGRATIONS_TO, m->to, RNBD_A_CPU_STATS_PAD) ||
	    nla_put_u64_64bit(skb, RNBD_A_CPU_STATS_FAILOVERS, failovers, RNBD_A_CPU_STATS_PAD)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_path_stats(struct sk_buff *skb, void *arg)
{
	const struct stats_dump *d = arg;

	return rtrs_client_nl_put_stats(skb, d->path);
}

int rtrs_client_nl_dump_stats(struct sk_buff *skb, struct netlink_callback *cb,
			      struct rtrs_client_path *path, u32 *cursor)
{
	struct stats_dump d = { .path = path, .moves = rtrs_client_stats_moves(path) };
	const struct rtrs_nl_stats stats = {
		.id	= path->id,
		.path	= &d,
		.totals	= put_path_stats,
		.cpu	= put_cpu_stats,
	};
	int err = d.moves ? rtrs_nl_dump_stats(skb, cb, &stats, cursor) : -ENOMEM;

	kvfree(d.moves);
	return err;
}
