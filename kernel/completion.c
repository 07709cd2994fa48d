// SPDX-License-Identifier: GPL-2.0
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
	slots->page = &slots->own;
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
 * coll_completions_give_buffers() - pass the buffers to the group
 * @slots: of the socket
 *
 * Operations of the group and slots exchange them, so none is freed before the group ends.
 *
 * Return: the buffers, for kvfree() when the group ends. Context: any.
 */
u8 *coll_completions_give_buffers(struct coll_completions *slots)
{
	u8 *buffers = slots->buffers;

	slots->buffers = NULL;
	return buffers;
}

/**
 * coll_completions_unshare() - drop the shared results of a socket that closes
 * @slots: of the socket
 *
 * Context: group lock held.
 */
void coll_completions_unshare(struct coll_completions *slots)
{
	u32 i;

	for (i = 0; i < slots->count; i++)
		coll_completion_share(&slots->slot[i], NULL);
}

/**
 * coll_completion_make_ready() - add a completion to the ready list
 * @slots: of the socket
 * @slot: DONE and not claimed
 *
 * The list is kept in completion order.
 *
 * Context: group lock held.
 */
void coll_completion_make_ready(struct coll_completions *slots, struct coll_completion *slot)
{
	struct coll_completion *before;

	list_for_each_entry_reverse(before, &slots->ready, link)
		if (before->ended < slot->ended)
			break;
	list_add(&slot->link, &before->link);
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
	coll_completion_posted(slots);
	coll_completion_finish(slots, slot, NULL, 0, error, failed_rank, now);
}

/**
 * coll_completions_first_under_way() - the lowest serial number of a post that has not ended
 * @slots: of the socket
 * @ends: the one that is ending, which does not count
 *
 * Return: the number, or that of the next post if all have ended. Context: group lock held.
 */
u64 coll_completions_first_under_way(const struct coll_completions *slots, u64 ends)
{
	u64 first = slots->posted + 1;
	u32 i;

	for (i = 0; i <= slots->count; i++) {
		const struct coll_completion *slot = &slots->slot[i];

		if (READ_ONCE(slot->state) == COLL_COMPLETION_POSTED && slot->posted != ends)
			first = min(first, slot->posted);
	}
	return first;
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

/*
 * May a call claim the operation in the slot? Not a quiet post that may still succeed, as success
 * has no completion. Such a post may be under way here while the lock is dropped to copy a long
 * contribution.
 */
static bool completion_may_be_claimed(const struct coll_completion *slot)
{
	u8 state = READ_ONCE(slot->state);

	if (state == COLL_COMPLETION_POSTED)
		return !slot->claimed && !slot->quiet;
	return state == COLL_COMPLETION_DONE && !slot->claimed;
}

/**
 * coll_completion_claim_cookie() - claim an operation by its cookie
 * @slots: of the socket
 * @cookie: of the post
 *
 * Skips operations that another call has claimed, and quiet ones that have not failed. If several
 * have that cookie, claims the one posted first.
 *
 * Return: the slot, POSTED or DONE, or NULL. Context: group lock held.
 */
struct coll_completion *coll_completion_claim_cookie(struct coll_completions *slots, u64 cookie)
{
	struct coll_completion *slot, *found = NULL;

	for (slot = slots->slot; slot <= slots->slot + slots->count; slot++) {
		if (!completion_may_be_claimed(slot) || slot->completion.cookie != cookie)
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
	coll_completion_make_ready(slots, slot);
	return true;
}

/**
 * coll_completion_sleep() - sleep until a claimed operation has ended
 * @slot: claimed by the caller
 * @timeout: for at most this time, in jiffies
 *
 * Return: 0, -EAGAIN on time-out, -EINTR on a signal. Context: process; no lock held.
 */
int coll_completion_sleep(struct coll_completion *slot, long timeout)
{
	int err = 0;

	if (!timeout)
		return -EAGAIN;

	prepare_to_rcuwait(&slot->claimant);
	for (;;) {
		/* The barrier in it pairs with the one in rcuwait_wake_up(). */
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (coll_completion_ended(slot))
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
