/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where others of the same user ask what this process does: a Unix socket in a directory of the
 * user (user_directory.h). A client receives one byte, and with it a file with the report
 * (user_report.h); nothing is read from it, and a client that does not receive delays nothing. A
 * socket whose process was killed has no listener, and is removed by those who find it.
 */
#ifndef COLLSOCK_USER_LISTENER_H
#define COLLSOCK_USER_LISTENER_H

/* Listen: returns the descriptor, or -1 if there is no directory; then nobody can ask. */
int user_listener_open(void);

/* The end of the process */
void user_listener_remove(void);

/* One that asks, who is this user or root; or -1 */
int user_listener_accept(int listener);

/* Answer with a file. Both are closed. */
void user_listener_answer(int client, int file);

#endif
