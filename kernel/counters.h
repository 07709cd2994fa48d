/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of a namespace, for packets that no group can count. One set per CPU,
 * written with bottom halves disabled, read from any context. COLLSOCK_NET_COUNTER_LIST has
 * their names and meanings.
 */
#ifndef COLL_COUNTERS_H
#define COLL_COUNTERS_H

#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>

#include "core/base.h"

#define COLL_COUNTER_NUMBER(name, IDENTIFIER, meaning)	COLL_COUNT_##IDENTIFIER,
enum coll_counter { COLLSOCK_NET_COUNTER_LIST(COLL_COUNTER_NUMBER) COLL_COUNTERS };

struct coll_counters {
	u64_stats_t		count[COLL_COUNTERS];
	struct u64_stats_sync	syncp;
};

/* Called with bottom halves disabled. */
static inline void coll_counters_add(struct coll_counters __percpu *counters,
				     enum coll_counter which)
{
	struct coll_counters *c = this_cpu_ptr(counters);

	u64_stats_update_begin(&c->syncp);
	u64_stats_inc(&c->count[which]);
	u64_stats_update_end(&c->syncp);
}

struct coll_counters __percpu *coll_counters_new(void);
void coll_counters_free(struct coll_counters __percpu *counters);
void coll_counters_read(struct coll_counters __percpu *counters,
			struct collsock_net_stats *stats);

#endif
