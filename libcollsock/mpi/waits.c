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
static int failure_of_one(int err, MPI_Status *status)
{
	MPI_Request request;
	MPI_Comm comm;
	int code;

	if (err || !cm_request_any_failed())
		return err;
	code = cm_request_failure(&request, &comm);
	if (code == MPI_SUCCESS)
		return err;
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = code;
	return cm_raise(comm, code);
}

/**
 * struct many - requests of a call that completes some of them
 * @count: of them
 * @before: a copy, if it may be needed
 */
struct many {
	int		count;
	MPI_Request	*before;
};

static struct many remember(int count, const MPI_Request *requests)
{
	struct many m = { .count = count };

	if (!cm_request_any_failed() || count <= 0)
		return m;
	m.before = malloc(count * sizeof(*m.before));
	if (m.before)
		memcpy(m.before, requests, count * sizeof(*m.before));
	return m;
}

/* Where the status of a request is, or -1 */
static int place_of(const struct many *m, MPI_Request request, const int *indices, int ended)
{
	int i;

	for (i = 0; i < ended; i++)
		if (m->before[indices ? indices[i] : i] == request)
			return i;
	return -1;
}

/* @indices of those that have ended, or NULL if all have. */
static int failures_of_many(int err, struct many *m, const int *indices, int ended,
			    MPI_Status *statuses)
{
	MPI_Comm comm, first = MPI_COMM_NULL;
	MPI_Request request;
	bool any = false;
	int i, code;

	while (!err && m->before && (code = cm_request_failure(&request, &comm))) {
		if (!any && statuses != MPI_STATUSES_IGNORE)
			for (i = 0; i < ended; i++)
				statuses[i].MPI_ERROR = MPI_SUCCESS;
		i = place_of(m, request, indices, ended);
		if (i >= 0 && statuses != MPI_STATUSES_IGNORE)
			statuses[i].MPI_ERROR = code;
		if (!any)
			first = comm;
		any = true;
	}
	free(m->before);
	return any ? cm_raise(first, MPI_ERR_IN_STATUS) : err;
}

/* ---- one ---- */

static int wait_one(MPI_Request *request, MPI_Status *status)
{
	if (cm_request_any())
		await_one(*request);
	return failure_of_one(below.Wait(request, status), status);
}

static int test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
	try_all(1, request);
	return failure_of_one(below.Test(request, flag, status), status);
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
	struct many m;
	int i;

	for (i = 0; cm_request_any() && i < count; i++)
		await_one(requests[i]);
	m = remember(count, requests);
	return failures_of_many(below.Waitall(count, requests, statuses), &m, NULL, count,
				statuses);
}

static int test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	struct many m;
	int err;

	try_all(count, requests);
	m = remember(count, requests);
	err = below.Testall(count, requests, flag, statuses);
	return failures_of_many(err, &m, NULL, !err && *flag ? count : 0,
				statuses);
}

/* ---- any ---- */

static int test_any(int count, MPI_Request requests[], int *index, int *flag,
		    MPI_Status *status)
{
	try_all(count, requests);
	return failure_of_one(below.Testany(count, requests, index, flag, status), status);
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
	struct many m;
	int err;

	try_all(count, requests);
	m = remember(count, requests);
	err = below.Testsome(count, requests, ended, indices, statuses);
	return failures_of_many(err, &m, indices, err || *ended == MPI_UNDEFINED ? 0 : *ended,
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

EXPORT(Wait, (MPI_Request *request, MPI_Status *status), (request, status), wait_one)
EXPORT(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
       (count, requests, statuses), wait_all)
EXPORT(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
       (count, requests, index, status), wait_any)
EXPORT(Waitsome, (int count, MPI_Request requests[], int *ended, int indices[],
		  MPI_Status statuses[]),
       (count, requests, ended, indices, statuses), wait_some)
EXPORT(Test, (MPI_Request *request, int *flag, MPI_Status *status), (request, flag, status),
       test_one)
EXPORT(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
       (count, requests, flag, statuses), test_all)
EXPORT(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
       (count, requests, index, flag, status), test_any)
EXPORT(Testsome, (int count, MPI_Request requests[], int *ended, int indices[],
		  MPI_Status statuses[]),
       (count, requests, ended, indices, statuses), test_some)
EXPORT(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
       (request, flag, status), get_status)
EXPORT(Request_free, (MPI_Request *request), (request), request_free)
