/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ranks of one group in the simulator's world (../sim/world.h), one or several on a
 * host, for a test that determines the order of events itself. Functions take a rank if the
 * rank acts, and a host for its core or its link; with one rank on each host the numbers
 * are the same.
 */
#ifndef UNIT_NETWORK_H
#define UNIT_NETWORK_H

#include "../sim/world.h"

/* Posts of a rank, until unit_forget() */
#define UNIT_MAX_POSTS	4096

/* The outcome of one post */
struct unit_completion {
	bool	done;
	u32	error;
	u32	failed_rank;
	u32	bytes;
	u32	rank;
	u32	order;		/* among those of its rank */
	u64	at;
	u64	posted;
	u8	*result;
};

struct unit_rank {
	struct world_member	*member;	/* from its join on */
	int			local;
	struct unit_completion	*ops;
	u32			posted;
	u32			completed;
};

struct unit_network {
	struct world		world;
	struct world_group	group;
	struct collsock_join	join;	/* a test may change it before the first rank joins */
	struct unit_rank	*ranks;
	u32			*host_of_rank;
	bool			*cut;	/* by host */
	u32			count;	/* of ranks */
	u32			hosts;
	bool			made;
	/* a test inspects or changes a packet; true drops it */
	bool			(*tap)(struct unit_network *n, struct world_packet *p);
};

/* One rank on each host. */
void unit_network_init(struct unit_network *n, u32 hosts, u64 seed);

/* @host_of_rank: hosts in the order of their lowest ranks. */
void unit_network_place(struct unit_network *n, const u32 *host_of_rank, u32 ranks, u64 seed);

/* May be all zero. */
void unit_network_free(struct unit_network *n);

/* ---- hosts ---- */

static inline struct world_member *unit_member(const struct unit_network *n, u32 host)
{
	return &n->group.members[host];
}

static inline struct coll_group *unit_group(const struct unit_network *n, u32 host)
{
	return &unit_member(n, host)->group;
}

static inline bool unit_joined(const struct unit_network *n, u32 host)
{
	return n->made && unit_member(n, host)->state == WORLD_JOINED;
}

static inline bool unit_timewait(const struct unit_network *n, u32 host)
{
	return n->made && unit_member(n, host)->state == WORLD_TIMEWAIT;
}

/* The connection of a host to another one, or NULL. */
struct coll_peer *unit_peer(const struct unit_network *n, u32 host, u32 other);

/* Cut the host off in both directions. */
void unit_cut(struct unit_network *n, u32 host);

/* ---- ranks ---- */

/*
 * The first rank to join determines the request of all, and @timing, by default the core's.
 * Returns its number on its host, or errno.
 */
int unit_join(struct unit_network *n, u32 rank, const struct coll_timing *timing);

/* Returns 0, or -EINVAL if any of them could not. */
int unit_join_all(struct unit_network *n, const struct coll_timing *timing);

void unit_leave(struct unit_network *n, u32 rank);

/* ---- posts ---- */

/* With u64 as elements, which reductions sum. */
struct collsock_post unit_post_of(u8 operation, u8 algorithm, u32 root, u32 count);

/* @payload: the contribution of the rank, if any */
int unit_post(struct unit_network *n, u32 rank, const struct collsock_post *post,
	      const void *payload);

/* One element, if the operation has any. */
int unit_post_value(struct unit_network *n, u32 rank, u8 operation, u8 algorithm, u32 root,
		    u64 value);

static inline int unit_barrier_by(struct unit_network *n, u32 rank, u8 algorithm)
{
	return unit_post_value(n, rank, COLLSOCK_BARRIER, algorithm, 0, 0);
}

static inline int unit_barrier(struct unit_network *n, u32 rank)
{
	return unit_barrier_by(n, rank, COLLSOCK_AUTO);
}

static inline int unit_reduce(struct unit_network *n, u32 rank, u32 root, u64 value)
{
	return unit_post_value(n, rank, COLLSOCK_REDUCE, COLLSOCK_AUTO, root, value);
}

static inline int unit_broadcast(struct unit_network *n, u32 rank, u32 root, u64 value)
{
	return unit_post_value(n, rank, COLLSOCK_BROADCAST, COLLSOCK_AUTO, root, value);
}

int unit_allreduce(struct unit_network *n, u32 rank, u8 type, u8 op, u32 count,
		   const void *payload);

/* The latest post of a rank, which has posted. */
static inline struct unit_completion *unit_last(const struct unit_network *n, u32 rank)
{
	return &n->ranks[rank].ops[n->ranks[rank].posted - 1];
}

/* The result of unit_post_value(), 0 if there is none. */
u64 unit_value(const struct unit_completion *c);

/* Forget its posts so far. */
void unit_forget(struct unit_network *n, u32 rank);

/* ---- time ---- */

/* Bits of all algorithms, also of those that a group has only if it names them */
static inline u64 unit_every_algorithm(void)
{
	u64 algorithms = 0;
	u32 i;

	for (i = 0; i < coll_registry_count; i++)
		algorithms |= BIT_ULL(coll_registry[i]->algorithm);
	return algorithms;
}

static inline u64 unit_random(struct unit_network *n)
{
	return world_random(&n->world.random);
}

void unit_run(struct unit_network *n, u64 ns);

/* Run the turns in which what events have left is done. */
static inline void unit_turns(struct unit_network *n)
{
	unit_run(n, 1);
}

/* Run until this post of a rank has completed, or @ns have passed. */
bool unit_await(struct unit_network *n, u32 rank, u32 op, u64 ns);

/* Run until the latest posts of all ranks have completed, or @ns have passed. */
bool unit_await_all(struct unit_network *n, u64 ns);

#endif
