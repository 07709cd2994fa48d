// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into ranks of an MPI program that share processors, so that a waiting rank does
 * not keep the one that it waits for from running.
 *
 * MPI libraries poll their connections in a tight loop, with poll() or epoll_wait() and no
 * time-out. Here, after a few such calls without an event, the next one waits for a short
 * time. It returns what the program would have seen slightly later. VM_MPI_POLL_MS is that
 * time in milliseconds: 0 for a rank that is alone.
 *
 * MPICH 4.0 closes its connections in MPI_Finalize, where a rank needs progress on other
 * ranks that are done already and wait for the launcher without polling their connections:
 * sometimes the job never ends. Here they do poll.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUESTIONS_IN_VAIN 4
#define LOOK_AGAIN_MS 10

static __thread unsigned int in_vain;
static int poll_ms;

static __attribute__((constructor)) void begin(void)
{
	const char *setting = getenv("VM_MPI_POLL_MS");

	poll_ms = setting ? atoi(setting) : 0;
}

/* How long to wait in place of a poll without a time-out */
static int poll_time(int timeout)
{
	return !timeout && in_vain >= QUESTIONS_IN_VAIN ? poll_ms : timeout;
}

static int note(int answer, int timeout)
{
	if (answer)
		in_vain = 0;
	else if (!timeout && in_vain < QUESTIONS_IN_VAIN)
		in_vain++;
	return answer;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	static int (*real)(struct pollfd *fds, nfds_t count, int timeout);

	if (!real)
		real = dlsym(RTLD_NEXT, "poll");
	return note(real(fds, count, poll_time(timeout)), timeout);
}

int epoll_wait(int fd, struct epoll_event *events, int room, int timeout)
{
	static int (*real)(int fd, struct epoll_event *events, int room, int timeout);

	if (!real)
		real = dlsym(RTLD_NEXT, "epoll_wait");
	return note(real(fd, events, room, poll_time(timeout)), timeout);
}

/* ---- MPICH's connections ---- */

struct ucp_worker;

/* The worker of this thread, while it exists */
static __thread struct ucp_worker *worker;

unsigned int ucp_worker_progress(struct ucp_worker *which)
{
	static unsigned int (*real)(struct ucp_worker *which);

	if (!real)
		real = dlsym(RTLD_NEXT, "ucp_worker_progress");
	worker = which;
	return real(which);
}

void ucp_worker_destroy(struct ucp_worker *which)
{
	static void (*real)(struct ucp_worker *which);

	if (!real)
		real = dlsym(RTLD_NEXT, "ucp_worker_destroy");
	worker = NULL;
	real(which);
}

ssize_t read(int fd, void *buffer, size_t room)
{
	static ssize_t (*real)(int fd, void *buffer, size_t room);
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	if (!real)
		real = dlsym(RTLD_NEXT, "read");
	while (worker && !poll(&readable, 1, LOOK_AGAIN_MS))
		ucp_worker_progress(worker);
	return real(fd, buffer, room);
}
