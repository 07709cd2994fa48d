// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ompi.h"

#include <pthread.h>
#include <ompi/runtime/mpiruntime.h>

#include "ready.h"
#include "types.h"

bool cm_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int state = ompi_mpi_state;

	if (state < OMPI_MPI_STATE_INIT_COMPLETED ||
	    state >= OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT)
		return false;
	pthread_once(&once, cm_types_init);
	return true;
}
