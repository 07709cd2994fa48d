// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "compat.h"
#include "core/descriptor.h"
#include "core/endpoint.h"
#include "event.h"
#include "instance.h"
#include "instance_join.h"
#include "join.h"
#include "netns.h"
#include "owner.h"
#include "port.h"
#include "socket.h"
#include "user.h"

static u32 instance_incarnation(void)
{
	u32 incarnation;

	do {
		incarnation = get_random_u32();
	} while (!incarnation);
	return incarnation;
}

/**
 * struct instance_joining - a group that ranks of this host are joining
 * @lookup: in coll_net.joining
 * @rcu: to free it
 * @users: ranks that join; under the namespace's mutex
 * @lock: held by one of them at a time: the first one makes the instance that the others
 *	find. That takes long, but nobody else waits for it
 */
struct instance_joining {
	struct coll_lookup_entry	lookup;
	struct rcu_head			rcu;
	u32				users;
	struct mutex			lock;	/* of making the instance */
};

/* Memory of the local members, and of the results that wait in their sockets */
static u64 instance_locals_bytes(const struct coll_instance *gi)
{
	const struct coll_group *g = &gi->group;

	return (u64)g->ranks.locals *
	       (sizeof(*gi->local_members) + (u64)g->window.size * g->payload.room);
}

static int instance_init_group(struct coll_instance *gi, const struct coll_join *join,
			       const struct coll_identity *identity)
{
	struct coll_config config = {
		.join		= &join->fixed,
		.host_of_rank	= gi->members->host_of_rank,
		.lowest		= gi->members->lowest,
		.secret		= &identity->secret,
		.descriptor	= identity->descriptor,
		.self		= identity->self,
		.incarnation	= instance_incarnation(),
	};
	int err;

	coll_tunables_timing(&gi->cn->tunables, &config.timing);
	if (join->fixed.liveness_ms)
		config.timing.liveness = join->fixed.liveness_ms * (u64)NSEC_PER_MSEC;
	err = coll_group_init(&gi->group, &config);
	if (err)
		return err;
	gi->keyed = memchr_inv(join->fixed.key, 0, sizeof(join->fixed.key));
	gi->request = join->fixed;
	gi->request.rank = 0;
	memset(gi->request.key, 0, sizeof(gi->request.key));
	if (!coll_instance_charge(gi, instance_locals_bytes(gi)))
		return -ENOMEM;
	gi->local_members = kvcalloc(gi->group.ranks.locals, sizeof(*gi->local_members),
				     GFP_KERNEL_ACCOUNT);
	return gi->local_members ? 0 : -ENOMEM;
}

/* Make an owner for packets of the calling process. Returns an error pointer on failure. */
static struct sock *instance_owner_new(const struct coll_net *cn, u16 family,
				       const struct sock *joiner)
{
	u32 kib = coll_tunable(&cn->tunables, COLL_TUNABLE_SEND_BUFFER);
	struct socket *sock;
	int err = coll_bearer_socket(sock_net(joiner), family, &sock);

	return err ? ERR_PTR(err) : coll_owner_new(joiner, sock, kib * 1024);
}

/*
 * Make the owner of the instance's packets. Returns 0 if it may send them, and the largest of them
 * reach the other hosts.
 */
static int instance_init_owner(struct coll_instance *gi, const struct coll_join *join,
			       const struct sock *joiner)
{
	const struct collsock_member *self = &join->members[coll_join_self(join)];
	u32 bytes = coll_descriptor_packet_bytes(&join->fixed), host;
	struct sock *owner = instance_owner_new(gi->cn, self->family, joiner);
	int err;

	if (IS_ERR(owner))
		return PTR_ERR(owner);
	gi->owner = owner;
	err = coll_bearer_check_owner(&gi->cn->bearers, owner, self);
	for (host = 0; !err && host < join->fixed.hosts; host++) {
		if (&join->members[host] != self)
			err = coll_bearer_check_path(&gi->cn->bearers, owner, self,
						     &join->members[host], bytes);
		cond_resched();
	}
	return err;
}

/*
 * Join the multicast address before the instance is published: that is done under the namespace's
 * mutex, which may not be held here.
 */
static int instance_init_multicast(struct coll_instance *gi)
{
	const struct collsock_member *self = &gi->members->member[gi->group.self];

	gi->everyone = *self;
	memcpy(gi->everyone.address, gi->request.multicast, sizeof(gi->everyone.address));
	if (!coll_instance_multicasts(gi))
		return 0;
	return coll_bearer_multicast_join(&gi->cn->bearers, gi->owner, self,
					  gi->group.payload.packet_bytes, &gi->everyone,
					  &gi->multicast);
}

/* Allocate a group, and count it for the calling user. Returns an error pointer on failure. */
static struct coll_instance *instance_alloc(struct coll_net *cn)
{
	struct coll_instance *gi = kzalloc(sizeof(*gi), GFP_KERNEL_ACCOUNT);
	struct coll_user *user;

	if (!gi)
		return ERR_PTR(-ENOMEM);
	user = coll_net_get_user(cn);
	if (IS_ERR(user)) {
		kfree(gi);
		return ERR_CAST(user);
	}
	gi->cn = cn;
	coll_outbox_init(&gi->outbox);
	coll_outbox_init(&gi->unaddressed);
	gi->wakes.end = &gi->wakes.first;
	gi->made_ns = ktime_get_ns();
	gi->uid = current_uid();
	gi->user = user;
	coll_turns_set_up(&gi->turn, coll_user_share(), coll_instance_turn);
	spin_lock_init(&gi->lock);
	coll_hrtimer_setup(&gi->timer, coll_instance_expire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_ABS_SOFT);
	coll_hrtimer_setup(&gi->linger, coll_instance_linger_over, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_SOFT);
	return gi;
}

/*
 * Share the table of another group if it is equal. The mutex is not held while tables are compared.
 */
static void instance_share_members(struct coll_instance *gi)
{
	struct coll_members *own = gi->members, *other;
	struct coll_net *cn = gi->cn;

	mutex_lock(&cn->mutex);
	other = coll_members_find(&cn->members, own);
	mutex_unlock(&cn->mutex);
	if (!other)
		return;
	if (coll_members_equal(own, other)) {
		gi->members = other;
		coll_members_free(own);
		return;
	}
	mutex_lock(&cn->mutex);
	coll_members_put(other);
	mutex_unlock(&cn->mutex);
}

/* Give the instance the tables of the request, or a share of equal ones. */
static int instance_set_members(struct coll_instance *gi, struct coll_join *join)
{
	u32 hosts = join->fixed.hosts, ranks = join->fixed.ranks;
	struct coll_net *cn = gi->cn;

	if (!coll_instance_charge(gi, sizeof(*gi) + coll_members_bytes(hosts, ranks)))
		return -ENOMEM;
	gi->members = coll_members_new(&cn->members, hosts, ranks, &join->members,
				       &join->host_of_rank);
	if (!gi->members)
		return -ENOMEM;
	instance_share_members(gi);
	return 0;
}

/*
 * Make a NEW instance, which may take over the tables of the request. Returns an error pointer on
 * failure.
 */
static struct coll_instance *instance_new(struct coll_net *cn, struct coll_join *join,
					  const struct coll_identity *identity,
					  const struct sock *joiner)
{
	struct coll_instance *gi;
	int err;

	err = coll_bearer_check_self(&cn->bearers, &join->members[coll_join_self(join)]);
	if (err)
		return ERR_PTR(err);
	gi = instance_alloc(cn);
	if (IS_ERR(gi))
		return gi;
	err = instance_init_owner(gi, join, joiner);
	if (!err)
		err = instance_set_members(gi, join);
	if (!err)
		err = instance_init_group(gi, join, identity);
	if (!err)
		err = instance_init_multicast(gi);
	if (!err)
		err = coll_net_reserve(cn, &gi->handle);
	if (!err)
		return gi;
	/* The core knows that memory was refused, but not by which limit. */
	if (gi->refused)
		err = gi->refused;
	coll_instance_free(gi);
	return ERR_PTR(err);
}

/*
 * Notify the members that have sent early packets, so that they need not wait for their
 * next retransmission.
 */
static void instance_notify_join(struct coll_instance *gi, const struct coll_identity *identity)
{
	u32 index, host;
	u64 now;

	for (index = 0; index < COLL_EARLY_PACKETS; index++) {
		if (!coll_early_packet_take(&gi->cn->early_packets, index, identity,
					    gi->members->member, gi->group.hosts, &host))
			continue;
		now = coll_instance_enter(gi);
		coll_group_notify_join(&gi->group, host, now);
		coll_instance_leave(gi);
	}
}

/*
 * Make the socket the local member of its rank. Returns -EADDRINUSE if the rank has joined before,
 * or the group has ended.
 */
static int instance_add_member(struct coll_instance *gi, struct coll_sock *csk, u32 rank)
{
	int local = -EEXIST;

	lockdep_assert_held(&gi->cn->mutex);
	coll_instance_enter(gi);
	if (!gi->ended)
		local = coll_group_join(&gi->group, rank);
	if (local >= 0) {
		csk->local = local;
		gi->local_members[local].csk = csk;
		gi->local_members[local].buffers = coll_completions_give_buffers(csk->slots);
		gi->sockets++;
	}
	coll_instance_leave(gi);
	return local < 0 ? -EADDRINUSE : 0;
}

/*
 * Let packets find the instance. Returns 0; -ENFILE if the namespace has too many groups, -ENOMEM
 * if there is no memory for the look-up, or why the port cannot be opened.
 */
static int instance_publish(struct coll_instance *gi, struct coll_sock *csk, u32 rank)
{
	const struct collsock_member *self = &gi->members->member[gi->group.self];
	struct coll_net *cn = gi->cn;
	int err;

	lockdep_assert_held(&cn->mutex);
	err = coll_port_open(cn, self);
	if (!err)
		err = instance_add_member(gi, csk, rank);
	if (!err)
		err = coll_net_add(cn, gi, gi->handle);
	if (!err) {
		/* Send this event before packets can find the instance and cause others. */
		coll_event_group(gi, COLLSOCK_EVENT_GROUP_BEGAN);
		err = coll_instance_hash(gi);
		if (err) {
			coll_net_remove(cn, gi->handle);
			coll_event_group(gi, COLLSOCK_EVENT_GROUP_ENDED);
			/* A request may have found it, and ended it. */
			coll_instance_stop(gi);
			atomic_sub(gi->group.stats.peers, &cn->peers);
			coll_instance_unhash(gi);
		}
	}
	/* The tidying closes the port if it was opened for this instance alone. */
	if (err)
		coll_net_tidy_soon(cn);
	return err;
}

/*
 * Find the entry with that tag and host, or NULL. Instances end under the namespace's mutex, so an
 * instance stays while the mutex is held.
 */
static struct coll_lookup_entry *instance_find(struct coll_lookup *lookup,
					       const struct coll_identity *identity)
{
	struct coll_lookup_entry *found;

	rcu_read_lock();
	found = coll_lookup_find(lookup, identity->secret.tag, identity->self);
	rcu_read_unlock();
	return found;
}

/*
 * Find the instance that another rank of this host has made; NULL if there is none. Returns
 * -EADDRINUSE if the group is in time-wait: other hosts would take an instance with the same nonce
 * for this host after a restart.
 */
static struct coll_instance *instance_find_other(struct coll_net *cn,
						 const struct coll_identity *identity)
{
	struct coll_lookup_entry *found;

	lockdep_assert_held(&cn->mutex);
	found = instance_find(&cn->lookup, identity);
	if (!found)
		return NULL;
	return found->timewait ? ERR_PTR(-EADDRINUSE) : coll_instance_looked_up(found);
}

/*
 * Get the tables of members of that instance, with a reference; NULL if there is no instance.
 * Returns -EPROTO if the request differs from the first one of this host in more than the tables.
 */
static struct coll_members *instance_hold_members(struct coll_net *cn,
						  const struct coll_request *request,
						  const struct coll_identity *identity)
{
	struct coll_members *members;
	struct coll_instance *gi;

	mutex_lock(&cn->mutex);
	gi = instance_find_other(cn, identity);
	if (IS_ERR_OR_NULL(gi)) {
		members = ERR_CAST(gi);
	} else if (!coll_endpoint_agrees(request->join, &identity->secret, &gi->request,
					 &gi->group.secret)) {
		members = ERR_PTR(-EPROTO);
	} else {
		members = gi->members;
		members->references++;
	}
	mutex_unlock(&cn->mutex);
	return members;
}

static bool instance_same_tables(const struct coll_request *request,
				 const struct coll_members *members)
{
	const struct coll_request own = {
		.join		= request->join,
		.members	= members->member,
		.host_of_rank	= members->host_of_rank,
	};

	return coll_endpoint_same_tables(request, &own);
}

/*
 * Make the owner that packets of this process would have, to compare it. Returns NULL if ranks of
 * one host may have different policies, or an error pointer.
 */
static struct sock *instance_own_policy(const struct coll_net *cn, const struct coll_join *join,
					const struct sock *joiner)
{
	if (!coll_tunable(&cn->tunables, COLL_TUNABLE_SAME_POLICY))
		return NULL;
	return instance_owner_new(cn, join->members[coll_join_self(join)].family, joiner);
}

/*
 * Join the instance, whose request agrees, unless its packets have another policy than @own.
 * Returns NULL if there is no instance.
 */
static struct coll_instance *instance_add_other(struct coll_net *cn,
						const struct coll_identity *identity,
						struct coll_sock *csk, u32 rank, struct sock *own)
{
	struct coll_instance *gi;
	int err = -EACCES;

	mutex_lock(&cn->mutex);
	gi = instance_find_other(cn, identity);
	if (!IS_ERR_OR_NULL(gi)) {
		if (!own || coll_owner_alike(own, gi->owner))
			err = instance_add_member(gi, csk, rank);
		if (err)
			gi = ERR_PTR(err);
	}
	mutex_unlock(&cn->mutex);
	return gi;
}

static struct coll_instance *instance_join_alike(struct coll_net *cn, struct coll_join *join,
						 const struct coll_identity *identity,
						 struct coll_sock *csk)
{
	struct sock *own = instance_own_policy(cn, join, &csk->sk);
	struct coll_instance *gi;

	if (IS_ERR(own))
		return ERR_CAST(own);
	gi = instance_add_other(cn, identity, csk, join->fixed.rank, own);
	if (own)
		coll_owner_free(own);
	return gi;
}

/*
 * Join the instance that another rank of this host has made; NULL if there is none. The mutex is
 * not held while tables are compared. Meanwhile the instance may end, but no other one can replace
 * it, as instance_joining.lock is held.
 */
static struct coll_instance *instance_join_other(struct coll_net *cn, struct coll_join *join,
						 const struct coll_request *request,
						 const struct coll_identity *identity,
						 struct coll_sock *csk)
{
	struct coll_members *members = instance_hold_members(cn, request, identity);
	bool same;

	if (IS_ERR_OR_NULL(members))
		return ERR_CAST(members);
	same = instance_same_tables(request, members);
	mutex_lock(&cn->mutex);
	coll_members_put(members);
	mutex_unlock(&cn->mutex);
	return same ? instance_join_alike(cn, join, identity, csk) : ERR_PTR(-EPROTO);
}

/* The first rank of a host creates the instance. */
static struct coll_instance *instance_join_first(struct coll_net *cn, struct coll_join *join,
						 const struct coll_identity *identity,
						 struct coll_sock *csk)
{
	struct coll_instance *gi = instance_new(cn, join, identity, &csk->sk);
	int err;

	if (IS_ERR(gi))
		return gi;
	mutex_lock(&cn->mutex);
	err = instance_publish(gi, csk, join->fixed.rank);
	mutex_unlock(&cn->mutex);
	if (err) {
		/* A request may have found it. */
		synchronize_rcu();
		coll_instance_free(gi);
		return ERR_PTR(err);
	}
	instance_notify_join(gi, identity);
	return gi;
}

/* ---- one rank of a group after the other ---- */

static struct instance_joining *instance_joining_new(const struct coll_identity *identity)
{
	struct instance_joining *joining = kzalloc(sizeof(*joining), GFP_KERNEL_ACCOUNT);

	if (!joining)
		return NULL;
	joining->lookup.key.tag = identity->secret.tag;
	joining->lookup.key.self = identity->self;
	mutex_init(&joining->lock);
	return joining;
}

/*
 * Get the group's entry, adding @new if there is none. Returns NULL if there is no memory to add
 * it.
 */
static struct instance_joining *instance_joining_share(struct coll_net *cn,
						       const struct coll_identity *identity,
						       struct instance_joining *new)
{
	struct coll_lookup_entry *found = instance_find(&cn->joining, identity);

	lockdep_assert_held(&cn->mutex);
	if (found)
		return container_of(found, struct instance_joining, lookup);
	return coll_lookup_add(&cn->joining, &new->lookup) ? NULL : new;
}

/* Memory is allocated outside the mutex: a process at its memory limit may wait long for it. */
static struct instance_joining *instance_joining_get(struct coll_net *cn,
						     const struct coll_identity *identity)
{
	struct instance_joining *joining, *new = instance_joining_new(identity);

	if (!new)
		return NULL;
	mutex_lock(&cn->mutex);
	joining = instance_joining_share(cn, identity, new);
	if (joining)
		joining->users++;
	mutex_unlock(&cn->mutex);
	if (joining != new)
		kfree(new);
	return joining;
}

static void instance_joining_put(struct coll_net *cn, struct instance_joining *joining)
{
	mutex_lock(&cn->mutex);
	if (!--joining->users) {
		coll_lookup_remove(&cn->joining, &joining->lookup);
		kfree_rcu(joining, rcu);
	}
	mutex_unlock(&cn->mutex);
}

/* Ranks that start together make one instance. */
static struct coll_instance *instance_join(struct coll_net *cn, struct coll_join *join,
					   const struct coll_request *request,
					   const struct coll_identity *identity,
					   struct coll_sock *csk)
{
	struct instance_joining *joining = instance_joining_get(cn, identity);
	struct coll_instance *gi;

	if (!joining)
		return ERR_PTR(-ENOMEM);
	if (mutex_lock_killable(&joining->lock)) {
		gi = ERR_PTR(-EINTR);
	} else {
		gi = instance_join_other(cn, join, request, identity, csk);
		if (!gi)
			gi = instance_join_first(cn, join, identity, csk);
		mutex_unlock(&joining->lock);
	}
	instance_joining_put(cn, joining);
	return gi;
}

/**
 * coll_instance_join() - a rank joins
 * @cn: the namespace
 * @join: the request; the instance may take over its tables
 * @csk: the socket, with its completion slots
 *
 * Return: the instance, JOINED, with the socket as a local member; or an error pointer:
 * -EADDRINUSE if the rank has joined before or the group is in time-wait, -EPROTO if
 * another rank of this host has described the group differently, -EACCES if packets of its
 * process have another policy, -EPERM if the process may have no socket, -ENOMEM, -ENFILE,
 * -EDQUOT or -EMFILE if a limit is reached, -EINTR if the process is being killed, or the
 * reason why packets cannot be exchanged with the members. Context: process.
 */
struct coll_instance *coll_instance_join(struct coll_net *cn, struct coll_join *join,
					 struct coll_sock *csk)
{
	const struct coll_request request = {
		.join		= &join->fixed,
		.members	= join->members,
		.host_of_rank	= join->host_of_rank,
	};
	struct coll_identity identity;
	struct coll_instance *gi;

	coll_endpoint_identify(&request, &identity);
	gi = instance_join(cn, join, &request, &identity, csk);
	memzero_explicit(&identity, sizeof(identity));
	return gi;
}
