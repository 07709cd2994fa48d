// SPDX-License-Identifier: GPL-2.0
/* Pairing heap: Fredman, Sedgewick, Sleator, Tarjan (1986). */
#include "heap.h"

static struct coll_heap_node *heap_meld(struct coll_heap_node *a,
					struct coll_heap_node *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (b->at < a->at) {
		struct coll_heap_node *swap = a;

		a = b;
		b = swap;
	}
	b->next = a->child;
	if (b->next)
		b->next->previous = b;
	b->previous = a;
	a->child = b;
	return a;
}

/* Unhook @node, which is not the root, from its parent and siblings. */
static void heap_cut(struct coll_heap_node *node)
{
	if (node->previous->child == node)
		node->previous->child = node->next;
	else
		node->previous->next = node->next;
	if (node->next)
		node->next->previous = node->previous;
	node->next = NULL;
	node->previous = NULL;
}

/* Meld a list of siblings: in pairs from the left, then from the right. */
static struct coll_heap_node *heap_pair(struct coll_heap_node *list)
{
	struct coll_heap_node *pairs = NULL, *root = NULL;

	while (list) {
		struct coll_heap_node *a = list, *b = a->next;

		list = b ? b->next : NULL;
		a->next = NULL;
		a->previous = NULL;
		if (b) {
			b->next = NULL;
			b->previous = NULL;
		}
		a = heap_meld(a, b);
		a->next = pairs;
		pairs = a;
	}
	while (pairs) {
		struct coll_heap_node *a = pairs;

		pairs = a->next;
		a->next = NULL;
		root = heap_meld(root, a);
	}
	return root;
}

void coll_heap_advance(struct coll_heap *heap, struct coll_heap_node *node, u64 at)
{
	if (at >= node->at)
		return;
	if (node->at != COLL_NEVER) {
		node->at = at;
		if (node == heap->first)
			return;
		heap_cut(node);
	} else {
		node->at = at;
	}
	heap->first = heap_meld(heap->first, node);
}

void coll_heap_remove(struct coll_heap *heap, struct coll_heap_node *node)
{
	struct coll_heap_node *rest;

	if (node->at == COLL_NEVER)
		return;
	rest = heap_pair(node->child);
	if (node == heap->first) {
		heap->first = rest;
	} else {
		heap_cut(node);
		heap->first = heap_meld(heap->first, rest);
	}
	coll_heap_node_init(node);
}
