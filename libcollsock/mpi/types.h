/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Collsock's types and operators for MPI's predefined datatypes and operators */
#ifndef COLLSOCK_MPI_TYPES_H
#define COLLSOCK_MPI_TYPES_H

#include <stdbool.h>
#include <linux/types.h>

#include <mpi.h>
#include <linux/collsock.h>

/**
 * struct cm_type - a predefined datatype
 * @type: type of its elements in reductions, or COLLSOCK_NONE
 * @operators: the operators that MPI has for it, as bits by enum collsock_operator
 * @bytes: size of an element without gaps
 * @extent: bytes from one element to the next
 * @index_offset: offset of the index in a pair with a gap; else 0
 */
struct cm_type {
	enum collsock_type	type;
	__u32		operators;
	__u32		bytes;
	__u32		extent;
	__u32		index_offset;
};

/* Called once, after MPI_Init. */
void cm_types_init(void);

/* NULL for a derived datatype; for a duplicate, the description of its original. */
const struct cm_type *cm_type_of(MPI_Datatype datatype);

/* COLLSOCK_NOP for user-defined operators, and for those that collsock does not support */
enum collsock_operator cm_type_operator(MPI_Op op);

static inline bool cm_type_has(const struct cm_type *type, enum collsock_operator op)
{
	return type->type != COLLSOCK_NONE && type->operators >> op & 1;
}

#endif
