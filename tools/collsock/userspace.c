// SPDX-License-Identifier: GPL-2.0
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

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/collsock_netlink.h>

#include "process.h"
#include "user_directory.h"
#include "userspace.h"

#define NAME_BYTES	16
#define PATIENCE_S	2	/* for a process that is delayed */
#define SEALS		(F_SEAL_SHRINK | F_SEAL_WRITE)

/**
 * struct search - what is looked for
 * @all: replies that were found; NULL if only processes are looked for
 * @command: of their messages
 * @group: attribute for the handle of their group
 * @handle: of their group, or 0
 * @found: processes that answer, or would
 */
struct search {
	struct replies	*all;
	uint8_t		command;
	int		group;
	uint32_t	handle;
	unsigned int	found;
};

/* ---- a report ---- */

static void userspace_take(const struct search *search, struct nlmsghdr *message, uint64_t pid)
{
	struct genlmsghdr *generic = nlmsg_data(message);
	struct reply reply = reply_message(generic);

	if (generic->cmd != search->command)
		return;
	if (search->command == COLLSOCK_CMD_GROUP_GET)
		reply.pid = pid;
	if (!search->handle || reply_number(&reply, search->group, 0) == search->handle)
		replies_add(search->all, &reply);
}

static void userspace_parse(const struct search *search, void *report, size_t bytes, uint64_t pid)
{
	struct nlmsghdr *message = report;
	int left = bytes;

	for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
		if (nlmsg_datalen(message) >= (int)GENL_HDRLEN)
			userspace_take(search, message, pid);
}

/* A file that its sender may still change is none. */
static void userspace_read(const struct search *search, int file, uint64_t pid)
{
	int seals = fcntl(file, F_GET_SEALS);
	struct stat status;
	void *report;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(file, &status) || !status.st_size ||
	    status.st_size > INT32_MAX)
		return;
	/* libnl wants to write to it. */
	report = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	if (report == MAP_FAILED)
		return;
	userspace_parse(search, report, status.st_size, pid);
	munmap(report, status.st_size);
}

/* ---- a process ---- */

static int userspace_receive(int client)
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
static int userspace_connect(int folder, const char *name)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t bytes = user_directory_address(folder, name, &address);

	if (client < 0)
		return -1;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(client, (struct sockaddr *)&address, bytes))
		return client;
	if (errno == ECONNREFUSED)
		unlinkat(folder, name, 0);
	close(client);
	return -1;
}

/* One that is stopped would be waited for in vain. Its number here, if it can be seen here */
static bool userspace_is_stopped(int client)
{
	socklen_t bytes = sizeof(struct ucred);
	struct process process;
	struct ucred who;

	if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return false;
	process_read(&process, who.pid);
	return process.state == 'T' || process.state == 't';
}

static void userspace_ask(struct search *search, int folder, const char *name)
{
	int client = userspace_connect(folder, name), file;

	if (client < 0)
		return;
	search->found++;
	file = search->all && !userspace_is_stopped(client) ? userspace_receive(client) : -1;
	if (file >= 0) {
		userspace_read(search, file, strtoull(name, NULL, 10));
		close(file);
	}
	close(client);
}

/* ---- all processes ---- */

static bool userspace_is_wanted(const struct search *search, const char *name)
{
	char wanted[NAME_BYTES];

	if (!search->handle)
		return isdigit(*name) && strspn(name, "0123456789") == strlen(name);
	snprintf(wanted, sizeof(wanted), "%u",
		 (search->handle & ~USER_HANDLE) >> USER_HANDLE_PID_SHIFT);
	return !strcmp(name, wanted);
}

static void userspace_search_folder(struct search *search, int folder)
{
	DIR *directory = fdopendir(folder);
	struct dirent *entry;

	if (!directory) {
		close(folder);
		return;
	}
	while ((entry = readdir(directory)))
		if (userspace_is_wanted(search, entry->d_name))
			userspace_ask(search, folder, entry->d_name);
	closedir(directory);
}

static void userspace_search(struct search *search)
{
	unsigned int which;
	int folder;

	for (which = 0; which < USER_DIRECTORIES; which++) {
		folder = user_directory_open(which, false);
		if (folder >= 0)
			userspace_search_folder(search, folder);
	}
}

bool userspace_is_there(void)
{
	struct search search = { .all = NULL };

	userspace_search(&search);
	return search.found;
}

bool userspace_has_process(uint64_t pid)
{
	struct search search = { .handle = USER_HANDLE | pid << USER_HANDLE_PID_SHIFT };

	userspace_search(&search);
	return search.found;
}

bool userspace_has(uint32_t handle)
{
	return handle & USER_HANDLE;
}

void userspace_dump(struct replies *all, uint8_t command, int group, uint32_t handle)
{
	struct search search = {
		.all = all, .command = command, .group = group, .handle = handle
	};

	userspace_search(&search);
}
