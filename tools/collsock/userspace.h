/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks in user space, of processes of this user: these answer with the messages with which the
 * module answers dumps (libcollsock/src/user_report.h).
 */
#ifndef USERSPACE_H
#define USERSPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode.h"

/* Has any process of this user ranks in user space? */
bool userspace_is_there(void);

/* Is it the handle of a group in user space? */
bool userspace_has(uint32_t handle);

/**
 * userspace_dump() - all objects of a kind
 * @all: array to which they are added
 * @command: as of the module's dump
 * @handle: of the group, or 0 for all groups
 * @set: attributes of each
 *
 * Sockets of processes that were killed are removed. Groups have the number of their process, as
 * "pid".
 */
void userspace_dump(struct json_object *all, uint8_t command, uint32_t handle,
		    const struct decode_field *set);

#endif
