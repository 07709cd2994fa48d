/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where the processes of a user that have ranks in user space are found: folders with a Unix socket
 * for each, whose name is the number of the process. A directory is trusted if nobody but this user
 * can change it.
 */
#ifndef COLLSOCK_USER_DIRECTORY_H
#define COLLSOCK_USER_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

/* $XDG_RUNTIME_DIR/collsock, or /run/user/UID/collsock; and /tmp/collsock-UID */
#define USER_DIRECTORIES	2

/*
 * Handles of groups in user space have this bit, and those of groups in the kernel do not; then
 * follows the number of the process, and in the process that of the member.
 */
#define USER_HANDLE	0x80000000U
#define USER_HANDLE_PID_SHIFT	8

/**
 * user_directory_open() - open a directory
 * @which: below USER_DIRECTORIES
 * @make: if it is not there
 *
 * Return: its descriptor; -EPERM if it is another user's, or others can write to it, or another
 * negative errno.
 */
int user_directory_open(unsigned int which, bool make);

/*
 * Is there no directory, but something in the place of one that cannot be used? Then nobody finds
 * ranks that are there. @path, @owner: out: of that
 */
bool user_directory_refused(char path[PATH_MAX], uid_t *owner);

/* The address of a socket of that name in an open directory, whose path may be too long for one */
socklen_t user_directory_address(int directory, const char *name, struct sockaddr_un *address);

#endif
