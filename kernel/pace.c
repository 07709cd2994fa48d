// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>

#include "pace.h"
#include "user.h"

/* Time after which a look at groups ends */
#define PACE_LOOK_NS	NSEC_PER_MSEC

/* A look is charged at this multiple of its duration. */
#define PACE_PRICE	10
#define PACE_LOOK_COST	(PACE_PRICE * PACE_LOOK_NS)

/* The most that a user may owe: it allows ten looks without a pause. */
#define PACE_BURST_NS	(10 * PACE_LOOK_COST)

/* The most that a look costs, as it may have waited for locks that others held */
#define PACE_MOST_COST	NSEC_PER_SEC

/* The longest wait: requests may wait for a mutex that is held meanwhile. */
#define PACE_WAIT_NS	(20 * NSEC_PER_MSEC)

/*
 * A hash finds the set in which a user has a budget. If more users of a set owe something than it
 * has budgets, some share one.
 */
#define PACE_SETS	32
#define PACE_SET_USERS	8

/**
 * struct pace_user - the budget of a user
 * @share: the user, see coll_user_share(); the first one, if others share the budget
 * @looks: number of looks under way: while there are any, the budget stays this user's
 * @paid_ns: when all looks, also those under way and those that wait, will be paid for
 */
struct pace_user {
	u64		share;
	u32		looks;
	u64		paid_ns;
};

/**
 * struct pace_set - budgets
 * @lock: protects them
 * @users: the budgets
 */
struct pace_set {
	spinlock_t		lock;	/* of all of them */
	struct pace_user	users[PACE_SET_USERS];
};

static struct pace_set pace_sets[PACE_SETS];
static siphash_key_t pace_seed __ro_after_init;

/**
 * coll_pace_init() - initialise the budgets
 *
 * Context: module init.
 */
void __init coll_pace_init(void)
{
	struct pace_set *set;

	get_random_bytes(&pace_seed, sizeof(pace_seed));
	for (set = pace_sets; set < pace_sets + ARRAY_SIZE(pace_sets); set++)
		spin_lock_init(&set->lock);
}

/* Find the user's budget, else that of a user who owes nothing, else one to share. */
static struct pace_user *pace_find(struct pace_set *set, u64 share, u64 now)
{
	struct pace_user *user = set->users, *found = NULL;

	lockdep_assert_held(&set->lock);
	for (; user < set->users + PACE_SET_USERS; user++) {
		if (user->share == share)
			return user;
		if (!user->looks && user->paid_ns <= now)
			found = user;
	}
	if (!found)
		return &set->users[share % PACE_SET_USERS];
	found->share = share;
	return found;
}

/* Pay for a look in advance, unless it would have to wait for more than @most. Returns the wait. */
static u64 pace_pay(struct coll_pace *pace, u64 most)
{
	u64 share = coll_user_share(), now = ktime_get_ns(), paid, wait;
	struct pace_set *set = &pace_sets[siphash_1u64(share, &pace_seed) % PACE_SETS];
	struct pace_user *user;

	spin_lock(&set->lock);
	user = pace_find(set, share, now);
	paid = max(user->paid_ns, now) + PACE_LOOK_COST;
	wait = paid - min(paid, now + PACE_BURST_NS);
	if (wait <= most) {
		user->paid_ns = paid;
		user->looks++;
	}
	spin_unlock(&set->lock);
	pace->set = set;
	pace->user = user;
	return wait;
}

/* Replace the advance charge by the actual cost. */
static void pace_settle(const struct coll_pace *pace, u64 cost)
{
	spin_lock(&pace->set->lock);
	pace->user->paid_ns += cost - PACE_LOOK_COST;
	pace->user->looks--;
	spin_unlock(&pace->set->lock);
}

/* With privilege a look costs nothing. */
static bool pace_is_free(const struct net *net)
{
	return ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN);
}

/**
 * coll_pace_try() - may the calling user look now?
 * @pace: out, until coll_pace_end()
 * @net: the namespace
 *
 * Does not wait: it is for requests, which hold a lock of generic netlink that others need.
 *
 * Return: 0, or -EBUSY if the user has looked too often. Context: process.
 */
int coll_pace_try(struct coll_pace *pace, const struct net *net)
{
	pace->user = NULL;
	if (!pace_is_free(net) && pace_pay(pace, 0))
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
 * Return: 0; -EAGAIN if the user may not look yet, -EINTR if the process is being killed.
 * Context: process, without a lock for which others cannot wait that long.
 */
int coll_pace_wait(struct coll_pace *pace, const struct net *net)
{
	u64 wait = 0;

	pace->user = NULL;
	if (!pace_is_free(net))
		wait = pace_pay(pace, PACE_WAIT_NS);
	if (wait)
		pace_sleep(min_t(u64, wait, PACE_WAIT_NS));
	if (wait > PACE_WAIT_NS)
		return fatal_signal_pending(current) ? -EINTR : -EAGAIN;
	if (pace->user && fatal_signal_pending(current)) {
		pace_settle(pace, 0);
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
		pace_settle(pace, min_t(u64, cost, PACE_MOST_COST));
}
