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

/* A file that its sender may still change is not a report. */
static void ask_read(const struct user_ask *ask, int file, pid_t pid)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat status;
	void *report;

	if (!ask->take)
		return;
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

/* Read "pid (command) state …", where the command may contain anything, even parentheses. */
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

/* A stopped process would not reply. */
static bool ask_is_stopped(pid_t pid)
{
	char state = ask_process_state(pid);

	return state == 'T' || state == 't';
}

/*
 * Is the other end of this user? A file system in user space may claim any owner of its folders.
 * @pid: out: its pid, or 0 if it has none in this namespace
 */
static bool ask_is_own(int client, pid_t *pid)
{
	socklen_t bytes = sizeof(struct ucred);
	struct ucred who = { };

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes) || who.uid != geteuid())
		return false;
	*pid = who.pid;
	return true;
}

static int ask_try(int client, int directory, const char *name)
{
	struct sockaddr_un address;
	socklen_t bytes = user_directory_address(directory, name, &address);

	return connect(client, (struct sockaddr *)&address, bytes) ? errno : 0;
}

/*
 * Return: 0; ECONNREFUSED for the socket of a process that was killed; EAGAIN if a process does not
 * accept connections and the system's backlog is full.
 */
static int ask_connect(int client, int directory, const char *name)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int error = ask_try(client, directory, name);

	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	fcntl(client, F_SETFL, 0);	/* wait from now on */
	if (error == EAGAIN && !ask_is_stopped(atoi(name)))
		error = ask_try(client, directory, name);
	if (error == ECONNREFUSED)
		unlinkat(directory, name, 0);
	return error;
}

/* @pid: as seen here, or 0; @client: connected to the process, or -1 if it accepts nothing */
static void ask_report(const struct user_ask *ask, pid_t pid, int client, const char *name)
{
	int file = client < 0 || ask_is_stopped(pid) ? -1 : ask_receive(client);

	if (file >= 0) {
		ask_read(ask, file, atoi(name));
		close(file);
	} else if (ask->mute) {
		ask->mute(ask->ctx, pid);
	}
}

/* Return: whether it is there */
static bool ask_process(const struct user_ask *ask, int directory, const char *name)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
	bool there, accepts;
	pid_t pid = 0;

	if (client < 0)
		return false;
	error = ask_connect(client, directory, name);
	accepts = !error && ask_is_own(client, &pid);
	there = accepts || error == EAGAIN;
	if (there && (ask->take || ask->mute))
		ask_report(ask, accepts ? pid : atoi(name), accepts ? client : -1, name);
	close(client);
	return there;
}

/* ---- all processes ---- */

static bool ask_wants(const struct user_ask *ask, const char *name)
{
	pid_t pid = 0;

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
