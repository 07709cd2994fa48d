/* SPDX-License-Identifier: GPL-2.0 */
/* Requests to the module by generic netlink, and its replies */
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
 * @family: number of the module's family; 0 or less if it is not loaded
 * @lenient: lists may be incomplete; netlink_dump() does not exit
 * @error: errno of the last request, 0 if it succeeded
 * @text: the kernel's message about it, or empty
 */
struct netlink {
	struct nl_sock	*socket;
	int		family;
	bool		lenient;
	int		error;
	char		text[NETLINK_TEXT_BYTES];
};

/* Connect. Return: 0 or an errno; ENOENT if the module is not loaded. */
int netlink_connect(struct netlink *n);

/* A connection for a process that must not exit: without the module it has groups in user space. */
void netlink_connect_lenient(struct netlink *n);

/* Connect; exits on failure. */
void netlink_open(struct netlink *n);

/*
 * The same for commands that look at groups. Without the module they see only this user's groups in
 * user space; exits if there are none, either.
 */
void netlink_open_to_look(struct netlink *n);

/* Is there the module? */
static inline bool netlink_has_module(const struct netlink *n)
{
	return n->family > 0;
}

void netlink_close(struct netlink *n);

/* A message to the module, to which attributes can be added */
struct nl_msg *netlink_message(struct netlink *n, uint8_t command, int flags);

/**
 * netlink_do() - one request, one reply
 * @n: the connection; @n->error has the outcome
 * @message: the request; it is freed
 * @set: attributes of the reply, or NULL if there is no reply
 *
 * Return: the reply, or NULL.
 */
struct json_object *netlink_do(struct netlink *n, struct nl_msg *message,
			       const struct decode_field *set);

/* A request without attributes. Return: as netlink_do(). */
struct json_object *netlink_try_get(struct netlink *n, uint8_t command,
				    const struct decode_field *set);

/* The same; exits if it fails. */
struct json_object *netlink_get(struct netlink *n, uint8_t command,
				const struct decode_field *set);

/**
 * netlink_try_dump() - all objects of a kind
 * @n: the connection; @n->error has the outcome
 * @command: the command
 * @attribute: attribute for the group's handle, or 0 for all groups
 * @handle: of the group
 *
 * Groups in user space of this user are among them. A group that ends meanwhile has no objects.
 *
 * Return: a reply for each, to be freed; some are missing if it failed.
 */
struct replies netlink_try_dump(struct netlink *n, uint8_t command, int attribute,
				uint32_t handle);

/* The same; exits if it fails, unless that is a lenient connection. */
struct replies netlink_dump(struct netlink *n, uint8_t command, int attribute, uint32_t handle);

/* The same, decoded into an array of objects with the attributes of @set. */
struct json_object *netlink_list(struct netlink *n, uint8_t command, int attribute,
				 uint32_t handle, const struct decode_field *set);

/* Exit with the kernel's message and advice. */
noreturn void netlink_fail(const struct netlink *n, const char *what);

#endif
