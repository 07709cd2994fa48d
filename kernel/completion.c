// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "completion.h"

/**
 * coll_places_new() - make the places of a socket
 * @count: how many, at most COLLSOCK_MAX_WINDOW
 * @max_bytes: room in each
 *
 * Return: them, or NULL if there is no memory. Context: may sleep.
 */
struct coll_places *coll_places_new(u32 count, u32 max_bytes)
{
	struct coll_places *places;
	u32 i;

	places = kzalloc(struct_size(places, place, count), GFP_KERNEL_ACCOUNT);
	if (!places)
		return NULL;
	/* Operands of reductions lie there. */
	max_bytes = round_up(max_bytes, sizeof(u64));
	places->buffers = kvcalloc(count, max_bytes, GFP_KERNEL_ACCOUNT);
	if (!places->buffers) {
		kfree(places);
		return NULL;
	}
	INIT_LIST_HEAD(&places->ready);
	places->count = count;
	bitmap_set(places->free, 0, count);
	for (i = 0; i < count; i++) {
		rcuwait_init(&places->place[i].claimant);
		places->place[i].buffer = places->buffers + (size_t)i * max_bytes;
		places->place[i].completion.size = sizeof(struct collsock_completion);
	}
	return places;
}

/**
 * coll_places_free() - undo coll_places_new()
 * @places: nobody uses them; may be NULL
 *
 * Context: any but NMI.
 */
void coll_places_free(struct coll_places *places)
{
	if (!places)
		return;
	kvfree(places->buffers);
	kfree(places);
}

/**
 * coll_place_take() - a place for a post
 * @places: of the socket
 *
 * Return: the place, TAKEN and the caller's, or NULL if none is free.
 * Context: any.
 */
struct coll_place *coll_place_take(struct coll_places *places)
{
	unsigned long bit;

	do {
		bit = find_first_bit(places->free, COLLSOCK_MAX_WINDOW);
		if (bit >= places->count)
			return NULL;
	} while (!test_and_clear_bit(bit, places->free));
	places->place[bit].state = COLL_PLACE_TAKEN;
	return &places->place[bit];
}

/**
 * coll_place_release() - the place can serve another post
 * @places: of the socket
 * @place: TAKEN, or claimed and DONE
 *
 * The caller wakes who waits for room.
 *
 * Context: any.
 */
void coll_place_release(struct coll_places *places, struct coll_place *place)
{
	/* "Claimed" stays, so that nobody claims what looks DONE until here. */
	WRITE_ONCE(place->state, COLL_PLACE_FREE);
	/* Whoever takes it must find it as it was left here. */
	smp_mb__before_atomic();
	set_bit(coll_place_index(places, place), places->free);
}

/**
 * coll_place_post() - the operation is about to be posted
 * @places: of the socket
 * @place: TAKEN
 * @cookie: of the post
 * @how: COLL_PLACE_*
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_place_post(struct coll_places *places, struct coll_place *place, u64 cookie,
		     u32 how, u64 now)
{
	place->posted = ++places->posted;
	place->claimed = how & COLL_PLACE_CLAIMED;
	place->quiet = how & COLL_PLACE_QUIET;
	place->completion.cookie = cookie;
	place->completion.posted_ns = now;
	WRITE_ONCE(place->state, COLL_PLACE_POSTED);
}

/**
 * coll_place_unpost() - the group did not accept it
 * @place: POSTED
 *
 * Context: group lock held since coll_place_post().
 */
void coll_place_unpost(struct coll_place *place)
{
	WRITE_ONCE(place->state, COLL_PLACE_TAKEN);
}

/* The ready list is in the order in which operations ended. */
static void place_make_ready(struct coll_places *places, struct coll_place *place)
{
	struct coll_place *before;

	list_for_each_entry_reverse(before, &places->ready, link)
		if (before->ended < place->ended)
			break;
	list_add(&place->link, &before->link);
}

/**
 * coll_place_complete() - the operation has ended
 * @places: of the socket
 * @place: POSTED
 * @result: @bytes of it, copied here
 * @bytes: at most the room of the place
 * @error: errno, positive, or 0
 * @failed_rank: who is to blame
 * @now: time in ns
 *
 * Context: group lock held. Who is waiting is woken by the caller, later.
 */
void coll_place_complete(struct coll_places *places, struct coll_place *place,
			 const void *result, u32 bytes, u32 error, u32 failed_rank, u64 now)
{
	struct collsock_completion *c = &place->completion;

	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->completed_ns = now;
	if (bytes)
		memcpy(place->buffer, result, bytes);
	place->ended = ++places->ended;
	/* The claimant reads all of the above when it sees DONE. */
	smp_store_release(&place->state, COLL_PLACE_DONE);
	if (!place->claimed)
		place_make_ready(places, place);
}

/**
 * coll_place_claim_oldest() - claim the completion that ended first
 * @places: of the socket
 * @room: bytes that the caller has for completion and result
 * @error: out if there is none: -EAGAIN, or -EMSGSIZE if @room is too small
 *
 * Return: the place, DONE, or NULL. Context: group lock held.
 */
struct coll_place *coll_place_claim_oldest(struct coll_places *places, size_t room, int *error)
{
	struct coll_place *place;

	place = list_first_entry_or_null(&places->ready, struct coll_place, link);
	if (!place) {
		*error = -EAGAIN;
		return NULL;
	}
	if (room < sizeof(place->completion) + place->completion.bytes) {
		*error = -EMSGSIZE;
		return NULL;
	}
	list_del(&place->link);
	place->claimed = true;
	return place;
}

/**
 * coll_place_claim_cookie() - claim an operation by its cookie
 * @places: of the socket
 * @cookie: of the post
 *
 * Operations that another call has claimed do not count. Of several with that
 * cookie it is the one that was posted first.
 *
 * Return: the place, POSTED or DONE, or NULL. Context: group lock held.
 */
struct coll_place *coll_place_claim_cookie(struct coll_places *places, u64 cookie)
{
	struct coll_place *place, *found = NULL;

	for (place = places->place; place < places->place + places->count; place++) {
		if (READ_ONCE(place->state) < COLL_PLACE_POSTED || place->claimed ||
		    place->completion.cookie != cookie)
			continue;
		if (!found || place->posted < found->posted)
			found = place;
	}
	if (!found)
		return NULL;
	if (found->state == COLL_PLACE_DONE)
		list_del(&found->link);
	found->claimed = true;
	return found;
}

/**
 * coll_place_unclaim() - the claimant gives up
 * @places: of the socket
 * @place: claimed
 *
 * Return: true if the completion waits, and whoever sleeps for one must know.
 * Context: group lock held.
 */
bool coll_place_unclaim(struct coll_places *places, struct coll_place *place)
{
	place->claimed = false;
	if (place->state != COLL_PLACE_DONE)
		return false;
	place_make_ready(places, place);
	return true;
}

static bool place_done(const struct coll_place *place)
{
	/* Pairs with the release in coll_place_complete(). */
	return smp_load_acquire(&place->state) == COLL_PLACE_DONE;
}

static bool place_spin(const struct coll_place *place, u32 spin_us)
{
	u64 until = ktime_get_ns() + spin_us * NSEC_PER_USEC;

	while (!place_done(place)) {
		if (ktime_get_ns() >= until || signal_pending(current))
			return false;
		cpu_relax();
		cond_resched();
	}
	return true;
}

/**
 * coll_place_await() - wait until a claimed operation has ended
 * @place: claimed by the caller
 * @spin_us: spin so long first
 * @timeout: then sleep so long, in jiffies
 *
 * Return: 0, -EAGAIN if the time is up, -EINTR if there is a signal.
 * Context: process; no lock.
 */
int coll_place_await(struct coll_place *place, u32 spin_us, long timeout)
{
	int err = 0;

	if (place_done(place))
		return 0;
	if (spin_us && place_spin(place, spin_us))
		return 0;
	if (!timeout)
		return -EAGAIN;

	prepare_to_rcuwait(&place->claimant);
	for (;;) {
		/* The barrier in it pairs with the one in rcuwait_wake_up(). */
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (place_done(place))
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
	finish_rcuwait(&place->claimant);
	return err;
}
