/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Requests as files: a launcher describes the group, and the program itself joins, so that the
 * other ranks are notified when the program ends. COLLSOCK_REQUEST=FD:INODE names a sealed memfd
 * with the bytes that JOIN receives. For a rank in user space COLLSOCK_SOCKET names the UDP socket
 * that has its port, likewise; without it, the request is for the kernel.
 */
#ifndef COLLSOCK_LAUNCH_REQUEST_H
#define COLLSOCK_LAUNCH_REQUEST_H

#include "internal.h"

#define LAUNCH_REQUEST "COLLSOCK_REQUEST"
#define LAUNCH_SOCKET "COLLSOCK_SOCKET"
#define LAUNCH_REQUEST_BYTES 48

/**
 * launch_request_write() - write the request of a rank
 * @group: complete
 * @rank: the rank
 * @value: out: the value of COLLSOCK_REQUEST; LAUNCH_REQUEST_BYTES are enough
 *
 * Return: the file, which stays open across exec, or a negative errno.
 */
int launch_request_write(const struct collsock_group *group, __u32 rank,
			 char value[LAUNCH_REQUEST_BYTES]);

/**
 * launch_request_pass_socket() - let a socket stay open across exec
 * @fd: the socket
 * @value: out: the value of COLLSOCK_SOCKET; LAUNCH_REQUEST_BYTES are enough
 *
 * Return: 0, or a negative errno.
 */
int launch_request_pass_socket(int fd, char value[LAUNCH_REQUEST_BYTES]);

/**
 * launch_request_join() - join as a request says
 * @s: a socket
 * @options: those that are not 0 and do not depend on who the ranks are override the request's
 * @value: of COLLSOCK_REQUEST
 * @socket: of COLLSOCK_SOCKET, or NULL
 *
 * The files are closed then, as they are for one rank. A file other than the value names is not
 * the library's, and stays open. Return: 0; -EBADMSG if a file is closed, is another one, or could
 * still be changed; or as collsock_join().
 */
int launch_request_join(struct collsock *s, const struct collsock_options *options,
			const char *value, const char *socket);

/**
 * launch_request_decline() - leave in place of a program that has ended
 * @group: complete
 * @rank: of the program
 * @socket: the UDP socket of the rank, which stays the caller's; -1 with the kernel
 *
 * If the program has not joined, the other ranks are notified that the rank has left, as if it had
 * joined and ended. In user space, ranks that join later are also notified, while this process
 * runs. If the program has joined in user space, only ranks that have never received a packet of it
 * are notified. To the others this is another incarnation, which does not answer them: they have
 * the program's goodbye, or wait for the liveness time. This process reports that the rank has
 * posted nothing, so for the ranks that it answers, all operations under way fail. A rank is left
 * alone if its process still runs.
 *
 * Return: 0; -EADDRINUSE if the program has joined; or another negative errno.
 */
int launch_request_decline(const struct collsock_group *group, __u32 rank, int socket);

#endif
