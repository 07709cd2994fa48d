// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define MAX_PORT 65535
#define MAX_ITERATIONS 1000000000UL

static const char *const algorithm_names[] = {
	[COLLSOCK_AUTO]			= "auto",
	[COLLSOCK_DISSEMINATION]	= "dissemination",
	[COLLSOCK_PAIRWISE_EXCHANGE]	= "pairwise",
};

unsigned long long options_number(const char *what, const char *text, unsigned long long min,
				  unsigned long long max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-') || number < min || number > max)
		errx(EXIT_USAGE, "%s: \"%s\" is not a whole number from %llu to %llu", what, text,
		     min, max);
	return number;
}

const char *options_algorithm_name(unsigned int algorithm)
{
	return algorithm_names[algorithm];
}

static unsigned int parse_algorithm(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(algorithm_names) / sizeof(algorithm_names[0]); i++)
		if (!strcmp(name, algorithm_names[i]))
			return i;
	errx(EXIT_USAGE, "--algorithm: \"%s\" is not auto, dissemination or pairwise", name);
}

void options_begin(struct options *options)
{
	*options = (struct options){
		.algorithm	= COLLSOCK_DISSEMINATION,
		.iterations	= 1000,
		.warm_up	= 100,
		.given_rank	= -1,
	};
}

void options_take(struct options *options, int letter, const char *value)
{
	switch (letter) {
	case 'H':
		options->numbered = options_number("--hosts", value, 1, HOSTS_NUMBERED_MAX);
		break;
	case 'f':
		options->file = value;
		break;
	case '6':
		options->ipv6 = true;
		break;
	case 'p':
		options->port = options_number("--port", value, 1, MAX_PORT);
		break;
	case 'r':
		options->given_rank = options_number("--rank", value, 0, COLLSOCK_MAX_HOSTS - 1);
		break;
	case 'a':
		options->algorithm = parse_algorithm(value);
		break;
	case 'n':
		options->iterations = options_number("--iterations", value, 1, MAX_ITERATIONS);
		break;
	case 'w':
		options->warm_up = options_number("--warm-up", value, 0, MAX_ITERATIONS);
		break;
	case 's':
		options->spin_us = options_number("--spin", value, 0, COLLSOCK_MAX_SPIN_US);
		break;
	case 'm':
		options->mean_only = true;
		break;
	case 'j':
		options->json = true;
		break;
	default:
		errx(EXIT_USAGE, "try --help");
	}
}

void options_end(struct options *options, int argc, unsigned int default_port)
{
	if (optind < argc)
		errx(EXIT_USAGE, "what is left over of the command line? try --help");
	if (!options->numbered == !options->file)
		errx(EXIT_USAGE, "give either --hosts or --hosts-file; try --help");
	if (options->file)
		hosts_read(&options->hosts, options->file);
	else
		hosts_number(&options->hosts, options->numbered, options->ipv6);
	hosts_default_port(&options->hosts, options->port ? options->port : default_port);
	if (options->given_rank >= (long)options->hosts.count)
		errx(EXIT_USAGE, "--rank %ld: there are %u hosts, and ranks count from 0",
		     options->given_rank, options->hosts.count);
	options->rank = options->given_rank >= 0 ? options->given_rank :
						   hosts_find_local(&options->hosts);
}
