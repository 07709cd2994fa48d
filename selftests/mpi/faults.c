// SPDX-License-Identifier: GPL-2.0
/*
 * faults [PLACE[=ERROR][@RANK][#NUMBER]]...: collectives on a new communicator for each
 * fault, which stand_in.c causes; its header lists the places. Results must be right. Each
 * rank prints for each fault how many calls were right, how many of the socket's
 * completions it has taken, and what the first failure was:
 *
 *	end=ETIMEDOUT@1#4: rank 0: 3 right, 5 taken: collsock: ...: collsock: MPI_Reduce ...
 *
 * All later calls must then fail with the same error. "fatal" as the first word: errors
 * are. "reversed": from there on the last rank of the world is rank 0 of communicators.
 * "closed": no socket is left of the communicators before.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"
#include "stand_in.h"

#define ROUNDS 3
#define MOST_ERRNO 134
#define LONGEST_NAME 16
#define NAP_NS 10000000L
#define MOST_NAPS 2000	/* 20 s */

static const char *const places[] = {
	[STAND_IN_NOWHERE] = "nothing",	[STAND_IN_SOCKET] = "socket",
	[STAND_IN_JOIN] = "join",	[STAND_IN_POST] = "post",
	[STAND_IN_WAIT] = "wait",	[STAND_IN_END] = "end",
	[STAND_IN_SILENT] = "silent",	[STAND_IN_SLOW] = "slow",
	[STAND_IN_FULL] = "full",	[STAND_IN_LOOKS] = "looks",
};

static unsigned int error_named(const char *name)
{
	unsigned int error;

	for (error = 1; error < MOST_ERRNO; error++)
		if (strerrorname_np(error) && !strcmp(strerrorname_np(error), name))
			return error;
	fail("no error %s", name);
	return 0;
}

static struct stand_in_fault read_fault(const char *word)
{
	struct stand_in_fault fault = { .rank = STAND_IN_EVERY_RANK };
	size_t length = strcspn(word, "=@#"), i;
	const char *at = strchr(word, '@'), *number = strchr(word, '#');
	char error[LONGEST_NAME];

	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (strlen(places[i]) == length && !strncmp(word, places[i], length))
			break;
	if (i == sizeof(places) / sizeof(*places))
		fail("%s: no such place", word);
	fault.place = i;
	if (sscanf(word + length, "=%15[A-Z0-9]", error) == 1)
		fault.error = error_named(error);
	if (at)
		fault.rank = atoi(at + 1);
	if (number)
		fault.number = atoi(number + 1);
	return fault;
}

/* ---- the calls; each is one of the group's operations, too ---- */

static void expect(int result, int value, int wanted)
{
	if (result == MPI_SUCCESS && value != wanted)
		fail("%d instead of %d", value, wanted);
}

static int rank;	/* in the communicator */

static int sum_to(int count)
{
	return count * (count + 1) / 2;
}

static int barrier(MPI_Comm comm, int number)
{
	(void)number;
	return MPI_Barrier(comm);
}

static int reduce(MPI_Comm comm, int number)
{
	int value = rank + 1, sum = -1, root = number % world_size;
	int result = MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, comm);

	expect(result, sum, rank == root ? sum_to(world_size) : -1);
	return result;
}

static int broadcast(MPI_Comm comm, int number)
{
	int root = number % world_size, value = rank == root ? number : -1;
	int result = MPI_Bcast(&value, 1, MPI_INT, root, comm);

	expect(result, value, number);
	return result;
}

static int allreduce(MPI_Comm comm, int number)
{
	int value = rank + 1 + number, sum = -1;
	int result = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);

	expect(result, sum, sum_to(world_size) + number * world_size);
	return result;
}

static int later_allreduce(MPI_Comm comm, int number)
{
	int value = rank + 1 + number, sum = -1, result;
	MPI_Request request = MPI_REQUEST_NULL;

	result = MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	if (result == MPI_SUCCESS)
		result = MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect(result, sum, sum_to(world_size) + number * world_size);
	return result;
}

static int (*const calls[])(MPI_Comm comm, int number) = {
	barrier, reduce, broadcast, allreduce, later_allreduce,
};

#define CALLS ((int)(sizeof(calls) / sizeof(*calls)))

/* ---- one fault ---- */

static void tell(const char *word, int right, int code)
{
	__typeof__(stand_in_taken) *taken = dlsym(RTLD_DEFAULT, "stand_in_taken");
	char class_text[MPI_MAX_ERROR_STRING] = "", text[MPI_MAX_ERROR_STRING] = "";
	int class = MPI_SUCCESS, length;

	if (code != MPI_SUCCESS) {
		MPI_Error_class(code, &class);
		MPI_Error_string(class, class_text, &length);
		MPI_Error_string(code, text, &length);
	}
	printf("%s: rank %d: %d right, %lu taken: %s: %s\n", word, world_rank, right,
	       taken ? taken() : 0, class_text, text);
	fflush(stdout);
}

static unsigned long open_sockets(void)
{
	__typeof__(stand_in_open) *opened = dlsym(RTLD_DEFAULT, "stand_in_open");

	return opened ? opened() : 0;
}

/* Threads of the library may be about to stop waiting for one that has been closed. */
static void check_that_sockets_are_closed(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int naps;

	for (naps = 0; open_sockets(); naps++) {
		if (naps == MOST_NAPS)
			fail("sockets that are still there: %lu", open_sockets());
		nanosleep(&nap, NULL);
	}
}

static void meet(const char *word, bool fatal, bool reversed)
{
	__typeof__(stand_in_fail) *set = dlsym(RTLD_DEFAULT, "stand_in_fail");
	struct stand_in_fault fault = read_fault(word);
	int right = 0, code = MPI_SUCCESS, number, result;
	MPI_Comm comm;

	if (set)
		set(&fault);
	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, reversed ? -world_rank : world_rank, &comm));
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_set_errhandler(comm, fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
	for (number = 1; number <= ROUNDS * CALLS; number++) {
		result = calls[(number - 1) % CALLS](comm, number);
		if (code != MPI_SUCCESS && result != code)
			fail("%s: call %d gives %d after a failure", word, number, result);
		right += result == MPI_SUCCESS;
		code = result;
	}
	tell(word, right, code);
	CHECK_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
	bool fatal = argc > 1 && !strcmp(argv[1], "fatal"), reversed = false;
	int i;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (i = 1 + fatal; i < argc; i++) {
		if (!strcmp(argv[i], "reversed"))
			reversed = true;
		else if (!strcmp(argv[i], "closed"))
			check_that_sockets_are_closed();
		else
			meet(argv[i], fatal, reversed);
	}
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
