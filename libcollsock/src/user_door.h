/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where others of the same user ask what this process does: a Unix socket in a folder of the user
 * (user_place.h). Who connects receives one byte, and with it a file with the report
 * (user_report.h); nothing is read from it, and nobody who does not receive holds anything up. When
 * the process is killed nobody listens to the socket any more, and who finds it removes it.
 */
#ifndef COLLSOCK_USER_DOOR_H
#define COLLSOCK_USER_DOOR_H

/* Listen: returns the descriptor, or -1 if there is no folder; then nobody can ask. */
int user_door_open(void);

/* The end of the process */
void user_door_remove(void);

/* One that asks, who is this user or root; or -1 */
int user_door_accept(int door);

/* Answer with a file. Both are closed. */
void user_door_answer(int asker, int file);

#endif
