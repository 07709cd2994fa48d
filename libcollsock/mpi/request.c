// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "request.h"

#define BUCKETS 256

static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_op *request_table[BUCKETS];
static atomic_uint request_active;
static atomic_uint request_failed;

/* Requests that ended with an error during this thread's call of the underlying MPI */
static __thread struct cm_op *request_ended;

static struct cm_op **request_bucket(MPI_Request request)
{
	__u64 number = 0;

	memcpy(&number, &request, sizeof(request));
	return &request_table[(number * 0x9e3779b97f4a7c15ULL) >> 56];
}

static void request_insert(struct cm_op *op)
{
	struct cm_op **first = request_bucket(op->request);

	pthread_mutex_lock(&request_lock);
	op->next_request = *first;
	*first = op;
	pthread_mutex_unlock(&request_lock);
	atomic_fetch_add(&request_active, 1);
}

static void request_remove(struct cm_op *op)
{
	struct cm_op **link;

	pthread_mutex_lock(&request_lock);
	for (link = request_bucket(op->request); *link != op; link = &(*link)->next_request)
		;
	*link = op->next_request;
	pthread_mutex_unlock(&request_lock);
	atomic_fetch_sub(&request_active, 1);
}

bool cm_request_any(void)
{
	return atomic_load_explicit(&request_active, memory_order_relaxed);
}

struct cm_op *cm_request_find(MPI_Request request)
{
	struct cm_op *op;

	if (!cm_request_any() || request == MPI_REQUEST_NULL)
		return NULL;
	pthread_mutex_lock(&request_lock);
	for (op = *request_bucket(request); op && op->request != request; op = op->next_request)
		;
	pthread_mutex_unlock(&request_lock);
	return op;
}

struct cm_op *cm_request_new(struct cm_comm *c, enum cm_call call)
{
	struct cm_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->call = call;
	op->comm = c;
	cm_comm_get(c);
	return op;
}

void cm_request_discard(struct cm_op *op)
{
	cm_comm_put(op->comm);
	free(op);
}

/* ---- callbacks of the underlying MPI ---- */

static int request_query(void *extra, MPI_Status *status)
{
	(void)extra;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* The program has completed the request. */
static int request_free(void *extra)
{
	struct cm_op *op = extra;

	request_remove(op);
	if (op->error) {
		op->next_request = request_ended;
		request_ended = op;
	} else {
		cm_request_discard(op);
	}
	return MPI_SUCCESS;
}

/* MPI does not allow this for collectives. */
static int request_cancel(void *extra, int complete)
{
	(void)extra;
	return complete ? MPI_SUCCESS : MPI_ERR_REQUEST;
}

int cm_request_start(struct cm_op *op, MPI_Request *request)
{
	int err = PMPI_Grequest_start(request_query, request_free, request_cancel, op,
				      &op->request);

	if (err)
		return err;
	request_insert(op);
	*request = op->request;
	return MPI_SUCCESS;
}

void cm_request_tell(struct cm_op *op)
{
	if (atomic_exchange(&op->told, true))
		return;
	/* Unpacking has failed, which is reported like a failure of the group. */
	if (cm_op_finish(op) && !op->error)
		op->error = EIO;
	if (op->error)
		atomic_fetch_add(&request_failed, 1);
	PMPI_Grequest_complete(op->request);
}

bool cm_request_any_failed(void)
{
	return atomic_load_explicit(&request_failed, memory_order_relaxed);
}

int cm_request_failure(MPI_Request *request, MPI_Comm *comm)
{
	struct cm_op *op = request_ended;
	int code;

	if (!op)
		return MPI_SUCCESS;
	request_ended = op->next_request;
	atomic_fetch_sub(&request_failed, 1);
	code = cm_error_code(op->comm, op->call, op->error, op->failed_rank);
	*request = op->request;
	*comm = op->comm->handle;
	cm_request_discard(op);
	return code;
}
