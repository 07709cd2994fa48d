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

/* The memory that all groups of the namespace together may reserve. */
static u64 instance_most_memory(const struct coll_net *cn)
{
	return coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_MEMORY) * 1024ULL;
}

/* The part of it that is left for another group. */
static u64 instance_memory_left(struct coll_net *cn)
{
	u64 most = instance_most_memory(cn), used;

	mutex_lock(&cn->mutex);
	used = cn->memory;
	mutex_unlock(&cn->mutex);
	return most > used ? most - used : 0;
}

/* The part of what its owner may reserve that is left for the group. */
static u64 instance_user_memory_left(const struct coll_instance *gi)
{
	u64 used = coll_user_memory(gi->owner);
	struct coll_user_limits limits;

	if (!coll_user_limits(&gi->cn->tunables, gi->owner, &limits))
		return U64_MAX;
	return limits.memory > used ? limits.memory - used : 0;
}

/* What the group may reserve at most; at least 1, as 0 is no limit. */
static u64 instance_allowance(const struct coll_instance *gi)
{
	u64 least = min(instance_memory_left(gi->cn), instance_user_memory_left(gi));

	return max(least, 1ULL);
}

/* A limit has refused the group: it is counted. Returns the error, which tells which limit. */
static int instance_refuse(struct coll_net *cn, int err)
{
	lockdep_assert_held(&cn->mutex);
	if (err == -EDQUOT || err == -EMFILE)
		cn->over_user++;
	else
		cn->over_memory++;
	return err;
}

/* The group needs more than it may reserve. */
static int instance_refuse_size(const struct coll_instance *gi)
{
	bool of_user = instance_user_memory_left(gi) < instance_memory_left(gi->cn);
	int err;

	mutex_lock(&gi->cn->mutex);
	err = instance_refuse(gi->cn, of_user ? -EDQUOT : -ENOMEM);
	mutex_unlock(&gi->cn->mutex);
	return err;
}

static int instance_init_group(struct coll_instance *gi, const struct coll_join *join,
			       const struct coll_identity *identity)
{
	struct coll_config config = {
		.join		= &join->fixed,
		.host_of_rank	= gi->members->host_of_rank,
		.lowest		= gi->members->lowest,
		.secret		= identity->secret,
		.descriptor	= identity->descriptor,
		.self		= identity->self,
		.incarnation	= instance_incarnation(),
		.max_memory	= instance_allowance(gi),
	};
	int err;

	coll_tunables_timing(&gi->cn->tunables, &config.timing);
	if (join->fixed.liveness_ms)
		config.timing.liveness = join->fixed.liveness_ms * (u64)NSEC_PER_MSEC;
	err = coll_group_init(&gi->group, &config);
	memzero_explicit(&config, sizeof(config));
	if (err)
		return err;
	gi->keyed = memchr_inv(join->fixed.key, 0, sizeof(join->fixed.key));
	gi->request = join->fixed;
	gi->request.rank = 0;
	memset(gi->request.key, 0, sizeof(gi->request.key));
	gi->local_members = kvcalloc(gi->group.ranks.locals, sizeof(*gi->local_members),
				     GFP_KERNEL_ACCOUNT);
	return gi->local_members ? 0 : -ENOMEM;
}

/* Can this host be that member, and do the largest packets reach the others? */
static int instance_check_addresses(struct coll_net *cn, const struct coll_join *join)
{
	const struct collsock_member *self = &join->members[coll_join_self(join)];
	u32 bytes = coll_descriptor_packet_bytes(&join->fixed), host;
	int err;

	err = coll_bearer_check_self(&cn->bearers, self);
	for (host = 0; !err && host < join->fixed.hosts; host++) {
		if (&join->members[host] != self)
			err = coll_bearer_check_path(&cn->bearers, self, &join->members[host],
						     bytes);
		cond_resched();
	}
	return err;
}

/* A NEW instance, or an error pointer. The request's tables may become its own. */
static struct coll_instance *instance_new(struct coll_net *cn, struct coll_join *join,
					  const struct coll_identity *identity)
{
	struct coll_instance *gi;
	int err;

	err = instance_check_addresses(cn, join);
	if (err)
		return ERR_PTR(err);
	gi = kzalloc(sizeof(*gi), GFP_KERNEL_ACCOUNT);
	if (!gi)
		return ERR_PTR(-ENOMEM);
	gi->cn = cn;
	gi->queue_end = &gi->queue;
	gi->made_ns = ktime_get_ns();
	gi->uid = current_uid();
	gi->owner = coll_user_current();
	spin_lock_init(&gi->lock);
	coll_hrtimer_setup(&gi->timer, coll_instance_expire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_ABS_SOFT);
	coll_hrtimer_setup(&gi->linger, coll_instance_linger_over, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_SOFT);
	mutex_lock(&cn->mutex);
	gi->members = coll_members_get(&cn->members, join->fixed.hosts, join->fixed.ranks,
				       &join->members, &join->host_of_rank);
	mutex_unlock(&cn->mutex);
	err = gi->members ? instance_init_group(gi, join, identity) : -ENOMEM;
	if (!err)
		return gi;
	if (gi->group.memory.bytes > gi->group.memory.most)
		err = instance_refuse_size(gi);
	coll_instance_free(gi);
	return ERR_PTR(err);
}

/* Members whose early packets came before need not wait for their next retransmission. */
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
 * Is the group in time-wait? Other hosts would take an instance with the same nonce for
 * this host after a restart.
 */
static bool instance_remembered(struct coll_instance *gi)
{
	const struct coll_members *members;
	bool found;

	rcu_read_lock();
	found = coll_timewait_table_find(&gi->cn->timewait, gi->group.secret.tag, gi->group.self,
					 &members);
	rcu_read_unlock();
	return found;
}

/*
 * A group that lingers has its memory, though its sockets are closed and count for no
 * file limit any more; so the namespace has a limit, and so has each user.
 */
static int instance_charge(struct coll_instance *gi)
{
	struct coll_net *cn = gi->cn;
	const struct coll_group *g = &gi->group;
	u64 bytes = sizeof(*gi) + g->memory.bytes +
		    g->hosts * (sizeof(*gi->members->member) + sizeof(*gi->members->lowest)) +
		    g->ranks.size * sizeof(*gi->members->host_of_rank) +
		    (u64)g->ranks.locals *
		    (sizeof(*gi->local_members) + (u64)g->window.size * g->payload.room);

	int err;

	lockdep_assert_held(&cn->mutex);
	if (cn->memory + bytes > instance_most_memory(cn))
		return instance_refuse(cn, -ENOMEM);
	err = coll_user_charge(gi->owner, bytes, &cn->tunables);
	if (err)
		return instance_refuse(cn, err);
	gi->charge = bytes;
	cn->memory += bytes;
	return 0;
}

/*
 * The socket becomes the local member of its rank. -EADDRINUSE if the rank has joined before,
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
		gi->sockets++;
	}
	coll_instance_leave(gi);
	return local < 0 ? -EADDRINUSE : 0;
}

/*
 * From now on packets find the instance. 0; -ENOMEM if the namespace's groups have too
 * much memory already, -ENFILE if there are too many of them; -EDQUOT and -EMFILE for those
 * of its user; -EADDRINUSE if this host left that group a moment ago, or why the port
 * cannot be opened.
 */
static int instance_publish(struct coll_instance *gi, struct coll_sock *csk, u32 rank)
{
	const struct collsock_member *self = &gi->members->member[gi->group.self];
	struct coll_net *cn = gi->cn;
	int err;

	lockdep_assert_held(&cn->mutex);
	if (instance_remembered(gi))
		return -EADDRINUSE;
	err = instance_charge(gi);
	if (err)
		return err;
	err = coll_port_open(cn, self);
	if (!err)
		err = instance_add_member(gi, csk, rank);
	if (!err)
		err = coll_net_add(cn, gi, &gi->handle);
	if (!err) {
		/* Before packets find it and cause other events. */
		coll_event_group(gi, COLLSOCK_EVENT_GROUP_MADE);
		err = coll_instance_hash(gi);
		if (err) {
			coll_net_remove(cn, gi->handle);
			coll_event_group(gi, COLLSOCK_EVENT_GROUP_ENDED);
		}
	}
	if (err)
		/* It closes the port if that was opened for this instance alone. */
		coll_net_tidy_soon(cn);
	return err;
}

/* Does the request describe the group as the first one on this host did? */
static bool instance_agrees(const struct coll_instance *gi, const struct coll_request *request,
			    const struct coll_identity *identity)
{
	const struct coll_request own = {
		.join		= &gi->request,
		.members	= gi->members->member,
		.host_of_rank	= gi->members->host_of_rank,
	};

	return coll_endpoint_agrees(request, &identity->secret, &own, &gi->group.secret);
}

/* Join the instance that another rank of this host has made; NULL if there is none. */
static struct coll_instance *instance_join_other(struct coll_net *cn,
						 const struct coll_request *request,
						 const struct coll_identity *identity,
						 struct coll_sock *csk)
{
	struct coll_instance *gi;
	int err = 0;

	mutex_lock(&cn->mutex);
	/* Instances end under the mutex, so it stays after the RCU section. */
	rcu_read_lock();
	gi = coll_instance_find(cn, identity->secret.tag, identity->self);
	rcu_read_unlock();
	if (gi)
		err = instance_agrees(gi, request, identity) ?
		      instance_add_member(gi, csk, request->join->rank) : -EPROTO;
	mutex_unlock(&cn->mutex);
	return err ? ERR_PTR(err) : gi;
}

/* The first rank of a host makes the instance. */
static struct coll_instance *instance_join_first(struct coll_net *cn, struct coll_join *join,
						 const struct coll_identity *identity,
						 struct coll_sock *csk)
{
	struct coll_instance *gi = instance_new(cn, join, identity);
	int err;

	if (IS_ERR(gi))
		return gi;
	mutex_lock(&cn->mutex);
	err = instance_publish(gi, csk, join->fixed.rank);
	mutex_unlock(&cn->mutex);
	if (err) {
		coll_instance_free(gi);
		return ERR_PTR(err);
	}
	instance_notify_join(gi, identity);
	return gi;
}

/**
 * coll_instance_join() - a rank joins
 * @cn: the namespace
 * @join: the request; its tables may become those of the instance
 * @csk: the socket; it has its completion slots
 *
 * Return: the instance, JOINED, of which the socket is a local member; or an error pointer:
 * -EADDRINUSE if the rank has joined before or the group was here until a moment ago,
 * -EPROTO if another rank of this host has described the group otherwise, -ENOMEM,
 * -ENFILE, -EDQUOT or -EMFILE if a limit is reached, -EINTR if the process is being killed, or
 * why packets cannot be exchanged with the members. Context: process.
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
	/* One after the other, so that ranks that start together make one instance. */
	if (mutex_lock_killable(&cn->joining)) {
		gi = ERR_PTR(-EINTR);
	} else {
		gi = instance_join_other(cn, &request, &identity, csk);
		if (!gi)
			gi = instance_join_first(cn, join, &identity, csk);
		mutex_unlock(&cn->joining);
	}
	memzero_explicit(&identity, sizeof(identity));
	return gi;
}
