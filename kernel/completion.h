/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion slots: what a socket keeps of the operations it has posted and of
 * the completions that it has not received. A socket has as many as its group
 * has operations under way at once. They are made when it joins, with room for
 * the largest result, so a completion cannot fail. One more is for the failure of the
 * group, which is reported once.
 *
 * States of a slot:
 *   FREE -> TAKEN	a post begins; its payload is copied into the slot
 *   TAKEN -> POSTED	the group has accepted the operation
 *   TAKEN -> FREE	it has not
 *   POSTED -> DONE	the operation has ended; the result is in the slot
 *   DONE -> FREE	user space has it
 *
 * A slot is claimed while one call (RUN, WAIT, or recv while it copies) waits for
 * it: only that call receives the completion. Unclaimed ones that are DONE are in
 * the ready list, in the order in which they ended.
 *
 * Taking and releasing a slot needs no lock, so a payload can be copied from
 * user space before the group's lock is taken. All else is under it, with two
 * exceptions: the claimant may read the state of its slot, and once that is DONE
 * the rest of it.
 */
#ifndef COLL_COMPLETION_H
#define COLL_COMPLETION_H

#include <linux/bitmap.h>
#include <linux/rcuwait.h>

#include "core/base.h"

enum coll_completion_state {
	COLL_COMPLETION_FREE,
	COLL_COMPLETION_TAKEN,
	COLL_COMPLETION_POSTED,
	COLL_COMPLETION_DONE,
};

/**
 * struct coll_completion - one slot
 * @link: in coll_completions.ready
 * @claimant: the call that sleeps until it is DONE
 * @posted: serial number of the post
 * @ended: serial number of the completion
 * @buffer: the payload, then the result
 * @completion: as user space will see it
 * @state: enum coll_completion_state
 * @claimed: only the claimant receives it
 * @quiet: nobody is told of success
 */
struct coll_completion {
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
#define COLL_COMPLETION_CLAIMED	0x1	/* the caller will wait for it */
#define COLL_COMPLETION_QUIET	0x2	/* nobody is told of success */

/**
 * struct coll_completions - those of one socket
 * @ready: DONE and unclaimed
 * @posted: latest serial number of a post
 * @ended: latest serial number of a completion
 * @buffers: of all slots
 * @count: number of slots
 * @free: a bit for each slot that is FREE
 * @slot: the slots, and behind them the one for the failure of the group
 */
struct coll_completions {
	struct list_head	ready;
	u64			posted;
	u64			ended;
	u8			*buffers;
	u32			count;
	DECLARE_BITMAP(free, COLLSOCK_MAX_WINDOW);
	struct coll_completion	slot[];
};

struct coll_completions *coll_completions_new(u32 count, u32 max_bytes);
void coll_completions_free(struct coll_completions *slots);

struct coll_completion *coll_completion_take(struct coll_completions *slots);
void coll_completion_release(struct coll_completions *slots, struct coll_completion *slot);

/* The rest, up to coll_completion_await(), is called under the group's lock. */
void coll_completion_post(struct coll_completions *slots, struct coll_completion *slot, u64 cookie,
			  u32 how, u64 now);
void coll_completion_unpost(struct coll_completion *slot);
void coll_completion_finish(struct coll_completions *slots, struct coll_completion *slot,
			    const void *result, u32 bytes, u32 error, u32 failed_rank, u64 now);
void coll_completion_report(struct coll_completions *slots, u32 error, u32 failed_rank, u64 now);
struct coll_completion *coll_completion_claim_oldest(struct coll_completions *slots, size_t room,
						     u32 head, int *error);
struct coll_completion *coll_completion_claim_cookie(struct coll_completions *slots, u64 cookie);
bool coll_completion_unclaim(struct coll_completions *slots, struct coll_completion *slot);

bool coll_completions_have(const struct coll_completions *slots, u8 first, u8 last);

int coll_completion_await(struct coll_completion *slot, u32 spin_us, long timeout);

/* Is there a slot for another post? */
static inline bool coll_completions_room(const struct coll_completions *slots)
{
	return !bitmap_empty(slots->free, COLLSOCK_MAX_WINDOW);
}

/* Can a caller select that length of the structure? */
static inline bool coll_completion_bytes_valid(u32 bytes)
{
	return bytes >= COLLSOCK_COMPLETION_VER0 && bytes % sizeof(u64) == 0 &&
	       bytes <= COLLSOCK_MAX_COMPLETION_BYTES;
}

static inline u32 coll_completion_index(const struct coll_completions *slots,
					const struct coll_completion *slot)
{
	return slot - slots->slot;
}

#endif
