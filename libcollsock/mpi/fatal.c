// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fatal.h"
#include "underlying.h"

#define LONGEST_WAIT_NS	CM_NS_PER_S
#define NAP_NS		100000L

static bool fatal_is_pipe(int fd)
{
	struct stat s;

	return !fstat(fd, &s) && S_ISFIFO(s.st_mode);
}

static bool fatal_is_unread(int fd)
{
	int bytes;

	return !ioctl(fd, FIONREAD, &bytes) && bytes > 0;
}

/*
 * A proxy of MPICH's mpiexec that finds both forwards a request to abort before output, and
 * mpiexec ends at the request. What the proxy has read before is forwarded before.
 */
static void fatal_drain(int fd)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	__u64 end_ns = cm_clock_ns() + LONGEST_WAIT_NS;

	if (!fatal_is_pipe(fd))
		return;
	while (fatal_is_unread(fd) && cm_clock_ns() < end_ns)
		nanosleep(&nap, NULL);
}

static void fatal_vsay(const char *format, va_list arguments)
{
	vfprintf(stderr, format, arguments);
	fflush(stderr);
	fatal_drain(STDERR_FILENO);
}

void cm_fatal_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fatal_vsay(format, arguments);
	va_end(arguments);
}

void cm_fatal_abort(MPI_Comm comm, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fatal_vsay(format, arguments);
	va_end(arguments);
	cm_underlying_abort(comm, status);
}
