// SPDX-License-Identifier: GPL-2.0
#include <linux/slab.h>

#include "instance.h"
#include "netns.h"
#include "outbox.h"
#include "owner.h"
#include "socket.h"
#include "stretch.h"
#include "trace.h"
#include "user.h"

/* ---- events ---- */

/**
 * coll_instance_enter() - begin an event
 * @gi: the instance
 *
 * The clock is read under the lock, so time is monotonic within a group.
 *
 * Return: the time of the event in ns. Context: any but hard interrupts; ended by
 * coll_instance_leave().
 */
u64 coll_instance_enter(struct coll_instance *gi)
	__acquires(&gi->lock)
{
	local_bh_disable();
	coll_stretch_begin();
	return coll_instance_enter_bh_off(gi);
}

/*
 * May the instance be ended? Not while a socket uses it, even one that has left by SHUT_WR. Without
 * sockets it may if nothing is under way, or if it does not wait for that (@dropped).
 */
static bool instance_is_quiet(const struct coll_instance *gi)
{
	return !gi->sockets &&
	       (coll_group_quiet(&gi->group) || (gi->dropped && gi->group.ranks.leaving));
}

/*
 * If this event has made the group quiet, let the tidying replace it. Only a group whose
 * ranks have left can become quiet.
 */
static void instance_check_quiet(struct coll_instance *gi)
{
	if (gi->quiet || gi->ended || !instance_is_quiet(gi))
		return;
	gi->quiet = true;
	if (llist_add(&gi->quiet_node, &gi->cn->quiet))
		coll_net_tidy_soon(gi->cn);
}

/* Sockets that one event wakes, or to which it reports that the group has failed */
#define MOST_WAKES	16

/* Remove the first of the local members to wake from their list */
static struct coll_local_member *instance_take_woken(struct coll_instance *gi)
{
	struct coll_local_member *lm = gi->wakes.first;

	gi->wakes.first = lm->next;
	if (!gi->wakes.first)
		gi->wakes.end = &gi->wakes.first;
	return lm;
}

/*
 * Take the next socket to wake after the lock is dropped, with a reference; NULL if there is none.
 * @claimed_done and @wake receive the reasons. After @left sockets the others wait for a turn.
 */
static struct coll_sock *instance_take_sleeper(struct coll_instance *gi, u64 *claimed_done,
					       u8 *wake, u32 *left)
{
	while (gi->wakes.first && *left) {
		struct coll_local_member *lm = instance_take_woken(gi);

		*claimed_done = lm->claimed_done;
		*wake = lm->wake;
		lm->claimed_done = 0;
		lm->wake = 0;
		if (!lm->csk)
			continue;
		--*left;
		if (unlikely(*wake & COLL_WAKE_FAILED))
			coll_instance_report_failure(gi, lm);
		/* An unclaimed completion may have no sleeper. */
		if (*claimed_done || coll_sock_sleeps(lm->csk)) {
			sock_hold(&lm->csk->sk);
			return lm->csk;
		}
	}
	/* An instance that has ended has no sockets, and its turns have been cancelled. */
	if (unlikely(gi->wakes.first && !gi->ended))
		coll_instance_queue(gi, COLL_TURN_REST);
	return NULL;
}

/*
 * Wake claimants and sleepers of a socket, which may have been released since the caller
 * took its reference. A claimant woken earlier may have released its slot, which another
 * call may now wait for: all of them check again after waking.
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

static void instance_count_refused(struct coll_instance *gi, u32 host)
{
	const struct coll_body none = {};

	coll_counters_add(gi->cn->counters, COLL_COUNT_SEND_REFUSED);
	trace_coll_packet_dropped(gi->group.secret.tag, gi->group.self, host, &none, 0,
				  COLL_DROP_SEND_REFUSED);
}

/*
 * Report to the group that a filter of this host refused a packet, or that a queue of this host is
 * full.
 */
static noinline void instance_unsent(struct coll_instance *gi, u32 host, int result)
{
	bool refused = result == -EPERM;

	if (refused)
		instance_count_refused(gi, host);
	else if (result != NET_XMIT_DROP && result != NET_XMIT_CN)
		return;
	spin_lock(&gi->lock);
	if (!gi->ended && refused)
		coll_group_send_refused(&gi->group, host);
	else if (!gi->ended)
		coll_group_send_congested(&gi->group, host);
	spin_unlock(&gi->lock);
}

static noinline void instance_transmit(struct coll_instance *gi, struct sk_buff *queue)
{
	/* Bottom halves are off, but IPsec demands this where it takes a reference to the route. */
	rcu_read_lock();
	do {
		struct sk_buff *skb;
		int result;
		u32 host;

		skb = queue;
		host = coll_wire_destination(coll_bearer_written(skb));
		queue = skb->next;
		skb_mark_not_on_list(skb);
		coll_stretch_stack_begin();
		result = coll_bearer_transmit(&gi->cn->bearers, skb);
		coll_stretch_stack_end();
		if (unlikely(result))
			instance_unsent(gi, host, result);
	} while (queue);
	rcu_read_unlock();
}

/*
 * Drop the lock, transmit, and wake, one socket at a time, as a host may have several ranks.
 * After MOST_WAKES of them the others wait for a turn.
 */
static noinline void instance_wake(struct coll_instance *gi, struct sk_buff *queue)
	__releases(&gi->lock)
{
	struct coll_sock *csk;
	u32 left = MOST_WAKES;
	u64 claimed_done;
	bool more;
	u8 wake;

	for (;;) {
		csk = instance_take_sleeper(gi, &claimed_done, &wake, &left);
		more = gi->wakes.first;
		spin_unlock(&gi->lock);
		if (queue)
			instance_transmit(gi, queue);
		if (!csk)
			return;
		instance_wake_socket(csk, claimed_done, wake);
		sock_put(&csk->sk);
		if (likely(!more))
			return;
		queue = NULL;
		spin_lock(&gi->lock);
	}
}

/*
 * Transmit the packets that have their headers. Then find routes, and take the packets that have
 * one. The lock is dropped meanwhile. Packets for which there was no time wait for a turn; an
 * instance that has ended has no more turns.
 */
static noinline struct sk_buff *instance_find_routes(struct coll_instance *gi)
	__must_hold(&gi->lock)
{
	const struct coll_outbox_sender sender = {
		.lock		= &gi->lock,
		.bearers	= &gi->cn->bearers,
		.counters	= gi->cn->counters,
		.owner		= gi->owner,
		.self		= coll_instance_self(gi),
	};
	struct sk_buff *queue = coll_outbox_take(&gi->outbox);

	if (queue) {
		spin_unlock(&gi->lock);
		instance_transmit(gi, queue);
		spin_lock(&gi->lock);
	}
	queue = coll_outbox_find_routes(&sender, &gi->unaddressed);
	if (gi->unaddressed.first && !gi->ended)
		coll_instance_queue(gi, COLL_TURN_REST);
	return queue;
}

/**
 * coll_instance_leave_bh_off() - coll_instance_leave() after coll_instance_enter_bh_off()
 * @gi: the instance
 *
 * Bottom halves stay disabled until all that the core has asked for is done. This is an RCU
 * read-side section: even if the instance is ended as soon as the lock is dropped, it is
 * not freed before this function returns.
 *
 * Context: BH disabled.
 */
void coll_instance_leave_bh_off(struct coll_instance *gi)
	__releases(&gi->lock)
{
	struct sk_buff *queue;

	if (likely(!gi->unaddressed.first))
		queue = coll_outbox_take(&gi->outbox);
	else
		queue = instance_find_routes(gi);
	if (unlikely(gi->group.ranks.leaving))
		instance_check_quiet(gi);
	if (gi->wakes.first) {
		instance_wake(gi, queue);
		return;
	}
	spin_unlock(&gi->lock);
	if (queue)
		instance_transmit(gi, queue);
}

/**
 * coll_instance_leave() - end an event
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
	coll_stretch_end(COLL_STRETCH_CALL);
	local_bh_enable();
}

/**
 * coll_instance_writable() - does the window have room for the next post of a rank?
 * @gi: the instance
 * @local: number of the rank on this host
 *
 * If not, threads that sleep on its socket are woken when it has.
 *
 * Context: the instance's lock held.
 */
bool coll_instance_writable(struct coll_instance *gi, u32 local)
{
	struct coll_local_member *lm = &gi->local_members[local];

	lockdep_assert_held(&gi->lock);
	if (coll_group_writable(&gi->group, local))
		return true;
	if (!lm->awaits_room) {
		lm->next_awaiting = gi->wakes.awaiting;
		gi->wakes.awaiting = lm;
	}
	lm->awaits_room = true;
	return false;
}

/**
 * coll_instance_set_failed() - note that a completion reports the group's failure
 * @gi: the instance
 * @lm: the local member, with its socket
 *
 * SO_ERROR reports the failure as well, once.
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
 * @lm: the local member of the rank, with its socket
 *
 * Operations under way report the failure themselves, so this is called when the group
 * fails and when an operation has completed. Nothing is reported to a rank that has left.
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
 * coll_instance_charge() - the group needs memory
 * @gi: NEW
 * @bytes: how much
 *
 * A lingering group keeps its memory, although its sockets are closed and no longer count against
 * limits on files. Therefore the memory of the namespace and of each user is limited.
 *
 * Return: false if it may not have it; coll_instance.refused is the reason. Context: process;
 * takes the namespace's mutex.
 */
bool coll_instance_charge(struct coll_instance *gi, u64 bytes)
{
	/* The first refusal is the reason to be reported; only this one is counted. */
	if (!gi->refused)
		gi->refused = coll_net_charge(gi->cn, gi->user, bytes);
	if (gi->refused)
		return false;
	gi->charge += bytes;
	return true;
}

/*
 * Let multicast packets find the instance, if it has an address for them. Where a device has
 * several members of a group, packets find the first one, and the others receive along the tree.
 */
static int instance_hash_copies(struct coll_instance *gi)
{
	int err;

	if (!coll_instance_multicasts(gi))
		return 0;
	gi->copies.key.tag = gi->group.secret.tag;
	gi->copies.key.self = coll_lookup_device(gi->everyone.scope_id);
	err = coll_lookup_add(&gi->cn->lookup, &gi->copies);
	return err == -EADDRINUSE ? 0 : err;
}

/**
 * coll_instance_hash() - from now on packets find the instance
 * @gi: NEW, JOINED afterwards; the namespace's mutex is held
 *
 * Return: 0, or why not, as coll_lookup_add(); then coll_instance_unhash() follows. Context:
 * process.
 */
int coll_instance_hash(struct coll_instance *gi)
{
	int err;

	gi->lookup.key.tag = gi->group.secret.tag;
	gi->lookup.key.self = gi->group.self;
	trace_coll_group_began(&gi->group);
	err = coll_lookup_add(&gi->cn->lookup, &gi->lookup);
	return err ?: instance_hash_copies(gi);
}

/* ---- leaving ---- */

/* Limit the time of an instance that has no sockets any more. */
static void instance_linger(struct coll_instance *gi)
{
	u32 ms = coll_tunable(&gi->cn->tunables, COLL_TUNABLE_LINGER);

	hrtimer_start(&gi->linger, ms_to_ktime(ms), HRTIMER_MODE_REL_SOFT);
}

/**
 * coll_instance_abandon() - a socket closes
 * @gi: JOINED; LINGERING after the last one
 * @local: number of its rank on this host
 *
 * Context: process.
 */
void coll_instance_abandon(struct coll_instance *gi, u32 local)
{
	u64 now = coll_instance_enter(gi);
	struct coll_local_member *lm = &gi->local_members[local];

	if (!(lm->csk->sk.sk_shutdown & SEND_SHUTDOWN))
		coll_group_leave(&gi->group, local, now);
	coll_completions_unshare(lm->csk->slots);
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

/*
 * The linger time has expired. The first time, fail what is incomplete and notify the other hosts;
 * the second time, do not wait for them any longer.
 */
static void instance_lingered(struct coll_instance *gi, u64 now)
{
	/* If the timer is armed, a rank has joined and closed just now. */
	if (gi->sockets || hrtimer_is_queued(&gi->linger))
		return;
	gi->dropped |= gi->overdue;
	if (!gi->overdue)
		instance_give_up(gi, now);
}

/**
 * coll_instance_linger_over() - nobody has held the instance for linger_ms
 * @timer: the instance's
 *
 * Operations under way fail in a turn. If others do not answer within the same time again, the
 * group ends without waiting for them.
 *
 * Context: softirq.
 */
enum hrtimer_restart coll_instance_linger_over(struct hrtimer *timer)
{
	struct coll_instance *gi = container_of(timer, struct coll_instance, linger);

	coll_instance_queue(gi, COLL_TURN_LINGERED);
	return HRTIMER_NORESTART;
}

/* ---- turns ---- */

/**
 * coll_instance_queue() - the instance needs a turn
 * @gi: not ENDED; the lock is held, or this is a timer of it
 * @what: COLL_TURN_*
 *
 * Context: BH disabled.
 */
void coll_instance_queue(struct coll_instance *gi, u32 what)
{
	if (!atomic_fetch_or(what, &gi->due))
		coll_turns_add(&gi->turn);
}

/**
 * coll_instance_expire() - timer function: the deadline of the group has passed
 * @timer: the instance's
 *
 * The core arms the next deadline itself, in the turn, which may be at once.
 *
 * Context: softirq.
 */
enum hrtimer_restart coll_instance_expire(struct hrtimer *timer)
{
	struct coll_instance *gi = container_of(timer, struct coll_instance, timer);

	if (!atomic_fetch_or(COLL_TURN_EXPIRED, &gi->due))
		coll_turns_expire(&gi->turn);
	return HRTIMER_NORESTART;
}

/* A turn is one event. If more is due, the rest has a turn of its own. */
static void instance_turn(struct coll_instance *gi, u32 due, u64 now)
{
	if (due & COLL_TURN_EXPIRED)
		coll_group_expire(&gi->group, now);
	else if (due & COLL_TURN_LINGERED)
		instance_lingered(gi, now);
	else
		coll_group_run(&gi->group, now);
	due &= due - 1;
	if (unlikely(due))
		coll_instance_queue(gi, due);
}

/**
 * coll_instance_turn() - do what is due
 * @turn: the instance's
 *
 * Context: softirq, under RCU.
 */
void coll_instance_turn(struct coll_turn *turn)
{
	struct coll_instance *gi = container_of(turn, struct coll_instance, turn);
	u32 due = atomic_xchg(&gi->due, 0);
	u64 now;

	coll_stretch_begin();
	now = coll_instance_enter_bh_off(gi);
	if (likely(!gi->ended))
		instance_turn(gi, due, now);
	coll_instance_leave_bh_off(gi);
	coll_stretch_end(due == COLL_TURN_REST ? COLL_STRETCH_TURN : COLL_STRETCH_TIMER);
}

/* ---- ending ---- */

/**
 * coll_instance_retire() - end an instance if it is still quiet
 * @gi: LINGERING
 *
 * A late packet may have made it active again. If so, it will become quiet later.
 *
 * Return: true if it has ENDED; the caller adds a time-wait entry, then unhashes it.
 * Context: process.
 */
bool coll_instance_retire(struct coll_instance *gi)
{
	coll_instance_lock(gi);
	gi->quiet = instance_is_quiet(gi);
	gi->ended |= gi->quiet;
	coll_instance_unlock(gi);
	return gi->ended;
}

/**
 * coll_instance_end() - end a group by order of the operator
 * @gi: JOINED or LINGERING
 *
 * Operations under way fail, here and on all other hosts. The other hosts are notified once; a host
 * that misses the notice gets another when it probes.
 *
 * Context: process.
 */
void coll_instance_end(struct coll_instance *gi)
{
	u64 now = coll_instance_enter(gi);

	if (!gi->ended) {
		gi->dropped = true;
		coll_group_end(&gi->group, now);
	}
	coll_instance_leave(gi);
}

/**
 * coll_instance_stop() - stop an instance: no event enters the core any more
 * @gi: JOINED or LINGERING, ENDED afterwards
 *
 * Context: process; the namespace is ending, or JOIN fails.
 */
void coll_instance_stop(struct coll_instance *gi)
{
	coll_instance_lock(gi);
	gi->ended = true;
	coll_instance_unlock(gi);
}

/*
 * Packets that have found it, its timers and its turns see that it has ended, so timers and
 * turns are not armed again once they have been cancelled. The lock is not held, as a timer may
 * be running a turn, which takes it.
 */
static void instance_quiesce(struct coll_instance *gi)
{
	trace_coll_group_ended(&gi->group);
	hrtimer_cancel(&gi->timer);
	hrtimer_cancel(&gi->linger);
	coll_turns_cancel(&gi->turn);
}

static void instance_unhash_copies(struct coll_instance *gi)
{
	if (coll_instance_multicasts(gi))
		coll_lookup_remove(&gi->cn->lookup, &gi->copies);
}

/**
 * coll_instance_unhash() - packets do not find it any more
 * @gi: ENDED; the namespace's mutex is held, or it ends
 *
 * Context: process.
 */
void coll_instance_unhash(struct coll_instance *gi)
{
	instance_quiesce(gi);
	instance_unhash_copies(gi);
	coll_lookup_remove(&gi->cn->lookup, &gi->lookup);
}

/**
 * coll_instance_remember() - packets find a time-wait entry instead
 * @gi: ENDED; the namespace's mutex is held
 *
 * Context: process.
 */
void coll_instance_remember(struct coll_instance *gi)
{
	struct coll_net *cn = gi->cn;
	u64 kept;

	/* So the memory of an entry is charged already. */
	static_assert(sizeof(struct coll_instance) >= sizeof(struct coll_timewait_entry));
	instance_quiesce(gi);
	instance_unhash_copies(gi);
	kept = coll_timewait_table_add(&cn->timewait, &gi->lookup, &gi->group, gi->members,
				       gi->user);
	gi->charge -= kept;
	if (!kept)
		coll_lookup_remove(&cn->lookup, &gi->lookup);
}

/**
 * coll_instance_free() - free an instance
 * @gi: NEW, or ENDED and unhashed a grace period ago
 *
 * Context: process; takes RTNL, if the group has a multicast address, and the namespace's mutex.
 */
void coll_instance_free(struct coll_instance *gi)
{
	u32 i;

	coll_group_destroy(&gi->group);
	coll_net_uncharge(gi->cn, gi->user, gi->charge);
	coll_turns_release(&gi->turn);
	if (gi->handle)
		coll_net_release(gi->cn, gi->handle);
	coll_outbox_free(&gi->unaddressed, gi->cn->counters);
	coll_bearer_route_drop(&gi->to_everyone);
	coll_bearer_multicast_leave(&gi->multicast);
	if (gi->owner)
		coll_owner_free(gi->owner);
	if (gi->members) {
		mutex_lock(&gi->cn->mutex);
		coll_members_put(gi->members);
		mutex_unlock(&gi->cn->mutex);
	}
	if (!gi->uncounted)
		coll_user_uncount(gi->user);
	coll_user_release(gi->user);
	for (i = 0; gi->local_members && i < gi->group.ranks.locals; i++)
		kvfree(gi->local_members[i].buffers);
	kvfree(gi->local_members);
	/* It contains a key. */
	kfree_sensitive(gi);
}

/**
 * coll_instance_stats() - counters of the group
 * @gi: the instance
 * @stats: out, all but its size
 *
 * Context: process.
 */
void coll_instance_stats(struct coll_instance *gi, struct collsock_stats *stats)
{
	coll_instance_lock(gi);
	*stats = gi->group.stats;
	coll_instance_unlock(gi);
	stats->hosts = gi->group.hosts;
	stats->host = gi->group.self;
}
