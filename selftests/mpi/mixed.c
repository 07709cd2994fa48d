// SPDX-License-Identifier: GPL-2.0
/*
 * mixed spins|sleeps: waits for requests of collectives and of messages together, with stand_in.c,
 * which counts how often a rank sleeps. Do they sleep never, as waits spin here, or do they sleep?
 * That an operation ends late does not depend on time: a rank has looked at its socket often.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "stand_in.h"

#define TAG 1
#define MANY_LOOKS 300	/* a wait yields during the first 100 */
#define FEW_LOOKS 20
#define MOST_REQUESTS 62
#define LATE_NS 100000000L
#define SHORTEST_NAP_NS 50000UL
#define LOSING_CALLS 4	/* then spinning pauses */
#define PAUSE 256	/* waits, each of any number of requests */
#define PAUSED_WAITS 5	/* of 60 requests each */

static __typeof__(stand_in_fail) *set_fault;
static __typeof__(stand_in_slept) *count_sleeps;
static MPI_Request requests[MOST_REQUESTS];
static MPI_Status statuses[MOST_REQUESTS];
static int sums[MOST_REQUESTS];
static int message, received, left, right;

static void end_late(unsigned int looks)
{
	unsigned long longest;

	set_fault(&(struct stand_in_fault){
		.place	= looks ? STAND_IN_LOOKS : STAND_IN_NOWHERE,
		.rank	= STAND_IN_EVERY_RANK,
		.number	= looks,
	});
	count_sleeps(&longest);
}

/* Collectives, from requests[first] on */
static void start(MPI_Comm comm, int first, int count)
{
	int i;

	for (i = first; i < first + count; i++)
		CHECK_MPI(MPI_Iallreduce(&world_rank, &sums[i], 1, MPI_INT, MPI_SUM, comm,
					 &requests[i]));
}

static void check_sums(int first, int count)
{
	int i, wanted = world_size * (world_size - 1) / 2;

	for (i = first; i < first + count; i++)
		if (sums[i] != wanted)
			fail("sum %d instead of %d", sums[i], wanted);
}

static void check_message(void)
{
	if (received != left)
		fail("message %d instead of %d", received, left);
	received = -1;
}

static void start_receiving(void)
{
	CHECK_MPI(MPI_Irecv(&received, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &requests[0]));
}

static void start_sending(int index)
{
	message = world_rank;
	CHECK_MPI(MPI_Isend(&message, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &requests[index]));
}

/* ---- waits; each returns how often it has slept ---- */

static unsigned long wait_for_all(MPI_Comm comm, int operations, unsigned long *longest)
{
	unsigned long slept;

	end_late(MANY_LOOKS);
	start_receiving();
	start(comm, 1, operations);
	start_sending(1 + operations);
	CHECK_MPI(MPI_Waitall(2 + operations, requests, statuses));
	slept = count_sleeps(longest);
	check_sums(1, operations);
	check_message();
	return slept;
}

/* The message is sent only when the operation has ended on all ranks. */
static unsigned long wait_for_one(MPI_Comm comm, bool some)
{
	unsigned long slept, longest;
	int ended = 1, index;

	end_late(MANY_LOOKS);
	start_receiving();
	start(comm, 1, 1);
	if (some)
		CHECK_MPI(MPI_Waitsome(2, requests, &ended, &index, statuses));
	else
		CHECK_MPI(MPI_Waitany(2, requests, &index, statuses));
	slept = count_sleeps(&longest);
	if (ended != 1 || index != 1)
		fail("%d ended, the first is %d", ended, index);
	check_sums(1, 1);
	end_late(0);
	CHECK_MPI(MPI_Barrier(comm));
	start_sending(1);
	CHECK_MPI(MPI_Waitall(2, requests, statuses));
	check_message();
	return slept;
}

/* The operation ends long before the message is sent. */
static unsigned long wait_for_message(MPI_Comm comm)
{
	const struct timespec late = { .tv_nsec = LATE_NS };
	unsigned long slept, longest;

	end_late(0);
	start(comm, 1, 1);
	if (world_rank) {
		CHECK_MPI(MPI_Wait(&requests[1], statuses));
		nanosleep(&late, NULL);
	}
	start_receiving();
	start_sending(world_rank ? 1 : 2);
	CHECK_MPI(MPI_Waitall(world_rank ? 2 : 3, requests, statuses));
	slept = world_rank ? 0 : count_sleeps(&longest);
	check_sums(1, 1);
	check_message();
	return slept;
}

/* ---- what they must do ---- */

static void check(const char *what, unsigned long slept, bool may_sleep)
{
	if (!slept == may_sleep)
		fail("%s: %lu sleeps", what, slept);
}

/* Whether waits spin is a matter of each communicator. */
static void check_pause(void)
{
	unsigned long slept, longest;
	MPI_Comm comm;
	int i;

	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	CHECK_MPI(MPI_Barrier(comm));
	end_late(FEW_LOOKS);
	for (i = 0; i < LOSING_CALLS; i++)
		CHECK_MPI(MPI_Barrier(comm));
	for (i = 0; i < PAUSED_WAITS; i++) {
		slept = wait_for_all(comm, MOST_REQUESTS - 2, &longest);
		check("MPI_Waitall while spinning pauses", slept, true);
		if (longest > SHORTEST_NAP_NS)
			fail("a sleep of up to %lu ns while spinning pauses", longest);
	}
	for (; i < PAUSE; i++)
		wait_for_all(comm, 1, &longest);
	slept = wait_for_all(MPI_COMM_WORLD, 1, &longest);
	check("MPI_Waitall of another communicator", slept, false);
	slept = wait_for_all(comm, 1, &longest);
	check("MPI_Waitall after the pause", slept, false);
	end_late(0);
	CHECK_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
	bool sleeps = argc > 1 && !strcmp(argv[1], "sleeps");
	unsigned long slept, longest;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	set_fault = dlsym(RTLD_DEFAULT, "stand_in_fail");
	count_sleeps = dlsym(RTLD_DEFAULT, "stand_in_slept");
	if (!set_fault || !count_sleeps)
		fail("stand_in.so is not preloaded");
	left = (world_rank + world_size - 1) % world_size;
	right = (world_rank + 1) % world_size;
	CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
	slept = wait_for_all(MPI_COMM_WORLD, 1, &longest);
	check("MPI_Waitall", slept, sleeps);
	if (sleeps && longest <= SHORTEST_NAP_NS)
		fail("no sleep of more than %lu ns", longest);
	check("MPI_Waitany", wait_for_one(MPI_COMM_WORLD, false), sleeps);
	check("MPI_Waitsome", wait_for_one(MPI_COMM_WORLD, true), sleeps);
	if (!sleeps) {
		check("MPI_Waitall for a message", wait_for_message(MPI_COMM_WORLD), false);
		check_pause();
	}
	pass();
	end_late(0);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
