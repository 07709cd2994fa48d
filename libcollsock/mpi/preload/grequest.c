// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <string.h>

#include "error.h"
#include "grequest.h"
#include "request.h"

#define BUCKETS 256

static pthread_mutex_t grequest_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_op *grequest_table[BUCKETS];
static atomic_uint grequest_active;
static atomic_uint grequest_failed;

/* Requests that ended with an error during this thread's call of the underlying MPI */
static __thread struct cm_op *grequest_ended;

static struct cm_op **grequest_bucket(MPI_Request request)
{
	__u64 number = 0;

	memcpy(&number, &request, sizeof(request));
	return &grequest_table[(number * 0x9e3779b97f4a7c15ULL) >> 56];
}

static void grequest_insert(struct cm_op *op)
{
	struct cm_op **first = grequest_bucket(op->request);

	pthread_mutex_lock(&grequest_lock);
	op->next_request = *first;
	*first = op;
	pthread_mutex_unlock(&grequest_lock);
	atomic_fetch_add(&grequest_active, 1);
}

static void grequest_remove(struct cm_op *op)
{
	struct cm_op **link;

	pthread_mutex_lock(&grequest_lock);
	for (link = grequest_bucket(op->request); *link != op; link = &(*link)->next_request)
		;
	*link = op->next_request;
	pthread_mutex_unlock(&grequest_lock);
	atomic_fetch_sub(&grequest_active, 1);
}

bool cm_grequest_any(void)
{
	return atomic_load_explicit(&grequest_active, memory_order_relaxed);
}

struct cm_op *cm_grequest_find(MPI_Request request)
{
	struct cm_op *op;

	if (!cm_grequest_any() || request == MPI_REQUEST_NULL)
		return NULL;
	pthread_mutex_lock(&grequest_lock);
	for (op = *grequest_bucket(request); op && op->request != request; op = op->next_request)
		;
	pthread_mutex_unlock(&grequest_lock);
	return op;
}

/* ---- callbacks of the underlying MPI ---- */

static int grequest_query(void *extra, MPI_Status *status)
{
	(void)extra;
	PMPI_Status_set_elements(status, MPI_BYTE, 0);
	PMPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

/* The program has completed the request. */
static int grequest_free(void *extra)
{
	struct cm_op *op = extra;

	grequest_remove(op);
	if (op->error) {
		op->next_request = grequest_ended;
		grequest_ended = op;
	} else {
		cm_op_free(op);
	}
	return MPI_SUCCESS;
}

/* MPI does not allow this for collectives. */
static int grequest_cancel(void *extra, int complete)
{
	(void)extra;
	return complete ? MPI_SUCCESS : MPI_ERR_REQUEST;
}

int cm_request_start(struct cm_op *op)
{
	int err = PMPI_Grequest_start(grequest_query, grequest_free, grequest_cancel, op,
				      &op->request);

	if (err)
		return err;
	grequest_insert(op);
	return MPI_SUCCESS;
}

void cm_grequest_tell(struct cm_op *op)
{
	if (atomic_exchange(&op->told, true))
		return;
	/* Unpacking has failed, which is reported like a failure of the group. */
	if (cm_op_finish(op) && !op->error)
		op->error = EIO;
	if (op->error)
		atomic_fetch_add(&grequest_failed, 1);
	PMPI_Grequest_complete(op->request);
}

bool cm_grequest_any_failed(void)
{
	return atomic_load_explicit(&grequest_failed, memory_order_relaxed);
}

int cm_grequest_failure(MPI_Request *request, MPI_Comm *comm)
{
	struct cm_op *op = grequest_ended;
	int code;

	if (!op)
		return MPI_SUCCESS;
	grequest_ended = op->next_request;
	atomic_fetch_sub(&grequest_failed, 1);
	code = cm_error_code(op->comm, op->call, op->error, op->failed_rank);
	*request = op->request;
	*comm = op->comm->handle;
	cm_op_free(op);
	return code;
}
