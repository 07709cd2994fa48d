/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Ports of ranks in user space. A rank takes one that is free, before the ranks meet, at all
 * addresses of its host that others may choose; so nobody else can take it until the rank joins.
 */
#ifndef COLLSOCK_USER_PORT_H
#define COLLSOCK_USER_PORT_H

#include "joining_host.h"

#define USER_PORTS	"7608-7871"	/* unless COLLSOCK_USER_PORTS names others */
#define USER_PORTS_BYTES	24		/* of such text; what is longer names none */

/**
 * struct user_ports - sockets, each bound to an address of the host
 * @fd: of each address, in the order of joining_host.address; or -1
 */
struct user_ports {
	int	fd[JOINING_MOST_ADDRESSES];
};

/* The ports that ranks may take, as text: COLLSOCK_USER_PORTS, or the default */
const char *user_ports_named(void);

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
 * COLLSOCK_USER_PORTS is not FIRST-LAST, -EACCES if this user may not have the ports, -EOPNOTSUPP
 * if the group uses Ethernet; or another negative errno.
 */
int user_ports_reserve(struct user_ports *ports, struct joining_host *host,
		       const struct collsock_options *options);

/**
 * user_ports_explain() - why a rank has no port, and what to do
 * @error: of user_ports_reserve(), on the host of the rank
 * @ports: user_ports_named(), there; of it the first USER_PORTS_BYTES count, and may be anything
 * @text: out: a sentence without the rank
 * @bytes: of @text
 *
 * Return: whether the error is one of these ports. If not, @text is unchanged.
 */
bool user_ports_explain(int error, const char *ports, char *text, size_t bytes);

/* The socket of an address, which is the caller's from now on */
int user_ports_take(struct user_ports *ports, unsigned int address);

#endif
