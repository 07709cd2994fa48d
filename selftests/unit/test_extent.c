// SPDX-License-Identifier: GPL-2.0
/*
 * Which bytes messages of place-only schedules have, when hosts have different numbers of ranks,
 * and vectors are cut into lanes at any byte; and the order of blocks.
 */
#include "../harness.h"

#include "../sim/world.h"
#include "registry.h"
#include "extent.h"
#include "seed.h"
#include "shapes.h"

#define MOST_HOSTS	128
#define MOST_LOCALS	3
#define MOST_RANKS	(MOST_HOSTS * MOST_LOCALS)
#define MOST_BLOCK	5
#define MOST_BYTES	(MOST_RANKS * MOST_BLOCK)
#define MOST_LANE	96

/**
 * struct placement - ranks on hosts
 * @order: the tables under test, which use
 * @first: this, and
 * @position: this
 * @locals: ranks of each host
 * @host_of: host of each rank
 */
struct placement {
	struct coll_order order;
	u32 first[MOST_HOSTS + 1];
	u32 position[MOST_RANKS];
	u32 locals[MOST_HOSTS];
	u32 host_of[MOST_RANKS];
};

static u32 below(u64 *random, u32 limit)
{
	return seed_next(random) % limit;
}

/* Hosts with 1 to 3 ranks each, placed at random */
static void place(struct placement *p, u32 hosts, u64 *random)
{
	u32 left[MOST_HOSTS], i;

	memset(p, 0, sizeof(*p));
	p->order.hosts = hosts;
	for (i = 0; i < hosts; i++) {
		p->locals[i] = 1 + below(random, MOST_LOCALS);
		left[i] = p->locals[i];
		p->order.ranks += p->locals[i];
	}
	for (i = 0; i < p->order.ranks; i++) {
		do
			p->host_of[i] = below(random, hosts);
		while (!left[p->host_of[i]]);
		left[p->host_of[i]]--;
	}
	p->order.first = p->first;
	if (!coll_order_same(p->host_of, p->order.ranks))
		p->order.position = p->position;
	coll_order_fill(&p->order, p->host_of);
}

/* ---- order ---- */

/* The number of a rank's block in host order, counted one by one */
static u32 counted_position(const struct placement *p, u32 rank)
{
	u32 other, before = 0;

	for (other = 0; other < p->order.ranks; other++)
		before += p->host_of[other] < p->host_of[rank] ||
			  (p->host_of[other] == p->host_of[rank] && other < rank);
	return before;
}

TEST(blocks_of_a_host_follow_each_other_in_the_order_of_its_ranks)
{
	static u8 ranks[MOST_BYTES], hosts[MOST_BYTES], again[MOST_BYTES];
	u64 random = seed_start();
	struct placement p;
	u32 n, i, block;

	for (n = 1; n <= MOST_HOSTS; n++) {
		place(&p, n, &random);
		block = 1 + below(&random, MOST_BLOCK);
		for (i = 0; i < p.order.ranks * block; i++)
			ranks[i] = seed_next(&random);
		world_reorder(&p.order, hosts, ranks, block, true);
		for (i = 0; i < p.order.ranks; i++) {
			ASSERT_EQ(0, memcmp(hosts + counted_position(&p, i) * block,
					    ranks + i * block, block))
				TH_LOG("%u hosts, rank %u", n, i);
		}
		world_reorder(&p.order, again, hosts, block, false);
		ASSERT_EQ(0, memcmp(again, ranks, p.order.ranks * block));
	}
}

TEST(ranks_in_the_order_of_hosts_need_no_table)
{
	static const u32 same[] = { 0, 0, 1, 1, 1, 2 }, other[] = { 0, 1, 0 };
	struct coll_order order = { .hosts = 3, .ranks = 6 };
	u32 position;

	EXPECT_TRUE(coll_order_same(same, ARRAY_SIZE(same)));
	EXPECT_FALSE(coll_order_same(other, ARRAY_SIZE(other)));
	EXPECT_EQ(4, coll_order_run(&order, 2, &position));
	EXPECT_EQ(2, position);
}

/* ---- extents ---- */

/* Is a byte of the vector one of the edge's? */
static bool edge_has(const struct placement *p, const struct coll_edge *e, u32 block, u32 at)
{
	u32 host = 0, i;

	while (at / block >= p->first[host + 1])
		host++;
	for (i = 0; i < e->blocks; i++)
		if ((e->first_block + i) % p->order.hosts == host)
			return true;
	return false;
}

/* The bytes of an extent, in their order in the message */
static u32 extent_bytes(const struct coll_extent *x, u32 *at)
{
	u32 i, head = x->bytes - x->rest;

	for (i = 0; i < x->bytes; i++)
		at[i] = x->first + i + (i < head ? 0 : x->gap);
	return x->bytes;
}

static void check_extent(struct __test_metadata *_metadata, const struct placement *p,
			 const struct coll_edge *e, u32 block, const struct coll_span *lane)
{
	struct coll_extent x = coll_extent_of(&p->order, e, block, lane);
	u32 seen[MOST_BYTES], count = extent_bytes(&x, seen), next = 0, at;

	for (at = lane->first; at < lane->end; at++) {
		if (!edge_has(p, e, block, at))
			continue;
		ASSERT_LT(next, count);
		ASSERT_EQ(at, seen[next])
			TH_LOG("blocks %u+%u of %u, lane %u-%u", e->first_block, e->blocks,
			       p->order.hosts, lane->first, lane->end);
		next++;
	}
	ASSERT_EQ(next, count);
}

TEST(an_extent_has_the_bytes_of_the_edges_blocks_in_the_lane_the_lower_ones_first)
{
	u64 random = seed_start(), turn;
	struct coll_span lane;
	struct coll_edge e;
	struct placement p;
	u32 block, bytes;

	for (turn = 0; turn < 3000 * seed_soak(); turn++) {
		place(&p, 1 + below(&random, 12), &random);
		block = 1 + below(&random, MOST_BLOCK);
		bytes = p.order.ranks * block;
		e = (struct coll_edge) { .first_block = below(&random, p.order.hosts),
					 .blocks = 1 + below(&random, p.order.hosts) };
		lane.first = below(&random, bytes);
		lane.end = lane.first + 1 + below(&random, bytes - lane.first);
		check_extent(_metadata, &p, &e, block, &lane);
	}
}

static bool span_has(const struct coll_span *spans, u32 count, u32 lane)
{
	u32 i, times = 0;

	for (i = 0; i < count; i++)
		times += lane >= spans[i].first && lane < spans[i].end;
	return times == 1;
}

TEST(lanes_of_an_extent_are_those_that_have_something_of_it)
{
	u64 random = seed_start(), turn;
	struct coll_span whole = {}, lane, lanes[2];
	struct placement p;
	struct coll_edge e;
	struct coll_extent x, part;
	u32 block, segment, i, count;

	for (turn = 0; turn < 3000 * seed_soak(); turn++) {
		place(&p, 1 + below(&random, 12), &random);
		block = 1 + below(&random, MOST_BLOCK);
		segment = 1 + below(&random, 9);
		whole.end = p.order.ranks * block;
		e = (struct coll_edge) { .first_block = below(&random, p.order.hosts),
					 .blocks = 1 + below(&random, p.order.hosts) };
		x = coll_extent_of(&p.order, &e, block, &whole);
		count = coll_extent_lanes(&x, segment, lanes);
		for (i = 0; i * segment < whole.end; i++) {
			lane.first = i * segment;
			lane.end = min(lane.first + segment, whole.end);
			part = coll_extent_of(&p.order, &e, block, &lane);
			ASSERT_EQ(part.bytes > 0, span_has(lanes, count, i));
		}
	}
}

/* ---- whole operations ---- */

/**
 * struct run - an operation of a group, lane by lane
 * @p: its ranks
 * @schedule: of each host
 * @vector: of each host
 * @held: which bytes of it are there
 * @whole: the right one
 * @block: bytes of a block
 * @bytes: of the vector
 * @messages: in all lanes
 */
struct run {
	struct placement p;
	struct coll_schedule schedule[MOST_HOSTS];
	u8 vector[MOST_HOSTS][MOST_BYTES];
	bool held[MOST_HOSTS][MOST_BYTES];
	u8 whole[MOST_BYTES];
	u32 block;
	u32 bytes;
	u32 messages;
};

static void run_hold(struct run *r, u32 host, u32 first, u32 end)
{
	memcpy(r->vector[host] + first, r->whole + first, end - first);
	memset(r->held[host] + first, true, end - first);
}

static void run_start(struct run *r, const struct coll_algorithm *a, struct coll_shape shape,
		      u64 *random)
{
	const struct coll_operation *operation = coll_operation_find(a->operation);
	u32 i;

	place(&r->p, shape.hosts, random);
	r->block = 1 + below(random, MOST_BLOCK);
	r->bytes = r->p.order.ranks * r->block;
	r->messages = 0;
	memset(r->held, 0, sizeof(r->held));
	for (i = 0; i < r->bytes; i++)
		r->whole[i] = seed_next(random);
	for (i = 0; i < shape.hosts; i++) {
		shape.self = i;
		a->build(&r->schedule[i], &shape);
		if (operation->own_in)
			run_hold(r, i, r->p.first[i] * r->block, r->p.first[i + 1] * r->block);
		else if (i == shape.root)
			run_hold(r, i, 0, r->bytes);
	}
}

/* Send one message. What is sent is there, what is received was not. */
static void run_send(struct __test_metadata *_metadata, struct run *r, u32 from, u32 round,
		     const struct coll_edge *e, const struct coll_span *lane)
{
	const struct coll_schedule *to = &r->schedule[e->host];
	int entry = coll_schedule_find(to, round, from);
	u32 sent[MOST_LANE], placed[MOST_LANE], count, i;
	struct coll_extent x;

	ASSERT_LE(0, entry);
	x = coll_extent_of(&r->p.order, e, r->block, lane);
	count = extent_bytes(&x, sent);
	x = coll_extent_of(&r->p.order, &to->fold[entry], r->block, lane);
	ASSERT_EQ(count, extent_bytes(&x, placed));
	r->messages += !!count;
	for (i = 0; i < count; i++) {
		ASSERT_EQ(sent[i], placed[i]);
		ASSERT_TRUE(r->held[from][sent[i]]);
		ASSERT_FALSE(r->held[e->host][placed[i]]);
		r->vector[e->host][placed[i]] = r->vector[from][sent[i]];
		r->held[e->host][placed[i]] = true;
	}
}

/* Hosts take turns in each round. That none sends too early is proved by test_algorithm. */
static void run_lane(struct __test_metadata *_metadata, struct run *r,
		     const struct coll_span *lane)
{
	u32 round, host, i;

	for (round = 0; round < r->schedule[0].rounds; round++)
		for (host = 0; host < r->p.order.hosts; host++) {
			const struct coll_round *line = &r->schedule[host].round[round];

			for (i = 0; i < line->sends; i++)
				run_send(_metadata, r, host, round,
					 &r->schedule[host].send[line->send_first + i], lane);
		}
}

static void run_judge(struct __test_metadata *_metadata, struct run *r,
		      const struct coll_algorithm *a, u32 root)
{
	const struct coll_operation *operation = coll_operation_find(a->operation);
	u32 host, first, end;

	for (host = 0; host < r->p.order.hosts; host++) {
		if (!coll_operation_receives(a->operation, host == root))
			continue;
		first = operation->own_out ? r->p.first[host] * r->block : 0;
		end = operation->own_out ? r->p.first[host + 1] * r->block : r->bytes;
		ASSERT_EQ(NULL, memchr(r->held[host] + first, false, end - first));
		ASSERT_EQ(0, memcmp(r->vector[host] + first, r->whole + first, end - first));
	}
}

static void run_shape(struct __test_metadata *_metadata, struct run *r,
		      const struct coll_algorithm *a, const struct coll_shape *shape, u64 *random)
{
	u32 bytes = 1 + below(random, MOST_LANE);
	struct coll_span lane;

	run_start(r, a, *shape, random);
	for (lane.first = 0; lane.first < r->bytes; lane.first = lane.end) {
		lane.end = min(lane.first + bytes, r->bytes);
		run_lane(_metadata, r, &lane);
	}
	run_judge(_metadata, r, a, shape->root);
}

static void run_sizes(struct __test_metadata *_metadata, struct run *r,
		      const struct coll_algorithm *a, u64 *random)
{
	struct coll_shape shape = {};
	u32 roots, i;

	for (shape.hosts = 1; shape.hosts <= MOST_HOSTS; shape.hosts++) {
		roots = coll_operations[a->operation].rooted ? shape.hosts : 1;
		for (shape.root = 0; shape.root < roots; shape.root++)
			for (i = 0; !i || shapes_degree(a, i, shape.hosts); i++) {
				shape.degree = shapes_degree(a, i, shape.hosts);
				run_shape(_metadata, r, a, &shape, random);
			}
	}
}

TEST(unequal_blocks_arrive_whole_in_lanes_that_end_at_any_byte)
{
	struct run *r = malloc(sizeof(*r));
	u64 random = seed_start();
	struct coll_schedule s;
	u32 i;

	for (i = 0; i < coll_registry_count; i++) {
		const struct coll_algorithm *a = coll_registry[i];

		a->build(&s, &(struct coll_shape) { .hosts = 1, .degree = a->most_degree ? 2 : 0 });
		if (s.form == COLL_FORM_PLACES)
			run_sizes(_metadata, r, a, &random);
	}
	free(r);
}

TEST_HARNESS_MAIN
