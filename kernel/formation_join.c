// SPDX-License-Identifier: GPL-2.0
/*
 * How formations begin: a rank joins. The first one of a host makes the formation, with
 * a seat for each, the others find it.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "compat.h"
#include "core/descriptor.h"
#include "event.h"
#include "formation.h"
#include "join.h"
#include "netns.h"
#include "socket.h"
#include "tunables.h"

/* Which group is meant: what its packets show, and what checks them. */
struct formation_identity {
	struct coll_secret	secret;
	u32			descriptor;
};

static u32 formation_incarnation(void)
{
	u32 incarnation;

	do {
		incarnation = get_random_u32();
	} while (!incarnation);
	return incarnation;
}

/* What all groups together may reserve. */
static u64 formation_most_memory(const struct coll_net *cn)
{
	return coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_MEMORY) * 1024ULL;
}

/* What is left for a group. */
static u64 formation_allowance(struct coll_net *cn)
{
	u64 most = formation_most_memory(cn), used;

	mutex_lock(&cn->mutex);
	used = cn->memory;
	mutex_unlock(&cn->mutex);
	return most > used ? most - used : 1;
}

static int formation_init_group(struct coll_formation *f, const struct coll_join *join,
				const struct formation_identity *identity, u32 self)
{
	struct coll_config config = {
		.join		= &join->fixed,
		.host_of_rank	= f->members->host_of_rank,
		.lowest		= f->members->lowest,
		.secret		= identity->secret,
		.descriptor	= identity->descriptor,
		.self		= self,
		.incarnation	= formation_incarnation(),
		.max_memory	= formation_allowance(f->cn),
	};
	int err;

	coll_tunables_timing(&f->cn->tunables, &config.timing);
	if (join->fixed.liveness_ms)
		config.timing.liveness = join->fixed.liveness_ms * (u64)NSEC_PER_MSEC;
	err = coll_group_init(&f->group, &config);
	memzero_explicit(&config, sizeof(config));
	if (err)
		return err;
	f->keyed = memchr_inv(join->fixed.key, 0, sizeof(join->fixed.key));
	f->request = join->fixed;
	f->request.rank = 0;
	memset(f->request.key, 0, sizeof(f->request.key));
	f->seats = kvcalloc(f->group.locals, sizeof(*f->seats), GFP_KERNEL_ACCOUNT);
	return f->seats ? 0 : -ENOMEM;
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

/* A NEW formation, or an error pointer. The request's tables may be taken over. */
static struct coll_formation *formation_new(struct coll_net *cn, struct coll_join *join,
					    const struct formation_identity *identity)
{
	u32 self = coll_join_self(join);
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
	f->made_ns = ktime_get_ns();
	f->uid = current_uid();
	spin_lock_init(&f->lock);
	coll_hrtimer_setup(&f->timer, coll_formation_expire, CLOCK_MONOTONIC,
			   HRTIMER_MODE_ABS_SOFT);
	mutex_lock(&cn->mutex);
	f->members = coll_members_get(&cn->members, join);
	mutex_unlock(&cn->mutex);
	err = f->members ? formation_init_group(f, join, identity, self) : -ENOMEM;
	if (!err)
		return f;
	if (f->group.memory > f->group.max_memory) {
		mutex_lock(&cn->mutex);
		cn->over_memory++;
		mutex_unlock(&cn->mutex);
	}
	coll_formation_free(f);
	return ERR_PTR(err);
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

/*
 * What lingers still has its memory, though its socket is gone and counts for no
 * limit of its user any more.
 */
static int formation_charge(struct coll_formation *f)
{
	struct coll_net *cn = f->cn;
	const struct coll_group *g = &f->group;
	u64 bytes = sizeof(*f) + g->memory +
		    g->hosts * (sizeof(*f->members->member) + sizeof(*f->members->lowest)) +
		    g->size * sizeof(*f->members->host_of_rank) +
		    (u64)g->locals * (sizeof(*f->seats) + (u64)g->window * g->room);

	if (cn->memory + bytes > formation_most_memory(cn)) {
		cn->over_memory++;
		return -ENOMEM;
	}
	f->charge = bytes;
	cn->memory += bytes;
	return 0;
}

/*
 * The rank takes its seat. -EADDRINUSE if it has joined before, or the group is over.
 * The namespace's mutex is held.
 */
static int formation_seat(struct coll_formation *f, struct coll_sock *csk, u32 rank)
{
	int local = -EEXIST;

	coll_formation_enter(f);
	if (!f->ended)
		local = coll_group_join(&f->group, rank);
	if (local >= 0) {
		csk->local = local;
		f->seats[local].csk = csk;
	}
	coll_formation_leave(f);
	return local < 0 ? -EADDRINUSE : 0;
}

/*
 * From now on packets find the formation. 0, -ENOMEM if the namespace's groups have too
 * much already, -ENFILE if there are too many of them, -EADDRINUSE if this host was in
 * that group until a moment ago, or why the port cannot be opened. The namespace's mutex
 * is held.
 */
static int formation_publish(struct coll_formation *f, struct coll_sock *csk, u32 rank)
{
	const struct collsock_member *self = &f->members->member[f->group.self];
	struct coll_net *cn = f->cn;
	int err;

	if (formation_remembered(f))
		return -EADDRINUSE;
	err = formation_charge(f);
	if (!err)
		err = coll_udp_open(cn, self->family);
	if (err)
		return err;
	/* The port was another one when it was looked at first. */
	if (self->port != cn->port)
		err = -EADDRNOTAVAIL;
	if (!err)
		err = formation_seat(f, csk, rank);
	if (!err)
		err = coll_net_add(cn, f);
	if (!err) {
		/* Before packets find it, and more happens. */
		coll_event_group(f, COLLSOCK_EVENT_GROUP_MADE);
		err = coll_formation_hash(f);
		if (err) {
			coll_net_remove(cn, f);
			coll_event_group(f, COLLSOCK_EVENT_GROUP_ENDED);
		}
	}
	if (err)
		/* Perhaps the port was opened for nothing. */
		coll_net_tidy_soon(cn);
	return err;
}

/*
 * Does the request describe the group as the first one on this host did? Its socket
 * relies on it, so no hash decides: whoever joins may have chosen what is hashed.
 */
static bool formation_agrees(const struct coll_formation *f, const struct coll_join *join,
			     const struct formation_identity *identity)
{
	const struct coll_members *m = f->members;
	struct collsock_join request = join->fixed;

	request.rank = 0;
	memset(request.key, 0, sizeof(request.key));
	return !memcmp(&request, &f->request, sizeof(request)) &&
	       !memcmp(&identity->secret, &f->group.secret, sizeof(identity->secret)) &&
	       !memcmp(join->members, m->member, m->hosts * sizeof(*m->member)) &&
	       !memcmp(join->host_of_rank, m->host_of_rank, m->ranks * sizeof(*m->host_of_rank));
}

/* The seat is in what another rank of this host has made; NULL if there is none. */
static struct coll_formation *formation_join_other(struct coll_net *cn,
						   const struct coll_join *join,
						   const struct formation_identity *identity,
						   struct coll_sock *csk)
{
	struct coll_formation *f;
	int err = 0;

	mutex_lock(&cn->mutex);
	/* Formations end under the mutex. */
	rcu_read_lock();
	f = coll_formation_find(cn, identity->secret.tag, coll_join_self(join));
	rcu_read_unlock();
	if (f)
		err = formation_agrees(f, join, identity) ?
		      formation_seat(f, csk, join->fixed.rank) : -EPROTO;
	mutex_unlock(&cn->mutex);
	return err ? ERR_PTR(err) : f;
}

/* The first rank of a host makes the formation. */
static struct coll_formation *formation_join_first(struct coll_net *cn, struct coll_join *join,
						   const struct formation_identity *identity,
						   struct coll_sock *csk)
{
	struct coll_formation *f = formation_new(cn, join, identity);
	int err;

	if (IS_ERR(f))
		return f;
	mutex_lock(&cn->mutex);
	err = formation_publish(f, csk, join->fixed.rank);
	mutex_unlock(&cn->mutex);
	if (err) {
		coll_formation_free(f);
		return ERR_PTR(err);
	}
	formation_nudge(f);
	return f;
}

/**
 * coll_formation_join() - a rank joins
 * @cn: the namespace
 * @join: the request; its tables may be taken over
 * @csk: the socket; its completion places are there
 *
 * Return: the formation, JOINED, in which the socket has a seat; or an error pointer:
 * -EADDRINUSE if the rank has joined before or the group was here until a moment ago,
 * -EPROTO if another rank of this host has described the group otherwise, -ENOMEM,
 * -ENFILE, -EINTR if the process is being killed, or why packets cannot be exchanged with the
 * members. Context: process.
 */
struct coll_formation *coll_formation_join(struct coll_net *cn, struct coll_join *join,
					   struct coll_sock *csk)
{
	struct formation_identity identity;
	struct coll_formation *f;

	identity.descriptor = coll_descriptor_hash(&join->fixed, join->members,
						   join->host_of_rank);
	coll_wire_derive(&identity.secret, join->fixed.key, join->fixed.id, join->fixed.nonce);
	/* One after the other: ranks that are started together shall make one formation. */
	if (mutex_lock_killable(&cn->joining)) {
		f = ERR_PTR(-EINTR);
	} else {
		f = formation_join_other(cn, join, &identity, csk);
		if (!f)
			f = formation_join_first(cn, join, &identity, csk);
		mutex_unlock(&cn->joining);
	}
	memzero_explicit(&identity, sizeof(identity));
	return f;
}
