// SPDX-License-Identifier: GPL-2.0
#include <linux/moduleparam.h>

#include "tunables.h"

static int tunable_set_us(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 10, 10 * USEC_PER_SEC);
}

static int tunable_set_ms(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 10, 86400 * MSEC_PER_SEC);
}

static const struct kernel_param_ops tunable_us = {
	.set = tunable_set_us,
	.get = param_get_uint,
};

static const struct kernel_param_ops tunable_ms = {
	.set = tunable_set_ms,
	.get = param_get_uint,
};

/* Zero until coll_tunables_init(): whatever was not given is the core's default. */
static unsigned int rto_floor_us;
module_param_cb(rto_floor_us, &tunable_us, &rto_floor_us, 0644);
MODULE_PARM_DESC(rto_floor_us, "Least retransmission time-out");

static unsigned int rto_initial_us;
module_param_cb(rto_initial_us, &tunable_us, &rto_initial_us, 0644);
MODULE_PARM_DESC(rto_initial_us, "Retransmission time-out before the round-trip time is known");

static unsigned int rto_ceiling_us;
module_param_cb(rto_ceiling_us, &tunable_us, &rto_ceiling_us, 0644);
MODULE_PARM_DESC(rto_ceiling_us, "Greatest retransmission time-out");

static unsigned int rto_unheard_us;
module_param_cb(rto_unheard_us, &tunable_us, &rto_unheard_us, 0644);
MODULE_PARM_DESC(rto_unheard_us, "Greatest retransmission time-out to a host never heard");

static unsigned int ack_delay_us;
module_param_cb(ack_delay_us, &tunable_us, &ack_delay_us, 0644);
MODULE_PARM_DESC(ack_delay_us, "How long a lone answer waits for a packet to travel with");

static unsigned int liveness_ms;
module_param_cb(liveness_ms, &tunable_ms, &liveness_ms, 0644);
MODULE_PARM_DESC(liveness_ms, "Silence after which a host counts as dead");

static unsigned int join_timeout_ms;
module_param_cb(join_timeout_ms, &tunable_ms, &join_timeout_ms, 0644);
MODULE_PARM_DESC(join_timeout_ms, "The same for a host never heard");

static unsigned int settle_us;
module_param_cb(settle_us, &tunable_us, &settle_us, 0644);
MODULE_PARM_DESC(settle_us, "How long an error is held, so that all hosts report the same");

static unsigned int idle_ms;
module_param_cb(idle_ms, &tunable_ms, &idle_ms, 0644);
MODULE_PARM_DESC(idle_ms, "A connection over which nothing is said for so long is put back");

static void tunable_default(unsigned int *tunable, u64 value_ns, u32 unit_ns)
{
	if (!*tunable)
		*tunable = div_u64(value_ns, unit_ns);
}

/**
 * coll_tunables_init() - fill in what the loader of the module did not say
 *
 * Context: process; before any group exists.
 */
void coll_tunables_init(void)
{
	const struct coll_timing *t = &coll_timing_default;

	tunable_default(&rto_floor_us, t->rto_floor, NSEC_PER_USEC);
	tunable_default(&rto_initial_us, t->rto_initial, NSEC_PER_USEC);
	tunable_default(&rto_ceiling_us, t->rto_ceiling, NSEC_PER_USEC);
	tunable_default(&rto_unheard_us, t->rto_unheard, NSEC_PER_USEC);
	tunable_default(&ack_delay_us, t->ack_delay, NSEC_PER_USEC);
	tunable_default(&liveness_ms, t->liveness, NSEC_PER_MSEC);
	tunable_default(&join_timeout_ms, t->join_timeout, NSEC_PER_MSEC);
	tunable_default(&settle_us, t->settle, NSEC_PER_USEC);
	tunable_default(&idle_ms, t->idle, NSEC_PER_MSEC);
}

/**
 * coll_tunables_timing() - the tunables of a group that is being joined
 * @timing: out; floor <= initial <= ceiling whatever the order of changes
 *
 * Context: any.
 */
void coll_tunables_timing(struct coll_timing *timing)
{
	u64 floor = READ_ONCE(rto_floor_us) * (u64)NSEC_PER_USEC;
	u64 ceiling = READ_ONCE(rto_ceiling_us) * (u64)NSEC_PER_USEC;
	u64 initial = READ_ONCE(rto_initial_us) * (u64)NSEC_PER_USEC;

	timing->rto_floor = floor;
	timing->rto_ceiling = max(floor, ceiling);
	timing->rto_initial = clamp(initial, floor, timing->rto_ceiling);
	timing->rto_unheard = READ_ONCE(rto_unheard_us) * (u64)NSEC_PER_USEC;
	timing->ack_delay = READ_ONCE(ack_delay_us) * (u64)NSEC_PER_USEC;
	timing->liveness = READ_ONCE(liveness_ms) * (u64)NSEC_PER_MSEC;
	timing->join_timeout = READ_ONCE(join_timeout_ms) * (u64)NSEC_PER_MSEC;
	timing->settle = READ_ONCE(settle_us) * (u64)NSEC_PER_USEC;
	timing->idle = READ_ONCE(idle_ms) * (u64)NSEC_PER_MSEC;
}
