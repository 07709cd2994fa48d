// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "spin.h"

#define ONCE_US		50	/* then the underlying MPI is driven */
#define LOSS		2	/* operations that end in time make up for one loss */
#define MOST_LOSSES	16
#define PAUSE		256	/* waits */

void cm_spin_init(struct cm_comm *c, unsigned int us)
{
	c->spin.us = us < ONCE_US ? us : ONCE_US;
	c->spin.again = us > ONCE_US ? us / ONCE_US - 1 : 0;
	collsock_set_spin(c->socket, c->spin.us);
}

unsigned int cm_spin_begin(struct cm_comm *c)
{
	unsigned int paused = atomic_load_explicit(&c->spin.paused, memory_order_relaxed);

	if (!paused)
		return c->spin.again;
	atomic_store_explicit(&c->spin.paused, paused - 1, memory_order_relaxed);
	if (paused == 1)
		collsock_set_spin(c->socket, c->spin.us);
	return 0;
}

void cm_spin_lost(struct cm_comm *c)
{
	unsigned int losses = atomic_load_explicit(&c->spin.losses, memory_order_relaxed) + LOSS;

	if (!c->spin.us || atomic_load_explicit(&c->spin.paused, memory_order_relaxed))
		return;
	if (losses >= MOST_LOSSES) {
		/* The next one in vain is enough for another pause. */
		losses = MOST_LOSSES - LOSS;
		atomic_store_explicit(&c->spin.paused, PAUSE, memory_order_relaxed);
		collsock_set_spin(c->socket, 0);
	}
	atomic_store_explicit(&c->spin.losses, losses, memory_order_relaxed);
}
