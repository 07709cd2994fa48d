/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Socket options at level SOL_COLLSOCK: JOIN, settings and queries.
 */
#ifndef COLL_SOCKOPT_H
#define COLL_SOCKOPT_H

#include <linux/net.h>
#include <linux/sockptr.h>

int coll_sockopt_set(struct socket *sock, int level, int option, sockptr_t value,
		     unsigned int bytes);
int coll_sockopt_get(struct socket *sock, int level, int option, char __user *value,
		     int __user *length);

#endif
