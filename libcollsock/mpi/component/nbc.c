// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "ompi.h"

#include <errno.h>
#include <opal/runtime/opal_progress.h>

#include "error.h"
#include "nbc.h"
#include "request.h"
#include "run.h"

/* Operations whose requests are not complete */
static pthread_mutex_t nbc_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_op *nbc_active;

/* May be read without the lock. */
static atomic_uint nbc_count;

/* ---- progress ---- */

/*
 * Remove all operations that are done from the list, and return them as another one. Those
 * that are new are about to be posted by another thread.
 */
static struct cm_op *nbc_take_done(void)
{
	struct cm_op **link = &nbc_active, *op, *done = NULL;
	struct cm_comm *looked = NULL;

	while ((op = *link)) {
		if (cm_op_is_new(op) || !cm_run_test(op, &looked)) {
			link = &op->next_request;
			continue;
		}
		*link = op->next_request;
		op->next_request = done;
		done = op;
		atomic_fetch_sub(&nbc_count, 1);
	}
	return done;
}

/*
 * Open MPI 4.1 calls the handler of MPI_COMM_WORLD if the request of a collective has failed,
 * but that of the communicator if it is one of a message.
 */
static void nbc_fail(ompi_request_t *request, struct cm_op *op)
{
	request->req_status.MPI_ERROR = cm_error_code(op->comm, op->call, op->error,
						      op->failed_rank);
	request->req_type = OMPI_REQUEST_PML;
}

/* The program may free the request at once. */
static void nbc_complete(struct cm_op *op)
{
	ompi_request_t *request = op->request;

	/* Unpacking has failed, which is reported like a failure of the group. */
	if (cm_op_finish(op) && !op->error)
		op->error = EIO;
	if (op->error)
		nbc_fail(request, op);
	cm_op_free(op);
	ompi_request_complete(request, true);
}

/* Called by opal_progress(), perhaps by several threads, and by what completing causes. */
static int nbc_progress(void)
{
	struct cm_op *done, *next;
	int count = 0;

	if (!atomic_load_explicit(&nbc_count, memory_order_relaxed) ||
	    pthread_mutex_trylock(&nbc_lock))
		return 0;
	done = nbc_take_done();
	pthread_mutex_unlock(&nbc_lock);
	for (; done; done = next, count++) {
		next = done->next_request;
		nbc_complete(done);
	}
	return count;
}

/* ---- what Open MPI calls ---- */

/*
 * After a failure the error handler of the communicator is about to be called, so the communicator
 * is kept.
 */
static int nbc_free(MPI_Request *pointer)
{
	ompi_request_t *request = *pointer;
	MPI_Comm comm = request->req_mpi_object.comm;

	/* MPI does not allow this for collectives. */
	if (!REQUEST_COMPLETE(request))
		return MPI_ERR_REQUEST;
	if (request->req_status.MPI_ERROR)
		cm_error_say_if_fatal(comm, request->req_status.MPI_ERROR);
	else
		OBJ_RELEASE(comm);
	OMPI_REQUEST_FINI(request);
	OBJ_RELEASE(request);
	*pointer = MPI_REQUEST_NULL;
	return OMPI_SUCCESS;
}

/* MPI does not allow this for collectives. */
static int nbc_cancel(MPI_Request request, int flag)
{
	(void)request;
	(void)flag;
	return MPI_ERR_REQUEST;
}

/* ---- starting ---- */

/* The class is that of Open MPI's own, which keep the datatypes of the call. */
static void nbc_init(ompi_request_t *request, MPI_Comm comm)
{
	OMPI_REQUEST_INIT(request, false);
	request->req_type = OMPI_REQUEST_COLL;
	request->req_state = OMPI_REQUEST_ACTIVE;
	request->req_status = ompi_status_empty;
	request->req_free = nbc_free;
	request->req_cancel = nbc_cancel;
	request->req_mpi_object.comm = comm;
	OBJ_RETAIN(comm);
}

static void nbc_insert(struct cm_op *op)
{
	pthread_mutex_lock(&nbc_lock);
	op->next_request = nbc_active;
	nbc_active = op;
	atomic_fetch_add(&nbc_count, 1);
	pthread_mutex_unlock(&nbc_lock);
}

int cm_request_start(struct cm_op *op)
{
	ompi_coll_base_nbc_request_t *nbc = OBJ_NEW(ompi_coll_base_nbc_request_t);

	if (!nbc)
		return MPI_ERR_NO_MEM;
	op->request = &nbc->super;
	nbc_init(op->request, op->comm->handle);
	nbc_insert(op);
	return MPI_SUCCESS;
}

/* ---- begin and end ---- */

void cm_nbc_begin(void)
{
	opal_progress_register(nbc_progress);
}

void cm_nbc_end(void)
{
	opal_progress_unregister(nbc_progress);
}
