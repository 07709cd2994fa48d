// SPDX-License-Identifier: GPL-2.0
/*
 * Prefixes: scan and exscan, of ranks that are placed on hosts in their order.
 */
#include <math.h>

#include "net_fixture.h"
#include "seed.h"

#define SECOND		((u64)NSEC_PER_SEC)
#define MAX_PLACED	12
#define MAX_ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)
#define MAX_ROUGH	40

static const u8 scans[] = { COLLSOCK_SCAN, COLLSOCK_EXSCAN };

static const struct placement {
	u32	count;
	u32	host_of_rank[MAX_PLACED];
} placements[] = {
	{ 1, { 0 } },
	{ 4, { 0, 0, 0, 0 } },
	{ 2, { 0, 1 } },
	{ 9, { 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ 9, { 0, 0, 0, 1, 1, 1, 2, 2, 2 } },
	{ 12, { 0, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 5 } },
};

static void begin(struct __test_metadata *_metadata, struct unit_network *n,
		  const struct placement *p, u32 max_bytes)
{
	unit_network_place(n, p->host_of_rank, p->count, seed_start());
	n->join.max_bytes = max_bytes;
	n->join.window = 4;
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static u64 element(u32 rank, u32 i)
{
	return (u64)(rank + 1) << 40 | (u64)(rank + 3) * i;
}

/* Like a program: wait while the window is full; others may still be running. */
static int post(struct unit_network *n, u32 rank, const struct collsock_post *p,
		const void *payload)
{
	u64 until = n->world.now + 60 * SECOND;
	int err;

	do
		err = unit_post(n, rank, p, payload);
	while (err == -EAGAIN && world_step(&n->world, until));
	return err;
}

static void check_sums(struct __test_metadata *_metadata, struct unit_network *n, u32 rank,
		       const struct collsock_post *p)
{
	u32 from = p->operation == COLLSOCK_SCAN ? rank + 1 : rank, i, k;
	const struct unit_completion *c = unit_last(n, rank);
	const u64 *result = (const u64 *)c->result;

	ASSERT_EQ(0, c->error);
	ASSERT_EQ(from ? 8 * p->count : 0, c->bytes)
		TH_LOG("operation %u, rank %u of %u", p->operation, rank, n->count);
	for (i = 0; from && i < p->count; i++) {
		u64 sum = 0;

		for (k = 0; k < from; k++)
			sum += element(k, i);
		ASSERT_EQ(sum, result[i])
			TH_LOG("operation %u, rank %u of %u, element %u", p->operation, rank,
			       n->count, i);
	}
}

/* All ranks post, in any order. */
static void run_sums(struct __test_metadata *_metadata, struct unit_network *n, u8 operation,
		     u32 count)
{
	struct collsock_post p = unit_post_of(operation, COLLSOCK_AUTO, 0, count);
	u32 step = n->count == 9 ? 4 : 1, first = world_below(&n->world.random, n->count), i, k;
	static u64 payload[MAX_ELEMENTS];

	for (i = 0; i < n->count; i++) {
		u32 rank = (first + i * step) % n->count;

		for (k = 0; k < count; k++)
			payload[k] = element(rank, k);
		ASSERT_EQ(0, post(n, rank, &p, payload));
	}
	ASSERT_TRUE(unit_await_all(n, 60 * SECOND));
	for (i = 0; i < n->count; i++)
		check_sums(_metadata, n, i, &p);
}

TEST_F(net, every_rank_gets_the_sum_of_those_up_to_it_or_below_it)
{
	u32 i, k, run;

	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(_metadata, &self->n, &placements[i], 2048);
		/* Slots are used again. */
		for (run = 0; run < 10; run++)
			for (k = 0; k < ARRAY_SIZE(scans); k++)
				run_sums(_metadata, &self->n, scans[k], 1 + run);
		unit_network_free(&self->n);
	}
}

TEST_F(net, sixty_four_kib_are_exact_under_loss_and_reordering)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(_metadata, &self->n, &placements[i], COLLSOCK_MAX_PAYLOAD);
		self->n.world.link.loss = 50;
		self->n.world.link.duplication = 50;
		self->n.world.link.reordering = 200;
		for (k = 0; k < ARRAY_SIZE(scans); k++) {
			run_sums(_metadata, &self->n, scans[k], MAX_ELEMENTS);
			run_sums(_metadata, &self->n, scans[k], 133);
		}
		unit_network_free(&self->n);
	}
}

/* ---- the order of folding ---- */

/* A NaN that tells whose it is */
static double nan_of(u32 rank)
{
	u64 bits = 0x7ff8000000000000ULL | rank;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Sums of these differ in almost any other order. Some elements of several ranks are NaNs. */
static double rough(u32 rank, u32 i)
{
	double value = 1 + (double)((rank * 7919 + i * 104729) % 1000003) / 1000003;

	if (i % 4 == 3 && (rank + i / 4) % 3)
		return nan_of(rank);
	return (rank + i) % 3 ? value * (1 << (rank * 5 + i) % 13) : -value * 1024;
}

/* Of two NaNs the left one is the result. */
static double add(double left, double right)
{
	if (isnan(left) || isnan(right))
		return isnan(left) ? left : right;
	return left + right;
}

/* What the ranks of a host from @rank on contribute, up to @end: in a row */
static double fold_locals(u32 rank, u32 end, u32 i)
{
	double sum = rough(rank, i);

	while (++rank < end)
		sum = add(sum, rough(rank, i));
	return sum;
}

/* Ranks of hosts before this one */
static u32 ranks_before(const struct placement *p, u32 host)
{
	u32 rank = 0;

	while (rank < p->count && p->host_of_rank[rank] < host)
		rank++;
	return rank;
}

/* The register of a host after that many rounds (Documentation/reductions.md) */
static double fold_rounds(const struct placement *p, u32 host, u32 rounds, u32 i)
{
	u32 distance = rounds ? 1U << (rounds - 1) : 0;

	if (!rounds)
		return fold_locals(ranks_before(p, host), ranks_before(p, host + 1), i);
	if (host < distance)
		return fold_rounds(p, host, rounds - 1, i);
	return add(fold_rounds(p, host - distance, rounds - 1, i),
		   fold_rounds(p, host, rounds - 1, i));
}

/* What it receives, of the farthest host first */
static double fold_below(const struct placement *p, u32 host, u32 i)
{
	u32 round = fls(host) - 1;
	double sum = fold_rounds(p, host - (1U << round), round, i);

	while (round--)
		sum = add(sum, fold_rounds(p, host - (1U << round), round, i));
	return sum;
}

static double expected(const struct placement *p, u8 operation, u32 rank, u32 i)
{
	u32 host = p->host_of_rank[rank], first = ranks_before(p, host);
	u32 end = operation == COLLSOCK_SCAN ? rank + 1 : rank;

	if (end == ranks_before(p, host + 1))
		return fold_rounds(p, host, 8, i);
	if (!host)
		return fold_locals(first, end, i);
	if (first == end)
		return fold_below(p, host, i);
	return add(fold_below(p, host, i), fold_locals(first, end, i));
}

static u64 bits(double value)
{
	u64 all;

	memcpy(&all, &value, sizeof(all));
	return all;
}

static void run_rough(struct __test_metadata *_metadata, struct unit_network *n,
		      const struct placement *p, u8 operation)
{
	struct collsock_post post = unit_post_of(operation, COLLSOCK_AUTO, 0, MAX_ROUGH);
	u32 first = world_below(&n->world.random, n->count), rank, i;
	double payload[MAX_ROUGH];

	post.type = COLLSOCK_DOUBLE;
	for (rank = 0; rank < n->count; rank++) {
		u32 turned = (first + rank) % n->count;

		for (i = 0; i < MAX_ROUGH; i++)
			payload[i] = rough(turned, i);
		ASSERT_EQ(0, unit_post(n, turned, &post, payload));
	}
	ASSERT_TRUE(unit_await_all(n, 60 * SECOND));
	for (rank = operation == COLLSOCK_EXSCAN; rank < n->count; rank++) {
		memcpy(payload, unit_last(n, rank)->result, sizeof(payload));
		for (i = 0; i < MAX_ROUGH; i++) {
			ASSERT_EQ(bits(expected(p, operation, rank, i)), bits(payload[i]))
				TH_LOG("operation %u, rank %u of %u, element %u", operation, rank,
				       n->count, i);
		}
	}
}

TEST_F(net, ranks_are_folded_in_their_order_whichever_posts_first)
{
	u32 i, k, run;

	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(_metadata, &self->n, &placements[i], 2048);
		for (run = 0; run < 5; run++)
			for (k = 0; k < ARRAY_SIZE(scans); k++)
				run_rough(_metadata, &self->n, &placements[i], scans[k]);
		unit_network_free(&self->n);
	}
}

/* ---- placement ---- */

static const struct placement scattered[] = {
	{ 3, { 0, 1, 0 } },
	{ 4, { 1, 1, 0, 0 } },
	{ 9, { 0, 1, 2, 0, 1, 2, 0, 1, 2 } },
};

/* Every host knows where all ranks are, so all refuse alike. */
TEST_F(net, ranks_that_are_not_placed_in_their_order_have_no_prefixes)
{
	struct coll_signature sig;
	struct collsock_post p;
	u32 i, k, rank;

	for (i = 0; i < ARRAY_SIZE(scattered); i++) {
		begin(_metadata, &self->n, &scattered[i], 64);
		for (k = 0; k < ARRAY_SIZE(scans); k++)
			for (rank = 0; rank < self->n.count; rank++) {
				struct unit_rank *r = &self->n.ranks[rank];

				p = unit_post_of(scans[k], COLLSOCK_AUTO, 0, 1);
				EXPECT_EQ(-EOPNOTSUPP, coll_signature_of_post(&r->member->group,
									      r->local, &p, &sig));
				p.algorithm = COLLSOCK_HILLIS_STEELE;
				EXPECT_EQ(-EOPNOTSUPP, coll_signature_of_post(&r->member->group,
									      r->local, &p, &sig));
				sig = (struct coll_signature) {
					.operation = scans[k], .algorithm = COLLSOCK_HILLIS_STEELE,
					.type = COLLSOCK_UINT64, .operator = COLLSOCK_SUM,
					.count = 1,
				};
				EXPECT_FALSE(coll_signature_makes_sense(&r->member->group, &sig));
			}
		/* Other operations go on. */
		for (rank = 0; rank < self->n.count; rank++)
			ASSERT_EQ(0, unit_barrier(&self->n, rank));
		ASSERT_TRUE(unit_await_all(&self->n, SECOND));
		unit_network_free(&self->n);
	}
}

TEST_F(net, a_result_has_no_bytes_only_for_rank_0_of_an_exscan)
{
	static const u32 bytes[][2] = { { COLLSOCK_SCAN, 8 }, { COLLSOCK_EXSCAN, 0 } };
	struct coll_signature sig;
	struct collsock_post p;
	u32 i;

	begin(_metadata, &self->n, &placements[4], 64);
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		p = unit_post_of(bytes[i][0], COLLSOCK_AUTO, 0, 1);
		ASSERT_EQ(8, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
		EXPECT_EQ(bytes[i][1],
			  coll_signature_result_bytes(unit_group(&self->n, 0), 0, &sig));
		EXPECT_EQ(8, coll_signature_result_bytes(unit_group(&self->n, 1), 0, &sig));
	}
}

TEST_F(net, only_what_can_be_reduced_has_prefixes)
{
	struct collsock_post p = unit_post_of(COLLSOCK_SCAN, COLLSOCK_AUTO, 0, 1);
	struct coll_signature sig;

	begin(_metadata, &self->n, &placements[4], 64);
	EXPECT_EQ(8, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
	EXPECT_EQ(8, coll_signature_result_bytes(unit_group(&self->n, 0), 0, &sig));
	EXPECT_TRUE(coll_signature_makes_sense(unit_group(&self->n, 1), &sig));
	p.root = 1;
	EXPECT_EQ(-EINVAL, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
	p = unit_post_of(COLLSOCK_EXSCAN, COLLSOCK_AUTO, 0, 1);
	p.flags = COLLSOCK_QUIET;
	EXPECT_EQ(-EINVAL, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
	p = unit_post_of(COLLSOCK_SCAN, COLLSOCK_EXCHANGE, 0, 1);
	EXPECT_EQ(-EINVAL, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
	p = unit_post_of(COLLSOCK_SCAN, COLLSOCK_AUTO, 0, 1);
	p.type = COLLSOCK_BYTE;
	EXPECT_EQ(-EINVAL, coll_signature_of_post(unit_group(&self->n, 0), 0, &p, &sig));
}

/* ---- who waits ---- */

/* Nobody waits for ranks above. */
TEST_F(net, a_rank_waits_for_those_below_alone)
{
	u32 rank;

	begin(_metadata, &self->n, &placements[3], 64);
	for (rank = 0; rank < 9; rank++) {
		ASSERT_EQ(0, unit_post_value(&self->n, rank, COLLSOCK_SCAN, COLLSOCK_AUTO, 0, 1));
		ASSERT_TRUE(unit_await(&self->n, rank, 0, SECOND));
		EXPECT_EQ(rank + 1, unit_value(unit_last(&self->n, rank)));
	}
	ASSERT_EQ(0, unit_post_value(&self->n, 8, COLLSOCK_EXSCAN, COLLSOCK_AUTO, 0, 1));
	unit_run(&self->n, SECOND);
	EXPECT_FALSE(unit_last(&self->n, 8)->done);
	for (rank = 0; rank < 8; rank++)
		ASSERT_EQ(0, unit_post_value(&self->n, rank, COLLSOCK_EXSCAN, COLLSOCK_AUTO, 0, 1));
	ASSERT_TRUE(unit_await_all(&self->n, SECOND));
	EXPECT_EQ(8, unit_value(unit_last(&self->n, 8)));
}

TEST_HARNESS_MAIN
