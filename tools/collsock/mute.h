/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of this user with ranks in user space that do not reply, and that no report of "wait"
 * names: if none of their group replies, nobody says that it waits for them.
 */
#ifndef MUTE_H
#define MUTE_H

#include "report.h"

/**
 * struct mute - these processes
 * @process: each; without a number if it is in another PID namespace
 * @count: number of them
 */
struct mute {
	struct process	*process;
	size_t		count;
};

/**
 * mute_find() - find them
 * @mute: out
 * @reports: what "wait" has found
 * @count: number of @reports
 *
 * Waits two seconds for each process that is not stopped.
 */
void mute_find(struct mute *mute, const struct report *reports, size_t count);

void mute_free(struct mute *mute);

/* Print a sentence about each. */
void mute_print(const struct mute *mute);

/* Add an object for each to an array. */
void mute_put(struct json_object *all, const struct mute *mute);

#endif
