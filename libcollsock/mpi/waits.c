// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The calls that complete requests. Those of ours are brought forward first, then MPI is
 * asked about all of them: so any mixture does what it always did. Each function is
 * exported as MPI_X and as PMPI_X.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "below.h"
#include "error.h"
#include "progress.h"
#include "request.h"

#define MOST_SOCKETS 16
#define LOOKS_BEFORE_SLEEP 100

/* If the request is ours and has come to its end, MPI learns of it. */
static void try_one(MPI_Request request, struct cm_comm **looked)
{
	struct cm_op *op = cm_request_find(request);

	if (op && cm_op_test(op, looked))
		cm_request_tell(op);
}

static void await_one(MPI_Request request)
{
	struct cm_op *op = cm_request_find(request);

	if (!op)
		return;
	cm_op_wait(op);
	cm_drive_sometimes(op->completed_ns);
	cm_request_tell(op);
}

static void try_all(int count, const MPI_Request *requests)
{
	struct cm_comm *looked = NULL;
	int i;

	for (i = 0; cm_request_any() && i < count; i++)
		try_one(requests[i], &looked);
}

static bool any_ours(int count, const MPI_Request *requests)
{
	int i;

	for (i = 0; cm_request_any() && i < count; i++)
		if (cm_request_find(requests[i]))
			return true;
	return false;
}

/* Give way, later sleep a little; the end of one of ours wakes. */
static void pause_for(struct cm_pace *pace, int count, const MPI_Request *requests)
{
	struct pollfd sockets[MOST_SOCKETS];
	unsigned int used = 0;
	struct cm_op *op;
	int i;

	if (pace->looks++ < LOOKS_BEFORE_SLEEP) {
		sched_yield();
		return;
	}
	for (i = 0; i < count && used < MOST_SOCKETS; i++) {
		op = cm_request_find(requests[i]);
		if (op)
			sockets[used++] = (struct pollfd){
				.fd	= collsock_fd(op->comm->socket),
				.events	= POLLIN,
			};
	}
	cm_pace_sleep(pace, sockets, used);
}

/* ---- failures ---- */

/*
 * MPI knows nothing of our failures, because it would call the error handler of another
 * communicator: they are put in afterwards.
 */
static int failure_of_one(int err)
{
	MPI_Request request;
	MPI_Comm comm;
	int code;

	if (!cm_request_any_failed())
		return err;
	code = cm_request_failure(&request, &comm);
	return err || code == MPI_SUCCESS ? err : cm_raise(comm, code);
}

/* A copy of the requests of a call that completes some, if it may be needed, or NULL. */
static MPI_Request *remember(int count, const MPI_Request *requests)
{
	MPI_Request *before;

	if (!cm_request_any_failed() || count <= 0)
		return NULL;
	before = malloc(count * sizeof(*before));
	if (before)
		memcpy(before, requests, count * sizeof(*before));
	return before;
}

/* Put a code where the status of the request is. @indices: as below. */
static void put_code(const MPI_Request *before, MPI_Request request, const int *indices,
		     int ended, MPI_Status *statuses, int code)
{
	int i;

	for (i = 0; before && statuses != MPI_STATUSES_IGNORE && i < ended; i++)
		if (before[indices ? indices[i] : i] == request)
			statuses[i].MPI_ERROR = code;
}

/* Does MPI say that some have failed, and that it has told which? */
static bool is_in_status(int err)
{
	int class = MPI_SUCCESS;

	return err && !PMPI_Error_class(err, &class) && class == MPI_ERR_IN_STATUS;
}

/*
 * @err is what MPI has said, @ended how many requests have ended: those at @indices, or
 * all. Frees @before.
 */
static int failures_of_many(int err, MPI_Request *before, const int *indices, int ended,
			    MPI_Status *statuses)
{
	MPI_Comm comm, first_comm = MPI_COMM_NULL;
	int i, code, first_code = MPI_SUCCESS;
	MPI_Request request;

	while (cm_request_any_failed() && (code = cm_request_failure(&request, &comm))) {
		if (first_code == MPI_SUCCESS) {
			first_code = code;
			first_comm = comm;
			/* MPI sets them only if something has failed that it knows. */
			for (i = 0; !err && statuses != MPI_STATUSES_IGNORE && i < ended; i++)
				statuses[i].MPI_ERROR = MPI_SUCCESS;
		}
		put_code(before, request, indices, ended, statuses, code);
	}
	free(before);
	if (first_code == MPI_SUCCESS || (err && !is_in_status(err)))
		return err;
	cm_raise(first_comm, first_code);
	return MPI_ERR_IN_STATUS;
}

/* ---- one ---- */

static int wait_one(MPI_Request *request, MPI_Status *status)
{
	if (cm_request_any())
		await_one(*request);
	return failure_of_one(below.Wait(request, status));
}

static int test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
	try_all(1, request);
	return failure_of_one(below.Test(request, flag, status));
}

static int get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	try_all(1, &request);
	return below.Request_get_status(request, flag, status);
}

/* MPI forbids it for collectives. */
static int request_free(MPI_Request *request)
{
	struct cm_op *op = cm_request_any() ? cm_request_find(*request) : NULL;

	return op ? cm_raise(op->comm->handle, MPI_ERR_REQUEST) : below.Request_free(request);
}

/* ---- all ---- */

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
	MPI_Request *before;
	int i;

	for (i = 0; cm_request_any() && i < count; i++)
		await_one(requests[i]);
	before = remember(count, requests);
	return failures_of_many(below.Waitall(count, requests, statuses), before, NULL, count,
				statuses);
}

static int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	MPI_Request *before;
	int err;

	try_all(count, requests);
	before = remember(count, requests);
	err = below.Testall(count, requests, flag, statuses);
	return failures_of_many(err, before, NULL, is_in_status(err) || (!err && *flag) ? count : 0,
				statuses);
}

/* ---- any ---- */

static int test_any(int count, MPI_Request requests[], int *index, int *flag,
		    MPI_Status *status)
{
	try_all(count, requests);
	return failure_of_one(below.Testany(count, requests, index, flag, status));
}

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	struct cm_pace pace = { };
	int done, err;

	if (!any_ours(count, requests))
		return below.Waitany(count, requests, index, status);
	for (;;) {
		err = test_any(count, requests, index, &done, status);
		if (err || done)
			return err;
		pause_for(&pace, count, requests);
	}
}

/* ---- some ---- */

static int test_some(int count, MPI_Request requests[], int *ended, int indices[],
		     MPI_Status statuses[])
{
	MPI_Request *before;
	int err;

	*ended = 0;
	try_all(count, requests);
	before = remember(count, requests);
	err = below.Testsome(count, requests, ended, indices, statuses);
	return failures_of_many(err, before, indices, *ended == MPI_UNDEFINED ? 0 : *ended,
				statuses);
}

static int wait_some(int count, MPI_Request requests[], int *ended, int indices[],
		     MPI_Status statuses[])
{
	struct cm_pace pace = { };
	int err;

	if (!any_ours(count, requests))
		return below.Waitsome(count, requests, ended, indices, statuses);
	for (;;) {
		err = test_some(count, requests, ended, indices, statuses);
		if (err || *ended)
			return err;
		pause_for(&pace, count, requests);
	}
}

/* ---- what is exported ---- */

#include "export.h"

CM_EXPORT(Wait, (MPI_Request *request, MPI_Status *status), (request, status), wait_one)
CM_EXPORT(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
	  (count, requests, statuses), wait_all)
CM_EXPORT(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
	  (count, requests, index, status), wait_any)
CM_EXPORT(Waitsome,
	  (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
	  (count, requests, ended, indices, statuses), wait_some)
CM_EXPORT(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status),
	  test_one)
CM_EXPORT(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
	  (count, requests, flag, statuses), test_all)
CM_EXPORT(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
	  (count, requests, index, flag, status), test_any)
CM_EXPORT(Testsome,
	  (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
	  (count, requests, ended, indices, statuses), test_some)
CM_EXPORT(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
	  (request, flag, status), get_status)
CM_EXPORT(Request_free, (MPI_Request *request), (request), request_free)
