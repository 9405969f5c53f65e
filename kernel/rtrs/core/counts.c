// SPDX-License-Identifier: GPL-2.0
/* Counters of each CPU, which alone writes to them: how they become zero. */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/smp.h>
#include "core.h"

/**
 * struct reset - a call on each CPU
 * @reset: what to call
 * @arg: for it
 */
struct reset {
	void (*reset)(void *arg, unsigned int cpu);
	void *arg;
};

static void reset_this_cpu(void *arg)
{
	const struct reset *r = arg;

	r->reset(r->arg, smp_processor_id());
}

void rtrs_counts_reset(void (*reset)(void *arg, unsigned int cpu), void *arg)
{
	struct reset r = { .reset = reset, .arg = arg };
	unsigned int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			reset(arg, cpu);
	on_each_cpu(reset_this_cpu, &r, 1);
	cpus_read_unlock();
}
EXPORT_SYMBOL_GPL(rtrs_counts_reset);
