/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Communicators. The state that collsock keeps for a communicator is an attribute of it, or
 * in the component that of its module: duplicates do not copy it, and it is freed when the
 * communicator has been freed and its last request has ended.
 *
 *	CM_COUNTING ---- joins ----> CM_JOINED
 *	     |
 *	     +------- cannot ------> CM_PASSING
 *
 * The state changes in collectives of the communicator only, and on all ranks alike
 * (join.h). It and the arguments that MPI makes equal on all ranks decide whether a call is
 * handled, nothing else: all ranks handle it, or all pass it on.
 */
#ifndef COLLSOCK_MPI_COMM_H
#define COLLSOCK_MPI_COMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <linux/types.h>

#include <collsock.h>
#include <mpi.h>

#include "call.h"
#include "spin.h"

struct cm_module;
struct cm_op;

enum cm_comm_state {
	CM_COUNTING,	/* its collectives */
	CM_JOINED,
	CM_PASSING,	/* all its calls, from now on */
};

/**
 * struct cm_comm - a communicator
 * @handle: its handle; MPI_COMM_NULL when it has been freed
 * @module: in the component, the module that Open MPI calls
 * @rank: of this process
 * @size: number of ranks
 * @state: enum cm_comm_state
 * @reason: why it is CM_PASSING
 * @calls: collectives so far that could have been handled
 * @references: one held by the communicator, one by each operation with a request
 * @next: in the list of communicators
 * @link: the pointer to this one in the list
 *
 * Valid in CM_JOINED:
 * @socket: nonblocking
 * @segment: bytes of a segment, agreed when joining (joining.h)
 * @scattered: ranks are not placed on hosts in their order
 *
 * @spin: whether waits spin
 *
 * @window: its operations (window.h)
 * @window.lock: protects the queue, and receiving completions of any cookie
 * @window.scratch: buffer for a result; under @window.lock
 * @window.under_way: number of operations posted whose completions were not received
 * @window.queue: operations that wait for room in the window
 * @window.queue_end: where to link the next operation
 * @window.queued: the queue is not empty; may be read without the lock
 * @window.page: counts operations that have ended; or NULL
 * @window.received: number of completions received, of all that the page counts as ended
 *
 * @failure: of its group, which is terminal
 * @failure.seen: an operation has failed, so all later ones will
 * @failure.left: 0, or the errno for which this rank left the group
 * @failure.code: MPI error code of the first failed operation, or MPI_SUCCESS (error.h)
 */
struct cm_comm {
	MPI_Comm		handle;
	struct cm_module	*module;
	int			rank;
	int			size;
	enum cm_comm_state	state;
	enum cm_reason		reason;
	unsigned int		calls;
	atomic_uint		references;
	struct cm_comm		*next;
	struct cm_comm		**link;

	struct collsock		*socket;
	unsigned int		segment;
	bool			scattered;

	struct cm_spin		spin;

	struct {
		pthread_mutex_t	lock;
		void		*scratch;
		atomic_uint	under_way;
		struct cm_op	*queue;
		struct cm_op	**queue_end;
		atomic_bool	queued;
		const struct collsock_page	*page;
		atomic_ullong	received;
	} window;

	struct {
		atomic_bool	seen;
		atomic_int	left;
		int		code;
	} failure;
};

/* A new communicator, CM_COUNTING. NULL if the program is about to be aborted. */
struct cm_comm *cm_comm_new(MPI_Comm handle, int rank, int size);

/*
 * Close its socket, and undo its set-up. Called before it has joined; another socket may be opened
 * then.
 */
void cm_comm_close(struct cm_comm *c);

/* Make it CM_PASSING. Called in a collective of it, on all ranks, before it has joined. */
void cm_comm_pass(struct cm_comm *c, enum cm_reason reason);

/*
 * This rank cannot do its part of an operation that the others have taken: it leaves the
 * group, of which the others are notified, and its later calls fail. Takes no lock.
 */
void cm_comm_leave(struct cm_comm *c, int error);

/* This rank cannot do what the others will wait for: abort the program. */
void cm_comm_abort(const struct cm_comm *c, const char *why);

void cm_comm_get(struct cm_comm *c);
void cm_comm_put(struct cm_comm *c);

/* The list of communicators; the lock is held while it is walked. */
extern struct cm_comm *cm_comm_all;
void cm_comm_lock_all(void);
void cm_comm_unlock_all(void);

/*
 * Write to @event_fd, unless it is -1, whenever a socket of the list has been closed: the
 * kernel keeps it, and its rank in the group, while a thread waits for it.
 */
void cm_comm_watch(int event_fd);

#endif
