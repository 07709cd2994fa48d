/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How long things take on this host: what its administrator may set. */
#ifndef COLL_CORE_TIMING_H
#define COLL_CORE_TIMING_H

#include "base.h"

/**
 * struct coll_timing - tunables of the protocol; all in ns; local to the host
 * @rto_initial: retransmission time-out before there is a sample
 * @rto_floor: least retransmission time-out
 * @rto_ceiling: greatest retransmission time-out, reached by backing off
 * @rto_unheard: the same for a host never heard from
 * @ack_delay: how long an acknowledgment waits to be piggybacked
 * @liveness: silence after which a host counts as dead
 * @join_timeout: the same for a host never heard from
 * @settle: how long an error is held, so that all hosts report the same
 * @idle: a connection unused for this time becomes idle
 */
struct coll_timing {
	u64	rto_initial;
	u64	rto_floor;
	u64	rto_ceiling;
	u64	rto_unheard;
	u64	ack_delay;
	u64	liveness;
	u64	join_timeout;
	u64	settle;
	u64	idle;
};

#endif
