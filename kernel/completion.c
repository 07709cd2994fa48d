// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "completion.h"

/**
 * coll_completions_new() - allocate the completion slots of a socket
 * @count: how many, at most COLLSOCK_MAX_WINDOW
 * @max_bytes: size of each slot's buffer
 *
 * Return: the slots, or NULL if there is no memory. Context: may sleep.
 */
struct coll_completions *coll_completions_new(u32 count, u32 max_bytes)
{
	struct coll_completions *slots;
	u32 i;

	slots = kzalloc(struct_size(slots, slot, count + 1), GFP_KERNEL_ACCOUNT);
	if (!slots)
		return NULL;
	/* Reductions use these buffers as operands. */
	max_bytes = round_up(max_bytes, sizeof(u64));
	slots->buffers = kvcalloc(count, max_bytes, GFP_KERNEL_ACCOUNT);
	if (!slots->buffers) {
		kfree(slots);
		return NULL;
	}
	INIT_LIST_HEAD(&slots->ready);
	slots->count = count;
	bitmap_set(slots->free, 0, count);
	for (i = 0; i < count; i++) {
		rcuwait_init(&slots->slot[i].claimant);
		slots->slot[i].buffer = slots->buffers + (size_t)i * max_bytes;
	}
	rcuwait_init(&slots->slot[count].claimant);
	return slots;
}

/**
 * coll_completions_free() - undo coll_completions_new()
 * @slots: no longer in use; may be NULL
 *
 * Context: any but NMI.
 */
void coll_completions_free(struct coll_completions *slots)
{
	if (!slots)
		return;
	kvfree(slots->buffers);
	kfree(slots);
}

/**
 * coll_completion_take() - allocate a slot for a post
 * @slots: of the socket
 *
 * Return: the slot, TAKEN and owned by the caller, or NULL if none is free. Context: any.
 */
struct coll_completion *coll_completion_take(struct coll_completions *slots)
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

/**
 * coll_completion_release() - free a slot for another post
 * @slots: of the socket
 * @slot: TAKEN, or claimed and DONE
 *
 * The caller wakes threads that wait for a free slot.
 *
 * Context: any.
 */
void coll_completion_release(struct coll_completions *slots, struct coll_completion *slot)
{
	/* @claimed stays set, so that no call claims a slot that still looks DONE. */
	WRITE_ONCE(slot->state, COLL_COMPLETION_FREE);
	if (unlikely(coll_completion_index(slots, slot) == slots->count))
		return;
	/* The next post must see these writes. */
	smp_mb__before_atomic();
	set_bit(coll_completion_index(slots, slot), slots->free);
}

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
void coll_completion_post(struct coll_completions *slots, struct coll_completion *slot, u64 cookie,
			  u32 how, u64 now)
{
	slot->posted = ++slots->posted;
	slot->claimed = how & COLL_COMPLETION_CLAIMED;
	slot->quiet = how & COLL_COMPLETION_QUIET;
	slot->completion.cookie = cookie;
	slot->completion.posted_ns = now;
	WRITE_ONCE(slot->state, COLL_COMPLETION_POSTED);
}

/**
 * coll_completion_unpost() - the group did not accept the operation
 * @slot: POSTED
 *
 * Context: group lock held since coll_completion_post().
 */
void coll_completion_unpost(struct coll_completion *slot)
{
	WRITE_ONCE(slot->state, COLL_COMPLETION_TAKEN);
}

/* The ready list is kept in completion order. */
static void completion_make_ready(struct coll_completions *slots, struct coll_completion *slot)
{
	struct coll_completion *before;

	list_for_each_entry_reverse(before, &slots->ready, link)
		if (before->ended < slot->ended)
			break;
	list_add(&slot->link, &before->link);
}

/**
 * coll_completion_finish() - store the outcome of an operation
 * @slots: of the socket
 * @slot: POSTED
 * @result: @bytes bytes, copied
 * @bytes: length of the result, at most the slot's buffer
 * @error: errno, positive, or 0
 * @failed_rank: rank to blame
 * @now: time in ns
 *
 * Context: group lock held. The caller wakes waiting threads after dropping the lock.
 */
void coll_completion_finish(struct coll_completions *slots, struct coll_completion *slot,
			    const void *result, u32 bytes, u32 error, u32 failed_rank, u64 now)
{
	struct collsock_completion *c = &slot->completion;

	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->completed_ns = now;
	if (bytes)
		memcpy(slot->buffer, result, bytes);
	slot->ended = ++slots->ended;
	/* A claimant that sees DONE must see all of the above. */
	smp_store_release(&slot->state, COLL_COMPLETION_DONE);
	if (!slot->claimed)
		completion_make_ready(slots, slot);
}

/**
 * coll_completion_report() - report a group failure that no operation reports
 * @slots: of the socket; the failure has not been reported on it before
 * @error: errno, positive
 * @failed_rank: rank to blame
 * @now: time in ns
 *
 * Context: group lock held. The caller wakes waiting threads after dropping the lock.
 */
void coll_completion_report(struct coll_completions *slots, u32 error, u32 failed_rank, u64 now)
{
	struct coll_completion *slot = &slots->slot[slots->count];

	coll_completion_post(slots, slot, COLLSOCK_COOKIE_GROUP, 0, now);
	coll_completion_finish(slots, slot, NULL, 0, error, failed_rank, now);
}

/**
 * coll_completions_have() - is there a slot in one of these states?
 * @slots: of the socket
 * @first: lowest state, enum coll_completion_state
 * @last: highest state
 *
 * Context: group lock held; a slot may become FREE meanwhile.
 */
bool coll_completions_have(const struct coll_completions *slots, u8 first, u8 last)
{
	u32 i;

	for (i = 0; i <= slots->count; i++) {
		u8 state = READ_ONCE(slots->slot[i].state);

		if (first <= state && state <= last)
			return true;
	}
	return false;
}

/**
 * coll_completion_claim_oldest() - claim the oldest completion
 * @slots: of the socket
 * @room: size of the caller's buffer for completion and result
 * @head: length of the completion structure that the caller has selected
 * @error: out, if NULL is returned: -EAGAIN, or -EMSGSIZE if @room is too small
 *
 * Return: the slot, DONE, or NULL. Context: group lock held.
 */
struct coll_completion *coll_completion_claim_oldest(struct coll_completions *slots, size_t room,
						     u32 head, int *error)
{
	struct coll_completion *slot;

	slot = list_first_entry_or_null(&slots->ready, struct coll_completion, link);
	if (!slot) {
		*error = -EAGAIN;
		return NULL;
	}
	if (room < (size_t)head + slot->completion.bytes) {
		*error = -EMSGSIZE;
		return NULL;
	}
	list_del(&slot->link);
	slot->claimed = true;
	return slot;
}

/**
 * coll_completion_claim_cookie() - claim an operation by its cookie
 * @slots: of the socket
 * @cookie: of the post
 *
 * Operations that another call has claimed are skipped. Of several with that cookie the one
 * posted first is claimed.
 *
 * Return: the slot, POSTED or DONE, or NULL. Context: group lock held.
 */
struct coll_completion *coll_completion_claim_cookie(struct coll_completions *slots, u64 cookie)
{
	struct coll_completion *slot, *found = NULL;

	for (slot = slots->slot; slot <= slots->slot + slots->count; slot++) {
		if (READ_ONCE(slot->state) < COLL_COMPLETION_POSTED || slot->claimed ||
		    slot->completion.cookie != cookie)
			continue;
		if (!found || slot->posted < found->posted)
			found = slot;
	}
	if (!found)
		return NULL;
	if (found->state == COLL_COMPLETION_DONE)
		list_del(&found->link);
	found->claimed = true;
	return found;
}

/**
 * coll_completion_unclaim() - give up a claim
 * @slots: of the socket
 * @slot: claimed
 *
 * Return: true if the completion is now ready; the caller then wakes threads that sleep for
 * one. Context: group lock held.
 */
bool coll_completion_unclaim(struct coll_completions *slots, struct coll_completion *slot)
{
	slot->claimed = false;
	if (slot->state != COLL_COMPLETION_DONE)
		return false;
	completion_make_ready(slots, slot);
	return true;
}

static bool completion_ended(const struct coll_completion *slot)
{
	/* Pairs with the release in coll_completion_finish(). */
	return smp_load_acquire(&slot->state) == COLL_COMPLETION_DONE;
}

static bool completion_spin(const struct coll_completion *slot, u32 spin_us)
{
	u64 until = ktime_get_ns() + spin_us * NSEC_PER_USEC;

	while (!completion_ended(slot)) {
		if (ktime_get_ns() >= until || signal_pending(current))
			return false;
		cpu_relax();
		cond_resched();
	}
	return true;
}

/**
 * coll_completion_await() - wait until a claimed operation has ended
 * @slot: claimed by the caller
 * @spin_us: spin for this time first
 * @timeout: then sleep for this time, in jiffies
 *
 * Return: 0, -EAGAIN on time-out, -EINTR on a signal. Context: process; no lock held.
 */
int coll_completion_await(struct coll_completion *slot, u32 spin_us, long timeout)
{
	int err = 0;

	if (completion_ended(slot))
		return 0;
	if (spin_us && completion_spin(slot, spin_us))
		return 0;
	if (!timeout)
		return -EAGAIN;

	prepare_to_rcuwait(&slot->claimant);
	for (;;) {
		/* The barrier in it pairs with the one in rcuwait_wake_up(). */
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (completion_ended(slot))
			break;
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (!timeout) {
			err = -EAGAIN;
			break;
		}
		timeout = schedule_timeout(timeout);
	}
	finish_rcuwait(&slot->claimant);
	return err;
}
