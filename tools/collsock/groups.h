/* SPDX-License-Identifier: GPL-2.0 */
/* Selecting groups by handle or id, and querying their hosts */
#ifndef GROUPS_H
#define GROUPS_H

#include "netlink.h"

/**
 * groups_select() - the groups named on the command line
 * @n: the connection
 * @words: [show] [[group] HANDLE | id ID], and no more; without words all groups
 *
 * Exits with a message if there is no such group.
 *
 * Return: an array of groups.
 */
struct json_object *groups_select(struct netlink *n, char **words);

/* The same, but the words must name a group. */
struct json_object *groups_named(struct netlink *n, char **words);

/*
 * Dump the objects of all these groups into one array: COLLSOCK_CMD_*_GET and its attribute
 * for the group.
 */
struct json_object *groups_dump(struct netlink *n, struct json_object *groups, uint8_t command,
				int attribute, const struct decode_field *set);

/* The hosts of one group by index, as far as known */
struct json_object *groups_hosts(struct netlink *n, struct json_object *group);

/* The address of one of these hosts, or NULL */
const char *groups_address(struct json_object *hosts, uint64_t host);

#endif
