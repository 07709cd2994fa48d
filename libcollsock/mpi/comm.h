/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Communicators. What collsock knows of one hangs on it as an attribute, is not copied
 * to its duplicates, and goes when it is freed and its last request has ended.
 *
 * Whether a call is taken depends on what MPI makes equal on all ranks, and on nothing
 * else: all of them take it, or all pass it on.
 */
#ifndef COLLSOCK_MPI_COMM_H
#define COLLSOCK_MPI_COMM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <linux/types.h>

#include <collsock.h>
#include <mpi.h>

#include "summary.h"

struct cm_op;

enum cm_state {
	CM_COUNTING,	/* its collectives */
	CM_JOINED,
	CM_PASSING,	/* for good */
};

/**
 * struct cm_comm - a communicator
 * @handle: of it; MPI_COMM_NULL when it has been freed
 * @rank: of this process
 * @size: ranks
 * @state: enum cm_state; changes in collectives of it
 * @reason: why it is CM_PASSING
 * @calls: collectives so far that could have been taken
 * @references: the attribute, and each operation with a request
 * @next: in the list of all
 * @link: what points to this one there
 *
 * From here on only if it is CM_JOINED:
 * @socket: nonblocking
 * @scratch: room for a result; under @lock
 * @spins: how often a wait spins before it sleeps
 * @under_way: operations that were posted, their completions not taken
 * @lock: of what follows, and of taking completions of any cookie
 * @queue: operations for which the window has no room yet
 * @queue_end: where the next one goes
 * @queued: there are some; may be read without the lock
 * @failed: an operation has failed, and so will all others
 * @broken: 0, or the errno because of which this rank has left the group
 * @code: the MPI error code of the failure, or MPI_SUCCESS
 */
struct cm_comm {
	MPI_Comm		handle;
	int			rank;
	int			size;
	enum cm_state		state;
	enum cm_reason		reason;
	unsigned int		calls;
	atomic_uint		references;
	struct cm_comm		*next;
	struct cm_comm		**link;

	struct collsock		*socket;
	void			*scratch;
	unsigned int		spins;
	atomic_uint		under_way;
	pthread_mutex_t		lock;
	struct cm_op		*queue;
	struct cm_op		**queue_end;
	atomic_bool		queued;
	atomic_bool		failed;
	atomic_int		broken;
	int			code;
};

/* After MPI_Init and the exchange of settings; at the beginning of MPI_Finalize. */
int cm_comm_init(void);
void cm_comm_exit(void);

/* A collective of the program begins. NULL: pass it on, whatever it is. */
struct cm_comm *cm_comm_find(MPI_Comm handle, enum cm_call call);

/*
 * Is it taken? @obstacle is why it cannot be, or CM_TAKEN. The first blocking one after
 * the agreed number joins.
 */
bool cm_comm_take(struct cm_comm *c, enum cm_call call, enum cm_reason obstacle);

/*
 * This rank cannot do its part of an operation that the others have taken: it leaves the
 * group, so that they hear of it, and all that it calls later fails. Takes no lock.
 */
void cm_comm_break(struct cm_comm *c, int error);

/*
 * The program frees the communicator, by that function of the MPI below. What collsock
 * knows of it goes first, and what callbacks of the program call on it is passed on: MPI
 * deletes attributes in an order that depends on when each rank has set them.
 */
int cm_comm_free(MPI_Comm *handle, int (*free_below)(MPI_Comm *handle));

/* Join now, in a collective call of all ranks: MPI_Init. */
void cm_comm_join_world(void);

void cm_comm_put(struct cm_comm *c);

/* The list of all; the lock is held while it is walked. */
extern struct cm_comm *cm_comm_all;
void cm_comm_lock_all(void);
void cm_comm_unlock_all(void);

/* join.c: the state is CM_JOINED or CM_PASSING afterwards, the same on all ranks. */
void cm_join(struct cm_comm *c);

#endif
