/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_WORLD_MEMORY_H
#define SIM_WORLD_MEMORY_H

#include "base.h"

struct world_member;

/* Allocations of the core that have not been freed, in all worlds. */
extern long world_memory;

/* Peers that were freed with a state of the MAC in them, likewise. */
extern long world_states_left;

/* Bytes that the core has allocated for it. */
u64 world_reserved(const struct world_member *m);

/* A digest of all state of the member except its counters, and what its event has left */
u64 world_digest(const struct world_member *m);

/* What the core charges and allocates is that member's from now on; NULL: nobody's. */
void world_memory_of(struct world_member *m);

#endif
