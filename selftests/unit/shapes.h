/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shapes of groups in which an algorithm is proved: numbers of hosts,
 * degrees where it has one, roots where it has one.
 */
#ifndef COLL_UNIT_SHAPES_H
#define COLL_UNIT_SHAPES_H

#include "registry.h"

#define SHAPES_EACH_SIZE	512	/* up to this size, every number of hosts */
#define SHAPES_EACH_ROOT	64	/* up to this size, each host is the root once */
#define SHAPES_EACH_DRAWN	128	/* with fewer sizes, every one up to this */
#define SHAPES_MOST_STEP	15	/* the largest distance of the others */

/**
 * struct shapes - a walk through the shapes of an algorithm
 * @algorithm: the algorithm
 * @most_hosts: size of the largest group
 * @draws: if not 0, number of degrees and roots drawn for each size, instead of all
 * @fewer: of the sizes beyond SHAPES_EACH_DRAWN only some, unless there is time for all
 * @random: state of the random numbers
 * @shape: the current one, except its self; all zero before the first
 * @size: number of earlier sizes
 * @degree: number of degrees of this size
 * @root: number of roots of this degree
 * @drawn: number of shapes of this size, including the current one
 */
struct shapes {
	const struct coll_algorithm	*algorithm;
	u32				most_hosts;
	u64				draws;
	bool				fewer;
	u64				random;
	struct coll_shape		shape;
	u32				size, degree, root;
	u64				drawn;
};

/* The entry after @a, of NULL the first; NULL after the last. */
const struct coll_algorithm *next_algorithm(const struct coll_algorithm *a);

/*
 * Of an algorithm that has one: 2…16 and the largest, then the least that makes a tree flat;
 * 0 after the last
 */
u32 shapes_degree(const struct coll_algorithm *a, u32 i, u32 hosts);

/* The next shape, initially the first; false after the last. */
bool shapes_next(struct shapes *s);

/* Rounds of the schedule of @shape->self, equal on all hosts; -1U if there is none */
u32 shapes_rounds(const struct coll_algorithm *a, const struct coll_shape *shape);

const char *shapes_text(const struct coll_algorithm *a, const struct coll_shape *shape);

#endif
