// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "held.h"

/**
 * coll_held_precedes() - does a message that waits go before another one?
 * @held: the one that waits
 * @m: any message to the same host
 *
 * Return: false if @m is of an older operation, or is a goodbye and @held is not.
 */
bool coll_held_precedes(const struct coll_message *held, const struct coll_message *m)
{
	if (held->head->type != COLL_PACKET_MESSAGE)
		return true;
	return m->head->type == COLL_PACKET_MESSAGE &&
	       !coll_after(held->head->number, m->head->number);
}

/* A message becomes the last one of its operation. */
static void held_link(struct coll_message *older, struct coll_message *m,
		      struct coll_message *newer)
{
	m->older = older;
	m->newer = newer;
	if (older)
		older->newer = m;
	if (newer)
		newer->older = m;
}

/**
 * coll_held_add() - a message waits
 * @held: those that wait for the same host
 * @m: neither sent nor held; its head is set
 */
void coll_held_add(struct list_head *held, struct coll_message *m)
{
	struct coll_message *before = NULL, *newer = NULL;

	if (!list_empty(held))
		before = list_last_entry(held, struct coll_message, link);
	while (before && !coll_held_precedes(before, m)) {
		newer = before;
		before = before->older;
	}
	list_add(&m->link, before ? &before->link : held);
	held_link(before && before->head == m->head ? before->older : before, m, newer);
}

/* Is it the last one of its operation? */
static bool held_is_last(const struct list_head *held, const struct coll_message *m)
{
	return m->link.next == held || list_next_entry(m, link)->head != m->head;
}

/* The last one of its operation is about to be removed. */
static void held_unlink(const struct list_head *held, struct coll_message *m)
{
	struct coll_message *before = list_prev_entry(m, link);

	if (m->link.prev != held && before->head == m->head) {
		held_link(m->older, before, m->newer);
		return;
	}
	if (m->older)
		m->older->newer = m->newer;
	if (m->newer)
		m->newer->older = m->older;
}

/**
 * coll_held_remove() - a message waits no more
 * @held: those that wait for the same host
 * @m: one of them
 */
void coll_held_remove(struct list_head *held, struct coll_message *m)
{
	if (held_is_last(held, m))
		held_unlink(held, m);
	list_del(&m->link);
}
