/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies of the module, or of a process with ranks in user space: attributes of the netlink
 * family (Documentation/netlink/specs/collsock.yaml). Commands that evaluate them read them with
 * the functions here; commands that print lists decode them (decode.h).
 */
#ifndef REPLY_H
#define REPLY_H

#include <arpa/inet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>

/* fe80::1%eth0 */
#define REPLY_ADDRESS_BYTES (INET6_ADDRSTRLEN + 1 + IF_NAMESIZE)

/**
 * struct reply - the attributes of one object: a message, or a nested attribute
 * @head: the first one
 * @bytes: of all
 * @pid: process in whose user space the group is; 0 for a group of the kernel, and other objects
 */
struct reply {
	struct nlattr	*head;
	int		bytes;
	uint64_t	pid;
};

/**
 * struct replies - the replies to one request, in memory of their own
 * @reply: the replies
 * @count: number of @reply
 */
struct replies {
	struct reply	*reply;
	size_t		count;
};

/* Add a copy of a reply; exits if there is no memory. */
void replies_add(struct replies *all, const struct reply *reply);

/* Free all of them; then it is empty. */
void replies_free(struct replies *all);

/* The attributes of a message, and those within a nested attribute */
struct reply reply_message(const struct genlmsghdr *message);
struct reply reply_nest(const struct nlattr *nest);

/* An unsigned number of any valid width; 0 for other lengths */
uint64_t reply_value(const struct nlattr *attribute);

/* The attribute of this type; @otherwise if there is none */
uint64_t reply_number(const struct reply *reply, int type, uint64_t otherwise);

/* Is there an attribute of this type? */
bool reply_has(const struct reply *reply, int type);

/* How many attributes of this type are there? */
size_t reply_count(const struct reply *reply, int type);

/*
 * Write an address as text: by its length a MAC address, or one of IPv4 or IPv6; empty for other
 * lengths.
 */
void reply_address(char text[REPLY_ADDRESS_BYTES], const struct nlattr *attribute);

/* Append the interface in the form that getaddrinfo(3) accepts: its name, or else its index. */
void reply_add_scope(char text[REPLY_ADDRESS_BYTES], uint64_t index);

#endif
