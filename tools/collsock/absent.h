/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that a rank of this machine waits for and has never heard from, as the report on it says:
 * of its process in user space, or of the module.
 */
#ifndef ABSENT_H
#define ABSENT_H

#include <stdbool.h>
#include <stdint.h>

#include <collsock.h>

/**
 * struct absent - a rank that waits, and for whom
 * @group: of it
 * @rank: its number
 * @socket: of the rank in user space; -1 with the kernel
 * @chains: find those that others report to wait for, too
 * @joined: out: the rank has joined, and is there
 * @rank_is: out: whether that rank is absent, for each of the group; those found before are kept
 */
struct absent {
	const struct collsock_group	*group;
	uint32_t	rank;
	int		socket;
	bool		chains;
	bool		joined;
	bool		*rank_is;
};

/* Find them. Nothing is found if there is no report. */
void absent_find(struct absent *absent);

#endif
