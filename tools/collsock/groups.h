/* SPDX-License-Identifier: GPL-2.0 */
/* Selecting groups by handle or id, and what belongs to a group. */
#ifndef GROUPS_H
#define GROUPS_H

#include "netlink.h"

/**
 * groups_select() - the groups that words name
 * @n: the connection
 * @words: [show] [[group] HANDLE | id ID], and no more; none of them means all groups
 *
 * Ends the process with a message if there is no such group.
 *
 * Return: an array of groups.
 */
struct json_object *groups_select(struct netlink *n, char **words);

/* The same, but the words must name a group. */
struct json_object *groups_named(struct netlink *n, char **words);

/* The objects of all these groups in one array: COLLSOCK_CMD_*_GET, its attribute of the group. */
struct json_object *groups_dump(struct netlink *n, struct json_object *groups, uint8_t command,
				int attribute, const struct decode_field *set);

/* The hosts of one group, by index, as far as they are known. */
struct json_object *groups_hosts(struct netlink *n, struct json_object *group);

/* The address of a host of these, or NULL. */
const char *groups_address(struct json_object *hosts, uint64_t host);

#endif
