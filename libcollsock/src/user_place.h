/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where the processes of a user that have ranks in user space are found: folders with a Unix socket
 * for each, whose name is the number of the process. A folder is trusted if nobody but this user
 * can change it.
 */
#ifndef COLLSOCK_USER_PLACE_H
#define COLLSOCK_USER_PLACE_H

#include <stdbool.h>
#include <sys/un.h>

/* $XDG_RUNTIME_DIR/collsock, or /run/user/UID/collsock; and /tmp/collsock-UID */
#define USER_PLACES	2

/*
 * Handles of groups in user space have this bit, and those of groups in the kernel do not; then
 * follows the number of the process, and in the process that of the member.
 */
#define USER_PLACE_HANDLE	0x80000000U
#define USER_PLACE_PID_SHIFT	8

/**
 * user_place_open() - open a folder
 * @place: below USER_PLACES
 * @make: if it is not there
 *
 * Return: its descriptor; -EPERM if it is another user's, or others can write to it, or another
 * negative errno.
 */
int user_place_open(unsigned int place, bool make);

/* The address of a socket of that name in an open folder, whose path may be too long for one */
socklen_t user_place_address(int folder, const char *name, struct sockaddr_un *address);

#endif
