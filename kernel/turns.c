// SPDX-License-Identifier: GPL-2.0
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "turns.h"

/* In each period turns take at most this time, plus one turn. */
#define TURNS_PERIOD_NS	NSEC_PER_MSEC
#define TURNS_MOST_NS	(TURNS_PERIOD_NS / 2)

/* Once this has been used in a period, timers queue their groups: users get equal shares. */
#define TURNS_AT_ONCE_NS	(TURNS_MOST_NS / 8)

/* If more users than this have groups, some share a queue. */
#define TURNS_USERS	32

/**
 * struct turns_user - turns of a user on a CPU
 * @link: in turns_cpu.users, if there are any
 * @turns: in the order in which they came
 */
struct turns_user {
	struct list_head	link;
	struct list_head	turns;
};

/**
 * struct turns_cpu - turns on a CPU; if it goes offline, another one works them off
 * @lock: protects @users, @user and @throttled; taken with bottom halves off
 * @users: those with turns; the first one is next
 * @user: all, by number of the queue
 * @throttled: @period_end is armed, and will schedule @tasklet
 * @since: when the period began; only softirqs that take turns use it
 * @used: the time of turns in it; likewise
 * @tasklet: takes turns
 * @period_end: ends the period
 */
struct turns_cpu {
	spinlock_t		lock;	/* of the queue */
	struct list_head	users;
	struct turns_user	user[TURNS_USERS];
	bool			throttled;
	u64			since;
	u64			used;
	struct tasklet_struct	tasklet;
	struct hrtimer		period_end;
};

static DEFINE_PER_CPU(struct turns_cpu, turns_cpus);

/**
 * struct turns_queue - the queues with the same number on all CPUs
 * @share: their user, see coll_user_share(); the first one, if others share them
 * @groups: number of groups that use them
 */
struct turns_queue {
	u64	share;
	u32	groups;
};

static struct turns_queue turns_queues[TURNS_USERS];
static DEFINE_SPINLOCK(turns_queues_lock);
static siphash_key_t turns_seed __ro_after_init;

/* Take a turn out of the queue of its user. The lock is held. */
static void turns_remove(struct turns_cpu *t, struct coll_turn *turn)
{
	struct turns_user *user = &t->user[turn->user];

	list_del_init(&turn->link);
	if (list_empty(&user->turns))
		list_del_init(&user->link);
	else
		list_move_tail(&user->link, &t->users);
}

static struct coll_turn *turns_next(struct turns_cpu *t)
{
	struct coll_turn *turn = NULL;
	struct turns_user *user;

	spin_lock(&t->lock);
	user = list_first_entry_or_null(&t->users, struct turns_user, link);
	if (user) {
		turn = list_first_entry(&user->turns, struct coll_turn, link);
		turns_remove(t, turn);
	}
	spin_unlock(&t->lock);
	return turn;
}

/* How long turns have taken in the period; begins a new one if it is time */
static u64 turns_used(struct turns_cpu *t, u64 now)
{
	if (now - t->since >= max_t(u64, TURNS_PERIOD_NS, 2 * t->used)) {
		t->since = now;
		t->used = 0;
	}
	return t->used;
}

/* Turns that are left wait for the next period, which is longer after a turn that took long. */
static void turns_throttle(struct turns_cpu *t, u64 now)
{
	u64 until = t->since + max_t(u64, TURNS_PERIOD_NS, 2 * t->used);

	spin_lock(&t->lock);
	t->throttled = !list_empty(&t->users);
	if (t->throttled)
		hrtimer_start(&t->period_end, ns_to_ktime(until > now ? until - now : 0),
			      HRTIMER_MODE_REL_PINNED_SOFT);
	spin_unlock(&t->lock);
}

static void turns_take(struct tasklet_struct *tasklet)
{
	struct turns_cpu *t = container_of(tasklet, struct turns_cpu, tasklet);
	u64 now = local_clock();
	u64 begin = now - turns_used(t, now);
	struct coll_turn *turn;

	rcu_read_lock();
	while (now - begin < TURNS_MOST_NS) {
		turn = turns_next(t);
		if (!turn)
			break;
		turn->take(turn);
		now = local_clock();
	}
	rcu_read_unlock();
	t->used = now - begin;
	if (t->used >= TURNS_MOST_NS)
		turns_throttle(t, now);
}

static enum hrtimer_restart turns_unthrottle(struct hrtimer *timer)
{
	struct turns_cpu *t = container_of(timer, struct turns_cpu, period_end);

	spin_lock(&t->lock);
	t->throttled = false;
	spin_unlock(&t->lock);
	tasklet_schedule(&t->tasklet);
	return HRTIMER_NORESTART;
}

/*
 * Find the user's queue, else a free one, else one shared with other users, chosen by a keyed hash.
 */
static u32 turns_find_queue(u64 share)
{
	u32 found = siphash_1u64(share, &turns_seed) % TURNS_USERS, i;

	lockdep_assert_held(&turns_queues_lock);
	for (i = 0; i < TURNS_USERS; i++) {
		if (!turns_queues[i].groups)
			found = i;
		else if (turns_queues[i].share == share)
			return i;
	}
	return found;
}

/**
 * coll_turns_set_up() - prepare a group for turns
 * @turn: of the group; until coll_turns_release()
 * @share: who makes the group, see coll_user_share()
 * @take: called for each turn
 *
 * Context: process.
 */
void coll_turns_set_up(struct coll_turn *turn, u64 share, void (*take)(struct coll_turn *turn))
{
	INIT_LIST_HEAD(&turn->link);
	turn->take = take;
	spin_lock(&turns_queues_lock);
	turn->user = turns_find_queue(share);
	if (!turns_queues[turn->user].groups++)
		turns_queues[turn->user].share = share;
	spin_unlock(&turns_queues_lock);
}

/**
 * coll_turns_release() - undo coll_turns_set_up()
 * @turn: of the group; not queued, and nobody adds it any more
 *
 * Context: process.
 */
void coll_turns_release(struct coll_turn *turn)
{
	spin_lock(&turns_queues_lock);
	turns_queues[turn->user].groups--;
	spin_unlock(&turns_queues_lock);
}

/**
 * coll_turns_add() - queue a turn of a group
 * @turn: of the group; not queued, and nobody else adds it
 *
 * Context: BH disabled.
 */
void coll_turns_add(struct coll_turn *turn)
{
	struct turns_cpu *t = this_cpu_ptr(&turns_cpus);
	struct turns_user *user = &t->user[turn->user];

	turn->cpu = t;
	spin_lock(&t->lock);
	if (list_empty(&user->turns))
		list_add_tail(&user->link, &t->users);
	list_add_tail(&turn->link, &user->turns);
	if (!t->throttled)
		tasklet_schedule(&t->tasklet);
	spin_unlock(&t->lock);
}

/**
 * coll_turns_expire() - a timer of a group has expired: the group has a turn now, or later
 * @turn: of the group; not queued, and nobody else adds it
 *
 * While few timers expire, none waits for the tasklet.
 *
 * Context: softirq, no lock held: @turn's take() may be called before this returns.
 */
void coll_turns_expire(struct coll_turn *turn)
{
	struct turns_cpu *t = this_cpu_ptr(&turns_cpus);
	u64 now = local_clock();

	if (!list_empty(&t->users) || turns_used(t, now) >= TURNS_AT_ONCE_NS) {
		coll_turns_add(turn);
		return;
	}
	rcu_read_lock();
	turn->take(turn);
	rcu_read_unlock();
	t->used += local_clock() - now;
}

/**
 * coll_turns_cancel() - cancel the turn of a group
 * @turn: of the group; nobody adds it. A turn that has begun may last for a grace period
 *
 * Context: process.
 */
void coll_turns_cancel(struct coll_turn *turn)
{
	struct turns_cpu *t = turn->cpu;

	if (!t)
		return;
	spin_lock_bh(&t->lock);
	if (!list_empty(&turn->link))
		turns_remove(t, turn);
	spin_unlock_bh(&t->lock);
}

static void __init turns_init_cpu(struct turns_cpu *t)
{
	struct turns_user *user;

	spin_lock_init(&t->lock);
	INIT_LIST_HEAD(&t->users);
	for (user = t->user; user < t->user + ARRAY_SIZE(t->user); user++) {
		INIT_LIST_HEAD(&user->link);
		INIT_LIST_HEAD(&user->turns);
	}
	tasklet_setup(&t->tasklet, turns_take);
	coll_hrtimer_setup(&t->period_end, turns_unthrottle, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_PINNED_SOFT);
}

/**
 * coll_turns_init() - initialise the queues, empty
 *
 * Context: module init.
 */
void __init coll_turns_init(void)
{
	int cpu;

	get_random_bytes(&turns_seed, sizeof(turns_seed));
	for_each_possible_cpu(cpu)
		turns_init_cpu(per_cpu_ptr(&turns_cpus, cpu));
}

/**
 * coll_turns_uninit() - undo coll_turns_init(); there are no groups any more
 *
 * Context: module exit.
 */
void coll_turns_uninit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct turns_cpu *t = per_cpu_ptr(&turns_cpus, cpu);

		/* Without turns neither of them starts the other. */
		hrtimer_cancel(&t->period_end);
		tasklet_kill(&t->tasklet);
	}
}
