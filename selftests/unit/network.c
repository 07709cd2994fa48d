// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "network.h"
#include "reduce.h"

static struct unit_network *unit_network_of(struct world *w)
{
	return container_of(w, struct unit_network, world);
}

/* ---- callbacks of the world ---- */

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
	c->order = n->ranks[c->rank].completed++;
	c->at = n->world.now;
	if (bytes) {
		c->result = malloc(bytes);
		memcpy(c->result, result, bytes);
	}
}

static bool unit_tap(struct world *w, struct world_packet *p)
{
	struct unit_network *n = unit_network_of(w);

	if (n->tap && n->tap(n, p))
		return true;
	return n->cut[p->from] || n->cut[p->to];
}

static const struct world_user unit_user = {
	.complete	= unit_complete,
	.tap		= unit_tap,
};

/* ---- the network ---- */

/* Initialise the network after the ranks were placed. */
static void unit_network_make(struct unit_network *n, u64 seed)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		n->ranks[i].ops = calloc(UNIT_MAX_POSTS, sizeof(*n->ranks[i].ops));
	n->cut = calloc(n->hosts, sizeof(*n->cut));
	world_init(&n->world, n->hosts, seed, &unit_user);
	n->world.link.kind = WORLD_UNIFORM;
	n->world.link.spread_ns = n->world.link.delay_ns / 4;
	n->join.size = sizeof(n->join);
	n->join.id = 7;
	n->join.nonce = seed;
	memcpy(n->join.key, "sixteen byte key", 16);
	n->join.hosts = n->hosts;
	n->join.ranks = n->count;
}

static void unit_network_room(struct unit_network *n, u32 ranks)
{
	memset(n, 0, sizeof(*n));
	n->count = ranks;
	n->ranks = calloc(ranks, sizeof(*n->ranks));
	n->host_of_rank = calloc(ranks, sizeof(*n->host_of_rank));
}

void unit_network_init(struct unit_network *n, u32 hosts, u64 seed)
{
	u32 i;

	unit_network_room(n, hosts);
	n->hosts = hosts;
	for (i = 0; i < hosts; i++)
		n->host_of_rank[i] = i;
	unit_network_make(n, seed);
}

void unit_network_place(struct unit_network *n, const u32 *host_of_rank, u32 ranks, u64 seed)
{
	u32 i;

	unit_network_room(n, ranks);
	for (i = 0; i < ranks; i++) {
		n->host_of_rank[i] = host_of_rank[i];
		n->hosts = max(n->hosts, host_of_rank[i] + 1);
	}
	unit_network_make(n, seed);
}

void unit_network_free(struct unit_network *n)
{
	u32 i;

	if (!n->count)
		return;
	if (n->made)
		world_group_free(&n->group);
	world_free(&n->world);
	for (i = 0; i < n->count; i++) {
		unit_forget(n, i);
		free(n->ranks[i].ops);
	}
	free(n->ranks);
	free(n->host_of_rank);
	free(n->cut);
	memset(n, 0, sizeof(*n));
}

/* ---- hosts ---- */

struct coll_peer *unit_peer(const struct unit_network *n, u32 host, u32 other)
{
	struct coll_peer *peer = unit_group(n, host)->peers.all;

	while (peer && peer->host != other)
		peer = peer->all;
	return peer;
}

void unit_cut(struct unit_network *n, u32 host)
{
	n->cut[host] = true;
	n->world.hosts[host].deaf_ns = COLL_NEVER;
}

/* ---- ranks ---- */

int unit_join(struct unit_network *n, u32 rank, const struct coll_timing *timing)
{
	struct unit_rank *r = &n->ranks[rank];

	if (!n->made && world_group_init(&n->world, &n->group, &n->join, timing, NULL))
		return -EINVAL;
	n->made = true;
	n->group.host_of_rank = n->host_of_rank;
	r->member = unit_member(n, n->host_of_rank[rank]);
	r->local = world_join_rank(r->member, rank);
	return r->local;
}

int unit_join_all(struct unit_network *n, const struct coll_timing *timing)
{
	u32 i;

	for (i = 0; i < n->count; i++)
		if (unit_join(n, i, timing) < 0)
			return -EINVAL;
	return 0;
}

void unit_leave(struct unit_network *n, u32 rank)
{
	world_leave_rank(n->ranks[rank].member, n->ranks[rank].local);
}

/* ---- posts ---- */

struct collsock_post unit_post_of(u8 operation, u8 algorithm, u32 root, u32 count)
{
	struct collsock_post post = {
		.size = sizeof(post), .operation = operation, .algorithm = algorithm,
		.root = root,
	};

	if (operation != COLLSOCK_BARRIER) {
		post.type = COLLSOCK_UINT64;
		post.op = coll_operations[operation].reduces ? COLLSOCK_SUM : COLLSOCK_NOP;
		post.count = count;
	}
	return post;
}

static u32 unit_payload_bytes(const struct unit_network *n, u32 rank,
			      const struct collsock_post *post)
{
	u32 bytes = post->count * coll_type_bytes(post->type);

	switch (post->operation) {
	case COLLSOCK_BROADCAST:
		return post->root == rank ? bytes : 0;
	case COLLSOCK_SCATTER:
		return post->root == rank ? bytes * n->count : 0;
	case COLLSOCK_REDUCE_SCATTER_BLOCK:
		return bytes * n->count;
	default:
		return bytes;
	}
}

int unit_post(struct unit_network *n, u32 rank, const struct collsock_post *post,
	      const void *payload)
{
	u32 bytes = unit_payload_bytes(n, rank, post);
	struct unit_rank *r = &n->ranks[rank];
	struct unit_completion *c = &r->ops[r->posted];
	int err;

	c->rank = rank;
	c->posted = n->world.now;
	err = world_post_rank(r->member, r->local, post, payload, bytes, c);
	r->posted += !err;
	return err;
}

int unit_post_value(struct unit_network *n, u32 rank, u8 operation, u8 algorithm, u32 root,
		    u64 value)
{
	struct collsock_post post = unit_post_of(operation, algorithm, root, 1);

	return unit_post(n, rank, &post, &value);
}

int unit_allreduce(struct unit_network *n, u32 rank, u8 type, u8 op, u32 count,
		   const void *payload)
{
	const struct collsock_post post = {
		.size = sizeof(post), .operation = COLLSOCK_ALLREDUCE, .type = type, .op = op,
		.count = count,
	};

	return unit_post(n, rank, &post, payload);
}

u64 unit_value(const struct unit_completion *c)
{
	u64 value = 0;

	if (c->bytes == sizeof(value))
		memcpy(&value, c->result, sizeof(value));
	return value;
}

void unit_forget(struct unit_network *n, u32 rank)
{
	struct unit_rank *r = &n->ranks[rank];
	u32 i;

	for (i = 0; i < r->posted; i++)
		free(r->ops[i].result);
	memset(r->ops, 0, r->posted * sizeof(*r->ops));
	r->posted = 0;
}

/* ---- time ---- */

void unit_run(struct unit_network *n, u64 ns)
{
	u64 until = n->world.now + ns;

	while (world_step(&n->world, until))
		;
}

static bool unit_await_until(struct unit_network *n, const struct unit_completion *c, u64 until)
{
	while (!c->done)
		if (!world_step(&n->world, until))
			return false;
	return true;
}

bool unit_await(struct unit_network *n, u32 rank, u32 op, u64 ns)
{
	return unit_await_until(n, &n->ranks[rank].ops[op], n->world.now + ns);
}

bool unit_await_all(struct unit_network *n, u64 ns)
{
	u64 until = n->world.now + ns;
	u32 i;

	for (i = 0; i < n->count; i++)
		if (n->ranks[i].posted && !unit_await_until(n, unit_last(n, i), until))
			return false;
	return true;
}
