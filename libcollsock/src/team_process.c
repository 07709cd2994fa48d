// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "team_process.h"

#define STAT_BYTES 1024

/* Fields of /proc/PID/stat, from 1 */
#define FIELD_STATE 3
#define FIELD_THREADS 20
#define FIELD_START 22

/**
 * struct process_stat - from /proc/PID/stat
 * @state: one letter
 * @threads: of the process, the first one included even if that has ended
 * @start: when the process began, in clock ticks
 */
struct process_stat {
	char			state;
	long			threads;
	unsigned long long	start;
};

/* Find the field @wanted in @text, which begins with @field; NULL if there is none. */
static const char *stat_field(const char *text, int field, int wanted)
{
	for (; text && field < wanted; field++) {
		text = strchr(text, ' ');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* The second field is a name that may hold anything, spaces and parentheses too. */
static bool stat_parse(struct process_stat *found, const char *text)
{
	const char *rest = strrchr(text, ')'), *threads, *start;

	rest = stat_field(rest, 2, FIELD_STATE);
	threads = stat_field(rest, FIELD_STATE, FIELD_THREADS);
	start = stat_field(threads, FIELD_THREADS, FIELD_START);
	if (!start)
		return false;
	found->state = *rest;
	found->threads = strtol(threads, NULL, 10);
	found->start = strtoull(start, NULL, 10);
	return true;
}

static bool stat_read(struct process_stat *found, __u32 pid)
{
	char path[32], text[STAT_BYTES];
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bytes = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	return stat_parse(found, text);
}

struct team_process collsock_process_self(void)
{
	struct team_process self = { .pid = getpid() };
	struct process_stat found;

	if (stat_read(&found, self.pid))
		self.start = found.start;
	return self;
}

/* Its parent may not have waited for it. The first of several threads may have ended alone. */
static bool stat_is_of_the_dead(const struct process_stat *found)
{
	return (found->state == 'Z' || found->state == 'X') && found->threads <= 1;
}

bool collsock_process_ended(struct team_process process)
{
	struct process_stat found;

	if (!process.pid || process.pid > INT_MAX)
		return false;
	if (kill(process.pid, 0) && errno == ESRCH)
		return true;
	if (!stat_read(&found, process.pid))
		return false;
	return stat_is_of_the_dead(&found) || (process.start && found.start != process.start);
}
