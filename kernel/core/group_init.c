// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Creating and destroying a group. All memory that it needs while it runs is reserved here,
 * for all of its menu and every root, so that no event allocates. The algorithms determine
 * how much, and for which hosts (coll_menu_need()).
 */
#include "descriptor.h"
#include "group.h"
#include "multicast.h"
#include "reduce.h"
#include "result.h"
#include "work.h"

/* More buckets are useless, as schedules name few hosts. */
#define MAX_PEER_BUCKETS	256

static void *group_alloc(struct coll_group *g, size_t bytes)
{
	return coll_env_charge(g, bytes) ? coll_env_alloc(bytes) : NULL;
}

static int group_build_schedule(struct coll_group *g, u32 position, u32 degree)
{
	struct coll_shape shape = coll_group_shape(g, 0, degree);
	struct coll_schedule *s = group_alloc(g, sizeof(*s));

	if (!s)
		return -ENOMEM;
	g->plan.schedules[position][degree] = s;
	return coll_registry[position]->build(s, &shape);
}

/* The schedules of an algorithm without a root, with all its degrees */
static int group_build_degrees(struct coll_group *g, u32 position)
{
	const struct coll_algorithm *a = coll_registry[position];
	u32 degree;
	int err = 0;

	for (degree = 0; !err && degree <= a->most_degree; degree++) {
		if (!coll_menu_offers(&g->plan.menu, a, degree))
			continue;
		if (!g->plan.schedules[position])
			g->plan.schedules[position] =
				group_alloc(g, (a->most_degree + 1) * sizeof(void *));
		err = g->plan.schedules[position] ? group_build_schedule(g, position, degree) :
						    -ENOMEM;
	}
	return err;
}

static int group_build_schedules(struct coll_group *g)
{
	u32 i;
	int err = 0;

	if (coll_registry_count > COLL_MAX_SCHEDULES)
		return -E2BIG;
	for (i = 0; !err && i < coll_registry_count; i++)
		if (!coll_algorithm_rooted(coll_registry[i]))
			err = group_build_degrees(g, i);
	return err;
}

static void group_free_schedules(struct coll_group *g)
{
	u32 i, degree;

	for (i = 0; i < COLL_MAX_SCHEDULES; i++) {
		if (!g->plan.schedules[i])
			continue;
		for (degree = 0; degree <= coll_registry[i]->most_degree; degree++)
			coll_env_free(g->plan.schedules[i][degree]);
		coll_env_free(g->plan.schedules[i]);
	}
}

/*
 * A vector that is only moved needs nothing but itself, so it may be longer than others. Messages
 * are received into it.
 */
static int group_build_slot(struct coll_group *g, struct coll_op *op,
			    const struct coll_needs *needs)
{
	const struct coll_room *room = &needs->room;
	u32 segment = coll_reduce_least_segment(g->payload.segment_bytes);
	u32 lanes = DIV_ROUND_UP(g->payload.max_result_bytes, segment);
	u32 folded = DIV_ROUND_UP(g->payload.max_bytes, segment);
	u32 i, local = g->ranks.locals > 1 ? g->ranks.locals : 0;
	size_t values = (size_t)(room->values - 1 + room->early + local) * g->payload.room;
	size_t moved = (size_t)needs->moves.values * round_up(g->payload.max_result_bytes, 8);
	size_t messages = max(folded * room->messages, lanes * needs->moves.messages);

	op->group = g;
	op->values = group_alloc(g, max(values, moved) + 1);
	op->messages = group_alloc(g, messages * sizeof(*op->messages) + 1);
	op->lanes = group_alloc(g, lanes * sizeof(*op->lanes));
	op->locals.post = group_alloc(g, g->ranks.locals * sizeof(*op->locals.post));
	if (!op->values || !op->messages || !op->lanes || !op->locals.post)
		return -ENOMEM;
	for (i = 0; i < lanes; i++) {
		op->lanes[i].index = i;
		INIT_LIST_HEAD(&op->lanes[i].link);
	}
	op->early = op->values + (size_t)(room->values - 1) * g->payload.room;
	op->locals.buffers = op->early + (size_t)room->early * g->payload.room;
	return 0;
}

/* Allocate the ring, with room in each slot for a schedule that depends on the root. */
static int group_build_ring(struct coll_group *g)
{
	u32 i, slots = g->window.mask + 1;

	g->window.slots = group_alloc(g, slots * sizeof(*g->window.slots));
	g->window.buffers = group_alloc(g, slots * (size_t)g->payload.room);
	if (!g->window.slots || !g->window.buffers)
		return -ENOMEM;
	for (i = 0; i < slots; i++) {
		struct coll_op *op = &g->window.slots[i];

		op->vector.buffer = g->window.buffers + i * (size_t)g->payload.room;
		op->rooted.schedule = group_alloc(g, sizeof(*op->rooted.schedule));
		if (!op->rooted.schedule)
			return -ENOMEM;
	}
	return 0;
}

static int group_build_slots(struct coll_group *g, const struct coll_needs *needs)
{
	u32 i;
	int err = 0;

	for (i = 0; !err && i <= g->window.mask; i++)
		err = group_build_slot(g, &g->window.slots[i], needs);
	return err;
}

/* Reserve the state of multicast for a connection, if the group has multicast. */
static int group_reserve_ahead(struct coll_group *g, u32 host)
{
	struct coll_ahead *a;

	if (!coll_group_multicasts(g))
		return 0;
	a = group_alloc(g, sizeof(*a));
	if (!a)
		return -ENOMEM;
	INIT_LIST_HEAD(&a->messages);
	g->multicast.host[host].ahead = a;
	return 0;
}

static int group_reserve_peer(struct coll_group *g, u32 host)
{
	struct coll_peer *spare = NULL;

	if (coll_env_charge(g, sizeof(*spare)))
		spare = coll_env_peer_new(g);
	if (!spare)
		return -ENOMEM;
	spare->host = host;
	spare->watch.probed_operation = COLL_NOTHING_DONE;
	spare->next = g->peers.spare;
	g->peers.spare = spare;
	return group_reserve_ahead(g, host);
}

static u32 group_count_peers(const struct coll_group *g, const u64 *hosts)
{
	u32 i, peers = 0;

	for (i = 0; i < COLL_HOSTS_WORDS(g->hosts); i++)
		peers += hweight64(hosts[i]);
	return peers;
}

static int group_reserve_peers(struct coll_group *g, const u64 *hosts)
{
	u32 host;
	int err = 0;

	if (group_count_peers(g, hosts) > COLL_MAX_PEERS)
		return -E2BIG;
	g->peers.bucket = group_alloc(g, (g->peers.mask + 1) * sizeof(struct coll_peer *));
	if (!g->peers.bucket)
		return -ENOMEM;
	for (host = coll_hosts_next(hosts, g->hosts, 0); !err && host < g->hosts;
	     host = coll_hosts_next(hosts, g->hosts, host + 1))
		err = group_reserve_peer(g, host);
	return err;
}

/* Reserve slots and peers for all that operations may use, and every root. */
static int group_reserve(struct coll_group *g)
{
	struct coll_needs needs = {
		.hosts = coll_env_alloc(COLL_HOSTS_WORDS(g->hosts) * sizeof(*needs.hosts)),
	};
	int err = needs.hosts ? group_build_ring(g) : -ENOMEM;

	if (!err)
		err = coll_menu_need(&g->plan.menu, g->self, g->window.slots[0].rooted.schedule,
				     &needs);
	if (!err)
		err = group_build_slots(g, &needs);
	if (!err)
		err = group_reserve_peers(g, needs.hosts);
	coll_env_free(needs.hosts);
	return err;
}

static int group_find_locals(struct coll_group *g)
{
	/* Without a map each host has the rank of its own number. */
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

/*
 * Build the order of blocks. A vector with one for each rank cannot exceed the largest result; if
 * the group has too many ranks for that, the tables are not needed.
 */
static int group_build_order(struct coll_group *g)
{
	struct coll_order *order = &g->ranks.order;
	const u32 *host_of = g->ranks.host_of;

	order->hosts = g->hosts;
	order->ranks = g->ranks.size;
	if (!host_of || g->ranks.size > g->payload.max_result_bytes)
		return 0;
	order->first = group_alloc(g, (g->hosts + 1) * sizeof(*order->first));
	if (!order->first)
		return -ENOMEM;
	if (g->plan.menu.scattered) {
		order->position = group_alloc(g, g->ranks.size * sizeof(*order->position));
		if (!order->position)
			return -ENOMEM;
	}
	coll_order_fill(order, host_of);
	return 0;
}

static int group_build_multicast(struct coll_group *g, const struct collsock_join *j)
{
	if (!coll_menu_multicasts(j))
		return 0;
	g->multicast.host = group_alloc(g, g->hosts * sizeof(*g->multicast.host));
	if (!g->multicast.host)
		return -ENOMEM;
	coll_multicast_init(g);
	return 0;
}

static void group_free_multicast(struct coll_group *g)
{
	u32 i;

	for (i = 0; g->multicast.host && i < g->hosts; i++)
		coll_env_free(g->multicast.host[i].ahead);
	coll_env_free(g->multicast.host);
	memzero_explicit(&g->multicast.tx, sizeof(g->multicast.tx));
	memzero_explicit(&g->multicast.rx, sizeof(g->multicast.rx));
}

/* The least power of two that is not less than @n */
static u32 group_round_up(u32 n)
{
	return n > 1 ? 1U << fls(n - 1) : 1;
}

/**
 * coll_group_init() - create a group
 * @g: zeroed
 * @config: its configuration
 *
 * Reserves all memory that the group needs. After an error the caller must call
 * coll_group_destroy(), too.
 *
 * Return: 0 or -ENOMEM. Context: may sleep.
 */
int coll_group_init(struct coll_group *g, const struct coll_config *config)
{
	const struct collsock_join *j = config->join;
	int err;

	g->secret = *config->secret;
	g->timing = config->timing;
	g->descriptor = config->descriptor;
	g->hosts = j->hosts;
	g->self = config->self;
	g->ranks.size = j->ranks;
	/* Hosts are in rank order, so each has the rank of its own number. */
	g->ranks.host_of = j->ranks > j->hosts ? config->host_of_rank : NULL;
	g->ranks.lowest = config->lowest;
	g->incarnation = config->incarnation;
	g->window.size = j->window;
	g->window.mask = group_round_up(j->window) - 1;
	g->peers.mask = group_round_up(min_t(u32, j->hosts, MAX_PEER_BUCKETS)) - 1;
	g->payload.max_bytes = j->max_bytes;
	g->payload.room = round_up(j->max_bytes, 8);
	g->payload.max_result_bytes = j->max_result_bytes;
	g->payload.segment_bytes = j->segment_bytes;
	g->payload.packet_bytes = coll_descriptor_packet_bytes(j);
	/* The sender learns of room before its window is full. */
	g->peers.ack_every = clamp(j->window / 2, 1, COLL_PEER_WINDOW / 4);
	g->window.completed = COLL_NOTHING_DONE;
	g->credit.cover_done = COLL_NOTHING_DONE;
	g->credit.acknowledged = COLL_NOTHING_DONE;
	g->credit.floor_operation = COLL_NOTHING_DONE;
	g->credit.floor = COLL_NOTHING_DONE;
	g->credit.common = g->window.size - 1;
	g->armed_ns = COLL_NEVER;
	g->work.most = COLL_WORK_MOST;
	g->work.unit = COLL_WORK_UNIT;
	INIT_LIST_HEAD(&g->work.ready);
	g->work.before = &g->work.ready;
	g->failure.settle_ns = COLL_NEVER;
	g->watch.next_ns = COLL_NEVER;
	/* No peer was watched in this round, nor in the one before. */
	g->watch.round = 2;

	coll_menu_init(&g->plan.menu, j);
	if (g->ranks.host_of && !coll_order_same(g->ranks.host_of, g->ranks.size))
		coll_menu_scatter(&g->plan.menu);
	err = group_find_locals(g);
	if (!err)
		err = group_build_order(g);
	if (!err)
		err = group_build_multicast(g, j);
	if (!err)
		err = group_build_schedules(g);
	if (!err)
		err = group_reserve(g);
	return err;
}

static void group_free_peer_list(struct coll_peer *peer)
{
	while (peer) {
		struct coll_peer *next = peer->next;

		/* From these states of the MAC packets could be forged. */
		memzero_explicit(&peer->conn.tx, sizeof(peer->conn.tx));
		memzero_explicit(&peer->conn.rx, sizeof(peer->conn.rx));
		coll_env_peer_free(peer);
		peer = next;
	}
}

/**
 * coll_group_destroy() - free all memory of a group
 * @g: initialised, perhaps partly; no longer in use
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
		coll_result_drop(&g->window.slots[i]);
		coll_env_free(g->window.slots[i].rooted.schedule);
		coll_env_free(g->window.slots[i].values);
		coll_env_free(g->window.slots[i].messages);
		coll_env_free(g->window.slots[i].lanes);
		coll_env_free(g->window.slots[i].locals.post);
	}
	coll_env_free(g->window.slots);
	coll_env_free(g->window.buffers);
	coll_env_free(g->ranks.order.first);
	coll_env_free(g->ranks.order.position);
	coll_env_free(g->ranks.local);
	group_free_multicast(g);
	group_free_schedules(g);
}
