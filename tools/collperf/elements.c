// SPDX-License-Identifier: GPL-2.0
#include <err.h>

#include "elements.h"

void elements_prepare(struct elements *elements, const struct options *options)
{
	unsigned int hosts = options->hosts.count, i;

	/* Those whose contributions are in the result */
	if (options->operation == COLLSOCK_SCAN)
		hosts = options->rank + 1;
	else if (options->operation == COLLSOCK_EXSCAN)
		hosts = options->rank;
	elements->options = options;
	elements->sum = (double)hosts * (hosts + 1) / 2;
	for (i = 0; i < options_vector(options); i++)
		elements->mine[i] = options->operation == COLLSOCK_SCATTER ?
				    i / options->count + 1 : options->rank + 1;
}

void elements_next(struct elements *elements, double *data)
{
	const struct options *options = elements->options;

	elements->broadcasts++;
	if (options->rank != options->root)
		return;
	data[0] = elements->broadcasts;
	data[options->count - 1] = elements->broadcasts;
}

/* The first of the first block, and the last of the last one */
static void elements_check_blocks(const struct elements *elements, const double *data)
{
	const struct options *options = elements->options;
	unsigned int hosts = options->hosts.count;

	if (options->operation == COLLSOCK_GATHER && options->rank != options->root)
		return;
	if (data[0] != 1 || data[options_vector(options) - 1] != hosts)
		errx(EXIT_FAILED, "%s: the result is from %g to %g, not from 1 to %u",
		     options_operation_name(options->operation), data[0],
		     data[options_vector(options) - 1], hosts);
}

/* Only the first and the last, since checking all would distort the measurement */
void elements_check(const struct elements *elements, const double *data)
{
	const struct options *options = elements->options;
	double wanted = elements->sum, first = data[0], last = data[options->count - 1];

	if (options_gathers(options->operation)) {
		elements_check_blocks(elements, data);
		return;
	}
	if (options->operation == COLLSOCK_SCATTER)
		wanted = options->rank + 1;
	else if (options->operation == COLLSOCK_BROADCAST)
		wanted = elements->broadcasts;
	else if ((options->operation == COLLSOCK_REDUCE && options->rank != options->root) ||
		 (options->operation == COLLSOCK_EXSCAN && !options->rank))
		return;
	if (first != wanted || last != wanted)
		errx(EXIT_FAILED, "%s: the result is %g and %g, not %g",
		     options_operation_name(options->operation), first, last, wanted);
}
