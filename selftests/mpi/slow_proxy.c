// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into MPICH's mpiexec, whose proxies then read late what ranks write, and say so.
 * A proxy first lets messages gather, so that it finds the output of a rank together with its
 * request to abort. It forwards the request first, and is slow to read the output: it has lost
 * that when mpiexec ends at the request.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATHER_US 10000
#define READ_LATE_US 50000

static bool is_proxy;

static __attribute__((constructor)) void begin(void)
{
	is_proxy = !strcmp(program_invocation_short_name, "hydra_pmi_proxy");
	if (is_proxy)
		fprintf(stderr, "the proxy is slow\n");
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	static int (*real)(struct pollfd *fds, nfds_t count, int timeout);

	if (!real)
		real = dlsym(RTLD_NEXT, "poll");
	if (is_proxy)
		usleep(GATHER_US);
	return real(fds, count, timeout);
}

static bool is_pipe(int fd)
{
	struct stat s;

	return !fstat(fd, &s) && S_ISFIFO(s.st_mode);
}

ssize_t read(int fd, void *buffer, size_t room)
{
	static ssize_t (*real)(int fd, void *buffer, size_t room);

	if (!real)
		real = dlsym(RTLD_NEXT, "read");
	if (is_proxy && is_pipe(fd))
		usleep(READ_LATE_US);
	return real(fd, buffer, room);
}
