// SPDX-License-Identifier: GPL-2.0
/*
 * The same algorithms as in the kernel: dissemination, pairwise exchange, and trees in
 * which hosts are numbered from the root on and the nodes of a subtree are consecutive.
 */
#include <stddef.h>

#include "plan.h"

static void add_step(struct plan *plan, struct step step)
{
	plan->step[plan->steps++] = step;
}

static void add_send(struct plan *plan, int to, int to_slot)
{
	add_step(plan, (struct step){ .to = to, .to_slot = to_slot, .slot = NOBODY });
}

static void add_wait(struct plan *plan, int slot, bool replaces)
{
	add_step(plan, (struct step){ .to = NOBODY, .slot = slot, .replaces = replaces });
}

/* In step k every host sends to the host at distance 2^k. */
static void plan_dissemination(struct plan *plan, const struct shape *shape)
{
	unsigned int distance;
	int k = 0;

	for (distance = 1; distance < shape->hosts; distance *= 2, k++)
		add_step(plan, (struct step){
			.to = (shape->rank + distance) % shape->hosts, .to_slot = k, .slot = k,
		});
}

/*
 * In step k hosts exchange with the host whose number differs in bit k. Hosts beyond the
 * greatest power of two send to one below it before, and receive the result after.
 */
static void plan_pairwise(struct plan *plan, const struct shape *shape)
{
	unsigned int power = 1, rank = shape->rank, bit;
	int k = 1;

	while (power * 2 <= shape->hosts)
		power *= 2;
	if (rank >= power) {
		add_send(plan, rank - power, 0);
		add_wait(plan, 0, true);
		return;
	}
	if (rank + power < shape->hosts)
		add_wait(plan, 0, false);
	for (bit = 1; bit < power; bit *= 2, k++)
		add_step(plan, (struct step){ .to = rank ^ bit, .to_slot = k, .slot = k });
	if (rank + power < shape->hosts)
		add_send(plan, rank + power, 0);
}

/* ---- trees ---- */

/**
 * struct place - position of one node in a tree
 * @children: number of children
 * @child: hosts of the children, in node order
 * @parent: host of the parent, or NOBODY
 * @index: which of the parent's children this is
 */
struct place {
	int	children;
	int	child[COLLSOCK_MAX_FANOUT];
	int	parent;
	int	index;
};

static int host_of(const struct shape *shape, unsigned int node)
{
	return (node + shape->root) % shape->hosts;
}

static void binomial_place(struct place *place, const struct shape *shape, unsigned int node)
{
	unsigned int bit;

	for (bit = 1; bit < shape->hosts; bit *= 2) {
		if (node & bit) {
			place->parent = host_of(shape, node - bit);
			return;
		}
		if (node + bit < shape->hosts)
			place->child[place->children++] = host_of(shape, node + bit);
		place->index++;
	}
}

/*
 * From the root down: the subtrees of a node differ in size by one node at most, the larger
 * ones first. The subtree with root @root has @nodes nodes.
 */
static void kary_place(struct place *place, const struct shape *shape, unsigned int node)
{
	unsigned int root = 0, nodes = shape->hosts;

	for (;;) {
		unsigned int first = root + 1, rest = nodes - 1, parent = root, i;
		unsigned int parts = shape->fanout < rest ? shape->fanout : rest;

		for (i = 0; i < parts; i++) {
			nodes = rest / parts + (i < rest % parts);
			if (parent == node)
				place->child[place->children++] = host_of(shape, first);
			else if (node < first + nodes)
				break;
			first += nodes;
		}
		if (parent == node)
			return;
		place->parent = host_of(shape, parent);
		place->index = i;
		root = first;
	}
}

/* In a binomial tree the smallest subtree is the first, and finishes first. */
static void plan_up(struct plan *plan, const struct place *place)
{
	int i;

	for (i = 0; i < place->children; i++)
		add_wait(plan, i, false);
	if (place->parent != NOBODY)
		add_send(plan, place->parent, place->index);
}

/* The largest subtree takes the most time, so it is sent to first. */
static void plan_down(struct plan *plan, const struct place *place, bool binomial)
{
	int i;

	if (place->parent != NOBODY)
		add_wait(plan, COLLSOCK_MAX_FANOUT, true);
	for (i = 0; i < place->children; i++)
		add_send(plan, place->child[binomial ? place->children - 1 - i : i],
			 COLLSOCK_MAX_FANOUT);
}

static void plan_tree(struct plan *plan, const struct shape *shape)
{
	unsigned int node = (shape->rank + shape->hosts - shape->root) % shape->hosts;
	bool binomial = shape->algorithm == COLLSOCK_BINOMIAL;
	struct place place = { .parent = NOBODY };

	if (binomial)
		binomial_place(&place, shape, node);
	else
		kary_place(&place, shape, node);
	if (shape->operation != COLLSOCK_BROADCAST)
		plan_up(plan, &place);
	if (shape->operation != COLLSOCK_REDUCE)
		plan_down(plan, &place, binomial);
}

bool plan_make(struct plan *plan, const struct shape *shape)
{
	*plan = (struct plan){ };
	switch (shape->algorithm) {
	case COLLSOCK_DISSEMINATION:
		plan_dissemination(plan, shape);
		return true;
	case COLLSOCK_PAIRWISE_EXCHANGE:
		plan_pairwise(plan, shape);
		return true;
	case COLLSOCK_BINOMIAL:
	case COLLSOCK_KARY:
		plan_tree(plan, shape);
		return true;
	}
	return false;
}
