// SPDX-License-Identifier: GPL-2.0
/* The requests of the calls to the kernel, and how they handle its answers */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls_fixture.h"

/* ---- open ---- */

TEST_F(calls, socket_is_close_on_exec_unless_it_is_to_be_inherited)
{
	struct collsock *other;

	EXPECT_EQ(AF_COLLSOCK, fake.family);
	EXPECT_EQ(SOCK_SEQPACKET | SOCK_CLOEXEC, fake.type);
	ASSERT_EQ(0, collsock_open(&other, COLLSOCK_OPEN_INHERIT | COLLSOCK_OPEN_NONBLOCK));
	EXPECT_EQ(SOCK_SEQPACKET | SOCK_NONBLOCK, fake.type);
	collsock_close(other);
	EXPECT_EQ(-EINVAL, collsock_open(&other, 8));
}

TEST_F(calls, open_without_the_module_is_eafnosupport)
{
	struct collsock *other = NULL;

	fake.error = EAFNOSUPPORT;
	setenv("COLLSOCK_BACKEND", "kernel", 1);
	EXPECT_EQ(-EAFNOSUPPORT, collsock_open(&other, 0));
	EXPECT_EQ(NULL, other);
}

/* There is no module, or a container's filter refuses its sockets. */
TEST_F(calls, open_without_the_module_does_without_it)
{
	static const int errors[] = { EAFNOSUPPORT, EPERM, EACCES };
	struct collsock *other;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		fake.error = errors[i];
		ASSERT_EQ(0, collsock_open(&other, 0));
		EXPECT_EQ(-ENOTCONN, collsock_barrier(other, NULL));
		collsock_close(other);
	}
	fake.error = EMFILE;
	EXPECT_EQ(-EMFILE, collsock_open(&other, 0));
}

TEST_F(calls, close_closes_the_descriptor)
{
	struct collsock *other;
	int fd;

	ASSERT_EQ(0, collsock_open(&other, 0));
	fd = collsock_fd(other);
	EXPECT_LE(0, fcntl(fd, F_GETFD));
	collsock_close(other);
	EXPECT_EQ(-1, fcntl(fd, F_GETFD));
	collsock_close(NULL);
}

/* ---- post and complete ---- */

TEST_F(calls, post_barrier_sends_a_header_alone)
{
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_barrier(self->socket, 77));
	ASSERT_EQ(sizeof(post), fake.sent_bytes);
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(sizeof(post), post.size);
	EXPECT_EQ(COLLSOCK_BARRIER, post.operation);
	EXPECT_EQ(COLLSOCK_NONE, post.type);
	EXPECT_EQ(COLLSOCK_NOP, post.op);
	EXPECT_EQ(0, post.count);
	EXPECT_EQ(77, post.cookie);
	EXPECT_EQ(MSG_NOSIGNAL, fake.flags);
}

TEST_F(calls, post_allreduce_sends_header_and_payload)
{
	const __s64 data[3] = { 1, -2, 3 };
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_allreduce(self->socket, data, 3, COLLSOCK_INT64, COLLSOCK_MAX,
					     78));
	ASSERT_EQ(sizeof(post) + sizeof(data), fake.sent_bytes);
	memcpy(&post, fake.sent, sizeof(post));
	EXPECT_EQ(COLLSOCK_ALLREDUCE, post.operation);
	EXPECT_EQ(COLLSOCK_INT64, post.type);
	EXPECT_EQ(COLLSOCK_MAX, post.op);
	EXPECT_EQ(3, post.count);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(post), data, sizeof(data)));
}

TEST_F(calls, elements_of_every_type_are_sent_whole)
{
	static const struct {
		enum collsock_type type;
		size_t bytes;
	} types[] = {
		{ COLLSOCK_INT8, 1 }, { COLLSOCK_INT16, 2 }, { COLLSOCK_INT32, 4 },
		{ COLLSOCK_INT64, 8 }, { COLLSOCK_UINT8, 1 }, { COLLSOCK_UINT16, 2 },
		{ COLLSOCK_UINT32, 4 }, { COLLSOCK_UINT64, 8 }, { COLLSOCK_FLOAT, sizeof(float) },
		{ COLLSOCK_DOUBLE, sizeof(double) },
		{ COLLSOCK_FLOAT_INT, sizeof(struct collsock_float_int) },
		{ COLLSOCK_DOUBLE_INT, sizeof(struct collsock_double_int) },
		{ COLLSOCK_INT64_INT, sizeof(struct collsock_int64_int) },
		{ COLLSOCK_INT32_INT, sizeof(struct collsock_int32_int) },
		{ COLLSOCK_INT16_INT, sizeof(struct collsock_int16_int) },
		{ COLLSOCK_EXACT, sizeof(struct collsock_exact) },
		{ COLLSOCK_FLOAT16, 2 }, { COLLSOCK_BFLOAT16, 2 },
	};
	char data[3 * sizeof(struct collsock_exact)] = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		ASSERT_EQ(0, collsock_post_allreduce(self->socket, data, 3, types[i].type,
						     COLLSOCK_MIN, 0));
		EXPECT_EQ(sizeof(struct collsock_post) + 3 * types[i].bytes, fake.sent_bytes)
			TH_LOG("type %u", types[i].type);
	}
}

TEST_F(calls, largest_payload_may_have_elements_of_any_size)
{
	static const __u8 data[COLLSOCK_MAX_PAYLOAD];

	ASSERT_EQ(0, collsock_post_allreduce(self->socket, data, COLLSOCK_MAX_PAYLOAD,
					     COLLSOCK_UINT8, COLLSOCK_MAX, 0));
	EXPECT_EQ(sizeof(struct collsock_post) + sizeof(data), fake.sent_bytes);
	EXPECT_EQ(-EMSGSIZE, collsock_post_allreduce(self->socket, data, COLLSOCK_MAX_PAYLOAD + 1,
						     COLLSOCK_UINT8, COLLSOCK_MAX, 0));
}

/* The header of the sent message */
static struct collsock_post sent_post(void)
{
	struct collsock_post post;

	memcpy(&post, fake.sent, sizeof(post));
	return post;
}

TEST_F(calls, post_reduce_sends_header_and_payload)
{
	const __s64 data[3] = { 1, -2, 3 };
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_reduce(self->socket, data, 3, COLLSOCK_INT64, COLLSOCK_MIN,
					  5, COLLSOCK_QUIET, 79));
	ASSERT_EQ(sizeof(post) + sizeof(data), fake.sent_bytes);
	post = sent_post();
	EXPECT_EQ(sizeof(post), post.size);
	EXPECT_EQ(COLLSOCK_REDUCE, post.operation);
	EXPECT_EQ(COLLSOCK_INT64, post.type);
	EXPECT_EQ(COLLSOCK_MIN, post.op);
	EXPECT_EQ(COLLSOCK_AUTO, post.algorithm);
	EXPECT_EQ(COLLSOCK_QUIET, post.flags);
	EXPECT_EQ(5, post.root);
	EXPECT_EQ(3, post.count);
	EXPECT_EQ(79, post.cookie);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(post), data, sizeof(data)));
}

TEST_F(calls, post_broadcast_of_the_root_sends_its_data)
{
	const double data[2] = { 1.5, 2.5 };
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_broadcast(self->socket, data, 2, COLLSOCK_DOUBLE, 4,
					     COLLSOCK_QUIET, 80));
	ASSERT_EQ(sizeof(post) + sizeof(data), fake.sent_bytes);
	post = sent_post();
	EXPECT_EQ(sizeof(post), post.size);
	EXPECT_EQ(COLLSOCK_BROADCAST, post.operation);
	EXPECT_EQ(COLLSOCK_DOUBLE, post.type);
	EXPECT_EQ(COLLSOCK_NOP, post.op);
	EXPECT_EQ(COLLSOCK_QUIET, post.flags);
	EXPECT_EQ(4, post.root);
	EXPECT_EQ(2, post.count);
	EXPECT_EQ(80, post.cookie);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(post), data, sizeof(data)));
}

TEST_F(calls, post_broadcast_of_the_others_sends_a_header_that_counts)
{
	struct collsock_post post;

	ASSERT_EQ(0, collsock_post_broadcast(self->socket, NULL, 2, COLLSOCK_DOUBLE, 4, 0, 81));
	ASSERT_EQ(sizeof(post), fake.sent_bytes);
	post = sent_post();
	EXPECT_EQ(COLLSOCK_BROADCAST, post.operation);
	EXPECT_EQ(COLLSOCK_DOUBLE, post.type);
	EXPECT_EQ(0, post.flags);
	EXPECT_EQ(4, post.root);
	EXPECT_EQ(2, post.count);
}

TEST_F(calls, post_of_no_type_or_no_size_never_reaches_the_kernel)
{
	__s64 data = 0;

	EXPECT_EQ(-EINVAL, collsock_post_allreduce(self->socket, &data, 1, COLLSOCK_NONE,
						   COLLSOCK_SUM, 0));
	EXPECT_EQ(-EINVAL, collsock_post_allreduce(self->socket, &data, 1,
						   COLLSOCK_BFLOAT16 + 1, COLLSOCK_SUM, 0));
	EXPECT_EQ(-EMSGSIZE, collsock_post_allreduce(self->socket, &data, UINT32_MAX,
						     COLLSOCK_INT64, COLLSOCK_SUM, 0));
	EXPECT_EQ(-EINVAL, collsock_post_reduce(self->socket, &data, 1, COLLSOCK_NONE,
						COLLSOCK_SUM, 0, 0, 0));
	EXPECT_EQ(-EMSGSIZE, collsock_post_reduce(self->socket, &data, UINT32_MAX,
						  COLLSOCK_INT64, COLLSOCK_SUM, 0, 0, 0));
	EXPECT_EQ(-EINVAL, collsock_post_broadcast(self->socket, NULL, 1, COLLSOCK_NONE, 0, 0,
						   0));
	EXPECT_EQ(-EMSGSIZE, collsock_post_broadcast(self->socket, NULL, UINT32_MAX,
						     COLLSOCK_INT64, 0, 0, 0));
	EXPECT_EQ(0, fake.sent_bytes);
}

TEST_F(calls, error_of_post_is_returned)
{
	fake.error = ENOBUFS;
	EXPECT_EQ(-ENOBUFS, collsock_post_barrier(self->socket, 0));
}

TEST_F(calls, complete_gives_completion_and_result)
{
	const __s64 sum = 5050;
	__s64 result = 0;

	fake.answers[0].completion.bytes = sizeof(sum);
	fake.answers[0].completion.cookie = 9;
	fake.answers[0].result = &sum;
	ASSERT_EQ(0, collsock_complete(self->socket, &self->completion, &result, sizeof(result)));
	EXPECT_EQ(9, self->completion.cookie);
	EXPECT_EQ(5050, result);
}

TEST_F(calls, complete_of_a_failed_operation_is_a_success)
{
	answer_run(0, ETIMEDOUT, 3);
	ASSERT_EQ(0, collsock_complete(self->socket, &self->completion, NULL, 0));
	EXPECT_EQ(ETIMEDOUT, self->completion.error);
	EXPECT_EQ(3, self->completion.failed_rank);
}

TEST_F(calls, complete_with_a_short_buffer_is_emsgsize)
{
	const __s64 sum = 5050;

	fake.answers[0].completion.bytes = sizeof(sum);
	fake.answers[0].result = &sum;
	EXPECT_EQ(-EMSGSIZE, collsock_complete(self->socket, &self->completion, NULL, 0));
}

TEST_F(calls, wait_asks_for_the_cookie)
{
	const __s64 sum = 5050;
	struct collsock_wait wait;
	__s64 result = 0;

	ASSERT_EQ(0, collsock_set_spin(self->socket, 50));
	fake.answers[0].completion.bytes = sizeof(sum);
	fake.answers[0].result = &sum;
	ASSERT_EQ(0, collsock_wait(self->socket, 42, &self->completion, &result, sizeof(result)));
	memcpy(&wait, fake.sent, sizeof(wait));
	EXPECT_EQ(COLLSOCK_WAIT, fake.requests[0]);
	EXPECT_EQ(sizeof(wait), wait.size);
	EXPECT_EQ(sizeof(result), wait.result_bytes);
	EXPECT_EQ((uintptr_t)&result, wait.result);
	EXPECT_EQ(0, wait.flags);
	EXPECT_EQ(50, wait.spin_us);
	EXPECT_EQ(sizeof(struct collsock_completion), wait.completion_bytes);
	EXPECT_EQ(42, wait.cookie);
	EXPECT_EQ(5050, result);
}

TEST_F(calls, wait_returns_eintr)
{
	fake.answers[0].error = EINTR;
	EXPECT_EQ(-EINTR, collsock_wait(self->socket, 42, &self->completion, NULL, 0));
	EXPECT_EQ(1, fake.calls);
}

TEST_F(calls, complete_at_the_end_is_epipe)
{
	fake.answers[0].is_end = true;
	EXPECT_EQ(-EPIPE, collsock_complete(self->socket, &self->completion, NULL, 0));
}

/* A program that knows more fields than the library passes them on. */
TEST_F(calls, a_newer_post_is_sent_unchanged)
{
	struct {
		struct collsock_post	known;
		__u64			added;
	} post = { { .size = sizeof(post), .operation = COLLSOCK_BARRIER }, 77 };
	const struct collsock_run *head = (struct collsock_run *)fake.sent;

	ASSERT_EQ(0, collsock_post(self->socket, &post.known, NULL, 0));
	EXPECT_EQ(sizeof(post), fake.sent_bytes);
	EXPECT_EQ(0, memcmp(&post, fake.sent, sizeof(post)));
	ASSERT_EQ(0, collsock_run(self->socket, &post.known, NULL, 0, &self->completion, NULL, 0));
	EXPECT_EQ(sizeof(post), head->post_bytes);
	EXPECT_EQ(0, memcmp(&post, head + 1, sizeof(post)));
	post.known.size = 1 << 20;
	EXPECT_EQ(-E2BIG, collsock_run(self->socket, &post.known, NULL, 0, &self->completion,
				       NULL, 0));
}

/* ---- post and wait ---- */

TEST_F(calls, run_passes_the_post_unchanged)
{
	const struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_BROADCAST,
		.type		= COLLSOCK_UINT8,
		.root		= 1,
		.count		= 8,
		.cookie		= 42,
	};
	const __s64 sum = 5050;
	struct fake_run run;
	__s64 result = 0;

	fake.answers[0].completion.bytes = sizeof(sum);
	fake.answers[0].completion.error = ETIMEDOUT;
	fake.answers[0].result = &sum;
	ASSERT_EQ(0, collsock_run(self->socket, &post, NULL, 0, &self->completion, &result,
				  sizeof(result)));
	memcpy(&run, fake.sent, sizeof(run));
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[0]);
	EXPECT_EQ(sizeof(result), run.head.result_bytes);
	EXPECT_EQ((uintptr_t)&result, run.head.result);
	EXPECT_EQ(0, run.head.payload_bytes);
	EXPECT_EQ(0, memcmp(&post, &run.post, sizeof(post)));
	EXPECT_EQ(ETIMEDOUT, self->completion.error);
	EXPECT_EQ(5050, result);
}

TEST_F(calls, barrier_is_one_run)
{
	struct fake_run run;

	answer_run(0, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_barrier(self->socket, NULL));
	EXPECT_EQ(1, fake.calls);
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[0]);
	memcpy(&run, fake.sent, sizeof(run));
	EXPECT_EQ(sizeof(run.head), run.head.size);
	EXPECT_EQ(sizeof(run.post), run.head.post_bytes);
	EXPECT_EQ(sizeof(run.completion), run.head.completion_bytes);
	EXPECT_EQ(0, run.head.flags);
	EXPECT_EQ(0, run.head.payload_bytes);
	EXPECT_EQ(0, run.head.result_bytes);
	EXPECT_EQ(sizeof(run.post), run.post.size);
	EXPECT_EQ(COLLSOCK_BARRIER, run.post.operation);
	EXPECT_LE(COLLSOCK_LIBRARY_COOKIES, run.post.cookie);
}

TEST_F(calls, each_run_has_its_own_cookie)
{
	__u64 first;

	ASSERT_EQ(0, collsock_barrier(self->socket, NULL));
	first = ((struct fake_run *)fake.sent)->post.cookie;
	ASSERT_EQ(0, collsock_barrier(self->socket, NULL));
	EXPECT_NE(first, ((struct fake_run *)fake.sent)->post.cookie);
}

TEST_F(calls, allreduce_leaves_its_data_alone_and_fills_the_result)
{
	const double sums[2] = { 3.5, 4.5 }, mine[2] = { 1.5, 2.5 };
	double data[2] = { 1.5, 2.5 }, result[2];

	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(sums);
	fake.answers[0].result = sums;
	ASSERT_EQ(0, collsock_allreduce(self->socket, data, result, 2, COLLSOCK_DOUBLE,
					COLLSOCK_SUM, &self->completion));
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(struct fake_run), mine, sizeof(mine)));
	EXPECT_EQ(0, memcmp(data, mine, sizeof(mine)));
	EXPECT_EQ(0, memcmp(result, sums, sizeof(sums)));
	EXPECT_EQ(sizeof(sums), self->completion.bytes);
}

TEST_F(calls, allreduce_may_work_in_place_and_on_the_largest_payload)
{
	static __u64 data[COLLSOCK_MAX_PAYLOAD / 8], sums[COLLSOCK_MAX_PAYLOAD / 8];
	int i;

	for (i = 0; i < ARRAY_SIZE(data); i++) {
		data[i] = i;
		sums[i] = 2 * i;
	}
	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(sums);
	fake.answers[0].result = sums;
	ASSERT_EQ(0, collsock_allreduce(self->socket, data, data, ARRAY_SIZE(data),
					COLLSOCK_UINT64, COLLSOCK_SUM, NULL));
	EXPECT_EQ(sizeof(struct fake_run) + sizeof(data), fake.sent_bytes);
	EXPECT_EQ(0, memcmp(data, sums, sizeof(sums)));
}

TEST_F(calls, reduce_fills_the_result_of_the_root)
{
	const double sums[2] = { 3.5, 4.5 }, mine[2] = { 1.5, 2.5 };
	struct fake_run run;
	double result[2];

	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(sums);
	fake.answers[0].result = sums;
	ASSERT_EQ(0, collsock_reduce(self->socket, mine, result, 2, COLLSOCK_DOUBLE,
				     COLLSOCK_SUM, 3, &self->completion));
	run = sent_run();
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[0]);
	EXPECT_EQ(sizeof(mine), run.head.payload_bytes);
	EXPECT_EQ((uintptr_t)mine, run.head.payload);
	EXPECT_EQ(sizeof(mine), run.head.result_bytes);
	EXPECT_EQ(COLLSOCK_REDUCE, run.post.operation);
	EXPECT_EQ(COLLSOCK_DOUBLE, run.post.type);
	EXPECT_EQ(COLLSOCK_SUM, run.post.op);
	EXPECT_EQ(0, run.post.flags);
	EXPECT_EQ(3, run.post.root);
	EXPECT_EQ(2, run.post.count);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(run), mine, sizeof(mine)));
	EXPECT_EQ(0, memcmp(result, sums, sizeof(sums)));
}

TEST_F(calls, reduce_needs_room_for_a_result_only_at_the_root)
{
	__s64 one = 1;

	answer_run(0, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_reduce(self->socket, &one, NULL, 1, COLLSOCK_INT64, COLLSOCK_SUM, 3,
				     &self->completion));
	EXPECT_EQ(1, fake.calls);
	EXPECT_EQ(0, self->completion.bytes);
}

TEST_F(calls, broadcast_leaves_the_data_of_the_root_alone)
{
	const __s64 mine[2] = { 7, 8 };
	struct fake_run run;
	__s64 data[2] = { 7, 8 };

	answer_run(0, 0, COLLSOCK_NO_RANK);
	ASSERT_EQ(0, collsock_broadcast(self->socket, data, 2, COLLSOCK_INT64, 3, NULL));
	run = sent_run();
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[0]);
	EXPECT_EQ(COLLSOCK_BROADCAST, run.post.operation);
	EXPECT_EQ(COLLSOCK_INT64, run.post.type);
	EXPECT_EQ(COLLSOCK_NOP, run.post.op);
	EXPECT_EQ(0, run.post.flags);
	EXPECT_EQ(3, run.post.root);
	EXPECT_EQ(2, run.post.count);
	EXPECT_EQ(0, memcmp(fake.sent + sizeof(run), mine, sizeof(mine)));
	EXPECT_EQ(0, memcmp(data, mine, sizeof(mine)));
}

TEST_F(calls, broadcast_fills_the_data_of_the_others)
{
	const __s64 theirs[2] = { 7, 8 };
	__s64 data[2] = { };

	answer_run(0, 0, COLLSOCK_NO_RANK);
	fake.answers[0].completion.bytes = sizeof(theirs);
	fake.answers[0].result = theirs;
	ASSERT_EQ(0, collsock_broadcast(self->socket, data, 2, COLLSOCK_INT64, 3,
					&self->completion));
	EXPECT_EQ(sizeof(theirs), sent_run().head.payload_bytes);
	EXPECT_EQ(sizeof(theirs), sent_run().head.result_bytes);
	EXPECT_EQ(0, memcmp(data, theirs, sizeof(theirs)));
	EXPECT_EQ(sizeof(theirs), self->completion.bytes);
}

TEST_F(calls, broadcast_after_a_signal_fills_the_data_too)
{
	const __s64 theirs = 7;
	__s64 data = 0;

	fake.answers[0].error = EINTR;
	answer_run(1, 0, COLLSOCK_NO_RANK);
	fake.answers[1].completion.bytes = sizeof(theirs);
	fake.answers[1].result = &theirs;
	ASSERT_EQ(0, collsock_broadcast(self->socket, &data, 1, COLLSOCK_INT64, 3, NULL));
	EXPECT_EQ(COLLSOCK_WAIT, fake.requests[1]);
	EXPECT_EQ(7, data);
}

/* ---- failures, signals, time-outs ---- */

TEST_F(calls, failed_operation_names_the_rank)
{
	answer_run(0, ECONNRESET, 5);
	EXPECT_EQ(-ECONNRESET, collsock_barrier(self->socket, &self->completion));
	EXPECT_EQ(5, self->completion.failed_rank);
}

TEST_F(calls, completion_names_no_rank_if_nothing_was_posted)
{
	__s64 data = 0;

	memset(&self->completion, 0xa5, sizeof(self->completion));
	EXPECT_EQ(-EINVAL, collsock_allreduce(self->socket, &data, &data, 1, COLLSOCK_NONE,
					      COLLSOCK_SUM, &self->completion));
	EXPECT_EQ(0, fake.calls);
	EXPECT_EQ(COLLSOCK_NO_RANK, self->completion.failed_rank);
	EXPECT_EQ(0, self->completion.error);
}

TEST_F(calls, signal_after_posting_is_waited_out_and_never_posts_twice)
{
	const __s64 sum = 5050;
	__s64 one = 1, result = 0;
	__u64 cookie;

	fake.answers[0].error = EINTR;
	fake.answers[1].error = EINTR;
	answer_run(2, 0, COLLSOCK_NO_RANK);
	fake.answers[2].completion.bytes = sizeof(sum);
	fake.answers[2].result = &sum;
	ASSERT_EQ(0, collsock_allreduce(self->socket, &one, &result, 1, COLLSOCK_INT64,
					COLLSOCK_SUM, &self->completion));
	EXPECT_EQ(3, fake.calls);
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[0]);
	EXPECT_EQ(COLLSOCK_WAIT, fake.requests[1]);
	EXPECT_EQ(COLLSOCK_WAIT, fake.requests[2]);
	cookie = ((struct collsock_wait *)fake.sent)->cookie;
	EXPECT_EQ(COLLSOCK_LIBRARY_COOKIES, cookie);
	EXPECT_EQ(5050, result);
}

TEST_F(calls, operation_that_takes_longer_is_found_by_its_cookie)
{
	fake.answers[0].error = EINPROGRESS;
	EXPECT_EQ(-EINPROGRESS, collsock_barrier(self->socket, &self->completion));
	EXPECT_EQ(1, fake.calls);
	EXPECT_EQ(((struct fake_run *)fake.sent)->post.cookie, self->completion.cookie);
	EXPECT_EQ(COLLSOCK_NO_RANK, self->completion.failed_rank);
}

TEST_F(calls, signal_before_posting_posts_again)
{
	fake.answers[0].error = EAGAIN;
	answer_run(1, 0, COLLSOCK_NO_RANK);
	EXPECT_EQ(0, collsock_barrier(self->socket, NULL));
	EXPECT_EQ(2, fake.calls);
	EXPECT_EQ(COLLSOCK_RUN, fake.requests[1]);
}

TEST_F(calls, time_out_after_a_signal_does_not_deny_the_post)
{
	fake.answers[0].error = EINTR;
	fake.answers[1].error = EAGAIN;
	EXPECT_EQ(-EINPROGRESS, collsock_barrier(self->socket, NULL));
	EXPECT_EQ(2, fake.calls);
}

TEST_F(calls, full_window_is_eagain_if_posting_may_not_wait)
{
	fake.send_timeout_s = 1;
	fake.answers[0].error = EAGAIN;
	EXPECT_EQ(-EAGAIN, collsock_barrier(self->socket, NULL));
	EXPECT_EQ(1, fake.calls);
}

TEST_F(calls, full_window_is_eagain_if_the_socket_is_nonblocking)
{
	ASSERT_EQ(0, fcntl(collsock_fd(self->socket), F_SETFL, O_RDWR | O_NONBLOCK));
	fake.answers[0].error = EAGAIN;
	EXPECT_EQ(-EAGAIN, collsock_barrier(self->socket, NULL));
	EXPECT_EQ(1, fake.calls);
}

/* ---- queries ---- */

TEST_F(calls, stats_of_an_older_program_stay_within_its_structure)
{
	struct collsock_stats stats[2] = {};
	const size_t older = offsetof(struct collsock_stats, memory_short);

	ASSERT_EQ(0, collsock_stats(self->socket, stats, older));
	EXPECT_EQ(COLLSOCK_STATS, fake.option);
	EXPECT_EQ(0xa5a5a5a5a5a5a5a5ULL, stats[0].stale);
	EXPECT_EQ(0, stats[0].memory_short);
	EXPECT_EQ(-EINVAL, collsock_stats(self->socket, stats, 3));
}

TEST_F(calls, self_and_features_ask_for_their_options)
{
	struct collsock_features features;
	struct collsock_self who;

	ASSERT_EQ(0, collsock_self(self->socket, &who, sizeof(who)));
	EXPECT_EQ(COLLSOCK_SELF, fake.option);
	EXPECT_EQ(0xa5a5a5a5U, who.failed_rank);
	ASSERT_EQ(0, collsock_features(self->socket, &features, sizeof(features)));
	EXPECT_EQ(COLLSOCK_FEATURES, fake.option);
	EXPECT_EQ(-EINVAL, collsock_self(self->socket, &who, 3));
}

TEST_F(calls, spinning_has_a_limit)
{
	EXPECT_EQ(0, collsock_set_spin(self->socket, COLLSOCK_MAX_SPIN_US));
	EXPECT_EQ(-EINVAL, collsock_set_spin(self->socket, COLLSOCK_MAX_SPIN_US + 1));
}

/* ---- fork ---- */

/*
 * In a child: which of these are open? One bit each; file descriptors have the same numbers
 * there.
 */
static int open_in_child(const int *fds, int count)
{
	int status, i, open = 0;
	pid_t pid = fork();

	if (!pid) {
		for (i = 0; i < count; i++)
			open |= (fcntl(fds[i], F_GETFD) >= 0) << i;
		_exit(open);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

TEST_F(calls, a_forked_child_keeps_only_what_it_is_asked_to)
{
	static const unsigned int flags[] = { 0, COLLSOCK_OPEN_KEEP, COLLSOCK_OPEN_INHERIT, 0 };
	struct collsock *s[4];
	int fds[4], i;

	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, collsock_open(&s[i], flags[i]));
		fds[i] = collsock_fd(s[i]);
	}
	EXPECT_EQ(6, open_in_child(fds, 4));
	/* The parent's stay open, and closed ones are not closed again. */
	for (i = 0; i < 4; i++)
		EXPECT_LE(0, fcntl(fds[i], F_GETFD));
	collsock_close(s[0]);
	ASSERT_EQ(fds[0], dup(fds[1]));
	EXPECT_EQ(7, open_in_child(fds, 4));
	close(fds[0]);
	for (i = 1; i < 4; i++)
		collsock_close(s[i]);
}

TEST_F(calls, a_forked_child_gets_ebadf)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		status = collsock_fd(self->socket) == -1;
		collsock_close(self->socket);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(1, WEXITSTATUS(status));
}

/* ---- advice ---- */

TEST_F(calls, every_error_has_a_text_that_fits)
{
	static const int told[] = {
		E2BIG, EACCES, EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EAGAIN, EBADMSG,
		EBADF, EBUSY, ECANCELED, ECHILD, ECONNREFUSED, ECONNRESET, EDQUOT, EEXIST,
		EHOSTUNREACH, EINPROGRESS, EINTR, EINVAL, EISCONN, EMFILE, EMSGSIZE, ENETUNREACH,
		ENFILE, ENOBUFS, ENODEV, ENOENT, ENOKEY, ENOMEM, ENOTCONN, ENOTUNIQ, EOPNOTSUPP,
		EOWNERDEAD, EPERM, EPFNOSUPPORT, EPIPE, EPROTO, ERANGE, EREMOTEIO, ESRCH, ESTALE,
		ETIMEDOUT, EXDEV,
	};
	char text[512], again[512];
	int i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		collsock_strerror(-told[i], COLLSOCK_NO_RANK, text, sizeof(text));
		EXPECT_GT(sizeof(text) - 1, strlen(text)) TH_LOG("%d: %s", told[i], text);
		EXPECT_NE(0, strcmp(text, strerror(told[i]))) TH_LOG("%d: %s", told[i], text);
		EXPECT_STREQ(text, collsock_strerror(told[i], COLLSOCK_NO_RANK, again,
						     sizeof(again)));
	}
}

TEST_F(calls, text_of_an_error_of_two_calls_has_the_advice_for_both)
{
	char text[512];

	collsock_strerror(-ENOTUNIQ, COLLSOCK_NO_RANK, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "name the device")) TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "say which rank this is")) TH_LOG("%s", text);
}

TEST_F(calls, text_names_the_rank_and_ends_within_the_buffer)
{
	char text[512], small[8];

	collsock_strerror(-ECONNRESET, 12, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "rank 12 ")) TH_LOG("%s", text);
	collsock_strerror(-ECONNRESET, 12, small, sizeof(small));
	EXPECT_STREQ("rank 12", small);
	EXPECT_STREQ(strerror(EFAULT), collsock_strerror(EFAULT, COLLSOCK_NO_RANK, text,
							 sizeof(text)));
}

TEST_F(calls, text_of_a_failed_operation_says_what_happened_and_what_to_do)
{
	static const struct {
		int		error;
		const char	*happened;
		const char	*to_do;
	} told[] = {
		{ ECONNRESET, "has left the group", "join a new group with a new nonce" },
		{ ETIMEDOUT, "does not answer", "check that it runs and is not stopped" },
		{ EPROTO, "posted a different operation", "post the same operations" },
		{ EPROTO, "joined with a different description", "make all ranks join alike" },
		{ EPROTO, "has another version of the module",
		  "install the same module on all hosts" },
		{ EPERM, "filters refuse its packets", "nft list ruleset" },
		{ ECANCELED, "the group was ended", "find out why" },
	};
	char text[512];
	int i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		collsock_strerror(-told[i].error, 3, text, sizeof(text));
		EXPECT_NE(NULL, strstr(text, told[i].happened)) TH_LOG("%s", text);
		EXPECT_NE(NULL, strstr(text, told[i].to_do)) TH_LOG("%s", text);
	}
}

TEST_F(calls, text_of_too_little_memory_says_which_number_to_lower_first)
{
	char text[512];

	collsock_strerror(-ENOMEM, COLLSOCK_NO_RANK, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "a lower window first")) TH_LOG("%s", text);
	collsock_strerror(-EDQUOT, COLLSOCK_NO_RANK, text, sizeof(text));
	EXPECT_NE(NULL, strstr(text, "a lower window first")) TH_LOG("%s", text);
}

TEST_F(calls, an_error_of_an_operation_and_the_same_one_of_a_call_have_different_texts)
{
	char call[512], operation[512];

	collsock_strerror(-EPERM, COLLSOCK_NO_RANK, call, sizeof(call));
	EXPECT_NE(NULL, strstr(call, "not permitted here")) TH_LOG("%s", call);
	collsock_strerror(-EPERM, 3, operation, sizeof(operation));
	EXPECT_NE(NULL, strstr(operation, "rank 3 is on a host whose own filters refuse"))
		TH_LOG("%s", operation);
}

TEST_F(calls, a_socket_knows_its_rank_and_how_many_there_are)
{
	fake.error = ENOTCONN;
	EXPECT_EQ(-ENOTCONN, collsock_rank(self->socket));
	EXPECT_EQ(-ENOTCONN, collsock_size(self->socket));
	fake.error = 0;
	fake.self = (struct collsock_self){ .size = sizeof(fake.self), .rank = 3, .ranks = 7 };
	EXPECT_EQ(7, collsock_size(self->socket));
	fake.self.ranks = 8;	/* is not asked for again */
	EXPECT_EQ(7, collsock_size(self->socket));
	EXPECT_EQ(3, collsock_rank(self->socket));
}

TEST_HARNESS_MAIN
