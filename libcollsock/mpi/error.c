// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A class of its own, "collsock", for all failures, and a code for each communicator's:
 * failure of a group is terminal, so there is one.
 */
#include <errno.h>
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

/* What a rank has done, where advice to users of sockets would not help. */
static const char *deed_of(int error)
{
	switch (error) {
	case ECONNRESET:
		return "has left the group: its process ended, or could not go on: look there why";
	case EPROTO:
		return "calls another collective, or with other counts, datatypes or operators";
	default:
		return NULL;
	}
}

const char *cm_strerror(int error, __u32 failed_rank, char *text, size_t bytes)
{
	const char *deed = failed_rank == COLLSOCK_NO_RANK ? NULL : deed_of(error);

	if (!deed)
		return collsock_strerror(error, failed_rank, text, bytes);
	snprintf(text, bytes, "rank %u %s", failed_rank, deed);
	return text;
}

/* MPI's strings are short: who and where must be at their beginning. */
static void describe(const struct cm_comm *c, enum cm_call call, int error,
		     __u32 failed_rank, char *text, size_t bytes)
{
	char what[LONGEST_TEXT];
	int used;

	used = snprintf(text, bytes, "collsock: %s of rank %d: ", cm_call_names[call], c->rank);
	if (failed_rank != COLLSOCK_NO_RANK)
		used += snprintf(text + used, bytes - used, "rank %u failed: ", failed_rank);
	snprintf(text + used, bytes - used, "%s",
		 cm_strerror(error, failed_rank, what, sizeof(what)));
}

static int new_code(const char *text)
{
	int code;

	if (PMPI_Add_error_code(error_class(), &code))
		return MPI_ERR_OTHER;
	PMPI_Add_error_string(code, text);
	return code;
}

int cm_error_code(struct cm_comm *c, enum cm_call call, int error, __u32 failed_rank)
{
	char text[MPI_MAX_ERROR_STRING];
	int code;

	pthread_mutex_lock(&lock);
	if (c->code == MPI_SUCCESS) {
		describe(c, call, error, failed_rank, text, sizeof(text));
		c->code = new_code(text);
	}
	code = c->code;
	pthread_mutex_unlock(&lock);
	return code;
}

static bool is_fatal(MPI_Errhandler handler)
{
#if MPI_VERSION >= 4
	if (handler == MPI_ERRORS_ABORT)
		return true;
#endif
	return handler == MPI_ERRORS_ARE_FATAL;
}

/* Launchers may lose what an MPI says of its end. */
static void say_if_fatal(MPI_Comm handle, int code)
{
	char text[MPI_MAX_ERROR_STRING];
	MPI_Errhandler handler;
	int length;

	if (PMPI_Comm_get_errhandler(handle, &handler))
		return;
	if (is_fatal(handler) && !PMPI_Error_string(code, text, &length))
		fprintf(stderr, "%s\n", text);
	PMPI_Errhandler_free(&handler);
}

int cm_raise(MPI_Comm handle, int code)
{
	if (handle == MPI_COMM_NULL)
		handle = MPI_COMM_WORLD;
	say_if_fatal(handle, code);
	PMPI_Comm_call_errhandler(handle, code);
	return code;
}
