/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the command line that collperf and hostbased share */
#ifndef COLLPERF_OPTIONS_H
#define COLLPERF_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

#include <linux/collsock.h>

#include "hosts.h"
#include "status.h"

#define NO_SKEW (-1)
#define MAX_COUNT (COLLSOCK_MAX_PAYLOAD / sizeof(double))
#define MAX_STEPS 64
#define MAX_PERCENTS 16

/**
 * struct options - what to measure
 * @hosts: hosts that take part; if a launcher has started the ranks, only their number is known
 * @rank: rank of this host
 * @operation: enum collsock_operation
 * @root: of a reduce, broadcast, gather or scatter
 * @count: elements of an operation with data
 * @algorithm: enum collsock_algorithm
 * @degree: of the algorithm; 0: its usual one
 * @iterations: number of operations to measure
 * @warm_up: operations before them
 * @spin_us: time to spin before sleeping
 * @shuffle: let the hosts run in a different order each time
 * @skew_us: greatest delay of a host, or NO_SKEW to measure latency
 * @catch_up_us: delay after each operation
 * @seed: seed of the delays
 * @steps: of a program that computes; 0: none was given
 * @step_us: the computation of each
 * @vary: by how many percent it differs from host to host at most
 * @percents: number of efficiencies to search for
 * @percent: the efficiencies
 * @mean_only: leave out figures for which each operation must be timed
 * @json: print one JSON object
 */
struct options {
	struct hosts	hosts;
	unsigned int	rank;
	unsigned int	operation;
	unsigned int	root;
	unsigned int	count;
	int		algorithm;
	unsigned int	degree;
	unsigned long	iterations;
	unsigned long	warm_up;
	unsigned int	spin_us;
	bool		shuffle;
	long		skew_us;
	long		catch_up_us;
	unsigned long long seed;
	unsigned int	steps;
	unsigned int	step_us[MAX_STEPS];
	unsigned int	vary;
	unsigned int	percents;
	unsigned int	percent[MAX_PERCENTS];
	bool		mean_only;
	bool		json;
	/* private: used by options_parse() */
	unsigned long	numbered;
	const char	*file;
	sa_family_t	family;
	unsigned long	port;
	long		given_rank;
};

/**
 * struct program - the program's own part of the command line
 * @help: printed before the list of options
 * @own: its own options, ended by an empty one; their letters must not be shared ones
 * @own_help: printed after the shared options
 * @has_algorithm: does it have this algorithm of the list? NULL: it has all
 * @take: handle one of its own options; exits if @value is wrong
 * @context: argument of @take
 * @port: default port of hosts
 * @launched: without hosts, ranks may find each other by their launcher
 */
struct program {
	const char		*help;
	const struct option	*own;
	const char		*own_help;
	bool			(*has_algorithm)(int algorithm);
	void			(*take)(void *context, int letter, const char *value);
	void			*context;
	unsigned int		port;
	bool			launched;
};

/* Parse the command line. Exits if it is wrong, or asks for help. */
void options_parse(struct options *options, const struct program *program, int argc,
		   char **argv);

/* Are there no hosts on the command line? Then options_meet() is to be called. */
bool options_launched(const struct options *options);

/* This rank and the number of ranks, now that they are known. Exits if an option excludes them. */
void options_meet(struct options *options, unsigned int rank, unsigned int ranks);

/* The number of a name, of an array in which some may be NULL. Exits if there is none. */
unsigned int options_parse_name(const char *option, const char *name, const char *const *names,
				unsigned int count);

const char *options_algorithm_name(int algorithm);

const char *options_operation_name(unsigned int operation);

/* Does it move blocks, and combine nothing? */
bool options_moves_blocks(unsigned int operation);

/* Does its vector consist of a block for each host? */
bool options_has_blocks(unsigned int operation);

/* The number of elements, of all blocks together if it has a block for each host */
unsigned int options_vector(const struct options *options);

/* Is it a program that computes, of --steps or --efficiency? */
bool options_computes(const struct options *options);

/* Some hosts do not wait in it, and run ahead of others. */
bool options_runs_ahead(unsigned int operation);

#endif
