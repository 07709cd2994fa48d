// SPDX-License-Identifier: GPL-2.0
/*
 * Random collective operations on communicators of many kinds, blocking and not, overlapping
 * and mixed with messages; every result is compared with one that each rank computes alone.
 *
 *	collectives [--seed S] [--rounds N] [--own] [--strict]
 *
 * --own: those in which each rank has a block or a prefix
 * --strict: also cases in which Open MPI and MPICH have bugs
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "operation.h"

#define BATCH_MAX 8
#define MESSAGE_TAG 5
#define MESSAGE_MAX 20000

/* Operations and messages that are under way together. */
struct batch {
	struct operation operation[BATCH_MAX];
	unsigned int operations;
	/* Of each operation one, then those of messages: sent, received */
	MPI_Request request[BATCH_MAX + 2];
	bool has_message;
	int message_bytes;
	__u64 message_seed;
	unsigned char sent[MESSAGE_MAX], received[MESSAGE_MAX];
};

static unsigned int request_count(const struct batch *batch)
{
	return batch->operations + 2;
}

/* ---- messages to the next rank beside the operations ---- */

static void fill_message(unsigned char *bytes, int count, __u64 seed, int from)
{
	int i;

	for (i = 0; i < count; i++)
		bytes[i] = mix(seed, from, i);
}

static void post_message(struct batch *batch, struct random *common)
{
	int next = (world_rank + 1) % world_size;
	int previous = (world_rank + world_size - 1) % world_size;
	MPI_Request *request = &batch->request[batch->operations];

	request[0] = MPI_REQUEST_NULL;
	request[1] = MPI_REQUEST_NULL;
	batch->has_message = random_one_in(common, 2);
	batch->message_bytes = random_one_in(common, 3) ? random_below(common, MESSAGE_MAX) :
							  random_below(common, 100);
	batch->message_seed = random_bits(common);
	if (!batch->has_message)
		return;
	fill_message(batch->sent, batch->message_bytes, batch->message_seed, world_rank);
	CHECK_MPI(MPI_Isend(batch->sent, batch->message_bytes, MPI_BYTE, next, MESSAGE_TAG,
			    MPI_COMM_WORLD, &request[0]));
	CHECK_MPI(MPI_Irecv(batch->received, MESSAGE_MAX, MPI_BYTE, previous, MESSAGE_TAG,
			    MPI_COMM_WORLD, &request[1]));
}

static void check_message(struct batch *batch)
{
	int previous = (world_rank + world_size - 1) % world_size, i;

	if (!batch->has_message)
		return;
	fill_message(batch->sent, batch->message_bytes, batch->message_seed, previous);
	for (i = 0; i < batch->message_bytes; i++)
		if (batch->sent[i] != batch->received[i])
			fail("message: byte %d of %d is %02x, not %02x", i, batch->message_bytes,
			     batch->received[i], batch->sent[i]);
}

/* ---- completion, in any order and with every function ---- */

static bool all_null(const MPI_Request *requests, unsigned int count)
{
	while (count)
		if (requests[--count] != MPI_REQUEST_NULL)
			return false;
	return true;
}

static void expect(bool truth, const char *function, const char *what)
{
	if (!truth)
		fail("%s: %s", function, what);
}

/* One call that completes requests; the remaining ones are unchanged. */
static void complete_some(MPI_Request *requests, unsigned int count, struct random *own)
{
	MPI_Status statuses[BATCH_MAX + 2];
	int indices[BATCH_MAX + 2], index, done, i;
	unsigned int one = random_below(own, count);
	bool null_before = all_null(requests, count), with_status = random_below(own, 2);
	MPI_Status *status = with_status ? statuses : MPI_STATUS_IGNORE;
	MPI_Status *all = with_status ? statuses : MPI_STATUSES_IGNORE;

	switch (random_below(own, 9)) {
	case 0:
		CHECK_MPI(MPI_Wait(&requests[one], status));
		expect(requests[one] == MPI_REQUEST_NULL, "MPI_Wait", "the request is left");
		break;
	case 1:
		CHECK_MPI(MPI_Waitall(count, requests, all));
		expect(all_null(requests, count), "MPI_Waitall", "a request is left");
		break;
	case 2:
		CHECK_MPI(MPI_Waitany(count, requests, &index, status));
		expect((index == MPI_UNDEFINED) == null_before, "MPI_Waitany", "wrong index");
		expect(null_before || requests[index] == MPI_REQUEST_NULL, "MPI_Waitany",
		       "the request is left");
		break;
	case 3:
		CHECK_MPI(MPI_Waitsome(count, requests, &done, indices, all));
		expect((done == MPI_UNDEFINED) == null_before, "MPI_Waitsome", "wrong count");
		for (i = 0; i < done; i++)
			expect(requests[indices[i]] == MPI_REQUEST_NULL, "MPI_Waitsome",
			       "a request is left");
		break;
	case 4:
		CHECK_MPI(MPI_Test(&requests[one], &done, status));
		expect(done == (requests[one] == MPI_REQUEST_NULL), "MPI_Test",
		       "flag and request disagree");
		break;
	case 5:
		CHECK_MPI(MPI_Testall(count, requests, &done, all));
		expect(done == all_null(requests, count), "MPI_Testall",
		       "flag and requests disagree");
		break;
	case 6:
		CHECK_MPI(MPI_Testany(count, requests, &index, &done, status));
		expect(!done || (index == MPI_UNDEFINED) == null_before, "MPI_Testany",
		       "wrong index");
		expect(!done || null_before || requests[index] == MPI_REQUEST_NULL, "MPI_Testany",
		       "the request is left");
		break;
	case 7:
		CHECK_MPI(MPI_Testsome(count, requests, &done, indices, all));
		expect((done == MPI_UNDEFINED) == null_before, "MPI_Testsome", "wrong count");
		for (i = 0; i < done; i++)
			expect(requests[indices[i]] == MPI_REQUEST_NULL, "MPI_Testsome",
			       "a request is left");
		break;
	default:
		if (requests[one] == MPI_REQUEST_NULL)
			break;
		CHECK_MPI(MPI_Request_get_status(requests[one], &done, status));
		expect(requests[one] != MPI_REQUEST_NULL, "MPI_Request_get_status",
		       "the request is gone");
		if (done) {
			CHECK_MPI(MPI_Test(&requests[one], &done, status));
			expect(done, "MPI_Request_get_status", "flag and request disagree");
		}
	}
}

static void complete_all(struct batch *batch, struct random *own)
{
	unsigned int count = request_count(batch), i;

	while (!all_null(batch->request, count)) {
		unsigned int first = random_below(own, count);
		unsigned int some = 1 + random_below(own, count - first);

		complete_some(batch->request + first, some, own);
	}
	/* Once more, with nothing left to complete */
	complete_some(batch->request, count, own);
	for (i = 0; i < batch->operations; i++)
		batch->operation[i].request = batch->request[i];
}

/* ---- rounds ---- */

static void post_batch(struct batch *batch, const struct communicator *communicators,
		       struct random *common, struct random *own)
{
	unsigned int wanted = 1 + random_below(common, BATCH_MAX);

	batch->operations = 0;
	while (wanted--) {
		const struct communicator *in = &communicators[random_below(common, KINDS)];
		/* Members need more random numbers than other ranks */
		struct random its_own = { random_bits(common) };
		struct operation *operation = &batch->operation[batch->operations];

		if (in->comm == MPI_COMM_NULL)
			continue;
		operation_make(operation, in, &its_own, own);
		operation_post(operation, own);
		batch->request[batch->operations++] = operation->request;
	}
}

static void run_round(struct batch *batch, struct communicator *communicators,
		      struct random *common, struct random *own)
{
	unsigned int i;

	if (random_one_in(common, 4)) {
		unsigned int kind = 1 + random_below(common, KINDS - 1);

		communicator_free(&communicators[kind]);
		communicator_make(&communicators[kind], kind);
	}
	post_batch(batch, communicators, common, own);
	post_message(batch, common);
	complete_all(batch, own);
	check_message(batch);
	for (i = 0; i < batch->operations; i++)
		operation_check(&batch->operation[i]);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "strict", no_argument, NULL, 'a' },
		{ "own", no_argument, NULL, 'o' },
		{ }
	};
	static struct batch batch;
	struct communicator communicators[KINDS];
	struct random common = { 1 }, own, round_random;
	unsigned int rounds = 50, i;
	int option;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			common.state = strtoull(optarg, NULL, 0);
		else if (option == 'r')
			rounds = strtoul(optarg, NULL, 0);
		else if (option == 'a')
			strict = true;
		else if (option == 'o')
			operations_are_own = true;
		else
			fail("usage: collectives [--seed S] [--rounds N] [--own] [--strict]");
	}
	elements_begin();
	own.state = mix(common.state, world_rank, 1);
	for (i = 0; i < KINDS; i++)
		communicator_make(&communicators[i], i);
	for (i = 0; i < rounds; i++) {
		/* So that a round does not depend on the previous one */
		round_random.state = random_bits(&common);
		run_round(&batch, communicators, &round_random, &own);
	}
	for (i = 0; i < KINDS; i++)
		communicator_free(&communicators[i]);
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
