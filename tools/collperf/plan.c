// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms as in the kernel: dissemination, exchange, halving, that of Hillis and Steele, and
 * trees in which hosts are numbered from the root on and the nodes of a subtree are consecutive.
 */
#include <stddef.h>

#include "plan.h"

static void add_step(struct plan *plan, struct step step)
{
	plan->step[plan->steps++] = step;
}

static struct step *last_step(struct plan *plan)
{
	return &plan->step[plan->steps - 1];
}

static void add_send(struct plan *plan, int to, int to_slot)
{
	add_step(plan, (struct step){ .to = to, .to_slot = to_slot, .slot = NOBODY });
}

static void add_wait(struct plan *plan, int slot, bool replaces)
{
	add_step(plan, (struct step){ .to = NOBODY, .slot = slot, .replaces = replaces });
}

/*
 * The blocks that @host sends in the round of @distance: those that end with its own, without the
 * ones that the host that far away gets otherwise
 */
static struct range ending_range(const struct shape *shape, unsigned int host,
				 unsigned int distance, unsigned int far)
{
	unsigned int rest = shape->hosts - far, blocks = distance < rest ? distance : rest;

	return (struct range){ (host + 1 + shape->hosts - blocks) % shape->hosts, blocks };
}

/* In round k every host sends to those at distances j * degree^k, 0 < j < degree. */
static void plan_dissemination(struct plan *plan, const struct shape *shape)
{
	unsigned int distance, far, end, hosts = shape->hosts;
	int slot = 0, to_slot = 0;

	for (distance = 1; distance < hosts; distance *= shape->degree) {
		end = distance * shape->degree < hosts ? distance * shape->degree : hosts;
		for (far = distance; far < end; far += distance) {
			add_send(plan, (shape->rank + far) % hosts, to_slot++);
			last_step(plan)->given = ending_range(shape, shape->rank, distance, far);
		}
		for (far = distance; far < end; far += distance) {
			/* The last one that sends waits, too. */
			if (far == distance)
				last_step(plan)->slot = slot++;
			else
				add_wait(plan, slot++, false);
			last_step(plan)->taken = ending_range(shape, (shape->rank + hosts - far) %
							      hosts, distance, far);
		}
	}
}

/* In round k a host sends to the one 2^k above it, and adds what comes from below. */
static void plan_hillis_steele(struct plan *plan, const struct shape *shape)
{
	unsigned int distance;
	int slot = 0;

	for (distance = 1; distance < shape->hosts; distance *= 2, slot++) {
		if (shape->rank + distance < shape->hosts)
			add_send(plan, shape->rank + distance, slot);
		if (shape->rank >= distance)
			add_wait(plan, slot, false);
	}
}

/*
 * In a round hosts exchange with those whose numbers, written with the degree as their base,
 * differ in one digit. The sender's digit, beyond @slot, is the slot of a message.
 */
static void plan_exchange_digit(struct plan *plan, const struct shape *shape, unsigned int unit,
				int slot)
{
	int digit = shape->rank / unit % shape->degree, degree = shape->degree, other;

	for (other = 0; other < degree; other++)
		if (other != digit)
			add_send(plan, shape->rank + (other - digit) * (int)unit, slot + digit);
	/* The last one sends and waits. */
	last_step(plan)->slot = slot + !digit;
	for (other = !digit + 1; other < degree; other++)
		if (other != digit)
			add_wait(plan, slot + other, false);
}

/*
 * Hosts beyond the greatest power of the degree send to one below it before, and receive the
 * result after.
 */
static void plan_exchange(struct plan *plan, const struct shape *shape)
{
	unsigned int degree = shape->degree, power = 1, unit, other;
	struct shape within = *shape;

	if (degree > shape->hosts && shape->hosts > 1)
		degree = shape->hosts;
	within.degree = degree;
	while (power * degree <= shape->hosts)
		power *= degree;
	if (shape->rank >= power) {
		add_send(plan, shape->rank % power, shape->rank / power - 1);
		add_wait(plan, 0, true);
		return;
	}
	for (other = shape->rank + power; other < shape->hosts; other += power)
		add_wait(plan, other / power - 1, false);
	for (unit = 1, other = degree; unit < power; unit *= degree, other += degree)
		plan_exchange_digit(plan, &within, unit, other);
	for (other = shape->rank + power; other < shape->hosts; other += power)
		add_send(plan, other, 0);
}

/* Swap ranges with the host @unit away. */
static void add_swap(struct plan *plan, const struct shape *shape, unsigned int unit, int slot,
		     struct range given, struct range taken)
{
	add_send(plan, shape->rank ^ unit, slot);
	last_step(plan)->slot = slot;
	last_step(plan)->given = given;
	last_step(plan)->taken = taken;
}

/* The lower of two hosts keeps the lower half. Then the same in reverse */
static void plan_halves(struct plan *plan, const struct shape *shape)
{
	struct range own = { 0, plan->blocks }, other;
	unsigned int unit;
	int slot = 1;

	for (unit = 1; unit < plan->blocks; unit *= 2) {
		own.blocks /= 2;
		other = own;
		if (shape->rank & unit)
			own.first += own.blocks;
		else
			other.first += own.blocks;
		add_swap(plan, shape, unit, slot++, other, own);
	}
	while (unit /= 2) {
		other = own;
		if (shape->rank & unit)
			other.first -= own.blocks;
		else
			other.first += own.blocks;
		add_swap(plan, shape, unit, slot++, own, other);
		last_step(plan)->replaces = true;
		if (shape->rank & unit)
			own.first = other.first;
		own.blocks *= 2;
	}
}

/* Hosts beyond the greatest power of two send all to one below it before, and receive all after. */
static void plan_halving(struct plan *plan, const struct shape *shape)
{
	struct range all = { 0, 1 };
	bool waits;

	while (2 * all.blocks <= shape->hosts)
		all.blocks *= 2;
	plan->blocks = all.blocks;
	if (shape->rank >= all.blocks) {
		add_send(plan, shape->rank - all.blocks, 0);
		last_step(plan)->given = all;
		add_wait(plan, 0, true);
		last_step(plan)->taken = all;
		return;
	}
	waits = shape->rank + all.blocks < shape->hosts;
	if (waits) {
		add_wait(plan, 0, false);
		last_step(plan)->taken = all;
	}
	plan_halves(plan, shape);
	if (waits) {
		add_send(plan, shape->rank + all.blocks, 0);
		last_step(plan)->given = all;
	}
}

/* ---- trees ---- */

/**
 * struct place - position of one node in a tree
 * @children: number of children
 * @child: hosts of the children, in node order
 * @parent: host of the parent, or NOBODY
 * @index: which of the parent's children this is
 * @own: hosts of its subtree, if the tree is binomial
 * @below: and of those of its children
 */
struct place {
	int		children;
	int		child[COLLSOCK_MAX_DEGREE];
	int		parent;
	int		index;
	struct range	own;
	struct range	below[COLLSOCK_MAX_DEGREE];
};

static int host_of(const struct shape *shape, unsigned int node)
{
	return (node + shape->root) % shape->hosts;
}

/* The hosts of at most @most nodes, of which @node is the first */
static struct range range_of(const struct shape *shape, unsigned int node, unsigned int most)
{
	unsigned int rest = shape->hosts - node;

	return (struct range){ host_of(shape, node), most < rest ? most : rest };
}

static void binomial_place(struct place *place, const struct shape *shape, unsigned int node)
{
	unsigned int bit;

	for (bit = 1; bit < shape->hosts; bit *= 2) {
		if (node & bit) {
			place->parent = host_of(shape, node - bit);
			break;
		}
		if (node + bit < shape->hosts) {
			place->below[place->children] = range_of(shape, node + bit, bit);
			place->child[place->children++] = host_of(shape, node + bit);
		}
		place->index++;
	}
	place->own = range_of(shape, node, bit);
}

/*
 * From the root down: the subtrees of a node, at most @fan, differ in size by one node at most,
 * the larger ones first. The subtree with root @root has @nodes nodes.
 */
static void broad_place(struct place *place, const struct shape *shape, unsigned int node,
			unsigned int fan)
{
	unsigned int root = 0, nodes = shape->hosts;

	for (;;) {
		unsigned int first = root + 1, rest = nodes - 1, parent = root, i;
		unsigned int parts = fan < rest ? fan : rest;

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

	for (i = 0; i < place->children; i++) {
		add_wait(plan, i, false);
		last_step(plan)->taken = place->below[i];
	}
	if (place->parent != NOBODY) {
		add_send(plan, place->parent, place->index);
		last_step(plan)->given = place->own;
	}
}

/* The largest subtree takes the most time, so it is sent to first. */
static void plan_down(struct plan *plan, const struct place *place, bool binomial)
{
	int i, child;

	if (place->parent != NOBODY) {
		add_wait(plan, COLLSOCK_MAX_DEGREE, true);
		last_step(plan)->taken = place->own;
	}
	for (i = 0; i < place->children; i++) {
		child = binomial ? place->children - 1 - i : i;
		add_send(plan, place->child[child], COLLSOCK_MAX_DEGREE);
		last_step(plan)->given = place->below[child];
	}
}

/* In a tree whose nodes have at most @fan children; 0: the tree is binomial. */
static struct place find_place(const struct shape *shape, unsigned int fan)
{
	unsigned int node = (shape->rank + shape->hosts - shape->root) % shape->hosts;
	struct place place = { .parent = NOBODY };

	if (fan)
		broad_place(&place, shape, node, fan);
	else
		binomial_place(&place, shape, node);
	return place;
}

static void plan_tree(struct plan *plan, const struct shape *shape, unsigned int fan_in,
		      unsigned int fan_out)
{
	struct place up = find_place(shape, fan_in), down = find_place(shape, fan_out);

	if (shape->operation != COLLSOCK_BROADCAST && shape->operation != COLLSOCK_SCATTER)
		plan_up(plan, &up);
	if (shape->operation != COLLSOCK_REDUCE && shape->operation != COLLSOCK_GATHER)
		plan_down(plan, &down, !fan_out);
}

static void plan_binomial(struct plan *plan, const struct shape *shape)
{
	plan_tree(plan, shape, 0, 0);
}

static void plan_kary(struct plan *plan, const struct shape *shape)
{
	plan_tree(plan, shape, shape->degree, shape->degree);
}

static void plan_flat(struct plan *plan, const struct shape *shape)
{
	plan_tree(plan, shape, COLLSOCK_MAX_FLAT_HOSTS, COLLSOCK_MAX_FLAT_HOSTS);
}

static void plan_mcs(struct plan *plan, const struct shape *shape)
{
	plan_tree(plan, shape, 4, 2);
}

/* ---- all of them ---- */

static void (*const planners[])(struct plan *plan, const struct shape *shape) = {
	[COLLSOCK_DISSEMINATION]	= plan_dissemination,
	[COLLSOCK_EXCHANGE]		= plan_exchange,
	[COLLSOCK_BINOMIAL]		= plan_binomial,
	[COLLSOCK_KARY]			= plan_kary,
	[COLLSOCK_FLAT]			= plan_flat,
	[COLLSOCK_MCS]			= plan_mcs,
	[COLLSOCK_HILLIS_STEELE]	= plan_hillis_steele,
	[COLLSOCK_HALVING]		= plan_halving,
};

bool plan_has(int algorithm)
{
	return (size_t)algorithm < sizeof(planners) / sizeof(*planners) && planners[algorithm];
}

void plan_make(struct plan *plan, const struct shape *shape)
{
	*plan = (struct plan){ };
	planners[shape->algorithm](plan, shape);
}
