/* SPDX-License-Identifier: GPL-2.0 */
/* The hosts that take part, in rank order: one rank per host */
#ifndef COLLPERF_HOSTS_H
#define COLLPERF_HOSTS_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

/* The addresses of hosts made by tools/vm have one byte for the host. */
#define HOSTS_NUMBERED_MAX	254

/**
 * struct hosts - the address table
 * @count: number of hosts
 * @bytes: length of each address
 * @address: address of each host, all of one family; port 0 if none was given
 */
struct hosts {
	unsigned int		count;
	socklen_t		bytes;
	struct sockaddr_storage	*address;
};

/* Use the addresses that tools/vm gives to its hosts. Exits if there is no memory. */
void hosts_number(struct hosts *hosts, unsigned int count, sa_family_t family);

/* Read a file with one host per line: ADDRESS [PORT]. Exits with a message if it is wrong. */
void hosts_read(struct hosts *hosts, const char *path);

/* Set the UDP port of hosts that have none. */
void hosts_default_port(struct hosts *hosts, unsigned int port);

/* The address of a host as text. Return: is there any? */
bool hosts_text(const struct hosts *hosts, unsigned int host, char text[NI_MAXHOST]);

/* The only host with an address of this machine. Exits if there is none, or more than one. */
unsigned int hosts_find_local(const struct hosts *hosts);

#endif
