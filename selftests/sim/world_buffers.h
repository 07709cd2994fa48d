/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers of posts, which the core may exchange for its own (coll_env_exchange()), as the slots of
 * a socket have them: each is for another post as soon as an operation has completed, and nothing
 * is left in it then.
 */
#ifndef SIM_WORLD_BUFFERS_H
#define SIM_WORLD_BUFFERS_H

#include "world_state.h"

/* A buffer as long as the group's largest payload, for the post with this token */
u8 *world_buffer_take(struct world_member *m, u32 local, void *token);

/* The oldest post with this token has ended. Nothing happens if it has no buffer. */
void world_buffer_release(struct world_member *m, u32 local, void *token);

/* The group of the member has ended. */
void world_buffers_free(struct world_member *m);

#endif
