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

/*
 * collsock_join(). @fd: in user space, the socket that is bound to the address of this rank, which
 * belongs to @s from now on, even after an error; or -1
 */
int group_join(struct collsock *s, const struct collsock_group *group, __u32 rank, int fd);

/* JOIN with these bytes. @fd: as for group_join(). 0, or a negative errno */
int group_join_request(struct collsock *s, const void *request, size_t bytes, int fd);

#endif
