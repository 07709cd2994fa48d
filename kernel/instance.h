/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An instance: one group of the core on this host, with what the kernel adds to it: the
 * lock, the timer, the members' addresses, and for each rank of this host a local member
 * with its socket.
 *
 * States:
 *   NEW		created by a JOIN that may still fail; not yet visible
 *   JOINED	packets find it (by tag and local host), sockets post to it
 *   LINGERING	all sockets are closed or have left by SHUT_WR; their posts still
 *			complete. A rank that has not joined before may still join
 *   ENDED		no event enters the core any more; packets do not find it
 *
 * LINGERING ends when the group is quiet and all sockets are closed, or with the namespace
 * or the module. Without a socket its time is limited: after linger_ms, incomplete operations
 * fail, and after the same time again the group ends without waiting. A socket that joined
 * uses the instance until its release, RCU readers until a grace period after ENDED. An
 * instance is therefore ended in these steps: retire or stop, unhash, grace period, free.
 *
 * All calls into the core are between coll_instance_enter() and coll_instance_leave():
 * under the lock, with bottom halves disabled, and with one reading of the clock. Packets and
 * wake-ups that the core asks for meanwhile are collected; leaving drops the lock and then
 * transmits and wakes. Work and wake-ups that are too much for one event are left to turns
 * (core/work.h, turns.h). A timer that expires asks for a turn, too.
 *
 * Lock order: lock_sock, instance_joining.lock, RTNL, port_nets_mutex, coll_net.mutex,
 * users_mutex, coll_instance.lock, turns_cpu.lock. At most one coll_instance.lock and one
 * turns_cpu.lock are held at a time.
 */
#ifndef COLL_INSTANCE_H
#define COLL_INSTANCE_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>

#include "bearer.h"
#include "core/group.h"
#include "forgery.h"
#include "lookup.h"
#include "members.h"
#include "napi.h"
#include "outbox.h"
#include "stretch.h"
#include "turns.h"

struct coll_net;
struct coll_sock;
struct coll_user;
struct sock;

#define COLL_WAKE_READABLE	0x01	/* a completion waits */
#define COLL_WAKE_WRITABLE	0x02	/* an operation can be posted */
#define COLL_WAKE_FAILED	0x04	/* the group has failed: to be reported */

/* Reasons for a turn. Each of several has a turn of its own, the lowest first. */
#define COLL_TURN_EXPIRED	0x01	/* the deadline of the group has passed */
#define COLL_TURN_LINGERED	0x02	/* nobody has held the instance for linger_ms */
#define COLL_TURN_REST		0x04	/* events have left work, or sockets to wake */

/**
 * struct coll_local_member - a rank of this host; protected by the instance's lock
 * @csk: its socket; NULL before it joins and after it closes. Using it after the lock is
 *	dropped requires a reference
 * @claimed_done: completion slots whose claimants are to be woken, one bit each
 * @wake: COLL_WAKE_*, for threads that sleep on the socket
 * @next: in coll_instance.wakes, if one of these two is not 0
 * @awaits_room: a thread may sleep until the window has room: it is in wakes.awaiting
 * @next_awaiting: the next one there
 * @buffers: of its completion slots (coll_completions_give_buffers()); NULL before it joins
 */
struct coll_local_member {
	struct coll_sock	*csk;
	u64			claimed_done;
	u8			wake;
	struct coll_local_member	*next;
	bool			awaits_room;
	struct coll_local_member	*next_awaiting;
	u8			*buffers;
};

/**
 * struct coll_instance_wakes - local members with threads to wake
 * @first: those to wake when the event ends, in that order
 * @end: where to link the next one
 * @awaiting: those to wake when the window has room
 */
struct coll_instance_wakes {
	struct coll_local_member	*first;
	struct coll_local_member	**end;
	struct coll_local_member	*awaiting;
};

/**
 * struct coll_instance - a group on this host
 * @group: the core's; the first member, see coll_instance_of()
 * @lock: taken with bottom halves off
 * @sockets: number of local members with a socket
 * @wakes: local members with threads to wake
 * @now: time of the current event in ns
 * @outbox: packets of the current event
 * @unaddressed: packets that wait for a route
 * @ended: the instance is ENDED
 * @quiet: it is on the list of the tidying
 * @dropped: the operator has ended it, or it lingered for twice linger_ms: once its sockets are
 *	closed it ends without waiting
 * @overdue: it lingered for too long: incomplete operations have failed
 * @to_everyone: the route to @everyone
 * @cn: the namespace
 * @local_members: one for each rank of this host; the members themselves are under @lock
 * @owner: of its packets; see owner.h
 * @members: addresses of the hosts
 * @everyone: destination of multicast packets, as a member, with the device
 * @request: of the first rank that joined; key and rank are zero
 * @keyed: its key is not all zero
 * @handle: its number in coll_net.instances
 * @made_ns: time of creation
 * @uid: user that created it
 * @user: who is charged for it, see user.h
 * @lookup: in the table by which packets find it
 * @copies: likewise for multicast packets
 * @charge: its part of coll_net.memory and of its user's; constant while it is JOINED or
 *	LINGERING
 * @refused: why it did not get memory, if a limit refused it
 * @uncounted: it is no longer counted as a group of its user
 * @link: in a list of instances to be freed
 * @multicast: its multicast address, if the bearer keeps it
 * @turn: queued if @due is not 0
 * @due: COLL_TURN_*
 * @timer: of the group's deadline
 * @linger: fires when it has lingered for too long
 * @forgery: forged packets
 * @napi: the queues by which packets come
 * @results: bytes charged for shared results and for pages of its sockets, besides @charge
 * @quiet_node: in coll_net.quiet; added when @quiet is set
 */
struct coll_instance {
	/* Under @lock, but for what the core declares constant in @group */
	struct coll_group	group;
	spinlock_t		lock;	/* of this part */
	u32			sockets;
	struct coll_instance_wakes	wakes;
	u64			now;
	struct coll_outbox	outbox;
	struct coll_outbox	unaddressed;
	bool			ended;
	bool			quiet;
	bool			dropped;
	bool			overdue;
	union coll_route	to_everyone;

	/* Constant from JOINED on */
	struct coll_net		*cn;
	struct coll_local_member	*local_members;
	struct sock		*owner;
	struct coll_members	*members;
	struct collsock_member	everyone;
	struct collsock_join	request;
	bool			keyed;
	u32			handle;
	u64			made_ns;
	kuid_t			uid;
	struct coll_user	*user;

	/* Written under the namespace's mutex; read by packets under RCU */
	struct coll_lookup_entry	lookup;
	struct coll_lookup_entry	copies;

	/* Written by JOIN while it is NEW, from then on under the namespace's mutex */
	u64			charge;
	int			refused;
	bool			uncounted;
	struct list_head	link;

	/* RTNL */
	struct coll_eth_multicast	multicast;

	/* The lock of a CPU's turns */
	struct coll_turn	turn;

	/* No lock: atomic, or with locks of their own */
	atomic_t		due;
	struct hrtimer		timer;
	struct hrtimer		linger;
	struct coll_forgery	forgery;
	struct coll_napi	napi;
	atomic64_t		results;
	struct llist_node	quiet_node;
};

/* The core's group is the first member, so both have the same address. */
static inline struct coll_instance *coll_instance_of(struct coll_group *g)
{
	return container_of(g, struct coll_instance, group);
}

/* The instance that was looked up; @entry is not that of a time-wait entry. */
static inline struct coll_instance *coll_instance_looked_up(struct coll_lookup_entry *entry)
{
	return container_of(entry, struct coll_instance, lookup);
}

/* The instance that a multicast packet has found */
static inline struct coll_instance *coll_instance_of_copies(struct coll_lookup_entry *entry)
{
	return container_of(entry, struct coll_instance, copies);
}

/* This host */
static inline const struct collsock_member *coll_instance_self(const struct coll_instance *gi)
{
	return &gi->members->member[gi->group.self];
}

/* Are packets sent to its multicast address? There may be no other host. */
static inline bool coll_instance_multicasts(const struct coll_instance *gi)
{
	return gi->group.multicast.host && gi->group.hosts > 1;
}

/* Take the lock without an event in the core. Any context but hard interrupts. */
static inline void coll_instance_lock(struct coll_instance *gi)
	__acquires(&gi->lock)
{
	spin_lock_bh(&gi->lock);
	coll_stretch_begin();
}

static inline void coll_instance_unlock(struct coll_instance *gi)
	__releases(&gi->lock)
{
	coll_stretch_end(COLL_STRETCH_CALL);
	spin_unlock_bh(&gi->lock);
}

u64 coll_instance_enter(struct coll_instance *gi);
void coll_instance_leave(struct coll_instance *gi);

/* coll_instance_enter() with bottom halves already disabled */
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
 * At the end of the event wake the claimants of the completion slots in @claimed_done, one
 * bit each, and threads that sleep on the socket for COLL_WAKE_*.
 */
static inline void coll_instance_wake(struct coll_instance *gi, struct coll_local_member *lm,
				      u64 claimed_done, u8 wake)
{
	lockdep_assert_held(&gi->lock);
	if (!(lm->claimed_done | lm->wake)) {
		lm->next = NULL;
		*gi->wakes.end = lm;
		gi->wakes.end = &lm->next;
	}
	lm->claimed_done |= claimed_done;
	lm->wake |= wake;
}

bool coll_instance_writable(struct coll_instance *gi, u32 local);
void coll_instance_set_failed(struct coll_instance *gi, struct coll_local_member *lm);
void coll_instance_report_failure(struct coll_instance *gi, struct coll_local_member *lm);

void coll_instance_queue(struct coll_instance *gi, u32 what);
void coll_instance_turn(struct coll_turn *turn);
enum hrtimer_restart coll_instance_expire(struct hrtimer *timer);
enum hrtimer_restart coll_instance_linger_over(struct hrtimer *timer);

bool coll_instance_charge(struct coll_instance *gi, u64 bytes);
int coll_instance_hash(struct coll_instance *gi);
void coll_instance_abandon(struct coll_instance *gi, u32 local);
bool coll_instance_retire(struct coll_instance *gi);
void coll_instance_end(struct coll_instance *gi);
void coll_instance_stop(struct coll_instance *gi);
void coll_instance_unhash(struct coll_instance *gi);
void coll_instance_remember(struct coll_instance *gi);
void coll_instance_free(struct coll_instance *gi);

void coll_instance_stats(struct coll_instance *gi, struct collsock_stats *stats);

#endif
