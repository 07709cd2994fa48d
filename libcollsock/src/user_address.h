/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Addresses of members as sockets have them */
#ifndef COLLSOCK_USER_ADDRESS_H
#define COLLSOCK_USER_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>

#include <linux/collsock.h>

union user_address {
	struct sockaddr		any;
	struct sockaddr_in	ipv4;
	struct sockaddr_in6	ipv6;
};

/* The address and port of a member; returns their length. */
socklen_t user_address_of(union user_address *address, const struct collsock_member *member);

/* Are they those of this member? */
bool user_address_is(const union user_address *address, const struct collsock_member *member);

#endif
