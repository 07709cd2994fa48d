// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/moduleparam.h>

#include "tunables.h"

#define TUNABLE(identifier, tunable, units, minimum, maximum, preset, text)	\
	[COLL_TUNABLE_##identifier] = {						\
		.name		= #tunable,					\
		.unit		= units,					\
		.description	= text,						\
		.least		= minimum,					\
		.most		= maximum,					\
	},
const struct coll_tunable_info coll_tunable_info[COLL_TUNABLES] = {
#include "tunable_list.h"
};

#undef TUNABLE

/* Module parameters */
#define TUNABLE(identifier, tunable, units, minimum, maximum, preset, text)	\
	[COLL_TUNABLE_##identifier] = preset,
static u32 tunable_defaults[COLL_TUNABLES] = {
#include "tunable_list.h"
};

#undef TUNABLE

static void (*tunable_port_changed)(void);

static int tunable_param_set(const char *value, const struct kernel_param *kp)
{
	enum coll_tunable which = (u32 *)kp->arg - tunable_defaults;
	const struct coll_tunable_info *info = &coll_tunable_info[which];
	int err;

	err = param_set_uint_minmax(value, kp, info->least, info->most);
	if (!err && tunable_port_changed && coll_tunable_is_port(which))
		tunable_port_changed();
	return err;
}

static const struct kernel_param_ops tunable_operations = {
	.set = tunable_param_set,
	.get = param_get_uint,
};

#define TUNABLE(identifier, tunable, units, minimum, maximum, preset, text)	\
	MODULE_PARM_DESC(tunable, text);					\
	module_param_cb(tunable, &tunable_operations,				\
			&tunable_defaults[COLL_TUNABLE_##identifier], 0644);
#include "tunable_list.h"
#undef TUNABLE

static void tunable_preset(enum coll_tunable which, u64 value)
{
	if (!tunable_defaults[which])
		tunable_defaults[which] = clamp_t(u64, value, coll_tunable_info[which].least,
						  coll_tunable_info[which].most);
}

/**
 * coll_tunables_init() - compute defaults that were not set as parameters
 * @port_changed: is called when a parameter about the port is set
 *
 * Context: process; before any group exists.
 */
void __init coll_tunables_init(void (*port_changed)(void))
{
	const struct coll_timing *t = &coll_timing_default;

	tunable_preset(COLL_TUNABLE_RTO_FLOOR, div_u64(t->rto_floor, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_RTO_INITIAL, div_u64(t->rto_initial, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_RTO_CEILING, div_u64(t->rto_ceiling, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_RTO_UNHEARD, div_u64(t->rto_unheard, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_ACK_DELAY, div_u64(t->ack_delay, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_LIVENESS, div_u64(t->liveness, NSEC_PER_MSEC));
	tunable_preset(COLL_TUNABLE_JOIN_TIMEOUT, div_u64(t->join_timeout, NSEC_PER_MSEC));
	tunable_preset(COLL_TUNABLE_SETTLE, div_u64(t->settle, NSEC_PER_USEC));
	tunable_preset(COLL_TUNABLE_IDLE, div_u64(t->idle, NSEC_PER_MSEC));
	/* An eighth of the machine's memory */
	tunable_preset(COLL_TUNABLE_MAX_MEMORY, totalram_pages() / 8 * (PAGE_SIZE / 1024));
	tunable_port_changed = port_changed;
}

/**
 * coll_tunable_default() - the value in namespaces that have none of their own
 * @which: tunable
 *
 * Context: any.
 */
u32 coll_tunable_default(enum coll_tunable which)
{
	return READ_ONCE(tunable_defaults[which]);
}

/**
 * coll_tunable_is_machines() - does it limit what all namespaces share?
 * @which: tunable
 *
 * A namespace can have less of that than the module's parameter allows, never more.
 *
 * Context: any.
 */
bool coll_tunable_is_machines(enum coll_tunable which)
{
	return which == COLL_TUNABLE_MAX_MEMORY || which == COLL_TUNABLE_USER_MEMORY ||
	       which == COLL_TUNABLE_USER_GROUPS || which == COLL_TUNABLE_SEND_BUFFER;
}

/**
 * coll_tunable_is_interval() - does a small value keep the machine's softirqs busy?
 * @which: tunable
 *
 * Context: any.
 */
bool coll_tunable_is_interval(enum coll_tunable which)
{
	return which == COLL_TUNABLE_RTO_FLOOR || which == COLL_TUNABLE_RTO_INITIAL ||
	       which == COLL_TUNABLE_RTO_CEILING || which == COLL_TUNABLE_RTO_UNHEARD ||
	       which == COLL_TUNABLE_ACK_DELAY;
}

/* A user's part of that memory, unless user_memory_kib is set */
static u32 tunable_quarter(u32 memory)
{
	return max(1U, memory / 4);
}

/* The most that the module's parameters allow a namespace */
static u32 tunable_most(enum coll_tunable which)
{
	u32 most = coll_tunable_default(which);

	if (!most && which == COLL_TUNABLE_USER_MEMORY)
		most = tunable_quarter(coll_tunable_default(COLL_TUNABLE_MAX_MEMORY));
	return most;
}

/**
 * coll_tunable() - the value in a namespace
 * @t: its tunables
 * @which: tunable
 *
 * Context: any.
 */
u32 coll_tunable(const struct coll_tunables *t, enum coll_tunable which)
{
	u32 preset = coll_tunable_default(which), own;

	if (!test_bit_acquire(which, t->own))
		return preset;
	own = READ_ONCE(t->value[which]);
	/* A namespace can only lower a limit of the whole machine. */
	if (!coll_tunable_is_machines(which))
		return own;
	/* 0 stands for a value that follows from others. */
	return own ? min(own, tunable_most(which)) : preset;
}

/**
 * coll_tunable_user_memory() - memory that groups of one user may reserve, in KiB
 * @t: tunables of the namespace in which they are joined
 * @own: the value of user_memory_kib
 *
 * Context: any.
 */
u32 coll_tunable_user_memory(const struct coll_tunables *t, u32 own)
{
	return own ? own : tunable_quarter(coll_tunable(t, COLL_TUNABLE_MAX_MEMORY));
}

/**
 * coll_tunable_set() - give a namespace a value of its own
 * @t: its tunables
 * @which: tunable
 * @value: in range
 *
 * Context: process; callers are serialised.
 */
void coll_tunable_set(struct coll_tunables *t, enum coll_tunable which, u32 value)
{
	WRITE_ONCE(t->value[which], value);
	/* Pairs with the acquire in coll_tunable(). */
	smp_mb__before_atomic();
	set_bit(which, t->own);
}

/**
 * coll_tunable_reset() - follow the module's parameter again
 * @t: tunables of a namespace
 * @which: tunable
 *
 * Context: process; callers are serialised.
 */
void coll_tunable_reset(struct coll_tunables *t, enum coll_tunable which)
{
	clear_bit(which, t->own);
}

static u64 tunable_us(const struct coll_tunables *t, enum coll_tunable which)
{
	return coll_tunable(t, which) * (u64)NSEC_PER_USEC;
}

static u64 tunable_ms(const struct coll_tunables *t, enum coll_tunable which)
{
	return coll_tunable(t, which) * (u64)NSEC_PER_MSEC;
}

/**
 * coll_tunables_timing() - the tunables of a group that is being joined
 * @t: of its namespace
 * @timing: out; floor <= initial <= ceiling, whatever the order of changes
 *
 * Context: any.
 */
void coll_tunables_timing(const struct coll_tunables *t, struct coll_timing *timing)
{
	u64 floor = tunable_us(t, COLL_TUNABLE_RTO_FLOOR);
	u64 ceiling = tunable_us(t, COLL_TUNABLE_RTO_CEILING);
	u64 initial = tunable_us(t, COLL_TUNABLE_RTO_INITIAL);

	timing->rto_floor = floor;
	timing->rto_ceiling = max(floor, ceiling);
	timing->rto_initial = clamp(initial, floor, timing->rto_ceiling);
	timing->rto_unheard = tunable_us(t, COLL_TUNABLE_RTO_UNHEARD);
	timing->ack_delay = tunable_us(t, COLL_TUNABLE_ACK_DELAY);
	timing->liveness = tunable_ms(t, COLL_TUNABLE_LIVENESS);
	timing->join_timeout = tunable_ms(t, COLL_TUNABLE_JOIN_TIMEOUT);
	timing->settle = tunable_us(t, COLL_TUNABLE_SETTLE);
	timing->idle = tunable_ms(t, COLL_TUNABLE_IDLE);
}
