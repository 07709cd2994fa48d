// SPDX-License-Identifier: GPL-2.0
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "compat.h"
#include "core/descriptor.h"
#include "formation.h"
#include "join.h"
#include "netns.h"
#include "socket.h"
#include "tunables.h"

/*
 * All formations that packets may find, of all namespaces, by tag and own host:
 * when several hosts of a group are namespaces of one machine, their tag is the
 * same. A tag is the output of a keyed hash, so strangers cannot make one bucket
 * long. Readers use RCU.
 */
static DEFINE_HASHTABLE(formations, 10);
static DEFINE_SPINLOCK(formations_lock);

/* ---- events ---- */

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
	spin_lock_bh(&f->lock);
	f->now = ktime_get_ns();
	return f->now;
}

/* The group may have become quiet with this event: only one that has left can. */
static void formation_check_quiet(struct coll_formation *f)
{
	if (f->quiet || f->ended || !coll_group_quiet(&f->group))
		return;
	f->quiet = true;
	coll_net_became_quiet(f->cn, f);
}

/**
 * coll_formation_leave() - an event ends
 * @f: the formation
 *
 * Drops the lock, then does what the core has asked for. Bottom halves stay off
 * until all of it is done, which is a read-side section of RCU: if the formation
 * is ended as soon as the lock is dropped, it is not freed before this is over.
 *
 * Context: after coll_formation_enter().
 */
void coll_formation_leave(struct coll_formation *f)
	__releases(&f->lock)
{
	struct sk_buff *queue = f->queue;
	u64 claimed_done = f->claimed_done;
	struct coll_sock *csk = NULL;
	u8 wake = f->wake;

	f->queue = NULL;
	f->queue_end = &f->queue;
	if ((claimed_done || wake) && f->csk) {
		csk = f->csk;
		sock_hold(&csk->sk);
	}
	f->claimed_done = 0;
	f->wake = 0;
	if (unlikely(f->group.leaving))
		formation_check_quiet(f);

	spin_unlock(&f->lock);
	if (queue)
		coll_udp_transmit(f->cn, queue);
	if (csk) {
		coll_sock_wake(csk, claimed_done, wake);
		sock_put(&csk->sk);
	}
	local_bh_enable();
}

static enum hrtimer_restart formation_expire(struct hrtimer *timer)
{
	struct coll_formation *f = container_of(timer, struct coll_formation, timer);
	u64 now = coll_formation_enter(f);

	/* The core asks for the next deadline itself. */
	if (likely(!f->ended))
		coll_group_expire(&f->group, now);
	coll_formation_leave(f);
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
	u64 now = coll_formation_enter(f);

	if (likely(!f->ended))
		refusal = coll_group_receive(&f->group, source, packet, bytes, now);
	coll_formation_leave(f);
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

/* ---- joining ---- */

static u32 formation_incarnation(void)
{
	u32 incarnation;

	do {
		incarnation = get_random_u32();
	} while (!incarnation);
	return incarnation;
}

static int formation_init_group(struct coll_formation *f, const struct coll_join *join)
{
	struct coll_config config = {
		.join		= &join->fixed,
		.self		= coll_join_self(join),
		.incarnation	= formation_incarnation(),
	};
	int err;

	config.descriptor = coll_descriptor_hash(&join->fixed, f->members->member,
						 join->host_of_rank);
	coll_wire_derive(&config.secret, join->fixed.key, join->fixed.id, join->fixed.nonce);
	coll_tunables_timing(&config.timing);
	err = coll_group_init(&f->group, &config);
	memzero_explicit(&config, sizeof(config));
	return err;
}

/* Can this host be the member, and will its packets get to the others? */
static int formation_check_addresses(struct coll_net *cn, const struct coll_join *join)
{
	const struct collsock_member *self = &join->members[coll_join_self(join)];
	u32 bytes = coll_join_packet_bytes(join), host;
	int err;

	err = coll_udp_check_self(cn, self);
	for (host = 0; !err && host < join->fixed.hosts; host++) {
		if (&join->members[host] != self)
			err = coll_udp_check_path(cn, self, &join->members[host], bytes);
		cond_resched();
	}
	return err;
}

/**
 * coll_formation_new() - make a formation
 * @cn: the namespace
 * @join: the request; the table of members may be taken over
 *
 * Return: the formation, NEW, or an error pointer. Context: process.
 */
struct coll_formation *coll_formation_new(struct coll_net *cn, struct coll_join *join)
{
	struct coll_formation *f;
	int err;

	err = formation_check_addresses(cn, join);
	if (err)
		return ERR_PTR(err);
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return ERR_PTR(-ENOMEM);
	f->cn = cn;
	f->queue_end = &f->queue;
	spin_lock_init(&f->lock);
	coll_hrtimer_setup(&f->timer, formation_expire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	mutex_lock(&cn->mutex);
	f->members = coll_members_get(&cn->members, &join->members, join->fixed.hosts);
	mutex_unlock(&cn->mutex);
	err = f->members ? formation_init_group(f, join) : -ENOMEM;
	if (err) {
		coll_formation_free(f);
		return ERR_PTR(err);
	}
	return f;
}

/* Whoever knocked before need not wait until it knocks again. */
static void formation_nudge(struct coll_formation *f)
{
	u32 index, host;
	u64 now;

	for (index = 0; index < COLL_KNOCKS; index++) {
		if (!coll_knock_take(&f->cn->knocks, index, f->group.secret.tag,
				     f->members->member, f->group.hosts, &host) ||
		    host == f->group.self)
			continue;
		now = coll_formation_enter(f);
		coll_group_nudge(&f->group, host, now);
		coll_formation_leave(f);
	}
}

/* A second life under the same nonce would be taken for the first by nobody. */
static bool formation_remembered(struct coll_formation *f)
{
	const struct coll_members *members;
	bool found;

	rcu_read_lock();
	found = coll_graveyard_find(&f->cn->graveyard, f->group.secret.tag, f->group.self,
				    &members);
	rcu_read_unlock();
	return found;
}

static int formation_hash(struct coll_formation *f)
{
	int err = 0;

	if (formation_remembered(f))
		return -EADDRINUSE;
	spin_lock_bh(&formations_lock);
	if (coll_formation_find(f->cn, f->group.secret.tag, f->group.self))
		err = -EADDRINUSE;
	else
		hash_add_rcu(formations, &f->node, f->group.secret.tag + f->group.self);
	spin_unlock_bh(&formations_lock);
	return err;
}

/*
 * What lingers still has its memory, though its socket is gone and counts for no
 * limit of its user any more.
 */
static int formation_charge(struct coll_formation *f)
{
	struct coll_net *cn = f->cn;
	u64 bytes = sizeof(*f) + f->group.memory +
		    f->group.hosts * sizeof(*f->members->member) +
		    (u64)f->group.window * f->group.max_bytes;

	if (cn->memory + bytes > coll_policy_max_memory(&cn->policy)) {
		cn->over_memory++;
		return -ENOMEM;
	}
	f->charge = bytes;
	cn->memory += bytes;
	return 0;
}

/**
 * coll_formation_publish() - from now on packets find the formation
 * @f: NEW; JOINED afterwards if there was no error
 * @csk: the socket that joins
 *
 * Return: 0, -ENOMEM if the namespace's groups have too much already, -EADDRINUSE
 * if this host is in that group already, or was until a moment ago, or why the
 * port cannot be opened. Context: process.
 */
int coll_formation_publish(struct coll_formation *f, struct coll_sock *csk)
{
	struct coll_net *cn = f->cn;
	int err;

	f->csk = csk;
	mutex_lock(&cn->mutex);
	err = formation_charge(f);
	if (!err)
		err = coll_udp_open(cn, f->members->member[f->group.self].family);
	if (!err)
		err = formation_hash(f);
	if (!err)
		list_add_tail(&f->link, &cn->formations);
	mutex_unlock(&cn->mutex);
	if (err)
		/* Perhaps the port was opened for nothing. */
		coll_net_tidy_soon(cn);
	else
		formation_nudge(f);
	return err;
}

/* ---- leaving ---- */

/**
 * coll_formation_abandon() - the socket closes
 * @f: JOINED, LINGERING afterwards
 *
 * Context: process.
 */
void coll_formation_abandon(struct coll_formation *f)
{
	u64 now = coll_formation_enter(f);

	f->csk = NULL;
	coll_group_leave(&f->group, now);
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
	f->quiet = coll_group_quiet(&f->group);
	f->ended |= f->quiet;
	spin_unlock_bh(&f->lock);
	return f->ended;
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
