/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion slots hold the operations that a socket has posted and the completions that it
 * has not received. A socket has as many slots as its group's window, allocated when it joins
 * with buffers of max_bytes, so a completion cannot fail; the post of an operation with a longer
 * result reserves memory for it (shared_result.h). One more slot is for the failure of the
 * group, which is reported once.
 *
 * States of a slot:
 *   FREE -> TAKEN	a post begins; its payload is copied into the slot
 *   TAKEN -> POSTED	the group has accepted the operation
 *   TAKEN -> FREE	the group has not accepted it
 *   POSTED -> DONE	the operation has ended; the result is in the slot
 *   DONE -> FREE	user space has received it
 *
 * A slot is claimed while one call (RUN, WAIT, or recv while it copies) waits for it: only
 * that call receives the completion. Unclaimed DONE slots are in the ready list, in
 * completion order.
 *
 * Taking and releasing a slot needs no lock, so a payload can be copied from user space
 * before the group's lock is taken. All else is under that lock, except that a claimant may
 * read the state of its slot, and the whole slot once it is DONE.
 */
#ifndef COLL_COMPLETION_H
#define COLL_COMPLETION_H

#include <linux/bitmap.h>
#include <linux/rcuwait.h>

#include "core/base.h"
#include "shared_result.h"

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
 * @buffer: the payload, then the result; the group may exchange it for memory of its own
 * @shared: memory for a result that is too long for @buffer, or NULL
 * @part: the part of @shared that this rank receives
 * @completion: the structure that user space receives
 * @state: enum coll_completion_state
 * @claimed: reserved for the claimant
 * @quiet: success has no completion
 * @block: if the result is a vector in host order (core/order.h): bytes of a block; else 0
 */
struct coll_completion {
	struct list_head		link;
	struct rcuwait			claimant;
	u64				posted;
	u64				ended;
	u8				*buffer;
	struct coll_shared_result	*shared;
	const u8			*part;
	struct collsock_completion	completion;
	u8				state;
	bool				claimed;
	bool				quiet;
	u32				block;
};

/* How an operation is posted */
#define COLL_COMPLETION_CLAIMED	0x1	/* the caller will wait for it */
#define COLL_COMPLETION_QUIET	0x2	/* success has no completion */
#define COLL_COMPLETION_SHARED	0x4	/* its result is shared (shared_result.h) */

/**
 * struct coll_completions - the completion slots of one socket
 * @ready: DONE and unclaimed
 * @posted: latest serial number of a post
 * @ended: latest serial number of a completion
 * @completed: all posts up to this serial number have ended
 * @page: where user space may see these numbers (page.h), or @own
 * @own: @page until user space maps one
 * @buffers: buffers of all slots, until they belong to the group
 * @count: number of slots
 * @free: a bit for each slot that is FREE
 * @slot: the slots, followed by the one for the failure of the group
 */
struct coll_completions {
	struct list_head	ready;
	u64			posted;
	u64			ended;
	u64			completed;
	struct collsock_page	*page;
	struct collsock_page	own;
	u8			*buffers;
	u32			count;
	DECLARE_BITMAP(free, COLLSOCK_MAX_WINDOW);
	struct coll_completion	slot[];
};

struct coll_completions *coll_completions_new(u32 count, u32 max_bytes);
void coll_completions_free(struct coll_completions *slots);
u8 *coll_completions_give_buffers(struct coll_completions *slots);
void coll_completions_unshare(struct coll_completions *slots);

static inline u32 coll_completion_index(const struct coll_completions *slots,
					const struct coll_completion *slot)
{
	return slot - slots->slot;
}

/**
 * coll_completion_take() - allocate a slot for a post
 * @slots: of the socket
 *
 * Return: the slot, TAKEN and owned by the caller, or NULL if none is free. Context: any.
 */
static inline struct coll_completion *coll_completion_take(struct coll_completions *slots)
{
	unsigned long bit;

	do {
		bit = find_first_bit(slots->free, COLLSOCK_MAX_WINDOW);
		if (bit >= slots->count)
			return NULL;
	} while (!test_and_clear_bit(bit, slots->free));
	slots->slot[bit].state = COLL_COMPLETION_TAKEN;
	return &slots->slot[bit];
}

/* Replace the slot's memory for a shared result. Takes over a reference on @result. */
static inline void coll_completion_share(struct coll_completion *slot,
					 struct coll_shared_result *result)
{
	coll_shared_result_put(slot->shared);
	slot->shared = result;
}

/* The result of a slot that is DONE */
static inline const u8 *coll_completion_result(const struct coll_completion *slot)
{
	return unlikely(slot->shared) ? slot->part : slot->buffer;
}

/**
 * coll_completion_release() - free a slot for another post
 * @slots: of the socket
 * @slot: TAKEN, or claimed and DONE
 *
 * The caller wakes threads that wait for a free slot.
 *
 * Context: any.
 */
static inline void coll_completion_release(struct coll_completions *slots,
					   struct coll_completion *slot)
{
	if (unlikely(slot->shared))
		coll_completion_share(slot, NULL);
	/* @claimed stays set, so that no call claims a slot that still looks DONE. */
	WRITE_ONCE(slot->state, COLL_COMPLETION_FREE);
	if (unlikely(coll_completion_index(slots, slot) == slots->count))
		return;
	/* The next post must see these writes. */
	smp_mb__before_atomic();
	set_bit(coll_completion_index(slots, slot), slots->free);
}

/* ---- these functions are called under the group's lock ---- */

void coll_completion_make_ready(struct coll_completions *slots, struct coll_completion *slot);

/**
 * coll_completion_post() - an operation is about to be posted
 * @slots: of the socket
 * @slot: TAKEN
 * @cookie: of the post
 * @how: COLL_COMPLETION_*
 * @now: time in ns
 *
 * Context: group lock held.
 */
static inline void coll_completion_post(struct coll_completions *slots,
					struct coll_completion *slot, u64 cookie, u32 how,
					u64 now)
{
	slot->posted = ++slots->posted;
	slot->claimed = how & COLL_COMPLETION_CLAIMED;
	slot->quiet = how & COLL_COMPLETION_QUIET;
	slot->completion.cookie = cookie;
	slot->completion.posted_ns = now;
	WRITE_ONCE(slot->state, COLL_COMPLETION_POSTED);
}

/**
 * coll_completion_posted() - the group has accepted the operation
 * @slots: of the socket
 *
 * It may have ended by now.
 *
 * Context: group lock held since coll_completion_post().
 */
static inline void coll_completion_posted(struct coll_completions *slots)
{
	WRITE_ONCE(slots->page->posted, slots->posted);
}

/**
 * coll_completion_unpost() - the group did not accept the operation
 * @slots: of the socket
 * @slot: POSTED
 *
 * Context: group lock held since coll_completion_post().
 */
static inline void coll_completion_unpost(struct coll_completions *slots,
					  struct coll_completion *slot)
{
	slots->posted--;
	WRITE_ONCE(slot->state, COLL_COMPLETION_TAKEN);
}

u64 coll_completions_first_under_way(const struct coll_completions *slots, u64 ends);

/*
 * The post with this number ends: publish that in the page. Returns the serial number of the
 * completion. Numbers of posts under way can be any distance apart, as posts to a group that has
 * failed end at once.
 */
static inline u64 coll_completion_count(struct coll_completions *slots, u64 number)
{
	struct collsock_page *page = slots->page;

	slots->ended++;
	if (likely(slots->ended == number && slots->completed + 1 == number))
		slots->completed = number;
	else
		slots->completed = coll_completions_first_under_way(slots, number) - 1;
	/* A call after reading these numbers finds the completion: it takes the group's lock. */
	WRITE_ONCE(page->posted, slots->posted);
	smp_wmb();	/* a reader that sees this end sees that it was posted */
	WRITE_ONCE(page->ended, slots->ended);
	WRITE_ONCE(page->completed, slots->completed);
	return slots->ended;
}

/**
 * coll_completion_finish() - store the outcome of an operation
 * @slots: of the socket
 * @slot: POSTED
 * @result: @bytes bytes, copied unless they are in the slot's buffer or its shared result
 * @bytes: length of the result; what is copied has room in the slot's buffer
 * @error: errno, positive, or 0
 * @failed_rank: rank to blame
 * @now: time in ns
 *
 * Context: group lock held. The caller wakes waiting threads after dropping the lock.
 */
static inline void coll_completion_finish(struct coll_completions *slots,
					  struct coll_completion *slot, const void *result,
					  u32 bytes, u32 error, u32 failed_rank, u64 now)
{
	struct collsock_completion *c = &slot->completion;

	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->completed_ns = now;
	if (unlikely(slot->shared))
		slot->part = result;
	else if (bytes && result != slot->buffer)
		memcpy(slot->buffer, result, bytes);
	slot->ended = coll_completion_count(slots, slot->posted);
	/* A claimant that sees DONE must see all of the above. */
	smp_store_release(&slot->state, COLL_COMPLETION_DONE);
	if (!slot->claimed)
		coll_completion_make_ready(slots, slot);
}

/**
 * coll_completion_forget() - an operation has succeeded, and nobody will receive a completion
 * @slots: of the socket
 * @slot: POSTED, quiet
 *
 * Context: group lock held. The caller wakes threads that wait for a free slot.
 */
static inline void coll_completion_forget(struct coll_completions *slots,
					  struct coll_completion *slot)
{
	coll_completion_count(slots, slot->posted);
	coll_completion_release(slots, slot);
}

void coll_completion_report(struct coll_completions *slots, u32 error, u32 failed_rank, u64 now);
struct coll_completion *coll_completion_claim_oldest(struct coll_completions *slots, size_t room,
						     u32 head, int *error);
struct coll_completion *coll_completion_claim_cookie(struct coll_completions *slots, u64 cookie);
bool coll_completion_unclaim(struct coll_completions *slots, struct coll_completion *slot);

bool coll_completions_have(const struct coll_completions *slots, u8 first, u8 last);

/* ---- waiting, without a lock ---- */

static inline bool coll_completion_ended(const struct coll_completion *slot)
{
	/* Pairs with the release in coll_completion_finish(). */
	return smp_load_acquire(&slot->state) == COLL_COMPLETION_DONE;
}

int coll_completion_sleep(struct coll_completion *slot, long timeout);

/**
 * coll_completion_has_sleeper() - must the claimant of an operation that has ended be woken?
 * @slot: claimed, and DONE just now
 *
 * A claimant that spins, or that has posted the last message itself, sees DONE anyway.
 *
 * Context: group lock held.
 */
static inline bool coll_completion_has_sleeper(struct coll_completion *slot)
{
	/* Pairs with set_current_state() in coll_completion_sleep(): it sees DONE, or we see it. */
	smp_mb();
	return rcuwait_active(&slot->claimant);
}

/* Is a slot free for another post? */
static inline bool coll_completions_room(const struct coll_completions *slots)
{
	return !bitmap_empty(slots->free, COLLSOCK_MAX_WINDOW);
}

/* May a caller select this length of the completion structure? */
static inline bool coll_completion_bytes_valid(u32 bytes)
{
	return bytes >= COLLSOCK_COMPLETION_VER0 && bytes % sizeof(u64) == 0 &&
	       bytes <= COLLSOCK_MAX_COMPLETION_BYTES;
}

#endif
