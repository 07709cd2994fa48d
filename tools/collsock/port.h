/* SPDX-License-Identifier: GPL-2.0 */
/* Who has a UDP port of this network namespace? */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Name of the process that keeps the sockets of the ranks that it has started, so that no other
 * user can take the port of one that was killed. The rank is another process.
 */
#define PORT_KEEPER "collsock run"

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

/*
 * How many ports from @first to @last do sockets hold? Those of IPv4 and IPv6 with one port may be
 * of one rank.
 */
unsigned int port_count_taken(unsigned int first, unsigned int last);

/**
 * struct port_process - who has a socket open
 * @pid: a process; 0: none but keepers
 * @keeper: a process with the name of one, which anybody can take; 0: none
 */
struct port_process {
	uint64_t	pid;
	uint64_t	keeper;
};

/* Return: whether that is known; only root can read the files of other users. */
bool port_find_process(unsigned long inode, struct port_process *found);

#endif
