/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance: one group of the core on this host, with what the kernel adds to
 * it: the lock, the timer, the members' addresses, and a local member with its socket
 * for each rank of this host.
 *
 * States:
 *   NEW		made by a JOIN that may still fail; nothing else can find it
 *   JOINED	packets find it (by tag and own host), sockets post to it
 *   LINGERING	no socket is there, or all have left by SHUT_WR; what they have posted still
 *			completes. A rank that has not joined before may still do it
 *   ENDED		nothing enters the core any more; packets do not find it
 *
 * LINGERING ends when the group is quiet and no socket is there, or with the namespace or the
 * module. Without a socket it is limited: after linger_ms what is under way fails, and after
 * as much again nothing is waited for.
 * A socket that joined is a user of the instance until its release; RCU
 * readers are until a grace period after ENDED. The steps of ending it are therefore
 * retire or stop, unhash, grace period, free.
 *
 * All calls into the core are between coll_instance_enter() and coll_instance_leave():
 * under the lock, with bottom halves off, and with one reading of the clock. What the
 * core asks for meanwhile is collected; leaving drops the lock and then transmits and
 * wakes. Lock order: lock_sock, the namespace's mutexes (joining first), an instance's
 * lock; no two of the latter.
 */
#ifndef COLL_INSTANCE_H
#define COLL_INSTANCE_H

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "core/group.h"
#include "members.h"

struct coll_net;
struct coll_sock;
struct sk_buff;

#define COLL_WAKE_READABLE	0x01	/* a completion waits */
#define COLL_WAKE_WRITABLE	0x02	/* an operation can be posted */

/**
 * struct coll_local_member - a rank of this host; under the instance's lock
 * @csk: its socket; NULL before it joins and after it closes. To use it after the lock
 *	is dropped takes a reference
 * @claimed_done: completion slots whose claimants are to be woken, a bit each
 * @wake: COLL_WAKE_*, for threads that sleep on the socket
 * @next: in coll_instance.woken, if one of these is not 0
 */
struct coll_local_member {
	struct coll_sock	*csk;
	u64			claimed_done;
	u8			wake;
	struct coll_local_member	*next;
};

/**
 * struct coll_instance - see above; under @lock unless said otherwise
 * @group: the core's
 * @lock: taken with bottom halves off
 * @local_members: one for each rank of this host; the pointer is constant
 * @sockets: of local members
 * @woken: local members with threads to wake
 * @now: time of the present event, ns
 * @queue: packets of the present event
 * @queue_end: where the next one goes
 * @ended: ENDED
 * @quiet: the tidying knows of it
 * @dropped: it was ended: when its sockets are closed, it waits for nothing
 * @overdue: it lingered for too long: what is under way has failed
 * @cn: namespace; constant, like the next
 * @members: addresses of the hosts
 * @request: of the first rank that joined; key and rank are zero
 * @charge: its part of coll_net.memory, and of its owner's; 0 before
 * @timer: of the group's deadline
 * @linger: fires when it has lingered for too long
 * @node: in the table by which packets find it
 * @handle: its number in coll_net.instances
 * @made_ns: when
 * @uid: by whom
 * @owner: who answers for that, see user.h
 * @keyed: its key is not all zero
 * @link: among those that are to be freed
 * @quiet_node: in coll_net.quiet
 */
struct coll_instance {
	struct coll_group	group;
	spinlock_t		lock;	/* of most of what is here */
	struct coll_local_member	*local_members;
	u32			sockets;
	struct coll_local_member	*woken;
	u64			now;
	struct sk_buff		*queue;
	struct sk_buff		**queue_end;
	bool			ended;
	bool			quiet;
	bool			dropped;
	bool			overdue;
	struct coll_net		*cn;
	struct coll_members	*members;
	struct collsock_join	request;
	u64			charge;
	struct hrtimer		timer;
	struct hrtimer		linger;
	struct hlist_node	node;
	u32			handle;
	kuid_t			uid;
	kuid_t			owner;
	bool			keyed;
	u64			made_ns;
	struct list_head	link;
	struct llist_node	quiet_node;
};

/* The core's group is the first thing in it: the two are one address. */
static inline struct coll_instance *coll_instance_of(struct coll_group *g)
{
	return container_of(g, struct coll_instance, group);
}

u64 coll_instance_enter(struct coll_instance *gi);
void coll_instance_leave(struct coll_instance *gi);

/* coll_instance_enter() where bottom halves are off already. */
static inline u64 coll_instance_enter_bh_off(struct coll_instance *gi)
	__acquires(&gi->lock)
{
	spin_lock(&gi->lock);
	gi->now = ktime_get_ns();
	return gi->now;
}

void coll_instance_leave_bh_off(struct coll_instance *gi)
	__releases(&gi->lock);

/*
 * Wake when the event is over: the claimants of the completion slots in @claimed_done, a
 * bit each, and threads that sleep on the socket for COLL_WAKE_*.
 */
static inline void coll_instance_wake(struct coll_instance *gi, struct coll_local_member *lm,
				      u64 claimed_done, u8 wake)
{
	lockdep_assert_held(&gi->lock);
	if (!(lm->claimed_done | lm->wake)) {
		lm->next = gi->woken;
		gi->woken = lm;
	}
	lm->claimed_done |= claimed_done;
	lm->wake |= wake;
}

void coll_instance_set_failed(struct coll_instance *gi, struct coll_local_member *lm);
void coll_instance_report_failure(struct coll_instance *gi, struct coll_local_member *lm);

enum hrtimer_restart coll_instance_expire(struct hrtimer *timer);
enum hrtimer_restart coll_instance_linger_over(struct hrtimer *timer);

int coll_instance_hash(struct coll_instance *gi);
void coll_instance_abandon(struct coll_instance *gi, u32 local);
bool coll_instance_retire(struct coll_instance *gi);
void coll_instance_break(struct coll_instance *gi);
void coll_instance_stop(struct coll_instance *gi);
void coll_instance_unhash(struct coll_instance *gi);
void coll_instance_free(struct coll_instance *gi);

struct coll_instance *coll_instance_find(struct coll_net *cn, u64 tag, u32 self);
void coll_instance_stats(struct coll_instance *gi, struct collsock_stats *stats);

#endif
