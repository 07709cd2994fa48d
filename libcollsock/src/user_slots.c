// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <stdlib.h>

#include "user_slots.h"

/* ---- results that have no room in a slot ---- */

struct user_result *user_result_new(size_t bytes)
{
	struct user_result *r = malloc(sizeof(*r) + bytes);

	if (!r)
		return NULL;
	r->core.data = r->bytes;
	r->references = 1;
	return r;
}

void user_result_put(struct user_result *r)
{
	if (r && !--r->references)
		free(r);
}

/* ---- life ---- */

int user_slots_init(struct user_slots *s, u32 count, u32 room)
{
	u32 i;

	INIT_LIST_HEAD(&s->ready);
	s->page.size = sizeof(s->page);
	s->slot = calloc(count + 1, sizeof(*s->slot));
	/* Reductions use these buffers as operands. */
	s->buffers = calloc(count, room);
	if (!s->slot || !s->buffers)
		return -ENOMEM;
	s->count = count;
	for (i = 0; i < count; i++)
		s->slot[i].buffer = s->buffers + (size_t)i * room;
	return 0;
}

void user_slots_free(struct user_slots *s)
{
	u32 i;

	for (i = 0; i < s->count; i++)
		user_result_put(s->slot[i].shared);
	free(s->slot);
	free(s->buffers);
}

/* ---- numbers ---- */

/* All posts up to this number have ended; numbers under way can be any distance apart. */
static u64 slots_completed(const struct user_slots *s)
{
	u64 first = s->posted + 1;
	u32 i;

	if (s->ended == s->posted)
		return s->posted;
	for (i = 0; i <= s->count; i++)
		if (s->slot[i].state == USER_SLOT_POSTED)
			first = min(first, s->slot[i].posted);
	return first - 1;
}

/* Update the page in such an order that a reader that sees an end sees that it was posted. */
static void slots_show(struct user_slots *s)
{
	__atomic_store_n(&s->page.posted, s->posted, __ATOMIC_RELEASE);
	__atomic_store_n(&s->page.ended, s->ended, __ATOMIC_RELEASE);
	__atomic_store_n(&s->page.completed, slots_completed(s), __ATOMIC_RELEASE);
}

/* ---- post ---- */

struct user_slot *user_slots_find_free(struct user_slots *s)
{
	u32 i;

	for (i = 0; i < s->count; i++)
		if (s->slot[i].state == USER_SLOT_FREE)
			return &s->slot[i];
	return NULL;
}

void user_slots_post(struct user_slots *s, struct user_slot *slot, u64 cookie, u32 how, u64 now)
{
	slot->posted = ++s->posted;
	slot->claimed = how & USER_CLAIMED;
	slot->quiet = how & USER_QUIET;
	slot->completion.size = sizeof(slot->completion);
	slot->completion.cookie = cookie;
	slot->completion.posted_ns = now;
	slot->state = USER_SLOT_POSTED;
}

void user_slots_unpost(struct user_slots *s, struct user_slot *slot)
{
	s->posted--;
	user_slots_release(s, slot);
}

void user_slots_posted(struct user_slots *s)
{
	__atomic_store_n(&s->page.posted, s->posted, __ATOMIC_RELEASE);
}

/* ---- complete ---- */

static void slots_make_ready(struct user_slots *s, struct user_slot *slot)
{
	struct list_head *before = s->ready.prev;

	while (before != &s->ready &&
	       list_entry(before, struct user_slot, link)->ended > slot->ended)
		before = before->prev;
	list_add(&slot->link, before);
}

void user_slots_finish(struct user_slots *s, struct user_slot *slot, const void *result,
		       u32 bytes, u32 error, u32 failed_rank, u64 now)
{
	struct collsock_completion *c = &slot->completion;

	c->error = error;
	c->failed_rank = failed_rank;
	c->bytes = bytes;
	c->completed_ns = now;
	if (slot->shared)
		slot->part = result;
	else if (bytes)
		memcpy(slot->buffer, result, bytes);
	slot->ended = ++s->ended;
	slot->state = USER_SLOT_DONE;
	slots_show(s);
	if (slot->quiet && !error)
		user_slots_release(s, slot);
	else if (!slot->claimed)
		slots_make_ready(s, slot);
}

void user_slots_report(struct user_slots *s, u32 error, u32 failed_rank, u64 now)
{
	struct user_slot *slot = &s->slot[s->count];

	user_slots_post(s, slot, COLLSOCK_COOKIE_GROUP, 0, now);
	user_slots_posted(s);
	user_slots_finish(s, slot, NULL, 0, error, failed_rank, now);
}

struct user_slot *user_slots_claim(struct user_slots *s, u64 cookie)
{
	struct user_slot *found = NULL, *slot;

	for (slot = s->slot; slot <= s->slot + s->count; slot++) {
		if (slot->state == USER_SLOT_FREE || slot->claimed ||
		    slot->completion.cookie != cookie)
			continue;
		if (!found || slot->posted < found->posted)
			found = slot;
	}
	if (!found)
		return NULL;
	if (found->state == USER_SLOT_DONE)
		list_del(&found->link);
	found->claimed = true;
	return found;
}

void user_slots_unclaim(struct user_slots *s, struct user_slot *slot)
{
	slot->claimed = false;
	if (slot->state == USER_SLOT_DONE)
		slots_make_ready(s, slot);
}

void user_slots_release(struct user_slots *s, struct user_slot *slot)
{
	user_result_put(slot->shared);
	slot->shared = NULL;
	slot->state = USER_SLOT_FREE;
}

bool user_slots_have(const struct user_slots *s, u8 first, u8 last)
{
	u32 i;

	for (i = 0; i <= s->count; i++)
		if (first <= s->slot[i].state && s->slot[i].state <= last)
			return true;
	return false;
}
