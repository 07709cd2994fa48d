// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>

#include "counters.h"

/**
 * coll_counters_new() - allocate the counters of a namespace, all zero
 *
 * Return: the counters, or NULL if there is no memory. Context: may sleep.
 */
struct coll_counters __percpu *coll_counters_new(void)
{
	return netdev_alloc_pcpu_stats(struct coll_counters);
}

/**
 * coll_counters_free() - undo coll_counters_new()
 * @counters: no longer in use
 *
 * Context: process.
 */
void coll_counters_free(struct coll_counters __percpu *counters)
{
	free_percpu(counters);
}

static u64 counters_sum(struct coll_counters __percpu *counters, enum coll_counter which)
{
	u64 sum = 0, value;
	unsigned int start;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct coll_counters *c = per_cpu_ptr(counters, cpu);

		do {
			start = u64_stats_fetch_begin(&c->syncp);
			value = u64_stats_read(&c->count[which]);
		} while (u64_stats_fetch_retry(&c->syncp, start));
		sum += value;
	}
	return sum;
}

#define COUNTER_SUM(name, IDENTIFIER, meaning) \
	stats->name = counters_sum(counters, COLL_COUNT_##IDENTIFIER);

/**
 * coll_counters_read() - sum the counters over all CPUs
 * @counters: of the namespace
 * @stats: out: only its counters are set
 *
 * Context: any.
 */
void coll_counters_read(struct coll_counters __percpu *counters,
			struct collsock_net_stats *stats)
{
	COLLSOCK_NET_COUNTER_LIST(COUNTER_SUM)
}
