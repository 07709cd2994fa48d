/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Collsock's types and operators for MPI's predefined datatypes and operators */
#ifndef COLLSOCK_MPI_KINDS_H
#define COLLSOCK_MPI_KINDS_H

#include <stdbool.h>
#include <linux/types.h>

#include <mpi.h>
#include <linux/collsock.h>

/**
 * struct cm_kind - a predefined datatype
 * @type: type of its elements in reductions, or COLLSOCK_NONE
 * @operators: the operators that MPI has for it, as bits by enum collsock_operator
 * @bytes: size of an element without gaps
 * @extent: bytes from one element to the next
 * @index_offset: offset of the index in a pair with a gap; else 0
 */
struct cm_kind {
	enum collsock_type	type;
	__u32		operators;
	__u32		bytes;
	__u32		extent;
	__u32		index_offset;
};

/* Called once, after MPI_Init. */
void cm_kinds_init(void);

/* NULL for a derived datatype; a duplicate has the kind of its original. */
const struct cm_kind *cm_kind_of(MPI_Datatype datatype);

/* COLLSOCK_NOP for user-defined operators, and for those that collsock does not support */
enum collsock_operator cm_kind_operator(MPI_Op op);

static inline bool cm_kind_has(const struct cm_kind *kind, enum collsock_operator op)
{
	return kind->type != COLLSOCK_NONE && kind->operators >> op & 1;
}

#endif
