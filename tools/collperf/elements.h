/* SPDX-License-Identifier: GPL-2.0 */
/* A host's contributions to operations with data, and the expected results */
#ifndef COLLPERF_ELEMENTS_H
#define COLLPERF_ELEMENTS_H

#include "options.h"

/**
 * struct elements - elements of one host
 * @options: operation and number of elements
 * @sum: expected value of every element of a reduction, or scan
 * @broadcasts: number of broadcasts so far, which determines the next one's data
 * @mine: what this host contributes: 1 more than its number, or in a scatter that of the host
 *        that gets the block
 */
struct elements {
	const struct options	*options;
	double			sum;
	double			broadcasts;
	double			mine[MAX_COUNT];
};

void elements_prepare(struct elements *elements, const struct options *options);

/* Prepare the next broadcast, with a new number each time. On the root fill @data with it. */
void elements_next(struct elements *elements, double *data);

/* Check the result in @data. Exits if it is wrong. */
void elements_check(const struct elements *elements, const double *data);

#endif
