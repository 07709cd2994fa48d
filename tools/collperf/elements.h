/* SPDX-License-Identifier: GPL-2.0 */
/* What a host contributes to an operation with data, and what the result must be. */
#ifndef COLLPERF_ELEMENTS_H
#define COLLPERF_ELEMENTS_H

#include "options.h"

/**
 * struct elements - of one host
 * @options: which operation, how many
 * @sum: that every element of a reduction must come to
 * @broadcasts: number of broadcasts so far, from which the next one's data follows
 * @mine: what this host contributes to a reduction
 */
struct elements {
	const struct options	*options;
	double			sum;
	double			broadcasts;
	double			mine[MAX_COUNT];
};

void elements_prepare(struct elements *elements, const struct options *options);

/* Of the next broadcast: another number each time. The root gets it into @data. */
void elements_next(struct elements *elements, double *data);

/* Is @data what must come out here? Exits if it is not. */
void elements_check(const struct elements *elements, const double *data);

#endif
