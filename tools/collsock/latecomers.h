/* SPDX-License-Identifier: GPL-2.0 */
/* Ranks of one machine that have not joined, while others wait for them */
#ifndef LATECOMERS_H
#define LATECOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include <collsock.h>

#define LATECOMERS_EVERY_MS 500

/**
 * struct latecomers - see there
 * @id: of the group
 * @ranks: number of its ranks
 * @look_ms: when to look for them again
 * @every_ms: how often; less often while nobody waits
 * @tell_ms: when to name them; 0: nobody waits for them
 * @pause_ms: until they are named once more
 * @awaited: a rank that has joined is still there
 * @missing: whether a rank has not joined
 */
struct latecomers {
	uint64_t	id;
	uint32_t	ranks;
	uint64_t	look_ms;
	uint64_t	every_ms;
	uint64_t	tell_ms;
	uint64_t	pause_ms;
	bool		awaited;
	bool		missing[COLLSOCK_MAX_LOCAL_RANKS];
};

/**
 * latecomers_look() - print which ranks have not joined, if others have waited for two seconds
 * @l: all zero at first, but for the group
 * @socket: of each rank in user space; -1 with the kernel
 *
 * They are named again while that is so, more and more rarely.
 *
 * Return: whether to look again in LATECOMERS_EVERY_MS.
 */
bool latecomers_look(struct latecomers *l, const int *socket);

#endif
