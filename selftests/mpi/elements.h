/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The elements that reductions work on, and the results to expect.
 *
 * The contribution of rank r to element i follows from a seed, so that every rank can
 * compute the contributions of all.
 */
#ifndef MPI_TEST_ELEMENTS_H
#define MPI_TEST_ELEMENTS_H

#include "common.h"

/* How an element is laid out in memory, and what can be done with it. */
enum form {
	FORM_SIGNED,
	FORM_UNSIGNED,
	FORM_BOOL,
	FORM_BYTE,
	FORM_FLOAT,
	FORM_DOUBLE,
	FORM_LONG_DOUBLE,
	FORM_FLOAT_COMPLEX,
	FORM_DOUBLE_COMPLEX,
	FORM_FLOAT_INT,
	FORM_DOUBLE_INT,
	FORM_LONG_DOUBLE_INT,
	FORM_LONG_INT,
	FORM_SHORT_INT,
	FORM_INT_INT,
};

struct element {
	const char *name;
	MPI_Datatype type;
	enum form form;
	size_t bytes;		/* from one element to the next */
};

enum operation_class {
	CLASS_ORDER,		/* minimum, maximum */
	CLASS_ARITHMETIC,	/* sum, product */
	CLASS_LOGICAL,
	CLASS_BITWISE,
	CLASS_LOCATION,
};

/* A predefined operator. */
struct reducer {
	const char *name;
	MPI_Op op;
	enum operation_class class;
};

/* Fills in what is known only at run time, such as the value of MPI_INT. */
void elements_begin(void);

const struct element *element_random(struct random *random);
const struct reducer *reducer_random(struct random *random, const struct element *element);

/* Write a rank's contribution of @count elements, leaving gaps unchanged. */
void contribute(void *buffer, const struct element *element, const struct reducer *reducer,
		unsigned int count, __u64 seed, int rank);

/*
 * Is element i the reduction of the contributions of these ranks? If not, @text describes
 * the error.
 */
bool result_right(const void *result, const struct element *element,
		  const struct reducer *reducer, unsigned int i, __u64 seed,
		  const int *ranks, int rank_count, char *text, size_t room);

/* Compares the values of elements and ignores gaps. */
__u64 elements_checksum(const void *buffer, const struct element *element,
			unsigned int count);

#endif
