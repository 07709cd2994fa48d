/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Ports of ranks in user space. A rank takes one that is free, before the ranks meet, at all
 * addresses of its host that others may choose; so nobody else can take it until the rank joins.
 */
#ifndef COLLSOCK_USER_PORT_H
#define COLLSOCK_USER_PORT_H

#include "joining_host.h"

#define USER_PORTS	"7608-7871"	/* unless COLLSOCK_USER_PORTS names others */

/**
 * struct user_ports - sockets, each bound to an address of the host
 * @fd: of each address, in the order of joining_host.address; or -1
 */
struct user_ports {
	int	fd[JOINING_MOST_ADDRESSES];
};

/* The ports that ranks may take. 0; -EINVAL if COLLSOCK_USER_PORTS is not FIRST-LAST */
int user_ports_range(unsigned int *first, unsigned int *last);

/* None */
void user_ports_init(struct user_ports *ports);
void user_ports_free(struct user_ports *ports);

/**
 * user_ports_reserve() - take a port at the addresses of this host
 * @ports: out
 * @host: with its addresses; its port is out, and addresses that cannot be used are removed
 * @options: with which the addresses were made
 *
 * Return: 0; -EADDRINUSE if no port is free, -EADDRNOTAVAIL if no address can be used, -EINVAL if
 * COLLSOCK_USER_PORTS is not FIRST-LAST, -EOPNOTSUPP if the group uses Ethernet; or another
 * negative errno.
 */
int user_ports_reserve(struct user_ports *ports, struct joining_host *host,
		       const struct collsock_options *options);

/* The socket of an address, which is the caller's from now on */
int user_ports_take(struct user_ports *ports, unsigned int address);

#endif
