// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The thread that posts what the windows had no room for. It calls no MPI function, so
 * it may run in programs that know nothing of threads. It is there from the first time
 * that a window is full.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "op.h"

/* Sockets beyond them are looked after as often as this. */
#define MOST_SOCKETS 64
#define LOOK_AGAIN_MS 10

/* A socket whose group has lost somebody is always ready, perhaps with nothing to do. */
#define ERROR_NAP_MS 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running;
static atomic_bool stopping;
static int wake_fd = -1;

static void drain_wake_up(void)
{
	__u64 times;

	if (read(wake_fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		abort();
}

/* Post for all communicators; returns how many sockets are worth looking at. */
static unsigned int post_all(struct pollfd *sockets)
{
	unsigned int count = 0;
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c; c = c->next) {
		if (!atomic_load(&c->queued))
			continue;
		pthread_mutex_lock(&c->lock);
		cm_op_advance(c);
		pthread_mutex_unlock(&c->lock);
		if (atomic_load(&c->queued) && count < MOST_SOCKETS)
			sockets[count++] = (struct pollfd){
				.fd	= collsock_fd(c->socket),
				.events	= POLLIN | POLLOUT,
			};
	}
	cm_comm_unlock_all();
	return count;
}

static bool has_error_alone(const struct pollfd *sockets, unsigned int count)
{
	bool error = false;

	for (; count; count--, sockets++) {
		if (sockets->revents & (POLLIN | POLLOUT))
			return false;
		error |= sockets->revents;
	}
	return error;
}

static void *post(void *unused)
{
	struct pollfd sockets[1 + MOST_SOCKETS] = { { .fd = wake_fd, .events = POLLIN } };
	unsigned int count;

	(void)unused;
	while (!atomic_load(&stopping)) {
		drain_wake_up();
		count = post_all(sockets + 1);
		poll(sockets, 1 + count, count == MOST_SOCKETS ? LOOK_AGAIN_MS : -1);
		if (has_error_alone(sockets, 1 + count))
			poll(sockets, 1, ERROR_NAP_MS);
	}
	return NULL;
}

/* It must not run the program's signal handlers. */
static int start(void)
{
	sigset_t all, before;
	int err;

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, post, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		close(wake_fd);
	return err;
}

static void wake(void)
{
	const __u64 once = 1;

	if (write(wake_fd, &once, sizeof(once)) < 0)
		abort();
}

void cm_poster_kick(void)
{
	static bool said;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!running)
		err = start();
	running = !err;
	if (running)
		wake();
	else if (!said)
		fprintf(stderr,
			"collsock: no thread for posting, so operations are posted while the program waits: %s\n",
			strerror(err));
	said |= err;
	pthread_mutex_unlock(&lock);
}

void cm_poster_stop(void)
{
	if (!running)
		return;
	atomic_store(&stopping, true);
	wake();
	pthread_join(thread, NULL);
	close(wake_fd);
	running = false;
}
