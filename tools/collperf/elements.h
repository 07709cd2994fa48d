/* SPDX-License-Identifier: GPL-2.0 */
/* A host's contributions to operations with data, and the expected result */
#ifndef COLLPERF_ELEMENTS_H
#define COLLPERF_ELEMENTS_H

#include "options.h"

/**
 * struct elements - elements of one host
 * @options: operation and number of elements
 * @broadcasts: number of broadcasts so far, which determines the next one's data
 * @results: number of elements that this host gets
 * @first: expected value of the first of these
 * @last: and of the last
 * @mine: contribution of this host: its number + 1; in a scatter, the number + 1 of the host that
 *        gets the block; in a broadcast the number of the element, but for the first and last
 */
struct elements {
	const struct options	*options;
	double			broadcasts;
	unsigned int		results;
	double			first;
	double			last;
	double			mine[MAX_COUNT];
};

void elements_prepare(struct elements *elements, const struct options *options);

/* Prepare the next broadcast, with a new number each time. On the root fill @data with it. */
void elements_next(struct elements *elements, double *data);

/*
 * Check the first and the last element of the result in @data, as checking all would distort the
 * measurement. Exits if one is wrong.
 */
void elements_check(const struct elements *elements, const double *data);

/* Check all elements of the last result. Exits if one is wrong. */
void elements_check_all(const struct elements *elements, const double *data);

#endif
