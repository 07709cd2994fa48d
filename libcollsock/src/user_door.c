// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "user_door.h"
#include "user_place.h"

#define NAME_BYTES	16
#define BACKLOG		16

static void door_name(char name[NAME_BYTES], const char *end)
{
	snprintf(name, NAME_BYTES, "%d%s", getpid(), end);
}

/* Under its name it listens: else it would be taken for that of a process that was killed. */
static bool door_listen(int door, int folder)
{
	char name[NAME_BYTES], first[NAME_BYTES];
	struct sockaddr_un address;
	socklen_t bytes;

	door_name(name, "");
	door_name(first, "~");
	unlinkat(folder, first, 0);
	bytes = user_place_address(folder, first, &address);
	return !bind(door, (struct sockaddr *)&address, bytes) && !listen(door, BACKLOG) &&
	       !renameat(folder, first, folder, name);
}

int user_door_open(void)
{
	int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), folder;
	bool listens = false;
	unsigned int place;

	for (place = 0; door >= 0 && !listens && place < USER_PLACES; place++) {
		folder = user_place_open(place, true);
		if (folder < 0)
			continue;
		listens = door_listen(door, folder);
		close(folder);
	}
	if (listens)
		return door;
	if (door >= 0)
		close(door);
	return -1;
}

void user_door_remove(void)
{
	char name[NAME_BYTES];
	unsigned int place;
	int folder;

	door_name(name, "");
	for (place = 0; place < USER_PLACES; place++) {
		folder = user_place_open(place, false);
		if (folder < 0)
			continue;
		unlinkat(folder, name, 0);
		close(folder);
	}
}

static bool door_admits(int asker)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	return !getsockopt(asker, SOL_SOCKET, SO_PEERCRED, &who, &bytes) &&
	       (!who.uid || who.uid == geteuid());
}

int user_door_accept(int door)
{
	int asker = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (asker < 0 || door_admits(asker))
		return asker;
	close(asker);
	return -1;
}

void user_door_answer(int asker, int file)
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
	sendmsg(asker, &message, MSG_NOSIGNAL);
	close(file);
	close(asker);
}
