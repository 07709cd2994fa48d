// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "formation.h"
#include "netns.h"
#include "socket.h"
#include "trace.h"

/*
 * All formations that packets may find, of all namespaces, by tag and own host:
 * when several hosts of a group are namespaces of one machine, their tag is the
 * same. A tag is the output of a keyed hash, so strangers cannot make one bucket
 * long. Readers use RCU.
 */
static DEFINE_HASHTABLE(formations, 10);
static DEFINE_SPINLOCK(formations_lock);

/* ---- events ---- */

/* An event begins, with bottom halves off: coll_formation_enter(). */
static u64 formation_enter(struct coll_formation *f)
	__acquires(&f->lock)
{
	spin_lock(&f->lock);
	f->now = ktime_get_ns();
	return f->now;
}

/**
 * coll_formation_enter() - an event begins
 * @f: the formation
 *
 * The clock is read under the lock, so time never runs backwards in a group.
 *
 * Return: the time of the event, ns. Context: any but hard interrupts; ends with
 * coll_formation_leave().
 */
u64 coll_formation_enter(struct coll_formation *f)
	__acquires(&f->lock)
{
	local_bh_disable();
	return formation_enter(f);
}

/* Nothing of it is under way, or nobody wants it any more. */
static bool formation_is_quiet(const struct coll_formation *f)
{
	return coll_group_quiet(&f->group) || (f->dropped && f->group.leaving);
}

/* The group may have become quiet with this event: only one that has left can. */
static void formation_check_quiet(struct coll_formation *f)
{
	if (f->quiet || f->ended || !formation_is_quiet(f))
		return;
	f->quiet = true;
	coll_net_became_quiet(f->cn, f);
}

/*
 * Whom to wake when the lock is dropped: the socket of the next seat where somebody
 * sleeps, with a reference, or NULL. What is meant is in @claimed_done and @wake.
 */
static struct coll_sock *formation_take_sleeper(struct coll_formation *f, u64 *claimed_done,
						u8 *wake)
{
	while (f->woken) {
		struct coll_seat *seat = f->woken;

		f->woken = seat->next;
		*claimed_done = seat->claimed_done;
		*wake = seat->wake;
		seat->claimed_done = 0;
		seat->wake = 0;
		/* Who is to receive a completion that nobody has claimed need not sleep. */
		if (seat->csk && (*claimed_done || coll_sock_sleeps(seat->csk))) {
			sock_hold(&seat->csk->sk);
			return seat->csk;
		}
	}
	return NULL;
}

/*
 * An event ends: drop the lock, then do what the core has asked for. Bottom halves stay
 * off until all of it is done, which is a read-side section of RCU: if the formation
 * is ended as soon as the lock is dropped, it is not freed before this is over.
 */
static void formation_leave(struct coll_formation *f)
	__releases(&f->lock)
{
	struct sk_buff *queue = f->queue;
	struct coll_sock *csk;
	u64 claimed_done;
	bool more;
	u8 wake;

	f->queue = NULL;
	f->queue_end = &f->queue;
	if (unlikely(f->group.leaving))
		formation_check_quiet(f);
	for (;;) {
		csk = formation_take_sleeper(f, &claimed_done, &wake);
		more = f->woken;
		spin_unlock(&f->lock);
		if (queue)
			coll_udp_transmit(f->cn, queue);
		if (!csk)
			return;
		coll_sock_wake(csk, claimed_done, wake);
		sock_put(&csk->sk);
		if (likely(!more))
			return;
		/* One at a time, where several ranks live. */
		queue = NULL;
		spin_lock(&f->lock);
	}
}

/**
 * coll_formation_leave() - an event ends
 * @f: the formation
 *
 * Drops the lock, then transmits and wakes what the core has asked for.
 *
 * Context: after coll_formation_enter().
 */
void coll_formation_leave(struct coll_formation *f)
	__releases(&f->lock)
{
	formation_leave(f);
	local_bh_enable();
}

/**
 * coll_formation_expire() - the deadline of the group has passed
 * @timer: the formation's
 *
 * The core asks for the next one itself.
 *
 * Context: softirq.
 */
enum hrtimer_restart coll_formation_expire(struct hrtimer *timer)
{
	struct coll_formation *f = container_of(timer, struct coll_formation, timer);
	u64 now = formation_enter(f);

	if (likely(!f->ended))
		coll_group_expire(&f->group, now);
	formation_leave(f);
	return HRTIMER_NORESTART;
}

/**
 * coll_formation_receive() - a packet for the group
 * @f: found by its tag and destination
 * @source: the member that it says it is from; it came from that one's address
 * @packet: formed
 * @bytes: its length
 *
 * Return: what was wrong with it. Context: BH disabled, RCU read side.
 */
enum coll_refusal coll_formation_receive(struct coll_formation *f, u32 source,
					 const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_ACCEPTED;
	u64 now = formation_enter(f);

	if (likely(!f->ended))
		refusal = coll_group_receive(&f->group, source, packet, bytes, now);
	formation_leave(f);
	return refusal;
}

/**
 * coll_formation_find() - the formation that a packet is for
 * @cn: namespace in which it came
 * @tag: of the group
 * @self: index of the host that the packet is for
 *
 * Return: the formation or NULL. Context: RCU read side.
 */
struct coll_formation *coll_formation_find(struct coll_net *cn, u64 tag, u32 self)
{
	struct coll_formation *f;

	hash_for_each_possible_rcu(formations, f, node, tag + self)
		if (f->group.secret.tag == tag && f->group.self == self && f->cn == cn)
			return f;
	return NULL;
}

/**
 * coll_formation_hash() - from now on packets find the formation
 * @f: NEW, JOINED afterwards
 *
 * Return: 0, or -EADDRINUSE if this host is in that group already. Context: process.
 */
int coll_formation_hash(struct coll_formation *f)
{
	int err = 0;

	spin_lock_bh(&formations_lock);
	if (coll_formation_find(f->cn, f->group.secret.tag, f->group.self)) {
		err = -EADDRINUSE;
	} else {
		trace_coll_group_began(&f->group);
		hash_add_rcu(formations, &f->node, f->group.secret.tag + f->group.self);
	}
	spin_unlock_bh(&formations_lock);
	return err;
}

/* ---- leaving ---- */

/**
 * coll_formation_abandon() - a socket closes
 * @f: JOINED, LINGERING after the last one
 * @local: its rank on this host
 *
 * Context: process.
 */
void coll_formation_abandon(struct coll_formation *f, u32 local)
{
	u64 now = coll_formation_enter(f);

	f->seats[local].csk = NULL;
	coll_group_leave(&f->group, local, now);
	coll_formation_leave(f);
}

/**
 * coll_formation_retire() - is a formation that was quiet still quiet?
 * @f: LINGERING
 *
 * A late packet may have woken it. If so it will be quiet again.
 *
 * Return: true if it has ENDED: it is to be buried, then unhashed.
 * Context: process.
 */
bool coll_formation_retire(struct coll_formation *f)
{
	spin_lock_bh(&f->lock);
	f->quiet = formation_is_quiet(f);
	f->ended |= f->quiet;
	spin_unlock_bh(&f->lock);
	return f->ended;
}

/**
 * coll_formation_break() - the group is ended by order
 * @f: JOINED or LINGERING
 *
 * What is under way fails, here and on all other hosts. They are told once; those that
 * do not hear it learn when they ask.
 *
 * Context: process.
 */
void coll_formation_break(struct coll_formation *f)
{
	u64 now = coll_formation_enter(f);

	if (!f->ended) {
		f->dropped = true;
		coll_group_break(&f->group, COLL_REASON_ENDED, f->group.ranks[0].rank, now);
	}
	coll_formation_leave(f);
}

/**
 * coll_formation_stop() - nothing enters the core any more
 * @f: LINGERING, ENDED afterwards
 *
 * Context: process; the namespace ends.
 */
void coll_formation_stop(struct coll_formation *f)
{
	spin_lock_bh(&f->lock);
	f->ended = true;
	spin_unlock_bh(&f->lock);
}

/**
 * coll_formation_unhash() - packets do not find it any more
 * @f: ENDED
 *
 * Those that have found it see that it has ended, and so does its timer, which
 * is therefore not armed again once it has been cancelled.
 *
 * Context: process.
 */
void coll_formation_unhash(struct coll_formation *f)
{
	trace_coll_group_ended(&f->group);
	hrtimer_cancel(&f->timer);
	spin_lock_bh(&formations_lock);
	hash_del_rcu(&f->node);
	spin_unlock_bh(&formations_lock);
}

/**
 * coll_formation_free() - give back what a formation has
 * @f: NEW, or ENDED and unhashed a grace period ago
 *
 * Context: process; takes the namespace's mutex.
 */
void coll_formation_free(struct coll_formation *f)
{
	coll_group_destroy(&f->group);
	mutex_lock(&f->cn->mutex);
	f->cn->memory -= f->charge;
	if (f->members)
		coll_members_put(f->members);
	mutex_unlock(&f->cn->mutex);
	kvfree(f->seats);
	/* It holds a key. */
	kfree_sensitive(f);
}

/**
 * coll_formation_stats() - counters of the group
 * @f: the formation
 * @stats: out, complete but for its size
 *
 * Context: process.
 */
void coll_formation_stats(struct coll_formation *f, struct collsock_stats *stats)
{
	spin_lock_bh(&f->lock);
	*stats = f->group.stats;
	spin_unlock_bh(&f->lock);
	stats->hosts = f->group.hosts;
	stats->host = f->group.self;
}
