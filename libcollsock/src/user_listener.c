// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "user_listener.h"
#include "user_directory.h"

#define NAME_BYTES	16
#define BACKLOG		16

static void listener_name(char name[NAME_BYTES], const char *end)
{
	snprintf(name, NAME_BYTES, "%d%s", getpid(), end);
}

/*
 * Listen before the socket gets its name: otherwise it would look like that of a process that was
 * killed.
 */
static bool listener_listen(int listener, int directory)
{
	char name[NAME_BYTES], unready[NAME_BYTES];
	struct sockaddr_un address;
	socklen_t bytes;

	listener_name(name, "");
	listener_name(unready, "~");
	unlinkat(directory, unready, 0);
	bytes = user_directory_address(directory, unready, &address);
	return !bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, BACKLOG) &&
	       !renameat(directory, unready, directory, name);
}

int user_listener_open(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), directory;
	bool listens = false;
	unsigned int which;

	for (which = 0; listener >= 0 && !listens && which < USER_DIRECTORIES; which++) {
		directory = user_directory_open(which, true);
		if (directory < 0)
			continue;
		listens = listener_listen(listener, directory);
		close(directory);
	}
	if (listens)
		return listener;
	if (listener >= 0)
		close(listener);
	return -1;
}

void user_listener_remove(void)
{
	char name[NAME_BYTES];
	unsigned int which;
	int directory;

	listener_name(name, "");
	for (which = 0; which < USER_DIRECTORIES; which++) {
		directory = user_directory_open(which, false);
		if (directory < 0)
			continue;
		unlinkat(directory, name, 0);
		close(directory);
	}
}

static bool listener_admits(int client)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &bytes) &&
	       (!who.uid || who.uid == geteuid());
}

int user_listener_accept(int listener)
{
	int client;

	while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (listener_admits(client))
			return client;
		close(client);
	}
	return -1;
}

void user_listener_answer(int client, int file)
{
	union {
		struct cmsghdr	head;
		char		bytes[CMSG_SPACE(sizeof(int))];
	} control = { };
	char byte = 0;
	struct iovec part = { &byte, sizeof(byte) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	/* There is room for it, unless the other end has gone. */
	sendmsg(client, &message, MSG_NOSIGNAL);
	close(file);
	close(client);
}
