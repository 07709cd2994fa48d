/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The request of a group, as bytes */
#ifndef COLLSOCK_GROUP_H
#define COLLSOCK_GROUP_H

#include "internal.h"

/**
 * group_flatten() - the bytes that JOIN receives: the request, the hosts, and the host of each rank
 * @group: the group
 * @rank: the rank that joins
 * @request: out: allocated; the first part, a struct collsock_join, has a key
 *
 * Return: the number of bytes; 0 if there is no memory.
 */
size_t group_flatten(const struct collsock_group *group, __u32 rank, __u8 **request);

#endif
