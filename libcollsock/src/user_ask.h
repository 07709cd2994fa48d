/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Asking processes of this user what their ranks in user space do; user_listener.h is the other
 * end. Sockets of processes that were killed are removed.
 */
#ifndef COLLSOCK_USER_ASK_H
#define COLLSOCK_USER_ASK_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct user_ask - which processes are asked
 * @only: number of the only one, or 0
 * @but: number of one that is not, or 0
 * @take: gets the messages of each one that replies (user_report.h), which it may change; NULL if
 *	the question is only which are there
 * @ctx: its first argument
 */
struct user_ask {
	pid_t	only;
	pid_t	but;
	void	(*take)(void *ctx, pid_t pid, void *messages, size_t bytes);
	void	*ctx;
};

/**
 * user_ask() - ask all of these processes
 * @ask: see there
 *
 * One that is stopped is not waited for, others for two seconds.
 *
 * Return: how many there are, whether or not they reply.
 */
unsigned int user_ask(const struct user_ask *ask);

#endif
