// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "error.h"
#include "raise.h"

int cm_raise_error(MPI_Comm handle, int code)
{
	if (handle == MPI_COMM_NULL)
		handle = MPI_COMM_WORLD;
	cm_error_say_if_fatal(handle, code);
	PMPI_Comm_call_errhandler(handle, code);
	return code;
}
