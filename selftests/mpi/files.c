// SPDX-License-Identifier: GPL-2.0
/*
 * files PATH: reductions of which each waits together with one that writes a file, where some ranks
 * wait for both at once, and others for one after the other. Some MPIs advance the second only in
 * calls that wait for it.
 */
#include <stdlib.h>

#include "common.h"

#define TIMES 20
#define BYTES 512	/* of each rank, in turn, so that ranks exchange what they write */

int main(int argc, char **argv)
{
	char data[BYTES] = { 0 };
	MPI_Request requests[2];
	MPI_Status statuses[2];
	MPI_Datatype turns;
	int time, sum;
	MPI_Info info;
	MPI_File file;

	begin(&argc, &argv, MPI_THREAD_SINGLE);
	if (argc != 2)
		fail("usage: files PATH");
	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Type_create_resized(MPI_CHAR, 0, world_size, &turns);
	MPI_Type_commit(&turns);
	CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, argv[1],
				MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, info,
				&file));
	CHECK_MPI(MPI_File_set_view(file, world_rank, MPI_CHAR, turns, "native", info));
	for (time = 0; time < TIMES; time++) {
		CHECK_MPI(MPI_Barrier(MPI_COMM_WORLD));
		CHECK_MPI(MPI_File_iwrite_all(file, data, BYTES, MPI_CHAR, &requests[0]));
		if (world_rank % 2)
			CHECK_MPI(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
		CHECK_MPI(MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
					 &requests[1]));
		CHECK_MPI(MPI_Waitall(2, requests, statuses));
		if (sum != world_size * (world_size - 1) / 2)
			fail("the sum is %d", sum);
	}
	CHECK_MPI(MPI_File_close(&file));
	MPI_Type_free(&turns);
	MPI_Info_free(&info);
	pass();
	MPI_Finalize();
	return EXIT_SUCCESS;
}
