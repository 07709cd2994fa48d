// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "communicators.h"

#define TAG_HALVES 7

static int *world_ranks_of(MPI_Group group, int size)
{
	int *world_ranks = allocate(size * sizeof(*world_ranks));
	int *ranks = allocate(size * sizeof(*ranks));
	MPI_Group world;
	int i;

	for (i = 0; i < size; i++)
		ranks[i] = i;
	CHECK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
	CHECK_MPI(MPI_Group_translate_ranks(group, size, ranks, world, world_ranks));
	CHECK_MPI(MPI_Group_free(&world));
	free(ranks);
	return world_ranks;
}

static void learn(struct communicator *made)
{
	MPI_Group group;
	int is_inter;

	CHECK_MPI(MPI_Comm_rank(made->comm, &made->rank));
	CHECK_MPI(MPI_Comm_size(made->comm, &made->size));
	CHECK_MPI(MPI_Comm_group(made->comm, &group));
	made->world_ranks = world_ranks_of(group, made->size);
	CHECK_MPI(MPI_Group_free(&group));
	CHECK_MPI(MPI_Comm_test_inter(made->comm, &is_inter));
	made->is_inter = is_inter;
	if (is_inter) {
		CHECK_MPI(MPI_Comm_remote_size(made->comm, &made->remote_size));
		CHECK_MPI(MPI_Comm_remote_group(made->comm, &group));
		made->remote_world_ranks = world_ranks_of(group, made->remote_size);
		CHECK_MPI(MPI_Group_free(&group));
	}
}

static MPI_Comm split(int color, int key)
{
	MPI_Comm comm;

	CHECK_MPI(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm));
	return comm;
}

/* All but every third rank, and these have none. */
static MPI_Comm subset(void)
{
	return split(world_rank % 3 == 2 ? MPI_UNDEFINED : 0, 0);
}

/* The lower half and the upper one, which talk to each other. */
static MPI_Comm halves(int half)
{
	MPI_Comm own, both;
	int leader;

	if (world_size == 1)
		return MPI_COMM_NULL;
	own = split(half, 0);
	leader = half ? 0 : world_size / 2;
	CHECK_MPI(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, leader, TAG_HALVES, &both));
	CHECK_MPI(MPI_Comm_free(&own));
	return both;
}

/* Every second rank, from the highest down. */
static MPI_Comm of_group(void)
{
	MPI_Group world, group;
	int ranges[][3] = { { world_size - 1, 0, -2 } };
	MPI_Comm comm;

	CHECK_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
	CHECK_MPI(MPI_Group_range_incl(world, 1, ranges, &group));
	CHECK_MPI(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
	CHECK_MPI(MPI_Group_free(&group));
	CHECK_MPI(MPI_Group_free(&world));
	return comm;
}

void communicator_make(struct communicator *made, unsigned int kind)
{
	static const char *const names[KINDS] = {
		"world", "duplicate", "parity", "reversed", "subset", "alone", "halves", "group",
	};

	*made = (struct communicator){ .name = names[kind], .half = world_rank >= world_size / 2 };
	switch (kind) {
	case 0:
		made->comm = MPI_COMM_WORLD;
		break;
	case 1:
		CHECK_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &made->comm));
		break;
	case 2:
		made->comm = split(world_rank % 2, 0);
		break;
	case 3:
		made->comm = split(0, -world_rank);
		break;
	case 4:
		made->comm = subset();
		break;
	case 5:
		made->comm = split(world_rank, 0);
		break;
	case 6:
		made->comm = halves(made->half);
		break;
	default:
		made->comm = of_group();
	}
	if (made->comm != MPI_COMM_NULL)
		learn(made);
}

void communicator_free(struct communicator *communicator)
{
	if (communicator->comm != MPI_COMM_NULL && communicator->comm != MPI_COMM_WORLD)
		CHECK_MPI(MPI_Comm_free(&communicator->comm));
	free(communicator->world_ranks);
	free(communicator->remote_world_ranks);
	*communicator = (struct communicator){ .comm = MPI_COMM_NULL };
}
