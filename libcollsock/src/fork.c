// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A forked child is not the rank. If it kept the socket open, the other ranks would not be
 * notified when the parent ends; so the library closes sockets in the child. It is not the member
 * of a team either, which the team's functions detect by the number of forks.
 */
#include <pthread.h>
#include <unistd.h>

#include "fork.h"
#include "user_thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct collsock *sockets;
static unsigned int forks;

static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
	user_thread_before_fork();
}

static void fork_parent(void)
{
	user_thread_after_fork();
	pthread_mutex_unlock(&lock);
}

static void fork_child(void)
{
	struct collsock *s;

	forks++;
	while (sockets) {
		s = sockets;
		sockets = s->next;
		close(s->fd);
		s->fd = -1;
		s->link = NULL;
	}
	user_thread_in_child();
	pthread_mutex_unlock(&lock);
}

static void fork_set_handlers(void)
{
	pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void collsock_hold_forks(void)
{
	pthread_once(&once, fork_set_handlers);
	pthread_mutex_lock(&lock);
}

void collsock_release_forks(void)
{
	pthread_mutex_unlock(&lock);
}

unsigned int collsock_forks(void)
{
	pthread_once(&once, fork_set_handlers);
	return forks;
}

void collsock_close_in_child(struct collsock *s)
{
	s->next = sockets;
	s->link = &sockets;
	if (s->next)
		s->next->link = &s->next;
	sockets = s;
}

void collsock_forget_child(struct collsock *s)
{
	if (!s->link)
		return;
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
}
