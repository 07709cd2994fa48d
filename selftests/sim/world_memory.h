/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_WORLD_MEMORY_H
#define SIM_WORLD_MEMORY_H

struct world_member;

/* What the core charges and allocates is that member's from now on; NULL: nobody's. */
void world_memory_of(struct world_member *m);

#endif
