/* SPDX-License-Identifier: GPL-2.0 */
/* Selecting groups by handle or id, and querying their hosts */
#ifndef GROUPS_H
#define GROUPS_H

#include "netlink.h"

/**
 * struct group_addresses - addresses of the hosts of a group
 * @text: the address of each host by its index; NULL if it is not known
 * @count: number of @text
 */
struct group_addresses {
	char	**text;
	size_t	count;
};

/**
 * groups_select() - the groups named on the command line
 * @n: the connection
 * @words: [show] [[group] HANDLE | id ID], and no more; without words all groups
 *
 * Exits with a message if there is no such group.
 *
 * Return: the groups, to be freed.
 */
struct replies groups_select(struct netlink *n, char **words);

/* The same, but the words must name a group. */
struct replies groups_named(struct netlink *n, char **words);

/* Do these words of groups_select() stand for all groups? */
bool groups_are_all(char **words);

/* The handle of a group */
uint32_t groups_handle(const struct reply *group);

/*
 * List the objects of all these groups in one array: COLLSOCK_CMD_*_GET and its attribute
 * for the group.
 */
struct json_object *groups_list(struct netlink *n, const struct replies *groups, uint8_t command,
				int attribute, const struct decode_field *set);

/* The addresses of the hosts of one group, to be freed */
struct group_addresses groups_addresses(struct netlink *n, const struct reply *group);
void groups_free_addresses(struct group_addresses *addresses);

/* The address of one of these hosts, or NULL */
const char *groups_address(const struct group_addresses *addresses, uint64_t host);

#endif
