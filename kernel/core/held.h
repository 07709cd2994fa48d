/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages to one host that wait for credit, or for the congestion window. Messages of older
 * operations go first, and goodbyes before all others. A message is added or removed in time
 * that depends on the number of operations, a window at most, but not on that of messages:
 * the last message of each operation is linked with those of the next older and the next
 * newer one that have messages here.
 *
 * Everything here is called under the group's lock; "held" is coll_peer_send_state.held.
 */
#ifndef COLL_CORE_HELD_H
#define COLL_CORE_HELD_H

#include "state.h"

/* The one that goes first; there is one. */
static inline struct coll_message *coll_held_first(const struct list_head *held)
{
	return list_first_entry(held, struct coll_message, link);
}

bool coll_held_precedes(const struct coll_message *held, const struct coll_message *m);
void coll_held_add(struct list_head *held, struct coll_message *m);
void coll_held_remove(struct list_head *held, struct coll_message *m);

#endif
