// SPDX-License-Identifier: GPL-2.0
/* The same of scans, and of operations with a block for each rank */
#include <errno.h>

#include "calls_fixture.h"

/* ---- prefixes ---- */

TEST_F(calls, posts_of_scans_send_the_vector)
{
	const __s32 vector[3] = { 7, 8, 9 };
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_scan(self->socket, vector, 3, COLLSOCK_INT32, COLLSOCK_MAX, 77));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + sizeof(vector), fake.sent_bytes);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(post), vector, sizeof(vector)));
	EXPECT_EQ(COLLSOCK_SCAN, post.operation);
	EXPECT_EQ(COLLSOCK_INT32, post.type);
	EXPECT_EQ(COLLSOCK_MAX, post.op);
	EXPECT_EQ(3, post.count);
	EXPECT_EQ(77, post.cookie);
	ASSERT_EQ(0, collsock_post_exscan(self->socket, vector, 2, COLLSOCK_INT32, COLLSOCK_SUM,
					  78));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + 8, fake.sent_bytes);
	EXPECT_EQ(COLLSOCK_EXSCAN, post.operation);
	EXPECT_EQ(COLLSOCK_SUM, post.op);
	EXPECT_EQ(2, post.count);
	EXPECT_EQ(78, post.cookie);
	EXPECT_EQ(-EINVAL, collsock_post_scan(self->socket, vector, 3, 99, COLLSOCK_SUM, 0));
	EXPECT_EQ(-EMSGSIZE, collsock_post_exscan(self->socket, vector, UINT32_MAX, COLLSOCK_INT32,
						  COLLSOCK_SUM, 0));
}

TEST_F(calls, scan_fills_the_result)
{
	const __s64 mine[2] = { 7, 8 }, sums[2] = { 9, 10 };
	__s64 result[2] = { };
	struct fake_run run;

	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(sums);
	fake.answers[0].result = sums;
	ASSERT_EQ(0, collsock_scan(self->socket, mine, result, 2, COLLSOCK_INT64, COLLSOCK_SUM,
				   &self->completion));
	run = sent_run();
	EXPECT_EQ(COLLSOCK_SCAN, run.post.operation);
	EXPECT_EQ(COLLSOCK_INT64, run.post.type);
	EXPECT_EQ(COLLSOCK_SUM, run.post.op);
	EXPECT_EQ(2, run.post.count);
	EXPECT_EQ(sizeof(mine), run.head.result_bytes);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(run), mine, sizeof(mine)));
	EXPECT_EQ(0, memcmp(result, sums, sizeof(sums)));
}

TEST_F(calls, exscan_of_rank_0_leaves_the_result_alone)
{
	const __s64 mine[2] = { 7, 8 };
	__s64 result[2] = { 5, 6 };

	answer_run(0, 0, COLLSOCK_NO_RANK);
	answer_run(1, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_exscan(self->socket, mine, result, 2, COLLSOCK_INT64, COLLSOCK_SUM,
				     &self->completion));
	EXPECT_EQ(COLLSOCK_EXSCAN, sent_run().post.operation);
	EXPECT_EQ(5, result[0]);
	EXPECT_EQ(6, result[1]);
	EXPECT_EQ(0, self->completion.bytes);
	EXPECT_EQ(0, collsock_exscan(self->socket, mine, NULL, 2, COLLSOCK_INT64, COLLSOCK_SUM,
				     NULL));
}

/* ---- blocks for each rank ---- */

/* The socket is rank 2 of 3. */
static void be_one_of_three(void)
{
	fake.self = (struct collsock_self){ .size = sizeof(fake.self), .rank = 2, .ranks = 3 };
}

TEST_F(calls, posts_of_a_block_send_it_and_count_it)
{
	const __s16 block[2] = { 7, 8 };
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_allgather(self->socket, block, 2, COLLSOCK_INT16, 77));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + sizeof(block), fake.sent_bytes);
	EXPECT_EQ(COLLSOCK_ALLGATHER, post.operation);
	EXPECT_EQ(COLLSOCK_INT16, post.type);
	EXPECT_EQ(COLLSOCK_NOP, post.op);
	EXPECT_EQ(2, post.count);
	EXPECT_EQ(77, post.cookie);
	ASSERT_EQ(0, collsock_post_gather(self->socket, block, 2, COLLSOCK_INT16, 1,
					  COLLSOCK_QUIET, 78));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + sizeof(block), fake.sent_bytes);
	EXPECT_EQ(COLLSOCK_GATHER, post.operation);
	EXPECT_EQ(COLLSOCK_QUIET, post.flags);
	EXPECT_EQ(1, post.root);
}

TEST_F(calls, posts_of_a_vector_send_a_block_for_each_rank)
{
	const __u8 vector[6] = { 1, 2, 3, 4, 5, 6 };
	struct collsock_post post;

	be_one_of_three();
	ASSERT_EQ(0, collsock_post_scatter(self->socket, vector, 2, COLLSOCK_BYTE, 2, 77));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + sizeof(vector), fake.sent_bytes);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(post), vector, sizeof(vector)));
	EXPECT_EQ(COLLSOCK_SCATTER, post.operation);
	EXPECT_EQ(COLLSOCK_BYTE, post.type);
	EXPECT_EQ(2, post.root);
	EXPECT_EQ(2, post.count);
	ASSERT_EQ(0, collsock_post_scatter(self->socket, NULL, 2, COLLSOCK_BYTE, 1, 77));
	EXPECT_EQ(sizeof(post), fake.sent_bytes);
	ASSERT_EQ(0, collsock_post_reduce_scatter_block(self->socket, vector, 2, COLLSOCK_UINT8,
							COLLSOCK_MAX, 79));
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post) + sizeof(vector), fake.sent_bytes);
	EXPECT_EQ(COLLSOCK_REDUCE_SCATTER_BLOCK, post.operation);
	EXPECT_EQ(COLLSOCK_MAX, post.op);
}

TEST_F(calls, allgather_has_room_for_the_blocks_of_all)
{
	const __u8 block[2] = { 1, 2 }, all[6] = { 6, 5, 4, 3, 2, 1 };
	__u8 result[6] = { };
	struct fake_run run;

	be_one_of_three();
	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(all);
	fake.answers[0].result = all;
	ASSERT_EQ(0, collsock_allgather(self->socket, block, result, 2, COLLSOCK_BYTE, NULL));
	run = sent_run();
	EXPECT_EQ(COLLSOCK_ALLGATHER, run.post.operation);
	EXPECT_EQ(sizeof(block), run.head.payload_bytes);
	EXPECT_EQ(sizeof(all), run.head.result_bytes);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(run), block, sizeof(block)));
	EXPECT_EQ(0, memcmp(result, all, sizeof(all)));
}

TEST_F(calls, gather_and_scatter_have_the_vector_at_the_root_alone)
{
	const __u8 vector[6] = { 1, 2, 3, 4, 5, 6 };
	__u8 result[6] = { };

	be_one_of_three();
	answer_run(0, 0, COLLSOCK_NO_RANK);
	answer_run(1, 0, COLLSOCK_NO_RANK);
	answer_run(2, 0, COLLSOCK_NO_RANK);
	answer_run(3, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_gather(self->socket, vector, result, 2, COLLSOCK_BYTE, 2, NULL));
	EXPECT_EQ(2, sent_run().head.payload_bytes);
	EXPECT_EQ(6, sent_run().head.result_bytes);
	ASSERT_EQ(0, collsock_gather(self->socket, vector, NULL, 2, COLLSOCK_BYTE, 1, NULL));
	EXPECT_EQ(2, sent_run().head.payload_bytes);
	EXPECT_EQ(0, sent_run().head.result_bytes);
	ASSERT_EQ(0, collsock_scatter(self->socket, vector, result, 2, COLLSOCK_BYTE, 2, NULL));
	EXPECT_EQ(6, sent_run().head.payload_bytes);
	EXPECT_EQ(2, sent_run().head.result_bytes);
	EXPECT_EQ(COLLSOCK_SCATTER, sent_run().post.operation);
	/* What another rank passes is not read. */
	ASSERT_EQ(0, collsock_scatter(self->socket, (void *)1, result, 2, COLLSOCK_BYTE, 1, NULL));
	EXPECT_EQ(0, sent_run().head.payload_bytes);
	EXPECT_EQ(2, sent_run().head.result_bytes);
}

TEST_F(calls, reduce_scatter_block_has_the_vector_and_receives_a_block)
{
	const __u8 vector[6] = { 1, 2, 3, 4, 5, 6 };
	__u8 result[2] = { };

	be_one_of_three();
	answer_run(0, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_reduce_scatter_block(self->socket, vector, result, 2, COLLSOCK_UINT8,
						   COLLSOCK_SUM, NULL));
	EXPECT_EQ(COLLSOCK_REDUCE_SCATTER_BLOCK, sent_run().post.operation);
	EXPECT_EQ(6, sent_run().head.payload_bytes);
	EXPECT_EQ(2, sent_run().head.result_bytes);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(struct fake_run), vector, sizeof(vector)));
}

TEST_F(calls, vectors_beyond_any_limit_never_reach_the_kernel)
{
	__u8 byte = 0;

	be_one_of_three();
	EXPECT_EQ(-EMSGSIZE, collsock_allgather(self->socket, &byte, &byte,
						COLLSOCK_MAX_RESULT / 2, COLLSOCK_BYTE, NULL));
	EXPECT_EQ(-EMSGSIZE, collsock_post_scatter(self->socket, &byte, UINT32_MAX, COLLSOCK_BYTE,
						   2, 0));
	EXPECT_EQ(-EINVAL, collsock_gather(self->socket, &byte, &byte, 1, COLLSOCK_BFLOAT16 + 1, 2,
					   NULL));
	EXPECT_EQ(0, fake.calls);
}

/* What is only moved may be longer than what is reduced; the group's limits are the kernel's. */
TEST_F(calls, vectors_of_the_longest_results_reach_the_kernel)
{
	static __u8 block[COLLSOCK_MAX_RESULT / 3], all[COLLSOCK_MAX_RESULT];

	be_one_of_three();
	answer_run(0, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_allgather(self->socket, block, all, sizeof(block), COLLSOCK_BYTE,
					NULL));
	EXPECT_EQ(sizeof(block), sent_run().head.payload_bytes);
	EXPECT_EQ(3 * sizeof(block), sent_run().head.result_bytes);
	ASSERT_EQ(0, collsock_post_scatter(self->socket, all, sizeof(block), COLLSOCK_BYTE, 2, 0));
	EXPECT_EQ(sizeof(struct collsock_post) + 3 * sizeof(block), fake.sent_bytes);
}

TEST_F(calls, a_socket_that_has_not_joined_has_no_vectors)
{
	__u8 byte = 0;

	fake.error = ENOTCONN;
	EXPECT_EQ(-ENOTCONN, collsock_allgather(self->socket, &byte, &byte, 1, COLLSOCK_BYTE,
						NULL));
}

TEST_HARNESS_MAIN
