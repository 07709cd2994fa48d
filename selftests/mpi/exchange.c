// SPDX-License-Identifier: GPL-2.0
/* Groups that have the ranks of communicators: <collsock_mpi.h> */
#include <errno.h>
#include <stdbool.h>

#include <collsock_mpi.h>

#include "common.h"

#define BARRIERS 20

static void join_and_work(MPI_Comm comm, const struct collsock_options *options)
{
	__s64 mine = world_rank, sum = -1, expected;
	struct collsock *socket;
	int rank, size, err, i;

	CHECK_MPI(MPI_Comm_rank(comm, &rank));
	CHECK_MPI(MPI_Comm_size(comm, &size));
	CHECK_MPI(MPI_Allreduce(&mine, &expected, 1, MPI_INT64_T, MPI_SUM, comm));
	err = collsock_join_comm(&socket, options, comm);
	if (err)
		fail("collsock_join_comm: %d", err);
	if (collsock_rank(socket) != rank || collsock_size(socket) != size)
		fail("rank %d of %d, and of the communicator %d of %d", collsock_rank(socket),
		     collsock_size(socket), rank, size);
	for (i = 0; i < BARRIERS; i++) {
		err = collsock_barrier(socket, NULL);
		if (err)
			fail("barrier %d: %d", i, err);
	}
	err = collsock_allreduce(socket, &mine, &sum, 1, COLLSOCK_INT64, COLLSOCK_SUM, NULL);
	if (err || sum != expected)
		fail("allreduce: %d, the sum is %lld instead of %lld", err, (long long)sum,
		     (long long)expected);
	collsock_close(socket);
}

/* Ranks of a half in the opposite order of those of the world */
static void half_of_the_world(void)
{
	MPI_Comm half;

	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half));
	join_and_work(half, NULL);
	CHECK_MPI(MPI_Comm_free(&half));
}

static void options_of_one_rank_differ(void)
{
	struct collsock_options options = { .size = sizeof(options), .window = 4 };
	struct collsock *socket = NULL;
	__u32 failed_rank = 0;
	int err;

	options.failed_rank = &failed_rank;
	if (world_rank == 1)
		options.window = 5;
	err = collsock_join_comm(&socket, &options, MPI_COMM_WORLD);
	if (err != -EPROTO || failed_rank != 1 || socket)
		fail("another window: %d, because of rank %u, instead of %d, rank 1", err,
		     failed_rank, -EPROTO);
}

static void an_intercommunicator_is_refused(void)
{
	struct collsock *socket = NULL;
	MPI_Comm half, both;
	int err;

	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half));
	CHECK_MPI(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(world_rank % 2), 0, &both));
	err = collsock_join_comm(&socket, NULL, both);
	if (err != -EINVAL || socket)
		fail("an intercommunicator: %d instead of %d", err, -EINVAL);
	CHECK_MPI(MPI_Comm_free(&both));
	CHECK_MPI(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
	begin(&argc, &argv, MPI_THREAD_SINGLE);
	join_and_work(MPI_COMM_WORLD, NULL);
	half_of_the_world();
	options_of_one_rank_differ();
	an_intercommunicator_is_refused();
	pass();
	MPI_Finalize();
	return 0;
}
