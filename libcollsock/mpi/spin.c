// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <collsock.h>

#include "spin.h"

#define ONCE_US		50	/* then the underlying MPI is driven */
#define LOSS		2	/* operations that end in time make up for one loss */
#define MOST_LOSSES	16
#define PAUSE		256	/* waits */
#define AUTO_US		100	/* if each rank has a processor of its own */

unsigned int cm_spin_auto(bool shared)
{
	return shared ? 0 : AUTO_US;
}

void cm_spin_init(struct cm_spin *spin, struct collsock *socket, unsigned int us)
{
	spin->socket = socket;
	spin->us = us < ONCE_US ? us : ONCE_US;
	spin->again = us > ONCE_US ? us / ONCE_US - 1 : 0;
	collsock_set_spin(spin->socket, spin->us);
}

unsigned int cm_spin_begin(struct cm_spin *spin)
{
	unsigned int paused = atomic_load_explicit(&spin->paused, memory_order_relaxed);

	if (!paused)
		return spin->again;
	atomic_store_explicit(&spin->paused, paused - 1, memory_order_relaxed);
	if (paused == 1)
		collsock_set_spin(spin->socket, spin->us);
	return 0;
}

void cm_spin_lost(struct cm_spin *spin)
{
	unsigned int losses = atomic_load_explicit(&spin->losses, memory_order_relaxed) + LOSS;

	if (!spin->us || atomic_load_explicit(&spin->paused, memory_order_relaxed))
		return;
	if (losses >= MOST_LOSSES) {
		/* The next one in vain is enough for another pause. */
		losses = MOST_LOSSES - LOSS;
		atomic_store_explicit(&spin->paused, PAUSE, memory_order_relaxed);
		collsock_set_spin(spin->socket, 0);
	}
	atomic_store_explicit(&spin->losses, losses, memory_order_relaxed);
}
