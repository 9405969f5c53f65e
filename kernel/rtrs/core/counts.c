// SPDX-License-Identifier: GPL-2.0
/* Resetting counters that each CPU keeps and only that CPU writes to. */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/smp.h>
#include "core.h"

/**
 * struct counts_reset - arguments of counts_reset_cpu()
 * @reset: called with the CPU
 * @arg: first argument of @reset
 */
struct counts_reset {
	void (*reset)(void *arg, unsigned int cpu);
	void *arg;
};

static void counts_reset_cpu(void *arg)
{
	const struct counts_reset *r = arg;

	r->reset(r->arg, smp_processor_id());
}

void rtrs_counts_reset(void (*reset)(void *arg, unsigned int cpu), void *arg)
{
	struct counts_reset r = { .reset = reset, .arg = arg };
	unsigned int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			reset(arg, cpu);
	on_each_cpu(counts_reset_cpu, &r, 1);
	cpus_read_unlock();
}
EXPORT_SYMBOL_GPL(rtrs_counts_reset);
