/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A Unix socket in a directory of the user (user_directory.h), by which other processes of the user
 * ask this one for a report. A client receives one byte, and with it a file with the report
 * (user_report.h); nothing is read from it, and a client that does not receive delays nothing. A
 * socket whose process was killed has no listener, and is removed by any process that finds it.
 */
#ifndef COLLSOCK_USER_LISTENER_H
#define COLLSOCK_USER_LISTENER_H

/* Listen: returns the descriptor, or -1 if there is no directory; then nobody can ask. */
int user_listener_open(void);

/* The process ends: remove the socket. */
void user_listener_remove(void);

/* Accept a client of this user or of root; or -1 */
int user_listener_accept(int listener);

/* Answer with a file. Both are closed. */
void user_listener_answer(int client, int file);

#endif
