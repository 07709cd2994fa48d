/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-defined operators and types: non-commutative ones must be applied in the order of the
 * ranks.
 */
#ifndef MPI_TEST_OPERATORS_H
#define MPI_TEST_OPERATORS_H

#include "common.h"

/* An operator on elements of a type, both of the program's own. */
struct own_operator {
	const char *name;
	MPI_Datatype type;
	MPI_Op op;
	bool is_commutative;
	unsigned int words;		/* of 32 bits, in an element */
	unsigned int extent;		/* from one element to the next, in words */
	void (*fold)(__u32 *left_and_result, const __u32 *right);
};

/* Makes one, with a type and an operator that are to be freed. */
void own_operator_make(struct own_operator *own, struct random *random);
void own_operator_free(struct own_operator *own);

void own_contribute(__u32 *buffer, const struct own_operator *own, unsigned int count,
		    __u64 seed, int rank);
bool own_result_right(const __u32 *result, const struct own_operator *own, unsigned int count,
		      __u64 seed, const int *ranks, int rank_count, char *text, size_t room);

#endif
