// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into ranks of an MPI program that share processors, so that a waiting rank does
 * not keep the one that it waits for from running.
 *
 * MPI libraries poll their connections in a tight loop, with poll() or epoll_wait() and no
 * time-out. Here, after a few such calls without an event, the next one waits for a short
 * time. It returns what the program would have seen slightly later. VM_MPI_POLL_MS is that
 * time in milliseconds: 0 for a rank that is alone. Calls between which the program works, or
 * sleeps in ppoll(), are no such loop: the program may wait for other things than these
 * connections, which would not end the sleep.
 *
 * MPICH 4.0 closes its connections in MPI_Finalize, where a rank needs progress on other
 * ranks that are done already and wait for the launcher without polling their connections:
 * sometimes the job never ends. Here they do poll.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define QUESTIONS_IN_VAIN 4
#define LOOK_AGAIN_MS 10
#define LOOP_NS 20000	/* processor time from a call of a loop to the next */
#define NS_PER_S 1000000000LL

static __thread unsigned int in_vain;
static __thread long long looked_ns;
static int poll_ms;

static __attribute__((constructor)) void begin(void)
{
	const char *setting = getenv("VM_MPI_POLL_MS");

	poll_ms = setting ? atoi(setting) : 0;
}

static long long used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* How long to wait in place of a poll without a time-out */
static int poll_time(int timeout)
{
	if (timeout || in_vain < QUESTIONS_IN_VAIN)
		return timeout;
	if (used_ns() < looked_ns + LOOP_NS)
		return poll_ms;
	in_vain = 0;
	return timeout;
}

static int note(int answer, int timeout)
{
	if (answer)
		in_vain = 0;
	else if (!timeout && in_vain < QUESTIONS_IN_VAIN)
		in_vain++;
	if (in_vain == QUESTIONS_IN_VAIN)
		looked_ns = used_ns();
	return answer;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	static int (*real)(struct pollfd *fds, nfds_t count, int timeout);

	if (!real)
		real = dlsym(RTLD_NEXT, "poll");
	return note(real(fds, count, poll_time(timeout)), timeout);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *signals)
{
	static int (*real)(struct pollfd *fds, nfds_t count, const struct timespec *time,
			   const sigset_t *signals);

	if (!real)
		real = dlsym(RTLD_NEXT, "ppoll");
	in_vain = 0;
	return real(fds, count, time, signals);
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
