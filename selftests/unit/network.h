/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts of one group in the simulator's world (../sim/world.h), for a test that
 * determines the order of events itself.
 */
#ifndef UNIT_NETWORK_H
#define UNIT_NETWORK_H

#include <stdlib.h>

#include "../sim/world.h"
#include "reduce.h"

#ifndef UNIT_MAX_OPS
#define UNIT_MAX_OPS	4096
#endif

/* What became of one post. */
struct unit_completion {
	bool	done;
	u32	error;
	u32	failed_rank;
	u32	bytes;
	u32	order;
	u64	at;
	u64	posted;
	u8	result[COLLSOCK_DEFAULT_SEGMENT] __aligned(8);
};

struct unit_host {
	struct world_member	*member;
	struct unit_completion	*ops;
	u32			posted;
	u32			completed;
	bool			cut;
};

struct unit_network {
	struct world		world;
	struct world_group	group;
	struct unit_host	*hosts;
	struct collsock_join	join;
	u32			count;
	bool			made;
	/* a test inspects or changes a packet; true drops it */
	bool			(*tap)(struct unit_network *n, struct world_packet *p);
};

static inline struct unit_network *unit_network_of(struct world *w)
{
	return container_of(w, struct unit_network, world);
}

/* ---- what the world tells ---- */

static void unit_complete(struct world_member *m, void *token, const void *result,
			  u32 bytes, u32 error, u32 failed_rank)
{
	struct unit_network *n = unit_network_of(m->world);
	struct unit_completion *c = token;

	if (c->done) {
		fprintf(stderr, "# host %u: operation completed twice\n", m->index);
		abort();
	}
	c->done = true;
	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->order = n->hosts[m->index].completed++;
	c->at = n->world.now;
	if (bytes)
		memcpy(c->result, result, bytes);
}

static bool unit_tap(struct world *w, struct world_packet *p)
{
	struct unit_network *n = unit_network_of(w);

	if (n->tap && n->tap(n, p))
		return true;
	return n->hosts[p->from].cut || n->hosts[p->to].cut;
}

static const struct world_user unit_user = {
	.complete	= unit_complete,
	.tap		= unit_tap,
};

/* ---- the network ---- */

static inline void unit_network_init(struct unit_network *n, u32 hosts, u64 seed)
{
	memset(n, 0, sizeof(*n));
	world_init(&n->world, hosts, seed, &unit_user);
	n->world.link.kind = WORLD_UNIFORM;
	n->world.link.spread_ns = n->world.link.delay_ns / 4;
	n->hosts = calloc(hosts, sizeof(*n->hosts));
	n->count = hosts;
	n->join.size = sizeof(n->join);
	n->join.id = 7;
	n->join.nonce = seed;
	memcpy(n->join.key, "sixteen byte key", 16);
	n->join.hosts = hosts;
	n->join.ranks = hosts;
}

/* The first host to join determines the request of all, and @timing. */
static inline int unit_join_host(struct unit_network *n, u32 i, const struct coll_timing *timing)
{
	if (!n->made && world_group_init(&n->world, &n->group, &n->join, timing, NULL))
		return -EINVAL;
	n->made = true;
	n->hosts[i].member = &n->group.members[i];
	n->hosts[i].ops = calloc(UNIT_MAX_OPS, sizeof(*n->hosts[i].ops));
	return world_join(n->hosts[i].member);
}

static inline int unit_join_all(struct unit_network *n, const struct coll_timing *timing)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < n->count; i++)
		err = unit_join_host(n, i, timing);
	return err;
}

static inline void unit_network_free(struct unit_network *n)
{
	u32 i;

	if (n->made)
		world_group_free(&n->group);
	world_free(&n->world);
	for (i = 0; i < n->count; i++)
		free(n->hosts[i].ops);
	free(n->hosts);
	memset(n, 0, sizeof(*n));
}

static inline u64 unit_random(struct unit_network *n)
{
	return world_random(&n->world.random);
}

static inline bool unit_joined(const struct unit_network *n, u32 host)
{
	return n->hosts[host].member && n->hosts[host].member->state == WORLD_JOINED;
}

static inline bool unit_timewait(const struct unit_network *n, u32 host)
{
	return n->hosts[host].member && n->hosts[host].member->state == WORLD_TIMEWAIT;
}

/* Nothing goes in or out any more. */
static inline void unit_cut(struct unit_network *n, u32 host)
{
	n->hosts[host].cut = true;
	n->world.hosts[host].deaf_ns = COLL_NEVER;
}

static inline int unit_post(struct unit_network *n, u32 host, u8 operation, u8 type,
			    u8 op, u32 count, u8 algorithm, const void *payload)
{
	struct collsock_post post = {
		.size = sizeof(post), .operation = operation, .type = type, .op = op,
		.algorithm = algorithm, .count = count,
	};
	struct unit_host *h = &n->hosts[host];
	int err;

	h->ops[h->posted].posted = n->world.now;
	err = world_post(h->member, &post, payload, count * coll_type_bytes(type),
			 &h->ops[h->posted]);
	if (!err)
		h->posted++;
	return err;
}

static inline int unit_barrier(struct unit_network *n, u32 host)
{
	return unit_post(n, host, COLLSOCK_BARRIER, 0, 0, 0, COLLSOCK_AUTO, NULL);
}

static inline void unit_leave(struct unit_network *n, u32 host)
{
	world_leave(n->hosts[host].member);
}

static inline void unit_run(struct unit_network *n, u64 ns)
{
	u64 until = n->world.now + ns;

	while (world_step(&n->world, until))
		;
}

/* Run until host's operation has completed or @ns have passed. */
static inline bool unit_await(struct unit_network *n, u32 host, u32 op, u64 ns)
{
	u64 until = n->world.now + ns;

	while (!n->hosts[host].ops[op].done)
		if (!world_step(&n->world, until))
			return false;
	return true;
}

static inline bool unit_await_all(struct unit_network *n, u32 op, u64 ns)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		if (unit_joined(n, i) && !unit_await(n, i, op, ns))
			return false;
	return true;
}

#endif
