/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds and messages of the algorithms as formulas, from the papers that the head of
 * each algo_*.c names. They share no code with the builders, which are checked against
 * them. The simulator uses them, too.
 */
#ifndef COLL_UNIT_FORMULAS_H
#define COLL_UNIT_FORMULAS_H

#include "registry.h"

u32 floor_log2(u32 n);
u32 ceil_log2(u32 n);

/* The same to another base */
u32 floor_log(u32 n, u32 base);
u32 ceil_log(u32 n, u32 base);

/* The least depth of a tree of @nodes, each with at most @degree children */
u32 least_depth(u32 nodes, u32 degree);

/* Does the table have a line for @a? The functions below abort if not. */
bool formulas_have(const struct coll_algorithm *a);

/* Rounds of the slowest host; messages of all hosts together */
u32 formulas_rounds(const struct coll_algorithm *a, const struct coll_shape *shape);
u64 formulas_messages(const struct coll_algorithm *a, const struct coll_shape *shape);

/* Messages that the busiest host of an n-ary exchange or dissemination receives */
u32 formulas_exchange_work(const struct coll_shape *shape);
u32 formulas_dissemination_work(const struct coll_shape *shape);

/*
 * Messages that the busiest host of a tree receives on the way up and down again, if @fan is
 * the children of a host on the way up; that it sends, if it is those on the way down
 */
u32 formulas_tree_work(u32 hosts, u32 fan);

#endif
