/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Many descriptions of the same elements for MPI: a broadcast may move them from a buffer with
 * gaps at its root into another order at another rank.
 */
#ifndef MPI_TEST_LAYOUTS_H
#define MPI_TEST_LAYOUTS_H

#include "common.h"

#define PARTS_MAX 2

/* What all ranks describe: a number of elements with the same parts */
struct signature {
	const char *name;
	unsigned int parts;
	MPI_Datatype part[PARTS_MAX];
	unsigned int part_bytes[PARTS_MAX];
};

/* Their layout on one rank */
struct layout {
	const struct signature *signature;
	const char *name;
	unsigned int elements;
	MPI_Datatype type;
	int count;			/* of the type */
	bool free_type;
	int part_offset[PARTS_MAX];	/* in an element */
	int *element_offset;		/* in the buffer */
	size_t bytes;			/* of the buffer */
};

const struct signature *signature_random(struct random *random);
void layout_make(struct layout *layout, const struct signature *signature,
		 unsigned int elements, struct random *random);
void layout_free_type(struct layout *layout);
void layout_free(struct layout *layout);

/* Write the elements, which are those from @first of what follows from the seed. */
void layout_put(const struct layout *layout, void *buffer, __u64 seed, unsigned int first);

/* Fill a buffer: gaps with a pattern, and elements too unless they have a seed. */
void layout_clear(const struct layout *layout, void *buffer);
void layout_fill(const struct layout *layout, void *buffer, __u64 seed);

/* Do all elements follow from the seed, with all gaps unchanged? */
bool layout_right(const struct layout *layout, const void *buffer, __u64 seed, char *text,
		  size_t room);

#endif
