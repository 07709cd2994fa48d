/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which packet numbers of the other side have come: none is accepted twice, and none that
 * is too old to tell. Packets are numbered under the lock of the sending group and leave
 * after it, so they come out of order; the window is far larger than what that does to
 * them (as in RFC 6479, but without a spare word: numbers that are skipped are cleared
 * one by one).
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_REPLAY_H
#define COLL_CORE_REPLAY_H

#include "base.h"

/* Packet numbers that are told apart; a power of two. */
#define COLL_REPLAY_WINDOW	1024
#define COLL_REPLAY_WORDS	(COLL_REPLAY_WINDOW / 64)

/**
 * struct coll_replay - the packet numbers that have come
 * @highest: of them; 0 if none has
 * @seen: a bit for each of the last COLL_REPLAY_WINDOW numbers, at number % that
 */
struct coll_replay {
	u64	highest;
	u64	seen[COLL_REPLAY_WORDS];
};

enum coll_freshness { COLL_FRESH, COLL_REPEATED, COLL_TOO_OLD };

static inline u64 *coll_replay_word(struct coll_replay *r, u64 number)
{
	return &r->seen[number / 64 % COLL_REPLAY_WORDS];
}

/* Numbers were skipped: they have not come. */
static noinline void coll_replay_skip(struct coll_replay *r, u64 number)
{
	u64 skipped;

	if (number - r->highest >= COLL_REPLAY_WINDOW) {
		memset(r->seen, 0, sizeof(r->seen));
		return;
	}
	for (skipped = r->highest + 1; skipped != number; skipped++)
		*coll_replay_word(r, skipped) &= ~BIT_ULL(skipped % 64);
}

/* Is a packet number new? It is not noted. */
static inline bool coll_replay_is_new(const struct coll_replay *r, u64 number)
{
	return number > r->highest ||
	       (r->highest - number < COLL_REPLAY_WINDOW &&
		!(r->seen[number / 64 % COLL_REPLAY_WORDS] & BIT_ULL(number % 64)));
}

/**
 * coll_replay_check() - note a packet number
 * @r: of the direction
 * @number: of an authentic packet of it
 *
 * Return: whether it is new.
 */
static inline enum coll_freshness coll_replay_check(struct coll_replay *r, u64 number)
{
	u64 *word = coll_replay_word(r, number), bit = BIT_ULL(number % 64);

	if (likely(number > r->highest)) {
		if (unlikely(number != r->highest + 1))
			coll_replay_skip(r, number);
		r->highest = number;
		*word |= bit;
		return COLL_FRESH;
	}
	if (r->highest - number >= COLL_REPLAY_WINDOW)
		return COLL_TOO_OLD;
	if (*word & bit)
		return COLL_REPEATED;
	*word |= bit;
	return COLL_FRESH;
}

#endif
