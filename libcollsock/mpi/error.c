// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A class of its own, "collsock", for all failures, and a code for each communicator's:
 * failure of a group is terminal, so there is one.
 */
#include <stdio.h>
#include <string.h>

#include "error.h"

#define LONGEST_TEXT 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int class = MPI_SUCCESS;

static int error_class(void)
{
	if (class == MPI_SUCCESS) {
		if (PMPI_Add_error_class(&class))
			class = MPI_ERR_OTHER;
		else
			PMPI_Add_error_string(class, "collsock: a collective operation has failed");
	}
	return class;
}

/* MPI's strings are short: who and where must be at their beginning. */
static void describe(const struct cm_op *op, char *text, size_t bytes)
{
	char what[LONGEST_TEXT];
	int used;

	used = snprintf(text, bytes, "collsock: %s of rank %d: ", cm_call_names[op->call],
			op->comm->rank);
	if (op->failed_rank != COLLSOCK_NO_RANK)
		used += snprintf(text + used, bytes - used, "rank %u failed: ", op->failed_rank);
	collsock_strerror(op->error, op->failed_rank, what, sizeof(what));
	snprintf(text + used, bytes - used, "%s", what);
}

int cm_error_code(const struct cm_op *op)
{
	char text[MPI_MAX_ERROR_STRING];
	struct cm_comm *c = op->comm;
	int code;

	pthread_mutex_lock(&lock);
	code = c->code;
	if (code == MPI_SUCCESS) {
		if (PMPI_Add_error_code(error_class(), &code))
			code = MPI_ERR_OTHER;
		describe(op, text, sizeof(text));
		if (code != MPI_ERR_OTHER)
			PMPI_Add_error_string(code, text);
		c->code = code;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

int cm_raise(MPI_Comm handle, int code)
{
	PMPI_Comm_call_errhandler(handle == MPI_COMM_NULL ? MPI_COMM_WORLD : handle, code);
	return code;
}
