/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Asking processes of this user for reports on their ranks in user space; user_listener.h is the
 * other end. Sockets of processes that were killed are removed.
 */
#ifndef COLLSOCK_USER_ASK_H
#define COLLSOCK_USER_ASK_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct user_ask - which processes to ask
 * @only: the only one, by its pid, or 0
 * @but: one to leave out, by its pid, or 0
 * @take: gets the messages of each one that replies (user_report.h), which it may change; or NULL
 * @mute: gets the pid of each one that is there and does not reply, or 0 if it is in another PID
 *	namespace; it may have ended meanwhile; or NULL
 * @ctx: the first argument of both
 *
 * Without @take and @mute the processes are only counted.
 */
struct user_ask {
	pid_t	only;
	pid_t	but;
	void	(*take)(void *ctx, pid_t pid, void *messages, size_t bytes);
	void	(*mute)(void *ctx, pid_t pid);
	void	*ctx;
};

/**
 * user_ask() - ask all of these processes
 * @ask: see there
 *
 * Unless they are only counted, waits two seconds for each process, but not for one that is
 * stopped.
 *
 * Return: how many there are, whether or not they reply.
 */
unsigned int user_ask(const struct user_ask *ask);

#endif
