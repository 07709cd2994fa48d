// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

#include "pace.h"
#include "user.h"

/* How long a look is to last */
#define PACE_LOOK_NS	NSEC_PER_MSEC

/* A look costs this many times what it lasts. */
#define PACE_PRICE	10
#define PACE_LOOK_COST	(PACE_PRICE * PACE_LOOK_NS)

/* What a user may owe, and so the longest time for which one can look without a pause */
#define PACE_BURST_NS	(10 * PACE_LOOK_COST)

/* A look costs no more: it may have waited for locks that others held. */
#define PACE_MOST_COST	NSEC_PER_SEC

/* The longest time for which one waits: requests may wait for a mutex that is held meanwhile. */
#define PACE_WAIT_NS	(20 * NSEC_PER_MSEC)

/* Users whose numbers have the same hash share a budget. */
#define PACE_USER_BITS	8

/**
 * struct pace_user - the budget of a user
 * @lock: protects it
 * @paid_ns: when all looks, also those under way and those that wait, will be paid for
 */
struct pace_user {
	spinlock_t	lock;	/* of the budget */
	u64		paid_ns;
};

static struct pace_user pace_users[BIT(PACE_USER_BITS)];

/**
 * coll_pace_init() - nobody looks yet
 *
 * Context: module init.
 */
void __init coll_pace_init(void)
{
	struct pace_user *user;

	for (user = pace_users; user < pace_users + ARRAY_SIZE(pace_users); user++)
		spin_lock_init(&user->lock);
}

/* NULL with privilege */
static struct pace_user *pace_user(const struct net *net)
{
	if (ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN))
		return NULL;
	return &pace_users[hash_32(__kuid_val(coll_user_current()), PACE_USER_BITS)];
}

/* Pay for a look in advance, unless it would have to wait for more than @most. Returns the wait. */
static u64 pace_pay(struct pace_user *user, u64 most)
{
	u64 now = ktime_get_ns(), paid, wait;

	spin_lock(&user->lock);
	paid = max(user->paid_ns, now) + PACE_LOOK_COST;
	wait = paid - min(paid, now + PACE_BURST_NS);
	if (wait <= most)
		user->paid_ns = paid;
	spin_unlock(&user->lock);
	return wait;
}

/* The look has cost this in place of what was paid. */
static void pace_settle(struct pace_user *user, u64 cost)
{
	spin_lock(&user->lock);
	user->paid_ns += cost - PACE_LOOK_COST;
	spin_unlock(&user->lock);
}

/**
 * coll_pace_try() - may the calling user look now?
 * @pace: out, until coll_pace_end()
 * @net: the namespace
 *
 * For requests, in which a lock of generic netlink is held that others need.
 *
 * Return: 0, or -EBUSY if the user has looked too often. Context: process.
 */
int coll_pace_try(struct coll_pace *pace, const struct net *net)
{
	pace->user = pace_user(net);
	if (pace->user && pace_pay(pace->user, 0))
		return -EBUSY;
	pace->begin = ktime_get_ns();
	return 0;
}

static void pace_sleep(u64 ns)
{
	ktime_t left = ns_to_ktime(ns);

	set_current_state(TASK_KILLABLE);
	schedule_hrtimeout(&left, HRTIMER_MODE_REL);
}

/**
 * coll_pace_wait() - wait, but not for long, until the calling user may look
 * @pace: out, until coll_pace_end()
 * @net: the namespace
 *
 * Return: 0; -EAGAIN if the user may not yet, -EINTR if the process is being killed.
 * Context: process; no lock held that others need for longer than that.
 */
int coll_pace_wait(struct coll_pace *pace, const struct net *net)
{
	u64 wait = 0;

	pace->user = pace_user(net);
	if (pace->user)
		wait = pace_pay(pace->user, PACE_WAIT_NS);
	if (wait)
		pace_sleep(min_t(u64, wait, PACE_WAIT_NS));
	if (wait > PACE_WAIT_NS)
		return fatal_signal_pending(current) ? -EINTR : -EAGAIN;
	if (pace->user && fatal_signal_pending(current)) {
		pace_settle(pace->user, 0);
		return -EINTR;
	}
	pace->begin = ktime_get_ns();
	return 0;
}

/**
 * coll_pace_over() - has the look lasted long enough?
 * @pace: from coll_pace_try() or coll_pace_wait()
 *
 * Context: process.
 */
bool coll_pace_over(const struct coll_pace *pace)
{
	return pace->user && ktime_get_ns() - pace->begin >= PACE_LOOK_NS;
}

/**
 * coll_pace_end() - a look has ended: the user pays for it
 * @pace: from coll_pace_try() or coll_pace_wait()
 *
 * Context: process.
 */
void coll_pace_end(struct coll_pace *pace)
{
	u64 cost = PACE_PRICE * (ktime_get_ns() - pace->begin);

	if (pace->user)
		pace_settle(pace->user, min_t(u64, cost, PACE_MOST_COST));
}
