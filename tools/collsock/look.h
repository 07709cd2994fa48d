/* SPDX-License-Identifier: GPL-2.0 */
/* Which operations wait now, and for which ranks, as the module or processes report */
#ifndef LOOK_H
#define LOOK_H

#include "netlink.h"
#include "operation.h"
#include "report.h"

/* Find the oldest operation of a group that waits, to be freed. Return: whether there is one. */
bool look_find_operation(struct netlink *n, uint32_t handle, struct operation *oldest);

/**
 * look_at() - what these groups wait for
 * @n: the connection
 * @groups: replies about them
 * @count: out: number of reports
 *
 * Return: a report for each group in which an operation waits; one for all processes of a group.
 */
struct report *look_at(struct netlink *n, const struct replies *groups, size_t *count);

void look_free(struct report *reports, size_t count);

#endif
