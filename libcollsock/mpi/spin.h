/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Whether waits of a communicator spin. They do as long as most of its operations end
 * meanwhile. Otherwise ranks are late, or share processors without knowing, as in containers of
 * one machine: then one that spins may take time from those it waits for. So a number of waits
 * sleep at once, and then one tries again.
 *
 * Threads may count an operation twice, or not: then a pause is a little longer or shorter.
 */
#ifndef COLLSOCK_MPI_SPIN_H
#define COLLSOCK_MPI_SPIN_H

#include "comm.h"

/* It has joined. Waits spin for @us, or not at all if that is 0. */
void cm_spin_init(struct cm_comm *c, unsigned int us);

/*
 * A wait begins. Returns how many times it spins before it sleeps, besides the call of the
 * socket that has posted its operation.
 */
unsigned int cm_spin_begin(struct cm_comm *c);

/* One of its spins was in vain. */
void cm_spin_lost(struct cm_comm *c);

/* An operation has ended before the next spin, or the sleep. */
static inline void cm_spin_won(struct cm_comm *c)
{
	unsigned int losses = atomic_load_explicit(&c->spin.losses, memory_order_relaxed);

	if (losses)
		atomic_store_explicit(&c->spin.losses, losses - 1, memory_order_relaxed);
}

#endif
