/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Is a call of a collective handled? If so, do it. */
#ifndef COLLSOCK_MPI_SERVE_H
#define COLLSOCK_MPI_SERVE_H

#include "comm.h"
#include "data.h"
#include "settings.h"
#include "summary.h"

/**
 * struct cm_collective - a call and its arguments
 * @call: the function
 * @comm: its communicator
 * @post: collsock's operation, without size and cookie
 * @in: this rank's contribution, or NULL
 * @sent: bytes that it contributes; more than @in has are padding
 * @out: where this rank receives, or NULL
 * @received: bytes that it receives, even without @out
 * @parts: where it wants the blocks, or NULL if they are consecutive; is freed
 * @in_order: it needs ranks that are placed on hosts in their order
 * @request: where to store the request of a nonblocking call
 */
struct cm_collective {
	enum cm_call			call;
	struct cm_comm			*comm;
	struct collsock_post		post;
	const struct cm_data		*in;
	__u32				sent;
	const struct cm_data		*out;
	__u32				received;
	struct cm_parts			*parts;
	bool				in_order;
	MPI_Request			*request;
};

/*
 * NULL if all calls of the communicator are passed on: this one is counted as such, unless the
 * communicator is NULL.
 */
static inline struct cm_comm *cm_serve_comm(struct cm_comm *c, enum cm_call call)
{
	if (!c || c->state != CM_PASSING)
		return c;
	cm_summary_count(call, c->reason);
	return NULL;
}

/* Can an element of this datatype be combined by this operator? Otherwise why not */
static inline enum cm_reason cm_serve_operator_obstacle(const struct cm_type *type,
							enum collsock_operator op)
{
	if (op == COLLSOCK_NOP)
		return CM_OPERATOR;
	return type && cm_type_has(type, op) ? CM_HANDLED : CM_DATATYPE;
}

/* Is a vector of this length handled? Otherwise why not */
static inline enum cm_reason cm_serve_size_obstacle(MPI_Count bytes)
{
	if (!bytes)
		return CM_EMPTY;
	return bytes > cm_settings.max_bytes ? CM_LARGE : CM_HANDLED;
}

static inline bool cm_serve_is_rank(const struct cm_comm *c, int root)
{
	return root >= 0 && root < c->size;
}

/*
 * @obstacle is why the call cannot be handled, or CM_HANDLED. The communicator may join. If this
 * returns false, the call must be passed on.
 */
bool cm_serve_takes(const struct cm_collective *a, enum cm_reason obstacle);

/* Serve a call that is handled. Returns an MPI error code, for which no handler was called. */
int cm_serve(const struct cm_collective *a);

/*
 * This rank cannot post an operation that all others have posted, because of @err, an MPI
 * error code: it leaves the group. Returns @err.
 */
int cm_serve_refuse(const struct cm_collective *a, int err);

#endif
