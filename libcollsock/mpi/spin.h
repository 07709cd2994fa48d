/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Do waits of a communicator spin? They do as long as most of its operations end meanwhile.
 * Otherwise ranks are late, or share processors unknowingly, as in virtual machines: then a rank
 * that spins may take time from those it waits for. So a number of waits sleep at once,
 * and then one tries again.
 *
 * Threads may count an operation twice, or not: then a pause is a little longer or shorter.
 */
#ifndef COLLSOCK_MPI_SPIN_H
#define COLLSOCK_MPI_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct collsock;

/**
 * struct cm_spin - whether waits spin
 * @socket: of the communicator
 * @us: for how long at a time; 0: never
 * @again: number of times that a wait spins again before it sleeps
 * @losses: spins in vain, less operations that ended in time
 * @paused: number of waits that do not spin, from now on
 */
struct cm_spin {
	struct collsock	*socket;
	unsigned int	us;
	unsigned int	again;
	atomic_uint	losses;
	atomic_uint	paused;
};

/*
 * The default time for which waits spin. If ranks share processors, one that spins takes time from
 * those it waits for. @shared: this rank shares its processors (processors.h)
 */
unsigned int cm_spin_auto(bool shared);

/* The socket has joined; @spin is zero. Waits spin for @us, or not at all if that is 0. */
void cm_spin_init(struct cm_spin *spin, struct collsock *socket, unsigned int us);

/*
 * A wait begins. Returns how many times it spins before it sleeps, besides the call of the
 * socket that has posted its operation.
 */
unsigned int cm_spin_begin(struct cm_spin *spin);

/* Does a wait that begins now sleep at once, although waits spin here in general? */
static inline bool cm_spin_is_paused(struct cm_spin *spin)
{
	return atomic_load_explicit(&spin->paused, memory_order_relaxed);
}

/* One of its spins was in vain. */
void cm_spin_lost(struct cm_spin *spin);

/* An operation has ended before the next spin, or the sleep. */
static inline void cm_spin_won(struct cm_spin *spin)
{
	unsigned int losses = atomic_load_explicit(&spin->losses, memory_order_relaxed);

	if (losses)
		atomic_store_explicit(&spin->losses, losses - 1, memory_order_relaxed);
}

#endif
