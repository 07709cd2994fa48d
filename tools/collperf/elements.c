// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <string.h>

#include "elements.h"

static unsigned int count_results(const struct options *options)
{
	bool at_root = options->rank == options->root;

	switch (options->operation) {
	case COLLSOCK_BARRIER:
		return 0;
	case COLLSOCK_REDUCE:
		return at_root ? options->count : 0;
	case COLLSOCK_GATHER:
		return at_root ? options_vector(options) : 0;
	case COLLSOCK_ALLGATHER:
		return options_vector(options);
	case COLLSOCK_EXSCAN:
		return options->rank ? options->count : 0;
	default:
		return options->count;
	}
}

/* The sum of the contributions of hosts, from the first one on */
static double sum_of(unsigned int hosts)
{
	return (double)hosts * (hosts + 1) / 2;
}

/* The expected value of an element of the result */
static double expected(const struct elements *elements, unsigned int i)
{
	const struct options *options = elements->options;

	switch (options->operation) {
	case COLLSOCK_BROADCAST:
		return i && i + 1 < options->count ? i : elements->broadcasts;
	case COLLSOCK_ALLGATHER:
	case COLLSOCK_GATHER:
		return i / options->count + 1;
	case COLLSOCK_SCATTER:
		return options->rank + 1;
	case COLLSOCK_SCAN:
		return sum_of(options->rank + 1);
	case COLLSOCK_EXSCAN:
		return sum_of(options->rank);
	default:
		return sum_of(options->hosts.count);
	}
}

static double contribution(const struct options *options, unsigned int i)
{
	switch (options->operation) {
	case COLLSOCK_BROADCAST:
		return i;
	case COLLSOCK_SCATTER:
		return i / options->count + 1;
	default:
		return options->rank + 1;
	}
}

void elements_prepare(struct elements *elements, const struct options *options)
{
	unsigned int i;

	elements->options = options;
	elements->results = count_results(options);
	elements->first = expected(elements, 0);
	elements->last = expected(elements, elements->results ? elements->results - 1 : 0);
	for (i = 0; i < options_vector(options); i++)
		elements->mine[i] = contribution(options, i);
}

void elements_next(struct elements *elements, double *data)
{
	const struct options *options = elements->options;
	bool first = !elements->broadcasts;

	elements->broadcasts++;
	elements->first = elements->broadcasts;
	elements->last = elements->broadcasts;
	if (options->rank != options->root)
		return;
	if (first)
		memcpy(data, elements->mine, options->count * sizeof(*data));
	data[0] = elements->broadcasts;
	data[options->count - 1] = elements->broadcasts;
}

void elements_check(const struct elements *elements, const double *data)
{
	double first, last;

	if (!elements->results)
		return;
	first = data[0];
	last = data[elements->results - 1];
	if (first != elements->first || last != elements->last)
		errx(EXIT_FAILED, "%s: the result is from %g to %g, not from %g to %g",
		     options_operation_name(elements->options->operation), first, last,
		     elements->first, elements->last);
}

void elements_check_all(const struct elements *elements, const double *data)
{
	unsigned int i;

	for (i = 0; i < elements->results; i++)
		if (data[i] != expected(elements, i))
			errx(EXIT_FAILED, "%s: element %u of the result is %g, not %g",
			     options_operation_name(elements->options->operation), i, data[i],
			     expected(elements, i));
}
