// SPDX-License-Identifier: GPL-2.0
/*
 * paths/<src@dst>/stats: counters, one value or a table in each file. Writing 1, or 0 as
 * the first documents have it, resets what the file shows; reset_all resets all.
 *
 * rdma, reconnects, reset_all and cpu_migration_{from,to} are as the in-tree driver has
 * them, cpu_migration as it had it up to 5.10. sg_entries, rdma_lat and wc_completion are
 * of the documents of 2019 (patch v6, "rtrs: a bit of documentation") only. A table ends
 * where the page does; netlink has it all.
 */
#include <linux/mm.h>
#include <linux/sysfs.h>
#include <uapi/linux/rnbd.h>
#include "sysfs.h"

#define MS_ORDER	20	/* rdma_lat: a ms of 2^20 ns, where a bucket ends */

static ssize_t stats_store(struct kobject *kobj, const char *buf, size_t count, u32 groups)
{
	if (!sysfs_streq(buf, "1") && !sysfs_streq(buf, "0"))
		return -EINVAL;
	rtrs_client_stats_reset(rtrs_client_path_of(kobj), groups);
	return count;
}

#define STATS_ATTR(name, groups)						\
	static ssize_t name##_store(struct kobject *kobj, struct kobj_attribute *attr, \
				    const char *buf, size_t count)		\
	{									\
		return stats_store(kobj, buf, count, groups);			\
	}									\
	static struct kobj_attribute stats_attr_##name = __ATTR_RW(name)

static ssize_t rdma_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_client_path *path = rtrs_client_path_of(kobj);
	struct rtrs_client_counts sum;

	rtrs_client_stats_sum(path, &sum);
	return sysfs_emit(buf, "%llu %llu %llu %llu %u %llu\n", sum.ios[1], sum.bytes[1],
			  sum.ios[0], sum.bytes[0], rtrs_client_stats_inflight(path),
			  rtrs_client_stats_failovers(path));
}
STATS_ATTR(rdma, RNBD_COUNTERS_IOS);

static ssize_t reconnects_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_client_path *path = rtrs_client_path_of(kobj);

	return sysfs_emit(buf, "%lld %lld\n", (s64)atomic64_read(&path->reconnects_ok),
			  (s64)atomic64_read(&path->reconnects_failed));
}
STATS_ATTR(reconnects, RNBD_COUNTERS_RECONNECTS);

typedef int moves_fn(char *buf, const struct rtrs_client_moves *of);

static ssize_t moves_show(struct kobject *kobj, char *buf, moves_fn *print)
{
	struct rtrs_client_moves *of = rtrs_client_stats_moves(rtrs_client_path_of(kobj));
	int len = of ? print(buf, of) : -ENOMEM;

	kvfree(of);
	return len;
}

static int print_from(char *buf, const struct rtrs_client_moves *of)
{
	int cpu, len = 0;

	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, "%u ", of[cpu].from);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t cpu_migration_from_show(struct kobject *kobj, struct kobj_attribute *attr,
				       char *buf)
{
	return moves_show(kobj, buf, print_from);
}
STATS_ATTR(cpu_migration_from, RNBD_COUNTERS_MIGRATIONS);

static int print_to(char *buf, const struct rtrs_client_moves *of)
{
	int cpu, len = 0;

	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, "%u ", of[cpu].to);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t cpu_migration_to_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return moves_show(kobj, buf, print_to);
}
STATS_ATTR(cpu_migration_to, RNBD_COUNTERS_MIGRATIONS);

static int print_both(char *buf, const struct rtrs_client_moves *of)
{
	int cpu, len;

	len = sysfs_emit(buf, "    ");
	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, " CPU%d", cpu);
	len += sysfs_emit_at(buf, len, "\nfrom:");
	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, " %u", of[cpu].from);
	len += sysfs_emit_at(buf, len, "\nto  :");
	for_each_possible_cpu(cpu)
		len += sysfs_emit_at(buf, len, " %u", of[cpu].to);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t cpu_migration_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return moves_show(kobj, buf, print_both);
}
STATS_ATTR(cpu_migration, RNBD_COUNTERS_MIGRATIONS);

/* A column for each number of entries, up to the one at its head; a row for each CPU. */
static ssize_t sg_entries_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_client_path *path = rtrs_client_path_of(kobj);
	int cpu, len;
	unsigned int b;

	len = sysfs_emit(buf, "entries:");
	for (b = 0; b + 1 < RTRS_SG_BUCKETS; b++)
		len += sysfs_emit_at(buf, len, " %llu", rtrs_sg_end(b));
	len += sysfs_emit_at(buf, len, " >%llu\n", rtrs_sg_end(b - 1));
	for_each_possible_cpu(cpu) {
		const struct rtrs_client_counts *c = &per_cpu_ptr(path->stats, cpu)->c;

		len += sysfs_emit_at(buf, len, "CPU%d:", cpu);
		for (b = 0; b < RTRS_SG_BUCKETS; b++)
			len += sysfs_emit_at(buf, len, " %llu", READ_ONCE(c->sg[b]));
		len += sysfs_emit_at(buf, len, "\n");
	}
	return len;
}
STATS_ATTR(sg_entries, RNBD_COUNTERS_SG);

/* A row has what took up to so many ms, and longer than the row before it. Reads, writes. */
static ssize_t rdma_lat_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const unsigned int first = MS_ORDER - RTRS_LATENCY_ORDER;
	struct rtrs_client_counts sum;
	u64 reads = 0, writes = 0;
	unsigned int b;
	int len = 0;

	rtrs_client_stats_sum(rtrs_client_path_of(kobj), &sum);
	for (b = 0; b + 1 < RTRS_LATENCY_BUCKETS; b++) {
		reads += sum.latency[1][b];
		writes += sum.latency[0][b];
		if (b < first)
			continue;
		len += sysfs_emit_at(buf, len, "%u ms: %llu %llu\n", 1U << (b - first), reads,
				     writes);
		reads = 0;
		writes = 0;
	}
	len += sysfs_emit_at(buf, len, ">= %u ms: %llu %llu\n", 1U << (b - 1 - first),
			     sum.latency[1][b], sum.latency[0][b]);
	return len + sysfs_emit_at(buf, len, "maximum ms: %llu %llu\n",
				   sum.latency_max[1] >> MS_ORDER, sum.latency_max[0] >> MS_ORDER);
}
STATS_ATTR(rdma_lat, RNBD_COUNTERS_LATENCY);

/* Most completions that one poll found, and how many it found on average. */
static ssize_t wc_completion_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct rtrs_client_counts sum;

	rtrs_client_stats_sum(rtrs_client_path_of(kobj), &sum);
	return sysfs_emit(buf, "%llu %llu\n", sum.polls.max,
			  sum.polls.calls ? div64_u64(sum.polls.total, sum.polls.calls) : 0);
}
STATS_ATTR(wc_completion, RNBD_COUNTERS_POLLS);

static ssize_t reset_all_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "echo 1 to reset all statistics\n");
}
STATS_ATTR(reset_all, ~0U);

static struct attribute *stats_attrs[] = {
	&stats_attr_rdma.attr,
	&stats_attr_reconnects.attr,
	&stats_attr_cpu_migration_from.attr,
	&stats_attr_cpu_migration_to.attr,
	&stats_attr_cpu_migration.attr,
	&stats_attr_sg_entries.attr,
	&stats_attr_rdma_lat.attr,
	&stats_attr_wc_completion.attr,
	&stats_attr_reset_all.attr,
	NULL,
};

static const struct attribute_group stats_group = {
	.attrs = stats_attrs,
};

const struct attribute_group *rtrs_client_stats_groups[] = {
	&stats_group,
	NULL,
};
