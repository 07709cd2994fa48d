/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks of one group in the simulator's world (../sim/world.h), several on a
 * host, for a test that determines the order of events itself. Payloads may
 * have any size.
 */
#ifndef UNIT_RANKS_H
#define UNIT_RANKS_H

#include <stdlib.h>

#include "../sim/world.h"
#include "reduce.h"

#define UNIT_MAX_RANKS	32
#define UNIT_MAX_POSTS	256

/* What became of one post. */
struct unit_post {
	bool	done;
	u32	error;
	u32	failed_rank;
	u32	bytes;
	u8	*result;
};

struct unit_rank {
	struct world_member	*member;
	int			local;
	struct unit_post	posts[UNIT_MAX_POSTS];
	u32			posted;
};

struct unit_ranks {
	struct world		world;
	struct world_group	group;
	struct collsock_join	join;
	struct unit_rank	rank[UNIT_MAX_RANKS];
	u32			host_of_rank[UNIT_MAX_RANKS];
	u32			count;
	u32			hosts;
	bool			made;
	/* a test inspects or changes a packet; true drops it */
	bool			(*tap)(struct unit_ranks *n, struct world_packet *p);
};

static void ranks_complete(struct world_member *m, void *token, const void *result,
			   u32 bytes, u32 error, u32 failed_rank)
{
	struct unit_post *p = token;

	if (p->done) {
		fprintf(stderr, "# host %u: operation completed twice\n", m->index);
		abort();
	}
	*p = (struct unit_post){ true, error, failed_rank, bytes, NULL };
	if (bytes) {
		p->result = malloc(bytes);
		memcpy(p->result, result, bytes);
	}
}

static bool ranks_tap(struct world *w, struct world_packet *p)
{
	struct unit_ranks *n = container_of(w, struct unit_ranks, world);

	return n->tap && n->tap(n, p);
}

static const struct world_user unit_ranks_user = {
	.complete	= ranks_complete,
	.tap		= ranks_tap,
};

/* @host_of_rank: hosts in the order of their lowest ranks. */
static inline void ranks_init(struct unit_ranks *n, const u32 *host_of_rank, u32 count, u64 seed)
{
	u32 i;

	memset(n, 0, sizeof(*n));
	n->count = count;
	for (i = 0; i < count; i++) {
		n->host_of_rank[i] = host_of_rank[i];
		n->hosts = max(n->hosts, host_of_rank[i] + 1);
		n->rank[i].local = -1;
	}
	world_init(&n->world, n->hosts, seed, &unit_ranks_user);
	n->world.link.kind = WORLD_UNIFORM;
	n->world.link.spread_ns = n->world.link.delay_ns / 4;
	n->join.size = sizeof(n->join);
	n->join.id = 7;
	n->join.nonce = seed;
	memcpy(n->join.key, "sixteen byte key", 16);
	n->join.hosts = n->hosts;
	n->join.ranks = count;
}

/* The first rank to join determines the request of all. Its number on its host, or errno. */
static inline int ranks_join(struct unit_ranks *n, u32 rank)
{
	struct unit_rank *r = &n->rank[rank];

	if (!n->made && world_group_init(&n->world, &n->group, &n->join, NULL, NULL))
		return -EINVAL;
	n->made = true;
	n->group.host_of_rank = n->host_of_rank;
	r->member = &n->group.members[n->host_of_rank[rank]];
	r->local = world_join_rank(r->member, rank);
	return r->local;
}

static inline int ranks_join_all(struct unit_ranks *n)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		if (ranks_join(n, i) < 0)
			return -EINVAL;
	return 0;
}

static inline void ranks_forget(struct unit_rank *r)
{
	u32 i;

	for (i = 0; i < r->posted; i++)
		free(r->posts[i].result);
	memset(r->posts, 0, r->posted * sizeof(*r->posts));
	r->posted = 0;
}

static inline void ranks_free(struct unit_ranks *n)
{
	u32 i;

	if (n->made)
		world_group_free(&n->group);
	world_free(&n->world);
	for (i = 0; i < n->count; i++)
		ranks_forget(&n->rank[i]);
	memset(n, 0, sizeof(*n));
}

static inline struct coll_group *ranks_group(struct unit_ranks *n, u32 host)
{
	return &n->group.members[host].group;
}

/* @payload: the contribution of the rank, if it has one. */
static inline int ranks_post(struct unit_ranks *n, u32 rank, const struct collsock_post *post,
			     const void *payload)
{
	struct unit_rank *r = &n->rank[rank];
	bool brings = post->operation != COLLSOCK_BROADCAST || post->root == rank;
	u32 bytes = brings ? post->count * coll_type_bytes(post->type) : 0;
	int err = world_post_rank(r->member, r->local, post, payload, bytes,
				  &r->posts[r->posted]);

	r->posted += !err;
	return err;
}

static inline void ranks_leave(struct unit_ranks *n, u32 rank)
{
	world_leave_rank(n->rank[rank].member, n->rank[rank].local);
}

static inline void ranks_run(struct unit_ranks *n, u64 ns)
{
	u64 until = n->world.now + ns;

	while (world_step(&n->world, until))
		;
}

static inline struct unit_post *ranks_last(struct unit_ranks *n, u32 rank)
{
	return &n->rank[rank].posts[n->rank[rank].posted - 1];
}

/* Run until the latest posts of all ranks have completed, or @ns have passed. */
static inline bool ranks_await(struct unit_ranks *n, u64 ns)
{
	u64 until = n->world.now + ns;
	u32 i;

	for (i = 0; i < n->count; i++)
		while (n->rank[i].posted && !ranks_last(n, i)->done)
			if (!world_step(&n->world, until))
				return false;
	return true;
}

#endif
