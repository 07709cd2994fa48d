/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of a namespace: what became of the packets that no group can
 * count. One set for each CPU; written with bottom halves off, read by anybody.
 * Their names and meanings are those of COLLSOCK_NET_COUNTER_LIST.
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

/* Bottom halves are off. */
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
