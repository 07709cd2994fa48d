/* SPDX-License-Identifier: GPL-2.0 */
/* Who has a UDP port of this network namespace? */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct port_holder - a socket that is bound to the port
 * @inode: number of the socket
 * @uid: user who opened it
 */
struct port_holder {
	unsigned long	inode;
	unsigned int	uid;
};

/* Does a socket hold the port? */
bool port_find_holder(unsigned int port, struct port_holder *holder);

/* A process that has the socket open, or 0: others' files are for root alone. */
uint64_t port_find_process(unsigned long inode);

#endif
