/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Common code of the examples: the command line, joining, errors. */
#ifndef EXAMPLE_COMMON_H
#define EXAMPLE_COMMON_H

#include <stdnoreturn.h>

#include <collsock.h>

enum {
	EXIT_DONE	= 0,
	EXIT_FAILED	= 1,	/* joining or an operation failed */
	EXIT_USAGE	= 2,	/* wrong command line or hosts file */
};

/**
 * struct example - arguments of the command line
 * @name: of the program
 * @hosts_file: lists the host of each rank, one per line; NULL: a launcher has started the ranks
 * @key_file: or NULL
 * @rank: or -1: one of the ranks of this host
 * @local: index of that rank among those of this host, from 0
 * @id: of the group
 * @nonce: of this instance of the group
 * @has_nonce: there is one
 * @count: number of repetitions
 */
struct example {
	const char	*name;
	const char	*hosts_file;
	const char	*key_file;
	long		rank;
	__u32		local;
	__u64		id;
	__u64		nonce;
	int		has_nonce;
	unsigned long	count;
};

/* Parse the command line. @purpose is the first line of --help. Exits if it is wrong. */
void example_parse(struct example *e, int argc, char **argv, const char *purpose);

/* Join, and wait until all ranks are there; sets @e->rank. Exits if that fails. */
struct collsock *example_join(struct example *e, unsigned int open_flags);

/* Print what failed and what to do, and exit. */
noreturn void example_fail(const char *what, int error, __u32 failed_rank);

#endif
