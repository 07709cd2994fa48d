// SPDX-License-Identifier: GPL-2.0-only OR MIT
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

#include "poster.h"
#include "window.h"

/* With as many sockets the thread checks again after this time, as there may be more. */
#define MOST_SOCKETS 64
#define LOOK_AGAIN_MS 10

static pthread_mutex_t poster_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t poster_thread;
static bool poster_running;
static atomic_bool poster_stopping;
static int poster_event_fd = -1;

static void poster_drain_event(void)
{
	__u64 times;

	if (read(poster_event_fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		abort();
}

static void poster_send_event(void)
{
	const __u64 once = 1;

	if (write(poster_event_fd, &once, sizeof(once)) < 0)
		abort();
}

static void poster_close_event(void)
{
	cm_comm_watch(-1);
	close(poster_event_fd);
}

/* Post for all communicators; returns the number of sockets to wait for. */
static unsigned int poster_post_all(struct pollfd *sockets)
{
	unsigned int count = 0;
	struct cm_comm *c;

	cm_comm_lock_all();
	for (c = cm_comm_all; c; c = c->next) {
		if (!cm_window_is_queued(c))
			continue;
		cm_window_advance(c);
		if (cm_window_is_queued(c) && count < MOST_SOCKETS)
			sockets[count++] = (struct pollfd){
				.fd	= collsock_fd(c->socket),
				.events	= POLLIN | POLLOUT,
			};
	}
	cm_comm_unlock_all();
	return count;
}

static void *poster_run(void *unused)
{
	struct pollfd sockets[1 + MOST_SOCKETS] = { { .fd = poster_event_fd, .events = POLLIN } };
	unsigned int count;

	(void)unused;
	while (!atomic_load(&poster_stopping)) {
		poster_drain_event();
		count = poster_post_all(sockets + 1);
		poll(sockets, 1 + count, count == MOST_SOCKETS ? LOOK_AGAIN_MS : -1);
	}
	return NULL;
}

/* Signal handlers of the program must not run in this thread. */
static int poster_start(void)
{
	sigset_t all, before;
	int err;

	poster_event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (poster_event_fd < 0)
		return errno;
	cm_comm_watch(poster_event_fd);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&poster_thread, NULL, poster_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		poster_close_event();
	return err;
}

void cm_poster_wake(void)
{
	static bool said;
	int err = 0;

	pthread_mutex_lock(&poster_lock);
	if (!poster_running)
		err = poster_start();
	poster_running = !err;
	if (poster_running)
		poster_send_event();
	else if (!said)
		fprintf(stderr,
			"collsock: cannot create a thread for posting, so operations are posted only while the program waits: %s\n",
			strerror(err));
	said |= err;
	pthread_mutex_unlock(&poster_lock);
}

void cm_poster_stop(void)
{
	if (!poster_running)
		return;
	atomic_store(&poster_stopping, true);
	poster_send_event();
	pthread_join(poster_thread, NULL);
	poster_close_event();
	poster_running = false;
}
