/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Completion slots hold the operations that a rank has posted, and the completions that nobody
 * has received. There are as many as the window, and one more for the failure of the group, which
 * is reported once.
 *
 *	FREE -> POSTED	the group has accepted the operation
 *	POSTED -> DONE	the operation has ended; the result is in the slot
 *	DONE -> FREE	the completion was received
 *
 * A slot is claimed while a call waits for it: only that call receives the completion. Unclaimed
 * DONE slots are in the ready list, in the order of completion. All under the member's lock.
 */
#ifndef COLLSOCK_USER_SLOTS_H
#define COLLSOCK_USER_SLOTS_H

#include "../../kernel/core/env.h"

enum user_slot_state {
	USER_SLOT_FREE,
	USER_SLOT_POSTED,
	USER_SLOT_DONE,
};

/* How an operation is posted */
#define USER_CLAIMED	0x1	/* the caller will wait for it */
#define USER_QUIET	0x2	/* success has no completion */

/**
 * struct user_result - a result that is longer than max_bytes
 * @core: the core's part
 * @references: one of the operation, one of the slot that has it
 * @bytes: the result
 */
struct user_result {
	struct coll_result	core;
	unsigned int		references;
	u8			bytes[] __aligned(8);
};

struct user_result *user_result_new(size_t bytes);
void user_result_put(struct user_result *result);

/**
 * struct user_slot - see there
 * @link: in user_slots.ready
 * @posted: serial number of the post
 * @ended: serial number of the completion
 * @buffer: the payload, then the result
 * @shared: memory for a result that is too long for @buffer, or NULL
 * @part: the part of it that this rank receives
 * @completion: what the caller receives
 * @state: enum user_slot_state
 * @claimed: only the claimant receives it
 * @quiet: success has no completion
 * @block: if the result is a vector in host order (core/order.h): bytes of a block; else 0
 */
struct user_slot {
	struct list_head		link;
	u64				posted;
	u64				ended;
	u8				*buffer;
	struct user_result		*shared;
	const u8			*part;
	struct collsock_completion	completion;
	u8				state;
	bool				claimed;
	bool				quiet;
	u32				block;
};

/**
 * struct user_slots - the slots of a rank
 * @ready: DONE and unclaimed
 * @posted: latest serial number of a post
 * @ended: latest serial number of a completion
 * @page: these numbers, where the program sees them (collsock_map_page())
 * @count: how many slots
 * @buffers: of all slots
 * @slot: the slots, followed by the one for the failure of the group
 */
struct user_slots {
	struct list_head	ready;
	u64			posted;
	u64			ended;
	struct collsock_page	page;
	u32			count;
	u8			*buffers;
	struct user_slot	*slot;
};

/* @room: of each buffer, a multiple of 8. 0 or -ENOMEM; needs user_slots_free() in either case. */
int user_slots_init(struct user_slots *slots, u32 count, u32 room);
void user_slots_free(struct user_slots *slots);

/* A slot that is FREE, or NULL. It stays so until it is posted. */
struct user_slot *user_slots_find_free(struct user_slots *slots);

/* An operation is about to be posted (@how: USER_*), or was not accepted. */
void user_slots_post(struct user_slots *slots, struct user_slot *slot, u64 cookie, u32 how,
		     u64 now);
void user_slots_unpost(struct user_slots *slots, struct user_slot *slot);
/* It was accepted; it may have ended by now. */
void user_slots_posted(struct user_slots *slots);

/*
 * The operation of a slot that is POSTED has ended. The result is copied unless it is in the
 * shared one. If the slot is quiet and all is well it is FREE then, else DONE.
 */
void user_slots_finish(struct user_slots *slots, struct user_slot *slot, const void *result,
		       u32 bytes, u32 error, u32 failed_rank, u64 now);

/* Report an error that no operation reports: in the slot for the failure of the group. */
void user_slots_report(struct user_slots *slots, u32 error, u32 failed_rank, u64 now);

/* The oldest post with that cookie that no call has claimed, POSTED or DONE; or NULL */
struct user_slot *user_slots_claim(struct user_slots *slots, u64 cookie);

/* A call does not wait for it any more. */
void user_slots_unclaim(struct user_slots *slots, struct user_slot *slot);

/* The completion was received. */
void user_slots_release(struct user_slots *slots, struct user_slot *slot);

/* Is there a slot in a state from @first to @last? */
bool user_slots_have(const struct user_slots *slots, u8 first, u8 last);

static inline const u8 *user_slot_result(const struct user_slot *slot)
{
	return slot->shared ? slot->part : slot->buffer;
}

#endif
