// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The calls that complete requests. Our requests make progress first, then the underlying
 * MPI handles all of them, so that mixtures of ours and its own work as usual.
 */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "grequest.h"
#include "progress.h"
#include "raise.h"
#include "run.h"

#define MOST_SOCKETS 16
#define LOOKS_BEFORE_SLEEP 100

/* If the request is ours and its operation is done, notify the underlying MPI. */
static void wait_try_one(MPI_Request request, struct cm_comm **looked)
{
	struct cm_op *op = cm_grequest_find(request);

	if (op && cm_run_test(op, looked))
		cm_grequest_tell(op);
}

static void wait_await_one(MPI_Request request)
{
	struct cm_op *op = cm_grequest_find(request);

	if (!op)
		return;
	cm_run_wait(op);
	cm_progress_drive_sometimes(op->completed_ns);
	cm_grequest_tell(op);
}

static void wait_try_all(int count, const MPI_Request *requests)
{
	struct cm_comm *looked = NULL;
	int i;

	for (i = 0; cm_grequest_any() && i < count; i++)
		wait_try_one(requests[i], &looked);
}

static bool wait_has_ours(int count, const MPI_Request *requests)
{
	int i;

	for (i = 0; cm_grequest_any() && i < count; i++)
		if (cm_grequest_find(requests[i]))
			return true;
	return false;
}

/* Some of ours, and others? */
static bool wait_has_both(int count, const MPI_Request *requests)
{
	bool ours = false, others = false;
	int i;

	for (i = 0; cm_grequest_any() && i < count; i++) {
		if (requests[i] == MPI_REQUEST_NULL)
			continue;
		if (cm_grequest_find(requests[i]))
			ours = true;
		else
			others = true;
	}
	return ours && others;
}

/* Is an operation of ours still under way? */
static bool wait_is_for_ours(int count, const MPI_Request *requests)
{
	struct cm_op *op;
	int i;

	for (i = 0; i < count; i++) {
		op = cm_grequest_find(requests[i]);
		if (op && !cm_op_is_done(op))
			return true;
	}
	return false;
}

/* ---- between two looks ---- */

enum wait_manner {
	WAIT_UNDECIDED,
	WAIT_YIELDS,
	WAIT_SLEEPS_SHORTLY,
	WAIT_SLEEPS,
};

/**
 * struct wait_pace - pace of one wait that looks again and again
 * @looks: number of looks in vain so far
 * @manner: what it does after LOOKS_BEFORE_SLEEP of them
 * @sleeps: if it sleeps
 */
struct wait_pace {
	unsigned int		looks;
	enum wait_manner	manner;
	struct cm_pace		sleeps;
};

/*
 * A message of the underlying MPI does not end our sleep, and that MPI would poll for it. So a
 * wait for both kinds of requests sleeps only where polling takes processors from other ranks.
 */
static enum wait_manner wait_decide(int count, const MPI_Request *requests)
{
	enum wait_manner manner = WAIT_YIELDS;
	const struct cm_comm *counted = NULL;
	struct cm_op *op;
	int i;

	if (!wait_has_both(count, requests))
		return WAIT_SLEEPS;
	for (i = 0; i < count; i++) {
		op = cm_grequest_find(requests[i]);
		if (!op || cm_op_is_done(op))
			continue;
		if (!op->comm->spin.us)
			return WAIT_SLEEPS;
		/* Perhaps they share processors unknowingly. */
		if (cm_spin_is_paused(&op->comm->spin))
			manner = WAIT_SLEEPS_SHORTLY;
		/* It is one wait, however many requests of a communicator there are. */
		if (op->comm != counted)
			cm_spin_begin(&op->comm->spin);
		counted = op->comm;
	}
	return manner;
}

/* Sleep briefly; a completion of one of our requests wakes us. */
static void wait_sleep(struct cm_pace *pace, int count, const MPI_Request *requests)
{
	struct pollfd sockets[MOST_SOCKETS];
	unsigned int used = 0;
	struct cm_op *op;
	int i;

	for (i = 0; i < count && used < MOST_SOCKETS; i++) {
		op = cm_grequest_find(requests[i]);
		if (op)
			sockets[used++] = (struct pollfd){
				.fd	= collsock_fd(op->comm->socket),
				.events	= POLLIN,
			};
	}
	cm_progress_sleep(pace, sockets, used);
}

/* First yield; later perhaps sleep. */
static void wait_pause(struct wait_pace *pace, int count, const MPI_Request *requests)
{
	if (pace->looks < LOOKS_BEFORE_SLEEP)
		pace->looks++;
	else if (pace->manner == WAIT_UNDECIDED)
		pace->manner = wait_decide(count, requests);
	if (pace->manner == WAIT_UNDECIDED || pace->manner == WAIT_YIELDS) {
		sched_yield();
		return;
	}
	if (pace->manner == WAIT_SLEEPS_SHORTLY)
		pace->sleeps.naps = 0;
	wait_sleep(&pace->sleeps, count, requests);
}

/* ---- failures ---- */

/*
 * The underlying MPI is not notified of our failures, because it would call the error
 * handler of another communicator: they are added afterwards.
 */
static int wait_failure(int err)
{
	MPI_Request request;
	MPI_Comm comm;
	int code;

	if (!cm_grequest_any_failed())
		return err;
	code = cm_grequest_failure(&request, &comm);
	return err || code == MPI_SUCCESS ? err : cm_raise(comm, code);
}

/* A copy of the requests before a call that completes some; NULL if it is not needed. */
static MPI_Request *wait_remember(int count, const MPI_Request *requests)
{
	MPI_Request *before;

	if (!cm_grequest_any_failed() || count <= 0)
		return NULL;
	before = malloc(count * sizeof(*before));
	if (before)
		memcpy(before, requests, count * sizeof(*before));
	return before;
}

/* Put an error code into the status of the request. @indices: as for wait_failures() */
static void wait_put_code(const MPI_Request *before, MPI_Request request, const int *indices,
			  int ended, MPI_Status *statuses, int code)
{
	int i;

	for (i = 0; before && statuses != MPI_STATUSES_IGNORE && i < ended; i++)
		if (before[indices ? indices[i] : i] == request)
			statuses[i].MPI_ERROR = code;
}

/* Has the underlying MPI put errors into the statuses? */
static bool wait_is_in_status(int err)
{
	int class = MPI_SUCCESS;

	return err && !PMPI_Error_class(err, &class) && class == MPI_ERR_IN_STATUS;
}

/*
 * @err is what the underlying MPI has returned, @ended the number of requests that have
 * ended: those at @indices, or all. Frees @before.
 */
static int wait_failures(int err, MPI_Request *before, const int *indices, int ended,
			 MPI_Status *statuses)
{
	MPI_Comm comm, first_comm = MPI_COMM_NULL;
	int i, code, first_code = MPI_SUCCESS;
	MPI_Request request;

	while (cm_grequest_any_failed() && (code = cm_grequest_failure(&request, &comm))) {
		if (first_code == MPI_SUCCESS) {
			first_code = code;
			first_comm = comm;
			/* The underlying MPI sets them only if a request of its own fails. */
			for (i = 0; !err && statuses != MPI_STATUSES_IGNORE && i < ended; i++)
				statuses[i].MPI_ERROR = MPI_SUCCESS;
		}
		wait_put_code(before, request, indices, ended, statuses, code);
	}
	free(before);
	if (first_code == MPI_SUCCESS || (err && !wait_is_in_status(err)))
		return err;
	cm_raise(first_comm, first_code);
	return MPI_ERR_IN_STATUS;
}

/* ---- one ---- */

static int wait_one(MPI_Request *request, MPI_Status *status)
{
	if (cm_grequest_any())
		wait_await_one(*request);
	return wait_failure(cm_functions.Wait(request, status));
}

static int wait_test_one(MPI_Request *request, int *flag, MPI_Status *status)
{
	wait_try_all(1, request);
	return wait_failure(cm_functions.Test(request, flag, status));
}

static int wait_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	wait_try_all(1, &request);
	return cm_functions.Request_get_status(request, flag, status);
}

/* MPI does not allow this for collectives. */
static int wait_request_free(MPI_Request *request)
{
	struct cm_op *op = cm_grequest_any() ? cm_grequest_find(*request) : NULL;

	return op ? cm_raise(op->comm->handle, MPI_ERR_REQUEST) :
	       cm_functions.Request_free(request);
}

/* ---- all ---- */

static int wait_test_all(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	MPI_Request *before;
	int err;

	wait_try_all(count, requests);
	before = wait_remember(count, requests);
	err = cm_functions.Testall(count, requests, flag, statuses);
	if (err ? !wait_is_in_status(err) : !*flag)
		count = 0;
	return wait_failures(err, before, NULL, count, statuses);
}

/* Our operations have ended, and the underlying MPI has been notified: it waits for the others. */
static int wait_all_ended(int count, MPI_Request requests[], MPI_Status statuses[])
{
	MPI_Request *before = wait_remember(count, requests);

	return wait_failures(cm_functions.Waitall(count, requests, statuses), before, NULL, count,
			     statuses);
}

/* Requests of others, too: some of them advance only where they are tested themselves. */
static int wait_all_mixed(int count, MPI_Request requests[], MPI_Status statuses[])
{
	struct wait_pace pace = { };
	int done, err;

	for (;;) {
		err = wait_test_all(count, requests, &done, statuses);
		if (err || done)
			return err;
		if (!wait_is_for_ours(count, requests))
			break;
		wait_pause(&pace, count, requests);
	}
	/* Some may have ended since they were tested. */
	wait_try_all(count, requests);
	return wait_all_ended(count, requests, statuses);
}

static int wait_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
	int i;

	if (wait_has_both(count, requests))
		return wait_all_mixed(count, requests, statuses);
	for (i = 0; cm_grequest_any() && i < count; i++)
		wait_await_one(requests[i]);
	return wait_all_ended(count, requests, statuses);
}

/* ---- any ---- */

static int wait_test_any(int count, MPI_Request requests[], int *index, int *flag,
			 MPI_Status *status)
{
	wait_try_all(count, requests);
	return wait_failure(cm_functions.Testany(count, requests, index, flag, status));
}

static int wait_any(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	struct wait_pace pace = { };
	int done, err;

	if (!wait_has_ours(count, requests))
		return cm_functions.Waitany(count, requests, index, status);
	for (;;) {
		err = wait_test_any(count, requests, index, &done, status);
		if (err || done)
			return err;
		wait_pause(&pace, count, requests);
	}
}

/* ---- some ---- */

static int wait_test_some(int count, MPI_Request requests[], int *ended, int indices[],
			  MPI_Status statuses[])
{
	MPI_Request *before;
	int err;

	*ended = 0;
	wait_try_all(count, requests);
	before = wait_remember(count, requests);
	err = cm_functions.Testsome(count, requests, ended, indices, statuses);
	return wait_failures(err, before, indices, *ended == MPI_UNDEFINED ? 0 : *ended,
			     statuses);
}

static int wait_some(int count, MPI_Request requests[], int *ended, int indices[],
		     MPI_Status statuses[])
{
	struct wait_pace pace = { };
	int err;

	if (!wait_has_ours(count, requests))
		return cm_functions.Waitsome(count, requests, ended, indices, statuses);
	for (;;) {
		err = wait_test_some(count, requests, ended, indices, statuses);
		if (err || *ended)
			return err;
		wait_pause(&pace, count, requests);
	}
}

/* ---- exported ---- */

CM_EXPORT(Wait, (MPI_Request *request, MPI_Status *status), (request, status), wait_one)
CM_EXPORT(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
	  (count, requests, statuses), wait_all)
CM_EXPORT(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status),
	  (count, requests, index, status), wait_any)
CM_EXPORT(Waitsome,
	  (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
	  (count, requests, ended, indices, statuses), wait_some)
CM_EXPORT(Test, (MPI_Request *request, int *flag, MPI_Status *status),
	  (request, flag, status), wait_test_one)
CM_EXPORT(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
	  (count, requests, flag, statuses), wait_test_all)
CM_EXPORT(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
	  (count, requests, index, flag, status), wait_test_any)
CM_EXPORT(Testsome,
	  (int count, MPI_Request requests[], int *ended, int indices[], MPI_Status statuses[]),
	  (count, requests, ended, indices, statuses), wait_test_some)
CM_EXPORT(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status),
	  (request, flag, status), wait_get_status)
CM_EXPORT(Request_free, (MPI_Request *request), (request), wait_request_free)
