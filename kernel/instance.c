// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "instance.h"
#include "netns.h"
#include "socket.h"
#include "trace.h"

/*
 * All instances that packets may find, of all namespaces, by tag and own host:
 * when several hosts of a group are namespaces of one machine, their tag is the
 * same. A tag is the output of a keyed hash, so strangers cannot make one bucket
 * long. Readers use RCU.
 */
static DEFINE_HASHTABLE(instances, 10);
static DEFINE_SPINLOCK(instances_lock);

/* ---- events ---- */

/* An event begins, with bottom halves off: coll_instance_enter(). */
static u64 instance_enter(struct coll_instance *gi)
	__acquires(&gi->lock)
{
	spin_lock(&gi->lock);
	gi->now = ktime_get_ns();
	return gi->now;
}

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
	return instance_enter(gi);
}

/* Nothing of it is under way, or nobody wants it any more. Sockets that left still use it. */
static bool instance_is_quiet(const struct coll_instance *gi)
{
	return !gi->sockets &&
	       (coll_group_quiet(&gi->group) || (gi->dropped && gi->group.leaving));
}

/* The group may have become quiet with this event: only one that has left can. */
static void instance_check_quiet(struct coll_instance *gi)
{
	if (gi->quiet || gi->ended || !instance_is_quiet(gi))
		return;
	gi->quiet = true;
	coll_net_became_quiet(gi->cn, gi);
}

/*
 * Whom to wake when the lock is dropped: the socket of the next local member where somebody
 * sleeps, with a reference, or NULL. What is meant is in @claimed_done and @wake.
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
		/* Who is to receive a completion that nobody has claimed need not sleep. */
		if (lm->csk && (*claimed_done || coll_sock_sleeps(lm->csk))) {
			sock_hold(&lm->csk->sk);
			return lm->csk;
		}
	}
	return NULL;
}

/*
 * An event ends: drop the lock, then do what the core has asked for. Bottom halves stay
 * off until all of it is done, which is a read-side section of RCU: if the instance
 * is ended as soon as the lock is dropped, it is not freed before this is over.
 */
static void instance_leave(struct coll_instance *gi)
	__releases(&gi->lock)
{
	struct sk_buff *queue = gi->queue;
	struct coll_sock *csk;
	u64 claimed_done;
	bool more;
	u8 wake;

	gi->queue = NULL;
	gi->queue_end = &gi->queue;
	if (unlikely(gi->group.leaving))
		instance_check_quiet(gi);
	for (;;) {
		csk = instance_take_sleeper(gi, &claimed_done, &wake);
		more = gi->woken;
		spin_unlock(&gi->lock);
		if (queue)
			coll_udp_transmit(gi->cn, queue);
		if (!csk)
			return;
		coll_sock_wake(csk, claimed_done, wake);
		sock_put(&csk->sk);
		if (likely(!more))
			return;
		/* One at a time, where several ranks live. */
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
	instance_leave(gi);
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
	u64 now = instance_enter(gi);

	if (likely(!gi->ended))
		coll_group_expire(&gi->group, now);
	instance_leave(gi);
	return HRTIMER_NORESTART;
}

/**
 * coll_instance_receive() - a packet for the group
 * @gi: found by its tag and destination
 * @source: the member that it says it is from; it came from that one's address
 * @packet: formed
 * @bytes: its length
 *
 * Return: what was wrong with it. Context: BH disabled, RCU read side.
 */
enum coll_refusal coll_instance_receive(struct coll_instance *gi, u32 source,
					const u8 *packet, u32 bytes)
{
	enum coll_refusal refusal = COLL_ACCEPTED;
	u64 now = instance_enter(gi);

	if (likely(!gi->ended))
		refusal = coll_group_receive(&gi->group, source, packet, bytes, now);
	instance_leave(gi);
	return refusal;
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
	coll_instance_leave(gi);
}

/**
 * coll_instance_retire() - is an instance that was quiet still quiet?
 * @gi: LINGERING
 *
 * A late packet may have woken it. If so it will be quiet again.
 *
 * Return: true if it has ENDED: it is to be buried, then unhashed.
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
 * do not hear it learn when they ask.
 *
 * Context: process.
 */
void coll_instance_break(struct coll_instance *gi)
{
	u64 now = coll_instance_enter(gi);

	if (!gi->ended) {
		gi->dropped = true;
		coll_group_break(&gi->group, COLL_REASON_ENDED, gi->group.ranks[0].rank, now);
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
 * Those that have found it see that it has ended, and so does its timer, which
 * is therefore not armed again once it has been cancelled.
 *
 * Context: process.
 */
void coll_instance_unhash(struct coll_instance *gi)
{
	trace_coll_group_ended(&gi->group);
	hrtimer_cancel(&gi->timer);
	spin_lock_bh(&instances_lock);
	hash_del_rcu(&gi->node);
	spin_unlock_bh(&instances_lock);
}

/**
 * coll_instance_free() - give back what an instance has
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
