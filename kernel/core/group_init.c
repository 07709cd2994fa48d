// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Making and unmaking a group: all memory that running it needs is reserved here, for
 * every algorithm and every root, so that nothing is allocated in softirq context.
 */
#include "group.h"

/* Buckets beyond this are of no use: schedules name few hosts. */
#define MAX_PEER_BUCKETS	256

static void *group_alloc(struct coll_group *g, size_t bytes)
{
	g->memory.bytes += bytes;
	return g->memory.bytes <= g->memory.most ? coll_env_alloc(bytes) : NULL;
}

static int group_build_schedules(struct coll_group *g)
{
	struct coll_shape shape = coll_group_shape(g, 0);
	unsigned int i;
	int err;

	if (coll_algorithms_count > COLL_MAX_SCHEDULES)
		return -E2BIG;
	for (i = 0; i < coll_algorithms_count; i++) {
		const struct coll_algorithm *a = &coll_algorithms[i];
		struct coll_schedule *s;

		if (a->rooted || !coll_plan_has(&g->plan, a))
			continue;
		s = group_alloc(g, sizeof(*s));
		if (!s)
			return -ENOMEM;
		g->plan.schedules[i] = s;
		err = a->build(s, &shape);
		if (err)
			return err;
		s->id = i;
	}
	return 0;
}

static void group_choose_defaults(struct coll_group *g, const struct collsock_join *j)
{
	const u8 wanted[] = {
		[COLLSOCK_BARRIER]	= j->barrier_algorithm,
		[COLLSOCK_ALLREDUCE]	= j->allreduce_algorithm,
		[COLLSOCK_REDUCE]	= j->reduce_algorithm,
		[COLLSOCK_BROADCAST]	= j->broadcast_algorithm,
	};
	u32 operation;

	for (operation = COLLSOCK_BARRIER; operation < ARRAY_SIZE(wanted); operation++) {
		u8 algorithm = wanted[operation] ?: coll_algorithm_auto(operation, g->hosts);

		g->plan.default_schedule[operation] =
			coll_algorithm_find(operation, algorithm) - coll_algorithms;
	}
}

/*
 * Of the hosts of a tree its root and the first child of that have the most to do,
 * so this is what a schedule needs whatever the root.
 */
static int group_size_rooted(const struct coll_group *g, const struct coll_algorithm *a,
			     struct coll_schedule *s, struct coll_op_size *size)
{
	struct coll_shape shape;
	u32 node;
	int err;

	for (node = 0; node < min(g->hosts, 2U); node++) {
		shape = coll_group_shape(g, (g->self + g->hosts - node) % g->hosts);
		err = a->build(s, &shape);
		if (err)
			return err;
		coll_op_size_add(size, s);
	}
	return 0;
}

/* @scratch is room for any schedule. */
static int group_size_operation(const struct coll_group *g, struct coll_schedule *scratch,
				struct coll_op_size *size)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < coll_algorithms_count; i++) {
		if (g->plan.schedules[i])
			coll_op_size_add(size, g->plan.schedules[i]);
		else if (coll_plan_has(&g->plan, &coll_algorithms[i]))
			err = group_size_rooted(g, &coll_algorithms[i], scratch, size);
	}
	return err;
}

static int group_build_slot(struct coll_group *g, struct coll_op *op,
			    const struct coll_op_size *size)
{
	u32 lanes = DIV_ROUND_UP(g->payload.max_bytes, g->payload.segment_bytes);
	u32 local = g->ranks.locals > 1 ? g->ranks.locals : 0;

	op->group = g;
	op->values = group_alloc(g, (size_t)(size->values + size->early + local) * g->payload.room);
	op->messages = group_alloc(g, (size_t)lanes * size->messages * sizeof(*op->messages) + 1);
	op->lanes = group_alloc(g, lanes * sizeof(*op->lanes));
	op->locals.post = group_alloc(g, g->ranks.locals * sizeof(*op->locals.post));
	if (!op->values || !op->messages || !op->lanes || !op->locals.post)
		return -ENOMEM;
	op->early = op->values + (size_t)size->values * g->payload.room;
	op->locals.buffers = op->early + (size_t)size->early * g->payload.room;
	return 0;
}

static int group_build_slots(struct coll_group *g)
{
	u32 i, slots = g->window.mask + 1;
	struct coll_op_size size = {};
	int err = 0;

	g->window.slots = group_alloc(g, slots * sizeof(*g->window.slots));
	if (!g->window.slots)
		return -ENOMEM;
	for (i = 0; i < slots; i++) {
		g->window.slots[i].own = group_alloc(g, sizeof(*g->window.slots[i].own));
		if (!g->window.slots[i].own)
			return -ENOMEM;
	}
	err = group_size_operation(g, g->window.slots[0].own, &size);
	/* It holds no schedule that an operation could take for its own. */
	g->window.slots[0].own->hosts = 0;
	for (i = 0; !err && i < slots; i++)
		err = group_build_slot(g, &g->window.slots[i], &size);
	return err;
}

/* A peer for a host that has none yet. */
static int group_reserve_peer(struct coll_group *g, u32 host)
{
	struct coll_peer *spare = g->peers.spare;

	while (spare && spare->host != host)
		spare = spare->next;
	if (spare || host == g->self)
		return 0;
	spare = coll_env_peer_new(g);
	if (!spare)
		return -ENOMEM;
	g->memory.bytes += sizeof(*spare);
	spare->host = host;
	spare->next = g->peers.spare;
	g->peers.spare = spare;
	return 0;
}

/*
 * All whom the schedules name: binomial trees to any root name no others than
 * dissemination does. Trees with a fan-out may name anybody.
 */
static int group_reserve_peers(struct coll_group *g)
{
	u32 i, k, hosts = g->plan.fanout ? g->hosts : 0;
	int err = 0;

	g->peers.bucket = group_alloc(g, (g->peers.mask + 1) * sizeof(struct coll_peer *));
	if (!g->peers.bucket)
		return -ENOMEM;
	for (i = 0; !err && i < hosts; i++)
		err = group_reserve_peer(g, i);
	for (i = 0; i < coll_algorithms_count; i++) {
		const struct coll_schedule *s = g->plan.schedules[i];

		for (k = 0; !err && s && k < s->sends; k++)
			err = group_reserve_peer(g, s->send[k].host);
		for (k = 0; !err && s && k < s->folds; k++)
			err = group_reserve_peer(g, s->fold[k].host);
	}
	return err;
}

static int group_find_locals(struct coll_group *g)
{
	/* Without a map it is the one of the host's own number. */
	u32 begin = g->ranks.host_of ? 0 : g->self;
	u32 end = g->ranks.host_of ? g->ranks.size : begin + 1;
	u32 rank, local = 0;

	for (rank = begin; rank < end; rank++)
		g->ranks.locals += coll_group_host(g, rank) == g->self;
	g->ranks.local = group_alloc(g, g->ranks.locals * sizeof(*g->ranks.local));
	if (!g->ranks.local)
		return -ENOMEM;
	for (rank = begin; rank < end; rank++)
		if (coll_group_host(g, rank) == g->self)
			g->ranks.local[local++].rank = rank;
	return 0;
}

static u32 round_up_power_of_two(u32 n)
{
	return n > 1 ? 1U << fls(n - 1) : 1;
}

/**
 * coll_group_init() - make a group
 * @g: zeroed
 * @config: what it is to be
 *
 * Reserves all memory that running needs. After an error coll_group_destroy()
 * frees what there is.
 *
 * Return: 0 or -ENOMEM. Context: may sleep.
 */
int coll_group_init(struct coll_group *g, const struct coll_config *config)
{
	const struct collsock_join *j = config->join;
	int err;

	g->secret = config->secret;
	g->timing = config->timing;
	g->descriptor = config->descriptor;
	g->hosts = j->hosts;
	g->self = config->self;
	g->ranks.size = j->ranks;
	/* Hosts stand in the order of their ranks: then each has that of its number. */
	g->ranks.host_of = j->ranks > j->hosts ? config->host_of_rank : NULL;
	g->ranks.lowest = config->lowest;
	g->incarnation = config->incarnation;
	g->window.size = j->window;
	g->window.mask = round_up_power_of_two(j->window) - 1;
	g->peers.mask = round_up_power_of_two(min_t(u32, j->hosts, MAX_PEER_BUCKETS)) - 1;
	g->payload.max_bytes = j->max_bytes;
	g->payload.room = round_up(j->max_bytes, 8);
	g->memory.most = config->max_memory ?: ~0ULL;
	g->payload.segment_bytes = j->segment_bytes;
	/* The sender gets to know of room before its window is full. */
	g->peers.ack_every = clamp(j->window / 2, 1, COLL_PEER_WINDOW / 4);
	g->plan.fanout = j->fanout;
	g->window.completed = COLL_NOTHING_DONE;
	g->credit.cover_done = COLL_NOTHING_DONE;
	g->credit.acknowledged = COLL_NOTHING_DONE;
	g->credit.floor_operation = COLL_NOTHING_DONE;
	g->credit.floor = COLL_NOTHING_DONE;
	g->credit.common = g->window.size - 1;
	g->armed_ns = COLL_NEVER;
	g->failure.settle_ns = COLL_NEVER;
	g->watch.next_ns = COLL_NEVER;
	/* No peer was watched in this round of looking, nor in the one before. */
	g->watch.round = 2;

	group_choose_defaults(g, j);
	err = group_find_locals(g);
	if (!err)
		err = group_build_schedules(g);
	if (!err)
		err = group_build_slots(g);
	if (!err)
		err = group_reserve_peers(g);
	return err;
}

static void group_free_peer_list(struct coll_peer *peer)
{
	while (peer) {
		struct coll_peer *next = peer->next;

		coll_env_peer_free(peer);
		peer = next;
	}
}

/**
 * coll_group_destroy() - free all memory of a group
 * @g: initialised, perhaps in part; nobody uses it any more
 *
 * Context: may sleep.
 */
void coll_group_destroy(struct coll_group *g)
{
	u32 i;

	for (i = 0; g->peers.bucket && i <= g->peers.mask; i++)
		group_free_peer_list(g->peers.bucket[i]);
	coll_env_free(g->peers.bucket);
	group_free_peer_list(g->peers.spare);
	for (i = 0; g->window.slots && i <= g->window.mask; i++) {
		coll_env_free(g->window.slots[i].own);
		coll_env_free(g->window.slots[i].values);
		coll_env_free(g->window.slots[i].messages);
		coll_env_free(g->window.slots[i].lanes);
		coll_env_free(g->window.slots[i].locals.post);
	}
	coll_env_free(g->window.slots);
	coll_env_free(g->ranks.local);
	for (i = 0; i < COLL_MAX_SCHEDULES; i++)
		coll_env_free(g->plan.schedules[i]);
}
