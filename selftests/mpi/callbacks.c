// SPDX-License-Identifier: GPL-2.0
/*
 * Callbacks that MPI calls while it frees a communicator may use it: for collectives, and
 * to free a communicator that is an attribute of it. MPI deletes attributes in an order
 * that depends on when each rank has set them, and here ranks set them at different times.
 * MPICH delays this while a request needs the communicator.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define COMMUNICATORS 2
#define CALLS 6		/* enough to join */

static int keyval, inner_keyval;
static int called;

static void sum(MPI_Comm comm, const char *where)
{
	int one = 1, all = -1, i;

	for (i = 0; i < CALLS; i++) {
		CHECK_MPI(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
		if (all != world_size)
			fail("%s: the result of call %d is %d", where, i, all);
	}
}

/* @value is another communicator, known only to the first. */
static int free_inner(MPI_Comm comm, int key, void *value, void *extra)
{
	MPI_Comm *inner = value;

	(void)key;
	(void)extra;
	sum(comm, "outer");
	sum(*inner, "inner");
	CHECK_MPI(MPI_Comm_free(inner));
	free(inner);
	called++;
	return MPI_SUCCESS;
}

static int use_it(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)key;
	(void)value;
	(void)extra;
	sum(comm, "a communicator being freed");
	called++;
	return MPI_SUCCESS;
}

static MPI_Comm duplicate(void)
{
	MPI_Comm comm;

	CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	return comm;
}

static void attach(MPI_Comm comm, MPI_Comm inner)
{
	MPI_Comm *value = allocate(sizeof(*value));

	*value = inner;
	CHECK_MPI(MPI_Comm_set_attr(inner, inner_keyval, NULL));
	CHECK_MPI(MPI_Comm_set_attr(comm, keyval, value));
}

static void come_and_go(bool before, bool needed, int (*let_go)(MPI_Comm *comm))
{
	int *ranks = allocate(world_size * sizeof(*ranks));
	MPI_Comm comm = duplicate(), inner = duplicate();
	MPI_Request request = MPI_REQUEST_NULL;

	called = 0;
	if (before)
		attach(comm, inner);
	sum(comm, "new");
	sum(inner, "new");
	if (!before)
		attach(comm, inner);
	if (needed)
		CHECK_MPI(MPI_Iallgather(&world_rank, 1, MPI_INT, ranks, 1, MPI_INT, comm,
					 &request));
	CHECK_MPI(let_go(&comm));
	CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
	if (called != 2)
		fail("%d callbacks were called", called);
	free(ranks);
}

int main(int argc, char **argv)
{
	int i;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	CHECK_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &keyval, NULL));
	CHECK_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, use_it, &inner_keyval, NULL));
	for (i = 0; i < COMMUNICATORS; i++) {
		come_and_go((world_rank + i) % 2, false, MPI_Comm_free);
		come_and_go((world_rank + i) % 2, false, MPI_Comm_disconnect);
		come_and_go((world_rank + i) % 2, true, MPI_Comm_free);
	}
	sum(MPI_COMM_WORLD, "the world");
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
