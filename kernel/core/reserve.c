// SPDX-License-Identifier: GPL-2.0
/*
 * Making and unmaking a group: all memory that running it needs is reserved here, for
 * every algorithm and every root, so that nothing is allocated in softirq context.
 */
#include "group.h"

/* Buckets beyond this are of no use: schedules name few hosts. */
#define MAX_PEER_BUCKETS	256

static void *group_alloc(struct coll_group *g, size_t bytes)
{
	g->memory += bytes;
	return g->memory <= g->max_memory ? coll_env_alloc(bytes) : NULL;
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

		if (a->rooted || !coll_group_has(g, a))
			continue;
		s = group_alloc(g, sizeof(*s));
		if (!s)
			return -ENOMEM;
		g->schedules[i] = s;
		err = a->build(s, &shape);
		if (err)
			return err;
		s->id = i;
	}
	return 0;
}

static void group_choose_defaults(struct coll_group *g, const struct collsock_join *j)
{
	u32 operation;

	g->algorithms = j->algorithms;
	for (operation = COLLSOCK_BARRIER; operation < ARRAY_SIZE(g->default_schedule);
	     operation++) {
		u8 algorithm = j->algorithm[operation] ?: coll_algorithm_auto(operation, g->hosts);

		g->default_schedule[operation] =
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
		if (g->schedules[i])
			coll_op_size_add(size, g->schedules[i]);
		else if (coll_group_has(g, &coll_algorithms[i]))
			err = group_size_rooted(g, &coll_algorithms[i], scratch, size);
	}
	return err;
}

static int group_build_slot(struct coll_group *g, struct coll_op *op,
			    const struct coll_op_size *size)
{
	u32 lanes = DIV_ROUND_UP(g->max_bytes, g->segment_bytes);
	u32 local = g->locals > 1 ? g->locals : 0;

	op->group = g;
	op->values = group_alloc(g, (size_t)(size->values + size->early + local) * g->room);
	op->messages = group_alloc(g, (size_t)lanes * size->messages * sizeof(*op->messages) + 1);
	op->lanes = group_alloc(g, lanes * sizeof(*op->lanes));
	op->parts = group_alloc(g, g->locals * sizeof(*op->parts));
	if (!op->values || !op->messages || !op->lanes || !op->parts)
		return -ENOMEM;
	op->early = op->values + (size_t)size->values * g->room;
	op->local = op->early + (size_t)size->early * g->room;
	return 0;
}

static int group_build_slots(struct coll_group *g)
{
	u32 i, slots = g->slot_mask + 1;
	struct coll_op_size size = {};
	int err = 0;

	g->slots = group_alloc(g, slots * sizeof(*g->slots));
	if (!g->slots)
		return -ENOMEM;
	for (i = 0; i < slots; i++) {
		g->slots[i].own = group_alloc(g, sizeof(*g->slots[i].own));
		if (!g->slots[i].own)
			return -ENOMEM;
	}
	err = group_size_operation(g, g->slots[0].own, &size);
	/* It holds no schedule that an operation could take for its own. */
	g->slots[0].own->hosts = 0;
	for (i = 0; !err && i < slots; i++)
		err = group_build_slot(g, &g->slots[i], &size);
	return err;
}

/* A peer for a host that has none yet. */
static int group_reserve_peer(struct coll_group *g, u32 host)
{
	struct coll_peer *spare = g->spare;

	while (spare && spare->host != host)
		spare = spare->next;
	if (spare || host == g->self)
		return 0;
	spare = coll_env_peer_new(g);
	if (!spare)
		return -ENOMEM;
	g->memory += sizeof(*spare);
	spare->host = host;
	spare->next = g->spare;
	g->spare = spare;
	return 0;
}

/*
 * All whom the schedules name: binomial trees to any root name no others than
 * dissemination does. Trees with a fan-out may name anybody.
 */
static int group_reserve_peers(struct coll_group *g)
{
	u32 i, k, hosts = g->fanout ? g->hosts : 0;
	int err = 0;

	g->peers = group_alloc(g, (g->peer_mask + 1) * sizeof(struct coll_peer *));
	if (!g->peers)
		return -ENOMEM;
	for (i = 0; !err && i < hosts; i++)
		err = group_reserve_peer(g, i);
	for (i = 0; i < coll_algorithms_count; i++) {
		const struct coll_schedule *s = g->schedules[i];

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
	u32 begin = g->host_of_rank ? 0 : g->self;
	u32 end = g->host_of_rank ? g->size : begin + 1;
	u32 rank, local = 0;

	for (rank = begin; rank < end; rank++)
		g->locals += coll_group_host(g, rank) == g->self;
	g->ranks = group_alloc(g, g->locals * sizeof(*g->ranks));
	if (!g->ranks)
		return -ENOMEM;
	for (rank = begin; rank < end; rank++)
		if (coll_group_host(g, rank) == g->self)
			g->ranks[local++].rank = rank;
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
	g->size = j->ranks;
	/* Hosts stand in the order of their ranks: then each has that of its number. */
	g->host_of_rank = j->ranks > j->hosts ? config->host_of_rank : NULL;
	g->lowest = config->lowest;
	g->incarnation = config->incarnation;
	g->window = j->window;
	g->slot_mask = round_up_power_of_two(j->window) - 1;
	g->peer_mask = round_up_power_of_two(min_t(u32, j->hosts, MAX_PEER_BUCKETS)) - 1;
	g->max_bytes = j->max_bytes;
	g->room = round_up(j->max_bytes, 8);
	g->max_memory = config->max_memory ?: ~0ULL;
	g->segment_bytes = j->segment_bytes;
	/* The sender gets to know of room before its window is full. */
	g->ack_every = clamp(j->window / 2, 1, COLL_PEER_WINDOW / 4);
	g->fanout = j->fanout;
	g->completed = COLL_NOTHING_DONE;
	g->cover_done = COLL_NOTHING_DONE;
	g->acknowledged = COLL_NOTHING_DONE;
	g->floor_operation = COLL_NOTHING_DONE;
	g->floor = COLL_NOTHING_DONE;
	g->common_credit = g->window - 1;
	g->armed_ns = COLL_NEVER;
	g->settle_ns = COLL_NEVER;
	g->watch_ns = COLL_NEVER;
	/* No peer was watched in this round of looking, nor in the one before. */
	g->watch_round = 2;

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

	for (i = 0; g->peers && i <= g->peer_mask; i++)
		group_free_peer_list(g->peers[i]);
	coll_env_free(g->peers);
	group_free_peer_list(g->spare);
	for (i = 0; g->slots && i <= g->slot_mask; i++) {
		coll_env_free(g->slots[i].own);
		coll_env_free(g->slots[i].values);
		coll_env_free(g->slots[i].messages);
		coll_env_free(g->slots[i].lanes);
		coll_env_free(g->slots[i].parts);
	}
	coll_env_free(g->slots);
	coll_env_free(g->ranks);
	for (i = 0; i < COLL_MAX_SCHEDULES; i++)
		coll_env_free(g->schedules[i]);
}
