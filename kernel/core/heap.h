/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An intrusive pairing heap of deadlines: no memory of its own, insertion and
 * an earlier deadline in constant time. Its user holds the group's lock.
 */
#ifndef COLL_CORE_HEAP_H
#define COLL_CORE_HEAP_H

#include "base.h"

#define COLL_NEVER	(~0ULL)

/**
 * struct coll_heap_node - member of what waits for a deadline
 * @at: the deadline in ns; COLL_NEVER when not in a heap
 * @child: first child
 * @next: next sibling
 * @previous: previous sibling, or the parent of a first child
 */
struct coll_heap_node {
	u64			at;
	struct coll_heap_node	*child;
	struct coll_heap_node	*next;
	struct coll_heap_node	*previous;
};

/**
 * struct coll_heap - the heap
 * @first: earliest deadline, NULL when empty
 */
struct coll_heap {
	struct coll_heap_node	*first;
};

static inline void coll_heap_node_init(struct coll_heap_node *node)
{
	node->at = COLL_NEVER;
	node->child = NULL;
	node->next = NULL;
	node->previous = NULL;
}

/* Insert @node, or move its deadline forward; a later one changes nothing. */
void coll_heap_advance(struct coll_heap *heap, struct coll_heap_node *node, u64 at);

/* Take @node out; nothing happens if it is in no heap. */
void coll_heap_remove(struct coll_heap *heap, struct coll_heap_node *node);

#endif
