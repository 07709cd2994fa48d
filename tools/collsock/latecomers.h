/* SPDX-License-Identifier: GPL-2.0 */
/* Ranks that have not joined, while those that this process has started wait for them */
#ifndef LATECOMERS_H
#define LATECOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include <collsock.h>

#define LATECOMERS_EVERY_MS 500

/**
 * struct latecomers_ranks - what is known about the ranks
 * @group: of them
 * @first: the first that this process has started
 * @count: number of these, which are all of the group, or one
 * @socket: of each of these in user space; -1 with the kernel
 * @ended: for each of these, whether its program has ended before it joined
 * @names: of the hosts of all ranks, or NULL
 */
struct latecomers_ranks {
	const struct collsock_group	*group;
	uint32_t	first;
	uint32_t	count;
	const int	*socket;
	const bool	*ended;
	char *const	*names;
};

/**
 * struct latecomers - see there
 * @ranks: see there
 * @look_ms: when to look for them again
 * @every_ms: how often; less often while nobody waits
 * @tell_ms: when to name them; 0: nobody waits for them
 * @pause_ms: until they are named once more
 * @joined_ms: when the only rank here had joined, or 0
 * @awaited: a rank that has joined is still there, and may wait
 * @missing: whether a rank has not joined, for each of the group
 */
struct latecomers {
	struct latecomers_ranks	ranks;
	uint64_t	look_ms;
	uint64_t	every_ms;
	uint64_t	tell_ms;
	uint64_t	pause_ms;
	uint64_t	joined_ms;
	bool		awaited;
	bool		*missing;
};

/* Without memory, none are found. */
void latecomers_init(struct latecomers *l, const struct latecomers_ranks *ranks);
void latecomers_free(struct latecomers *l);

/**
 * latecomers_look() - print which ranks have not joined, if others have waited for two seconds
 * @l: see there
 *
 * They are named again while that is so, more and more rarely.
 *
 * Return: whether to look again in LATECOMERS_EVERY_MS.
 */
bool latecomers_look(struct latecomers *l);

#endif
