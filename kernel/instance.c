// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "instance.h"
#include "netns.h"
#include "socket.h"
#include "trace.h"
#include "user.h"

/*
 * All instances that packets may find, of all namespaces, by tag and own host:
 * when several hosts of a group are namespaces of one machine, their tag is the
 * same. A tag is the output of a keyed hash, so strangers cannot make one bucket
 * long. Readers use RCU.
 */
static DEFINE_HASHTABLE(instances, 10);
static DEFINE_SPINLOCK(instances_lock);

/* ---- events ---- */

/**
 * coll_instance_enter() - an event begins
 * @gi: the instance
 *
 * The clock is read under the lock, so time never runs backwards in a group.
 *
 * Return: the time of the event, ns. Context: any but hard interrupts; ends with
 * coll_instance_leave().
 */
u64 coll_instance_enter(struct coll_instance *gi)
	__acquires(&gi->lock)
{
	local_bh_disable();
	return coll_instance_enter_bh_off(gi);
}

/* Nothing of it is under way, or it was ended by order. Sockets that left still use it. */
static bool instance_is_quiet(const struct coll_instance *gi)
{
	return !gi->sockets &&
	       (coll_group_quiet(&gi->group) || (gi->dropped && gi->group.ranks.leaving));
}

/*
 * The group may have become quiet with this event: only one that has left can. Then the
 * tidying is to replace it.
 */
static void instance_check_quiet(struct coll_instance *gi)
{
	if (gi->quiet || gi->ended || !instance_is_quiet(gi))
		return;
	gi->quiet = true;
	if (llist_add(&gi->quiet_node, &gi->cn->quiet))
		coll_net_tidy_soon(gi->cn);
}

/*
 * The next socket to wake when the lock is dropped, with a reference, or NULL; what to
 * wake it for is in @claimed_done and @wake.
 */
static struct coll_sock *instance_take_sleeper(struct coll_instance *gi, u64 *claimed_done,
					       u8 *wake)
{
	while (gi->woken) {
		struct coll_local_member *lm = gi->woken;

		gi->woken = lm->next;
		*claimed_done = lm->claimed_done;
		*wake = lm->wake;
		lm->claimed_done = 0;
		lm->wake = 0;
		/* A completion that no call has claimed need not have a sleeper. */
		if (lm->csk && (*claimed_done || coll_sock_sleeps(lm->csk))) {
			sock_hold(&lm->csk->sk);
			return lm->csk;
		}
	}
	return NULL;
}

/*
 * Wake claimants and sleepers of a socket, which may have been released since the caller
 * took its reference. A claimant that was woken before may have released its slot, and
 * another call may wait for it now: all of them check again after waking.
 */
static void instance_wake_socket(struct coll_sock *csk, u64 claimed_done, u8 wake)
{
	struct sock *sk = &csk->sk;

	for (; claimed_done; claimed_done &= claimed_done - 1)
		rcuwait_wake_up(&csk->slots->slot[__ffs64(claimed_done)].claimant);
	if (wake & COLL_WAKE_READABLE)
		sk->sk_data_ready(sk);
	if (wake & COLL_WAKE_WRITABLE)
		sk->sk_write_space(sk);
}

/**
 * coll_instance_leave_bh_off() - coll_instance_leave() after coll_instance_enter_bh_off()
 * @gi: the instance
 *
 * Bottom halves stay off until all that the core has asked for is done, which is a
 * read-side section of RCU: if the instance is ended as soon as the lock is dropped, it
 * is not freed before this is over.
 *
 * Context: BH disabled.
 */
void coll_instance_leave_bh_off(struct coll_instance *gi)
	__releases(&gi->lock)
{
	struct sk_buff *queue = gi->queue;
	struct coll_sock *csk;
	u64 claimed_done;
	bool more;
	u8 wake;

	gi->queue = NULL;
	gi->queue_end = &gi->queue;
	if (unlikely(gi->group.ranks.leaving))
		instance_check_quiet(gi);
	for (;;) {
		csk = instance_take_sleeper(gi, &claimed_done, &wake);
		more = gi->woken;
		spin_unlock(&gi->lock);
		if (queue)
			coll_bearer_transmit(&gi->cn->bearers, queue);
		if (!csk)
			return;
		instance_wake_socket(csk, claimed_done, wake);
		sock_put(&csk->sk);
		if (likely(!more))
			return;
		/* One socket at a time, where a host has several ranks. */
		queue = NULL;
		spin_lock(&gi->lock);
	}
}

/**
 * coll_instance_leave() - an event ends
 * @gi: the instance
 *
 * Drops the lock, then transmits and wakes what the core has asked for.
 *
 * Context: after coll_instance_enter().
 */
void coll_instance_leave(struct coll_instance *gi)
	__releases(&gi->lock)
{
	coll_instance_leave_bh_off(gi);
	local_bh_enable();
}

/**
 * coll_instance_expire() - the deadline of the group has passed
 * @timer: the instance's
 *
 * The core asks for the next one itself.
 *
 * Context: softirq.
 */
enum hrtimer_restart coll_instance_expire(struct hrtimer *timer)
{
	struct coll_instance *gi = container_of(timer, struct coll_instance, timer);
	u64 now = coll_instance_enter_bh_off(gi);

	if (likely(!gi->ended))
		coll_group_expire(&gi->group, now);
	coll_instance_leave_bh_off(gi);
	return HRTIMER_NORESTART;
}

/**
 * coll_instance_set_failed() - a completion reports that the group has failed
 * @gi: the instance
 * @lm: the local member; its socket is there
 *
 * SO_ERROR reports it, too, once.
 *
 * Context: the instance's lock held.
 */
void coll_instance_set_failed(struct coll_instance *gi, struct coll_local_member *lm)
{
	struct coll_sock *csk = lm->csk;

	lockdep_assert_held(&gi->lock);
	if (csk->failed)
		return;
	WRITE_ONCE(csk->failed, true);
	WRITE_ONCE(csk->sk.sk_err, coll_failure_error(&gi->group.failure.what));
}

/**
 * coll_instance_report_failure() - report once that a rank's next operation would fail
 * @gi: the instance
 * @lm: the local member of the rank; its socket is there
 *
 * What is under way reports it by itself, if it fails; so this is to be called when the
 * group fails and when an operation has completed. A rank that has left is not told.
 *
 * Context: the instance's lock held.
 */
void coll_instance_report_failure(struct coll_instance *gi, struct coll_local_member *lm)
{
	const struct coll_failure *f = &gi->group.failure.what;
	struct coll_sock *csk = lm->csk;

	lockdep_assert_held(&gi->lock);
	if (csk->failed || csk->sk.sk_shutdown & SEND_SHUTDOWN ||
	    !coll_group_ended(&gi->group, csk->local) || coll_group_settling(&gi->group) ||
	    coll_completions_have(csk->slots, COLL_COMPLETION_POSTED, COLL_COMPLETION_POSTED))
		return;
	coll_instance_set_failed(gi, lm);
	coll_completion_report(csk->slots, coll_failure_error(f), f->rank, gi->now);
	coll_instance_wake(gi, lm, 0, COLL_WAKE_READABLE);
}

/**
 * coll_instance_find() - the instance that a packet is for
 * @cn: namespace in which it came
 * @tag: of the group
 * @self: index of the host that the packet is for
 *
 * Return: the instance or NULL. Context: RCU read side.
 */
struct coll_instance *coll_instance_find(struct coll_net *cn, u64 tag, u32 self)
{
	struct coll_instance *gi;

	hash_for_each_possible_rcu(instances, gi, node, tag + self)
		if (gi->group.secret.tag == tag && gi->group.self == self && gi->cn == cn)
			return gi;
	return NULL;
}

/**
 * coll_instance_hash() - from now on packets find the instance
 * @gi: NEW, JOINED afterwards
 *
 * Return: 0, or -EADDRINUSE if this host is in that group already. Context: process.
 */
int coll_instance_hash(struct coll_instance *gi)
{
	int err = 0;

	spin_lock_bh(&instances_lock);
	if (coll_instance_find(gi->cn, gi->group.secret.tag, gi->group.self)) {
		err = -EADDRINUSE;
	} else {
		trace_coll_group_began(&gi->group);
		hash_add_rcu(instances, &gi->node, gi->group.secret.tag + gi->group.self);
	}
	spin_unlock_bh(&instances_lock);
	return err;
}

/* ---- leaving ---- */

/* Nobody holds it, so it has only a certain time from now on. */
static void instance_linger(struct coll_instance *gi)
{
	u32 ms = coll_tunable(&gi->cn->tunables, COLL_TUNABLE_LINGER);

	hrtimer_start(&gi->linger, ms_to_ktime(ms), HRTIMER_MODE_REL_SOFT);
}

/**
 * coll_instance_abandon() - a socket closes
 * @gi: JOINED, LINGERING after the last one
 * @local: its rank on this host
 *
 * Context: process.
 */
void coll_instance_abandon(struct coll_instance *gi, u32 local)
{
	u64 now = coll_instance_enter(gi);
	struct coll_local_member *lm = &gi->local_members[local];

	if (!(lm->csk->sk.sk_shutdown & SEND_SHUTDOWN))
		coll_group_leave(&gi->group, local, now);
	lm->csk = NULL;
	gi->sockets--;
	if (!gi->sockets) {
		gi->overdue = false;
		instance_linger(gi);
	}
	coll_instance_leave(gi);
}

static void instance_give_up(struct coll_instance *gi, u64 now)
{
	gi->overdue = true;
	coll_group_give_up(&gi->group, now);
	instance_linger(gi);
}

/**
 * coll_instance_linger_over() - nobody has held the instance for linger_ms
 * @timer: the instance's
 *
 * What others wait for does not come then, so they are told. If they do not answer within
 * that time again, nothing more is waited for.
 *
 * Context: softirq.
 */
enum hrtimer_restart coll_instance_linger_over(struct hrtimer *timer)
{
	struct coll_instance *gi = container_of(timer, struct coll_instance, linger);
	u64 now = coll_instance_enter_bh_off(gi);

	/* If it is armed, a rank has joined and closed just now. */
	if (!gi->ended && !gi->sockets && !hrtimer_is_queued(timer)) {
		gi->dropped |= gi->overdue;
		if (!gi->overdue)
			instance_give_up(gi, now);
	}
	coll_instance_leave_bh_off(gi);
	return HRTIMER_NORESTART;
}

/**
 * coll_instance_retire() - is an instance that was quiet still quiet?
 * @gi: LINGERING
 *
 * A late packet may have woken it. If so it will be quiet again.
 *
 * Return: true if it has ENDED: it is to be remembered in time-wait, then unhashed.
 * Context: process.
 */
bool coll_instance_retire(struct coll_instance *gi)
{
	spin_lock_bh(&gi->lock);
	gi->quiet = instance_is_quiet(gi);
	gi->ended |= gi->quiet;
	spin_unlock_bh(&gi->lock);
	return gi->ended;
}

/**
 * coll_instance_break() - the group is ended by order
 * @gi: JOINED or LINGERING
 *
 * What is under way fails, here and on all other hosts. They are told once; those that
 * miss it are told when they probe.
 *
 * Context: process.
 */
void coll_instance_break(struct coll_instance *gi)
{
	u64 now = coll_instance_enter(gi);

	if (!gi->ended) {
		gi->dropped = true;
		coll_group_end(&gi->group, now);
	}
	coll_instance_leave(gi);
}

/**
 * coll_instance_stop() - nothing enters the core any more
 * @gi: LINGERING, ENDED afterwards
 *
 * Context: process; the namespace ends.
 */
void coll_instance_stop(struct coll_instance *gi)
{
	spin_lock_bh(&gi->lock);
	gi->ended = true;
	spin_unlock_bh(&gi->lock);
}

/**
 * coll_instance_unhash() - packets do not find it any more
 * @gi: ENDED
 *
 * Those that have found it see that it has ended, and so do its timers, which
 * are therefore not armed again once they have been cancelled.
 *
 * Context: process.
 */
void coll_instance_unhash(struct coll_instance *gi)
{
	trace_coll_group_ended(&gi->group);
	hrtimer_cancel(&gi->timer);
	hrtimer_cancel(&gi->linger);
	spin_lock_bh(&instances_lock);
	hash_del_rcu(&gi->node);
	spin_unlock_bh(&instances_lock);
}

/**
 * coll_instance_free() - free an instance
 * @gi: NEW, or ENDED and unhashed a grace period ago
 *
 * Context: process; takes the namespace's mutex.
 */
void coll_instance_free(struct coll_instance *gi)
{
	coll_group_destroy(&gi->group);
	mutex_lock(&gi->cn->mutex);
	gi->cn->memory -= gi->charge;
	if (gi->members)
		coll_members_put(gi->members);
	mutex_unlock(&gi->cn->mutex);
	if (gi->charge)
		coll_user_uncharge(gi->owner, gi->charge);
	kvfree(gi->local_members);
	/* It holds a key. */
	kfree_sensitive(gi);
}

/**
 * coll_instance_stats() - counters of the group
 * @gi: the instance
 * @stats: out, complete but for its size
 *
 * Context: process.
 */
void coll_instance_stats(struct coll_instance *gi, struct collsock_stats *stats)
{
	spin_lock_bh(&gi->lock);
	*stats = gi->group.stats;
	spin_unlock_bh(&gi->lock);
	stats->hosts = gi->group.hosts;
	stats->host = gi->group.self;
}
