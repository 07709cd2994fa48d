// SPDX-License-Identifier: GPL-2.0
/* A program that never calls MPI_Init. Sessions are new in MPI 4.0. */
#include <stdio.h>

#include <mpi.h>

#define ROUNDS 20

#if MPI_VERSION >= 4
static int work(MPI_Comm comm)
{
	int i, rank, size, sum;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	for (i = 0; i < ROUNDS; i++) {
		MPI_Barrier(comm);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		if (sum != size * (size - 1) / 2) {
			printf("not right: the sum is %d\n", sum);
			return 1;
		}
	}
	if (!rank)
		printf("PASS\n");
	return 0;
}

int main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	int failed;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "collsock", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	failed = work(comm);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return failed;
}
#else
int main(void)
{
	printf("PASS: this MPI has no sessions\n");
	return 0;
}
#endif
