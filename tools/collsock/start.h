/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options of the commands that start ranks: run, barrier and allreduce. They are passed on as
 * variables of the environment, which libcollsock reads.
 */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <stdint.h>

#define START_USAGE	2	/* exit status of barrier and allreduce after a wrong usage */

/**
 * struct start - the options
 * @usage: exit status after a wrong usage
 * @local: number of ranks on this host; 0: not given
 * @timeout_s: of barrier and allreduce; 0: not given
 * @operator: of allreduce, by its name, or NULL
 * @hosts: of the ranks, with commas between them, or NULL
 * @names: each of these
 * @has_rank: the rank was given, too
 */
struct start {
	int		usage;
	uint32_t	local;
	uint32_t	timeout_s;
	const char	*operator;
	char		*hosts;
	char		**names;
	bool		has_rank;
};

/**
 * start_parse() - read the options, and set variables
 * @start: out; @usage is set
 * @argc: as of main(), from the name of the command on
 * @argv: likewise
 * @letters: of the options that the command has: of "lrnRHpNto"
 *
 * Exits with @usage if something is wrong. Return: the words after the options.
 */
char **start_parse(struct start *start, int argc, char **argv, const char *letters);

#endif
