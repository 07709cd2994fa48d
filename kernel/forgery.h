/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forgeries: when a group checks the MAC of a packet before it takes its lock.
 *
 * Usually the MAC is checked under the lock, where its state after the prefix is known; that
 * is cheaper, but a forged packet then costs the group its lock. After COLL_FORGERY_FLOOD
 * forgeries in a tick it is checked before, with the key, which never changes, until a tick
 * passes without a forgery.
 *
 * Used without a lock: CPUs that count at the same time may count less.
 */
#ifndef COLL_FORGERY_H
#define COLL_FORGERY_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/types.h>

#define COLL_FORGERY_FLOOD	8

/**
 * struct coll_forgery - forgeries in the name of members of one group
 * @tick: in which the last one came
 * @count: how many came in it
 * @flood: MACs are checked before the lock is taken
 */
struct coll_forgery {
	unsigned long	tick;
	u32		count;
	bool		flood;
};

static inline bool coll_forgery_is_flood(const struct coll_forgery *f)
{
	return READ_ONCE(f->flood);
}

/* One more. True if that begins a flood. */
static inline bool coll_forgery_note(struct coll_forgery *f)
{
	unsigned long now = jiffies;
	u32 count = READ_ONCE(f->tick) == now ? READ_ONCE(f->count) + 1 : 1;

	WRITE_ONCE(f->tick, now);
	WRITE_ONCE(f->count, count);
	if (count < COLL_FORGERY_FLOOD || READ_ONCE(f->flood))
		return false;
	WRITE_ONCE(f->flood, true);
	return true;
}

/* A packet of a member came: the flood is over if there was a tick without a forgery. */
static inline void coll_forgery_check_over(struct coll_forgery *f)
{
	if (jiffies - READ_ONCE(f->tick) > 1)
		WRITE_ONCE(f->flood, false);
}

#endif
