/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to the module by generic netlink; the replies are objects (decode.h). */
#ifndef NETLINK_H
#define NETLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include <netlink/msg.h>
#include <netlink/socket.h>

#include "decode.h"

#define NETLINK_TEXT_BYTES 256

/**
 * struct netlink - a connection to the module
 * @socket: generic netlink
 * @family: number of the module's family
 * @error: errno of the last request, 0 if it succeeded
 * @text: what the kernel said to that, or empty
 */
struct netlink {
	struct nl_sock	*socket;
	int		family;
	int		error;
	char		text[NETLINK_TEXT_BYTES];
};

/* Connect. Return: 0 or an errno; ENOENT if the module is not loaded. */
int netlink_connect(struct netlink *n);

/* The same, or the end of the process. */
void netlink_open(struct netlink *n);
void netlink_close(struct netlink *n);

/* A message to the module, for attributes. */
struct nl_msg *netlink_message(struct netlink *n, uint8_t command, int flags);

/**
 * netlink_do() - one request, one reply
 * @n: the connection; @n->error says whether it went well
 * @message: the request; it is freed
 * @set: what the reply has, or NULL if there is none
 *
 * Return: the reply, or NULL.
 */
struct json_object *netlink_do(struct netlink *n, struct nl_msg *message,
			       const struct decode_field *set);

/* A request without attributes; ends the process if it fails. */
struct json_object *netlink_get(struct netlink *n, uint8_t command,
				const struct decode_field *set);

/**
 * netlink_dump() - all objects of a kind
 * @n: the connection
 * @command: what to ask for
 * @attribute: of the group's handle, or 0 for all groups
 * @handle: of the group
 * @set: what each reply has
 *
 * A group that ends meanwhile has no objects. Any other failure ends the process.
 *
 * Return: an array.
 */
struct json_object *netlink_dump(struct netlink *n, uint8_t command, int attribute,
				 uint32_t handle, const struct decode_field *set);

/* The end of the process, with what the kernel said and what to do. */
noreturn void netlink_fail(const struct netlink *n, const char *what);

#endif
