/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The place of a meeting: the host of rank 0, and a port there. Without a port in the text, it is
 * one of a few that the name of the job selects from a range, so that jobs on one host rarely
 * have the same; if they do, the next one is used.
 */
#ifndef COLLSOCK_MEETING_RENDEZVOUS_H
#define COLLSOCK_MEETING_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "meeting_wire.h"

#define MEETING_PORTS	4
#define MEETING_HOST	256

/**
 * struct meeting_rendezvous - a host, and ports to try in this order
 * @text: as errors name it: host:port, with the first port, or that on which it listens
 * @host: name or address of the host
 * @port: ports
 * @ports: number of them
 * @ranged: they are of a range, not of the text that says where the meeting is
 */
struct meeting_rendezvous {
	char		text[MEETING_HOST + 8];
	char		host[MEETING_HOST];
	__u16		port[MEETING_PORTS];
	unsigned int	ports;
	bool		ranged;
};

/**
 * meeting_rendezvous_parse() - read where a meeting is
 * @rendezvous: out
 * @text: HOST, HOST:PORT, ADDRESS, [ADDRESS]:PORT; an IPv6 address has a port only in brackets
 * @range: FIRST-LAST, or one port, of those without a port; NULL: the default
 * @job: SHA-256 of the job's name
 *
 * Return: 0; -EINVAL if @text is none of these, -ERANGE if @range is not a range.
 */
int meeting_rendezvous_parse(struct meeting_rendezvous *rendezvous, const char *text,
			     const char *range, const __u8 job[MEETING_BYTES]);

/*
 * Listen on the first port that is free, on the address that @rendezvous names, or on all if it is
 * a name, which may mean 127.0.1.1 on its own host. Return: a nonblocking socket; -EADDRINUSE if no
 * port is free, or another negative errno.
 */
int meeting_rendezvous_listen(struct meeting_rendezvous *rendezvous);

/**
 * meeting_rendezvous_connect() - begin to connect
 * @rendezvous: where
 * @try: number of the try, from 0; tries go through the addresses and ports in turn
 * @fd: out: a nonblocking socket, which is connecting
 *
 * Waits for the resolver. Return: 0; a negative errno; or an EAI_* of getaddrinfo(3), made
 * positive, if the host's name has no address now.
 */
int meeting_rendezvous_connect(const struct meeting_rendezvous *rendezvous, unsigned int try,
			       int *fd);

/*
 * Is the socket connected to itself? That happens on the host of rank 0, as long as nobody listens
 * on a port that the kernel gives to connections.
 */
bool meeting_rendezvous_is_self(int fd);

/* An address with its port, as errors name it. @text receives at most @bytes. */
void meeting_rendezvous_name(const struct sockaddr_storage *address, char *text, size_t bytes);

#endif
