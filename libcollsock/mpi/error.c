// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * All failures belong to one error class, "collsock". The failure of a group is terminal,
 * so each communicator needs only one code.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "error.h"
#include "fatal.h"

#define LONGEST_TEXT 512

/* How long ranks leave it to another to report a failure, and how much later the next ones do so */
#define OTHERS_SAY_NS	(5 * CM_NS_PER_S)
#define NEXT_SAYS_NS	(CM_NS_PER_S / 10)
#define MOST_NEXT	50

#define CAUSE_EPROTO \
	"calls another collective, or with other counts, datatypes or operators; or its host has another version of the module: install the same on all"

static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static int error_class = MPI_SUCCESS;

/* The latest code, of which there is one for a communicator, and the rank that failed */
static int error_code = MPI_SUCCESS;
static __u32 error_failed_rank;

static int error_get_class(void)
{
	if (error_class == MPI_SUCCESS) {
		if (PMPI_Add_error_class(&error_class))
			error_class = MPI_ERR_OTHER;
		else
			PMPI_Add_error_string(error_class,
					      "collsock: a collective operation has failed");
	}
	return error_class;
}

/* What the failed rank did, for errors whose advice is only for users of sockets */
static const char *error_cause(int error)
{
	switch (error) {
	case ECONNRESET:
		return "has left the group: its process ended or gave up; see its output";
	case EPROTO:
		return CAUSE_EPROTO;
	default:
		return NULL;
	}
}

const char *cm_error_text(int error, __u32 failed_rank, char *text, size_t bytes)
{
	const char *cause = failed_rank == COLLSOCK_NO_RANK ? NULL : error_cause(error);

	if (!cause)
		return collsock_strerror(error, failed_rank, text, bytes);
	snprintf(text, bytes, "rank %u %s", failed_rank, cause);
	return text;
}

/* MPI's strings are short, so they begin with the call and the ranks. */
static void error_describe(const struct cm_comm *c, enum cm_call call, int error,
			   __u32 failed_rank, char *text, size_t bytes)
{
	char what[LONGEST_TEXT];
	int used;

	used = snprintf(text, bytes, "collsock: %s of rank %d: ", cm_call_names[call], c->rank);
	if (failed_rank != COLLSOCK_NO_RANK)
		used += snprintf(text + used, bytes - used, "rank %u failed: ", failed_rank);
	snprintf(text + used, bytes - used, "%s",
		 cm_error_text(error, failed_rank, what, sizeof(what)));
}

static int error_new_code(const char *text)
{
	int code;

	if (PMPI_Add_error_code(error_get_class(), &code))
		return MPI_ERR_OTHER;
	PMPI_Add_error_string(code, text);
	return code;
}

int cm_error_code(struct cm_comm *c, enum cm_call call, int error, __u32 failed_rank)
{
	char text[MPI_MAX_ERROR_STRING];
	int code;

	pthread_mutex_lock(&error_lock);
	if (c->failure.code == MPI_SUCCESS) {
		error_describe(c, call, error, failed_rank, text, sizeof(text));
		c->failure.code = error_new_code(text);
		error_code = c->failure.code;
		error_failed_rank = failed_rank;
	}
	code = c->failure.code;
	pthread_mutex_unlock(&error_lock);
	return code;
}

static bool error_is_fatal(MPI_Errhandler handler)
{
#if MPI_VERSION >= 4
	if (handler == MPI_ERRORS_ABORT)
		return true;
#endif
	return handler == MPI_ERRORS_ARE_FATAL;
}

/*
 * Does another rank report the same? The lowest of those that know the failed rank does. A failure
 * known to one rank only is reported by that.
 */
static bool error_is_said_elsewhere(int rank, int code)
{
	__u32 failed_rank = COLLSOCK_NO_RANK;

	pthread_mutex_lock(&error_lock);
	if (code == error_code)
		failed_rank = error_failed_rank;
	pthread_mutex_unlock(&error_lock);
	return failed_rank != COLLSOCK_NO_RANK && (__u32)rank != failed_rank &&
	       rank != (failed_rank ? 0 : 1);
}

/* That rank ends the program, and thus this process, unless it has failed, too, like its host. */
static void error_leave_it_to_others(int rank)
{
	__u64 ns = OTHERS_SAY_NS + NEXT_SAYS_NS * (rank < MOST_NEXT ? rank : MOST_NEXT);
	struct timespec left = { ns / CM_NS_PER_S, ns % CM_NS_PER_S };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

void cm_error_say_if_fatal(MPI_Comm handle, int code)
{
	char text[MPI_MAX_ERROR_STRING];
	MPI_Errhandler handler;
	int length, rank;

	if (PMPI_Comm_get_errhandler(handle, &handler))
		return;
	if (error_is_fatal(handler) && !PMPI_Error_string(code, text, &length)) {
		if (!PMPI_Comm_rank(handle, &rank) && error_is_said_elsewhere(rank, code))
			error_leave_it_to_others(rank);
		cm_fatal_say("%s\n", text);
	}
	PMPI_Errhandler_free(&handler);
}
