/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion places: what a socket keeps of the operations it has posted and of
 * the completions that it has not received. A socket has as many as its group
 * has operations under way at once. They are made when it joins, with room for
 * the largest result, so a completion cannot fail.
 *
 * States of a place:
 *   FREE -> TAKEN	a post begins; its payload is copied into the place
 *   TAKEN -> POSTED	the group has accepted the operation
 *   TAKEN -> FREE	it has not
 *   POSTED -> DONE	the operation has ended; the result is in the place
 *   DONE -> FREE	user space has it
 *
 * A place is claimed while one call (RUN, WAIT, or recv while it copies) has an
 * eye on it: only that call receives the completion. Unclaimed ones that are
 * DONE stand in the ready list, in the order in which they ended.
 *
 * Taking and releasing a place needs no lock, so a payload can be copied from
 * user space before the group's lock is taken. All else is under it, but for
 * two things: who has claimed a place may watch its state, and read what is in
 * it once it is DONE.
 */
#ifndef COLL_COMPLETION_H
#define COLL_COMPLETION_H

#include <linux/bitmap.h>
#include <linux/rcuwait.h>

#include "core/base.h"

enum coll_place_state {
	COLL_PLACE_FREE,
	COLL_PLACE_TAKEN,
	COLL_PLACE_POSTED,
	COLL_PLACE_DONE,
};

/**
 * struct coll_place - one place
 * @link: in coll_places.ready
 * @claimant: the call that sleeps until it is DONE
 * @posted: serial number of the post
 * @ended: serial number of the completion
 * @buffer: the payload, then the result
 * @completion: as user space will see it
 * @state: enum coll_place_state
 * @claimed: only the claimant receives it
 * @quiet: nobody is told of success
 */
struct coll_place {
	struct list_head		link;
	struct rcuwait			claimant;
	u64				posted;
	u64				ended;
	u8				*buffer;
	struct collsock_completion	completion;
	u8				state;
	bool				claimed;
	bool				quiet;
};

/* How something is posted */
#define COLL_PLACE_CLAIMED	0x1	/* the caller will wait for it */
#define COLL_PLACE_QUIET	0x2	/* nobody is told of success */

/**
 * struct coll_places - those of one socket
 * @ready: DONE and unclaimed
 * @posted: latest serial number of a post
 * @ended: latest serial number of a completion
 * @buffers: of all places
 * @count: number of places
 * @free: a bit for each place that is FREE
 * @place: the places
 */
struct coll_places {
	struct list_head	ready;
	u64			posted;
	u64			ended;
	u8			*buffers;
	u32			count;
	DECLARE_BITMAP(free, COLLSOCK_MAX_WINDOW);
	struct coll_place	place[];
};

struct coll_places *coll_places_new(u32 count, u32 max_bytes);
void coll_places_free(struct coll_places *places);

struct coll_place *coll_place_take(struct coll_places *places);
void coll_place_release(struct coll_places *places, struct coll_place *place);

/* The rest, up to coll_place_await(), is called under the group's lock. */
void coll_place_post(struct coll_places *places, struct coll_place *place, u64 cookie,
		     u32 how, u64 now);
void coll_place_unpost(struct coll_place *place);
void coll_place_complete(struct coll_places *places, struct coll_place *place,
			 const void *result, u32 bytes, u32 error, u32 failed_rank, u64 now);
struct coll_place *coll_place_claim_oldest(struct coll_places *places, size_t room, int *error);
struct coll_place *coll_place_claim_cookie(struct coll_places *places, u64 cookie);
bool coll_place_unclaim(struct coll_places *places, struct coll_place *place);

int coll_place_await(struct coll_place *place, u32 spin_us, long timeout);

/* Is there a place for another post? */
static inline bool coll_places_room(const struct coll_places *places)
{
	return !bitmap_empty(places->free, COLLSOCK_MAX_WINDOW);
}

static inline u32 coll_place_index(const struct coll_places *places,
				   const struct coll_place *place)
{
	return place - places->place;
}

#endif
