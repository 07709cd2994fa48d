/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks in user space, of processes of this user: these answer with the same messages as the
 * module's dumps (libcollsock/src/user_report.h).
 */
#ifndef USERSPACE_H
#define USERSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "reply.h"

/* Has any process of this user ranks in user space? */
bool userspace_is_there(void);

/*
 * Why ranks of this user may be there and not be seen: the folder for their sockets cannot be used.
 * The text must be freed; NULL if a folder can be used.
 */
char *userspace_hidden(void);

#define USERSPACE_HIDDEN_ADVICE "set XDG_RUNTIME_DIR to a folder of yours, for ranks and command"

/* Has this process? It may not reply. */
bool userspace_has_process(uint64_t pid);

/* Is it the handle of a group in user space? */
bool userspace_has(uint32_t handle);

/**
 * userspace_dump() - all objects of a kind
 * @all: replies to which they are added
 * @command: as of the module's dump
 * @group: attribute for the group's handle
 * @handle: of the group, or 0 for all groups
 *
 * Sockets of processes that were killed are removed. Groups have the number of their process.
 */
void userspace_dump(struct replies *all, uint8_t command, int group, uint32_t handle);

/* The groups of one process; of all processes if it is 0 */
void userspace_groups_of(struct replies *all, uint64_t pid);

#endif
