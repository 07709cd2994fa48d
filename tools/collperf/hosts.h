/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts that take part, in the order of ranks: one rank a host. */
#ifndef COLLPERF_HOSTS_H
#define COLLPERF_HOSTS_H

#include <stdbool.h>
#include <sys/socket.h>

/* The hosts that tools/vm makes have one byte in their addresses. */
#define HOSTS_NUMBERED_MAX	254

/**
 * struct hosts - the address table
 * @count: of them
 * @bytes: in each address
 * @address: of each; the port is 0 where none was given
 */
struct hosts {
	unsigned int		count;
	socklen_t		bytes;
	struct sockaddr_storage	*address;
};

/* 10.1.0.1 ... or fd00:1::1 ... Exits if there is no memory. */
void hosts_number(struct hosts *hosts, unsigned int count, bool ipv6);

/* One host a line: ADDRESS [PORT]. Exits with a message if the file is wrong. */
void hosts_read(struct hosts *hosts, const char *path);

/* Give @port to the hosts that have none. */
void hosts_default_port(struct hosts *hosts, unsigned int port);

/* The one host whose address is an address of this machine. Exits if it is not one. */
unsigned int hosts_find_local(const struct hosts *hosts);

#endif
