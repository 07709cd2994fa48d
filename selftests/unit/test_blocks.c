// SPDX-License-Identifier: GPL-2.0
/*
 * Operations whose vector has a block for each rank: allgather, gather, scatter and
 * reduce_scatter_block, wherever ranks are.
 */
#include "net_fixture.h"
#include "seed.h"

#define SECOND		((u64)NSEC_PER_SEC)
#define MAX_PLACED	10
#define MAX_ELEMENTS	(COLLSOCK_MAX_PAYLOAD / 8)
#define MOST_ELEMENTS	(COLLSOCK_MAX_RESULT / 8)

static const struct placement {
	u32	count;
	u32	host_of_rank[MAX_PLACED];
} placements[] = {
	{ 1, { 0 } },
	{ 4, { 0, 0, 0, 0 } },
	{ 5, { 0, 1, 2, 3, 4 } },
	{ 9, { 0, 0, 0, 1, 1, 1, 2, 2, 2 } },
	{ 9, { 0, 1, 2, 0, 1, 2, 0, 1, 2 } },
	{ 9, { 0, 1, 1, 1, 1, 1, 2, 2, 3 } },
	{ 10, { 0, 1, 0, 2, 3, 1, 1, 0, 3, 2 } },
};

static void begin_long(struct __test_metadata *_metadata, struct unit_network *n,
		       const struct placement *p, u32 max_bytes, u32 max_result_bytes)
{
	unit_network_place(n, p->host_of_rank, p->count, seed_start());
	n->join.max_bytes = max_bytes;
	n->join.max_result_bytes = max_result_bytes;
	n->join.degree = 3;
	n->join.algorithms = unit_every_algorithm();
	ASSERT_EQ(0, unit_join_all(n, NULL));
}

static void begin(struct __test_metadata *_metadata, struct unit_network *n,
		  const struct placement *p, u32 max_bytes)
{
	begin_long(_metadata, n, p, max_bytes, max_bytes);
}

/* Element @i of block @block in the vector, or block, of a rank */
static u64 element(u32 rank, u32 block, u32 i)
{
	return (u64)(rank + 1) << 40 | (u64)(block + 1) << 20 | i;
}

/* What a rank contributes */
static void fill(const struct unit_network *n, const struct collsock_post *p, u32 rank, u64 *to)
{
	bool own = p->operation == COLLSOCK_ALLGATHER || p->operation == COLLSOCK_GATHER;
	u32 block, i;

	for (block = 0; block < (own ? 1 : n->count); block++)
		for (i = 0; i < p->count; i++)
			*to++ = element(rank, own ? rank : block, i);
}

/* Element @i of block @block of the result */
static u64 expected(const struct unit_network *n, const struct collsock_post *p, u32 block, u32 i)
{
	u64 sum = 0;
	u32 rank;

	if (p->operation == COLLSOCK_SCATTER)
		return element(p->root, block, i);
	if (p->operation != COLLSOCK_REDUCE_SCATTER_BLOCK)
		return element(block, block, i);
	for (rank = 0; rank < n->count; rank++)
		sum += element(rank, block, i);
	return sum;
}

static u32 blocks_received(const struct unit_network *n, const struct collsock_post *p, u32 rank)
{
	switch (p->operation) {
	case COLLSOCK_ALLGATHER:
		return n->count;
	case COLLSOCK_GATHER:
		return rank == p->root ? n->count : 0;
	default:
		return 1;
	}
}

static void check_result(struct __test_metadata *_metadata, struct unit_network *n, u32 rank,
			 const struct collsock_post *p)
{
	const struct unit_completion *c = unit_last(n, rank);
	u32 blocks = blocks_received(n, p, rank), block, i;
	const u64 *result = (const u64 *)c->result;

	ASSERT_EQ(0, c->error);
	ASSERT_EQ(8 * p->count * blocks, c->bytes)
		TH_LOG("operation %u, rank %u", p->operation, rank);
	for (block = 0; block < blocks; block++)
		for (i = 0; i < p->count; i++) {
			ASSERT_EQ(expected(n, p, blocks == 1 ? rank : block, i), *result++)
				TH_LOG("operation %u of %u ranks, rank %u, block %u, element %u",
				       p->operation, n->count, rank, block, i);
		}
}

/* Like a program: wait while the window is full; others may still be running. */
static int post(struct unit_network *n, u32 rank, const struct collsock_post *p)
{
	u64 until = n->world.now + 60 * SECOND;
	static u64 payload[MOST_ELEMENTS];
	int err;

	fill(n, p, rank, payload);
	do
		err = unit_post(n, rank, p, payload);
	while (err == -EAGAIN && world_step(&n->world, until));
	return err;
}

static void run(struct __test_metadata *_metadata, struct unit_network *n,
		const struct collsock_post *p)
{
	u32 i, first = world_below(&n->world.random, n->count);

	for (i = 0; i < n->count; i++)
		ASSERT_EQ(0, post(n, (first + i) % n->count, p));
	ASSERT_TRUE(unit_await_all(n, 60 * SECOND));
	for (i = 0; i < n->count; i++)
		check_result(_metadata, n, i, p);
}

/* Each of the operations up to @last with each of its algorithms, from each root */
static void run_to(struct __test_metadata *_metadata, struct unit_network *n, u32 last, u32 count)
{
	u32 operation, algorithm, root;

	for (operation = COLLSOCK_ALLGATHER; operation <= last; operation++)
		for (algorithm = 0; algorithm < COLL_MAX_ALGORITHMS; algorithm++) {
			struct collsock_post p = unit_post_of(operation, algorithm, 0, count);

			if (algorithm && !coll_registry_find(operation, algorithm))
				continue;
			for (root = 0; root < n->count; root++) {
				p.root = root;
				if (!root || coll_operations[operation].rooted)
					run(_metadata, n, &p);
			}
		}
}

static void run_all(struct __test_metadata *_metadata, struct unit_network *n, u32 count)
{
	run_to(_metadata, n, COLLSOCK_REDUCE_SCATTER_BLOCK, count);
}

TEST_F(net, every_rank_gets_its_blocks_wherever_ranks_are)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		begin(_metadata, &self->n, &placements[i], 2048);
		run_all(_metadata, &self->n, 1);
		run_all(_metadata, &self->n, 3);
		unit_network_free(&self->n);
	}
}

/* Most lanes have nothing of most edges, or parts of blocks, or both ends of the vector. */
TEST_F(net, vectors_of_many_segments_are_exact_under_loss_and_reordering)
{
	u32 i;

	for (i = 1; i < ARRAY_SIZE(placements); i++) {
		begin(_metadata, &self->n, &placements[i], COLLSOCK_MAX_PAYLOAD);
		self->n.world.link.loss = 50;
		self->n.world.link.duplication = 50;
		self->n.world.link.reordering = 200;
		run_all(_metadata, &self->n, MAX_ELEMENTS / placements[i].count - i);
		unit_network_free(&self->n);
	}
}

/* Ranks of a host share what is longer than max_bytes, whether that is all or their own blocks. */
TEST_F(net, vectors_of_blocks_may_be_longer_than_payloads)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(placements); i++) {
		const struct placement *p = &placements[i];

		begin_long(_metadata, &self->n, p, 64, COLLSOCK_MAX_PAYLOAD);
		run_to(_metadata, &self->n, COLLSOCK_SCATTER, 1);
		run_to(_metadata, &self->n, COLLSOCK_SCATTER, 8);
		run_to(_metadata, &self->n, COLLSOCK_SCATTER, 9);
		run_to(_metadata, &self->n, COLLSOCK_SCATTER, MAX_ELEMENTS / p->count);
		unit_network_free(&self->n);
	}
}

/* Contributions of more than 64 KiB are copied after the post, meanwhile others come. */
TEST_F(net, vectors_of_blocks_may_be_as_long_as_a_mebibyte)
{
	static const struct placement two = { 2, { 0, 1 } }, four = { 4, { 0, 1, 1, 0 } };

	begin_long(_metadata, &self->n, &two, 64, COLLSOCK_MAX_RESULT);
	run_to(_metadata, &self->n, COLLSOCK_SCATTER, MOST_ELEMENTS / 2);
	unit_network_free(&self->n);
	begin_long(_metadata, &self->n, &four, COLLSOCK_MAX_PAYLOAD, COLLSOCK_MAX_RESULT);
	self->n.world.link.loss = 20;
	run_to(_metadata, &self->n, COLLSOCK_SCATTER, MOST_ELEMENTS / 4);
}

static u64 messages_sent(const struct unit_network *n)
{
	u64 sum = 0;
	u32 host;

	for (host = 0; host < n->hosts; host++)
		sum += unit_group(n, host)->stats.messages_sent;
	return sum;
}

/* A block of each of four hosts fills two of the eight segments. */
TEST_F(net, messages_with_nothing_in_them_are_neither_sent_nor_awaited)
{
	static const struct placement four = { 4, { 0, 1, 2, 3 } };
	struct collsock_post p = unit_post_of(COLLSOCK_GATHER, COLLSOCK_AUTO, 0,
					      2 * COLLSOCK_DEFAULT_SEGMENT / 8);

	begin(_metadata, &self->n, &four, 8 * COLLSOCK_DEFAULT_SEGMENT);
	run(_metadata, &self->n, &p);
	unit_run(&self->n, SECOND);
	/* Node 1 sends its block, node 3, too; node 2 both of its subtree. */
	EXPECT_EQ(2 + 2 + 4, messages_sent(&self->n));
}

static int bytes_of(struct unit_network *n, u32 rank, u8 operation, u8 type, u8 op, u32 count)
{
	struct collsock_post p = {
		.size = sizeof(p), .operation = operation, .type = type, .op = op, .count = count,
	};
	struct coll_signature sig;

	return coll_signature_of_post(&n->ranks[rank].member->group, n->ranks[rank].local, &p,
				      &sig);
}

TEST_F(net, the_limit_is_of_the_whole_vector)
{
	static const u8 operations[] = { COLLSOCK_ALLGATHER, COLLSOCK_GATHER, COLLSOCK_SCATTER };
	u32 i;

	/* Nine ranks: 7 bytes each are 63. */
	begin(_metadata, &self->n, &placements[3], 64);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		bool scatter = operations[i] == COLLSOCK_SCATTER;

		EXPECT_EQ(scatter ? 63 : 7,
			  bytes_of(&self->n, 0, operations[i], COLLSOCK_BYTE, 0, 7));
		EXPECT_EQ(scatter ? 0 : 7,
			  bytes_of(&self->n, 1, operations[i], COLLSOCK_BYTE, 0, 7));
		EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 0, operations[i], COLLSOCK_BYTE, 0, 8));
		EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 0, operations[i], COLLSOCK_UINT64, 0, 1));
		EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 0, operations[i], COLLSOCK_BYTE, 0, ~0U));
	}
	EXPECT_EQ(63, bytes_of(&self->n, 4, COLLSOCK_REDUCE_SCATTER_BLOCK, COLLSOCK_UINT8,
			       COLLSOCK_SUM, 7));
	EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 4, COLLSOCK_REDUCE_SCATTER_BLOCK, COLLSOCK_UINT8,
				      COLLSOCK_SUM, 8));
}

TEST_F(net, the_limit_of_vectors_that_are_reduced_is_another)
{
	begin_long(_metadata, &self->n, &placements[3], 64, 130);
	EXPECT_EQ(14, bytes_of(&self->n, 0, COLLSOCK_GATHER, COLLSOCK_BYTE, 0, 14));
	EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 0, COLLSOCK_GATHER, COLLSOCK_BYTE, 0, 15));
	EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 4, COLLSOCK_REDUCE_SCATTER_BLOCK, COLLSOCK_UINT8,
				      COLLSOCK_SUM, 8));
	EXPECT_EQ(64, bytes_of(&self->n, 0, COLLSOCK_BROADCAST, COLLSOCK_BYTE, 0, 64));
	EXPECT_EQ(-EMSGSIZE, bytes_of(&self->n, 0, COLLSOCK_BROADCAST, COLLSOCK_BYTE, 0, 65));
}

TEST_F(net, bytes_are_moved_and_not_reduced)
{
	begin(_metadata, &self->n, &placements[1], 64);
	EXPECT_EQ(5, bytes_of(&self->n, 0, COLLSOCK_BROADCAST, COLLSOCK_BYTE, 0, 5));
	EXPECT_EQ(5, bytes_of(&self->n, 0, COLLSOCK_ALLGATHER, COLLSOCK_BYTE, 0, 5));
	EXPECT_EQ(-EINVAL, bytes_of(&self->n, 0, COLLSOCK_ALLGATHER, COLLSOCK_BYTE,
				    COLLSOCK_SUM, 5));
	EXPECT_EQ(-EINVAL, bytes_of(&self->n, 0, COLLSOCK_ALLGATHER, COLLSOCK_BYTE, 0, 0));
	EXPECT_EQ(-EINVAL, bytes_of(&self->n, 0, COLLSOCK_ALLREDUCE, COLLSOCK_BYTE,
				    COLLSOCK_SUM, 5));
	EXPECT_EQ(-EINVAL, bytes_of(&self->n, 0, COLLSOCK_REDUCE_SCATTER_BLOCK, COLLSOCK_BYTE,
				    COLLSOCK_BITWISE_OR, 1));
}

/* The rank that has not posted is named, though not all lanes wait for its host. */
TEST_F(net, the_host_that_a_part_of_the_vector_waits_for_is_blamed)
{
	static const struct placement four = { 4, { 0, 1, 2, 3 } };
	struct collsock_post p = unit_post_of(COLLSOCK_ALLGATHER, COLLSOCK_AUTO, 0,
					      2 * COLLSOCK_DEFAULT_SEGMENT / 8);
	u32 i;

	begin(_metadata, &self->n, &four, 8 * COLLSOCK_DEFAULT_SEGMENT);
	run(_metadata, &self->n, &p);
	unit_cut(&self->n, 2);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, post(&self->n, i, &p));
	unit_run(&self->n, 60 * SECOND);
	for (i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		EXPECT_EQ(ETIMEDOUT, unit_last(&self->n, i)->error);
		EXPECT_EQ(2, unit_last(&self->n, i)->failed_rank);
	}
}

TEST_HARNESS_MAIN
