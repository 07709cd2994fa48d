// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user_ask.h"
#include "user_directory.h"

#define LINE_BYTES	512
#define PATIENCE_S	2	/* for a process that is delayed */
#define SEALS		(F_SEAL_SHRINK | F_SEAL_WRITE)
#define MOST_BYTES	(64 << 20)	/* of a report, which is copied */

/* ---- a report ---- */

/* A file that its sender may still change is none. */
static void ask_read(const struct user_ask *ask, int file, pid_t pid)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat status;
	void *report;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(file, &status) || !status.st_size ||
	    status.st_size > MOST_BYTES)
		return;
	report = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	if (report == MAP_FAILED)
		return;
	ask->take(ask->ctx, pid, report, status.st_size);
	munmap(report, status.st_size);
}

/* ---- a process ---- */

static int ask_receive(int client)
{
	union {
		struct cmsghdr	head;
		char		bytes[CMSG_SPACE(sizeof(int))];
	} control = { };
	char byte;
	struct iovec part = { &byte, sizeof(byte) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int file;

	if (recvmsg(client, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    control.head.cmsg_type != SCM_RIGHTS || control.head.cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&file, CMSG_DATA(&control.head), sizeof(file));
	return file;
}

/* Connect. -1 if nobody is there: then it is the socket of a process that was killed. */
static int ask_connect(int directory, const char *name)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t bytes = user_directory_address(directory, name, &address);

	if (client < 0)
		return -1;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(client, (struct sockaddr *)&address, bytes))
		return client;
	if (errno == ECONNREFUSED)
		unlinkat(directory, name, 0);
	close(client);
	return -1;
}

/* "pid (command) state …", where the command may contain anything, even parentheses */
static char ask_process_state(pid_t pid)
{
	char path[32], line[LINE_BYTES], *end;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '\0';
	bytes = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[bytes > 0 ? bytes : 0] = '\0';
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : '\0';
}

/* One that is stopped would be waited for in vain. Its number here, if it can be seen here */
static bool ask_is_stopped(int client)
{
	socklen_t bytes = sizeof(struct ucred);
	struct ucred who;
	char state;

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return false;
	state = ask_process_state(who.pid);
	return state == 'T' || state == 't';
}

/* Return: whether it is there */
static bool ask_process(const struct user_ask *ask, int directory, const char *name)
{
	int client = ask_connect(directory, name), file;

	if (client < 0)
		return false;
	file = ask->take && !ask_is_stopped(client) ? ask_receive(client) : -1;
	if (file >= 0) {
		ask_read(ask, file, atoi(name));
		close(file);
	}
	close(client);
	return true;
}

/* ---- all processes ---- */

static bool ask_wants(const struct user_ask *ask, const char *name)
{
	pid_t pid;

	if (!isdigit(*name) || strspn(name, "0123456789") != strlen(name))
		return false;
	pid = atoi(name);
	return ask->only ? pid == ask->only : pid != ask->but;
}

static unsigned int ask_directory(const struct user_ask *ask, int directory)
{
	DIR *entries = fdopendir(directory);
	struct dirent *entry;
	unsigned int found = 0;

	if (!entries) {
		close(directory);
		return 0;
	}
	while ((entry = readdir(entries)))
		if (ask_wants(ask, entry->d_name))
			found += ask_process(ask, directory, entry->d_name);
	closedir(entries);
	return found;
}

unsigned int user_ask(const struct user_ask *ask)
{
	unsigned int which, found = 0;
	int directory;

	for (which = 0; which < USER_DIRECTORIES; which++) {
		directory = user_directory_open(which, false);
		if (directory >= 0)
			found += ask_directory(ask, directory);
	}
	return found;
}
