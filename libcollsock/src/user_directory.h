/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Finding a user's processes with ranks in user space: directories with a Unix socket for each,
 * named by its pid. A directory is trusted if nobody but this user can change it.
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
 * Is no directory usable, nor can be made, because something else is in its place? Then nobody can
 * find the ranks.
 * @path, @owner: out: of that
 */
bool user_directory_refused(char path[PATH_MAX], uid_t *owner);

/* The address of a socket of that name in an open directory, whose path may be too long for one */
socklen_t user_directory_address(int directory, const char *name, struct sockaddr_un *address);

#endif
