// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The registry of algorithms, and what "auto" chooses from it. The choice is a
 * function of operation and number of hosts alone: all hosts know these alike, and
 * two that chose differently would wait for each other indefinitely.
 */
#include "algorithm.h"

const struct coll_algorithm coll_algorithms[] = {
	{
		.name		= "dissemination",
		.operation	= COLLSOCK_BARRIER,
		.algorithm	= COLLSOCK_DISSEMINATION,
		.build		= coll_dissemination_build,
		.rounds		= coll_dissemination_rounds,
		.messages	= coll_dissemination_messages,
	},
	{
		.name		= "pairwise exchange",
		.operation	= COLLSOCK_BARRIER,
		.algorithm	= COLLSOCK_PAIRWISE_EXCHANGE,
		.build		= coll_pairwise_build,
		.rounds		= coll_pairwise_rounds,
		.messages	= coll_pairwise_messages,
	},
	{
		.name		= "recursive doubling",
		.operation	= COLLSOCK_ALLREDUCE,
		.algorithm	= COLLSOCK_PAIRWISE_EXCHANGE,
		.build		= coll_pairwise_build,
		.rounds		= coll_pairwise_rounds,
		.messages	= coll_pairwise_messages,
	},
	{
		.name		= "binomial tree",
		.operation	= COLLSOCK_BARRIER,
		.algorithm	= COLLSOCK_BINOMIAL,
		.build		= coll_binomial_build_both,
		.rounds		= coll_binomial_rounds_both,
		.messages	= coll_tree_messages_both,
	},
	{
		.name		= "k-ary tree",
		.operation	= COLLSOCK_BARRIER,
		.algorithm	= COLLSOCK_KARY,
		.fans_out	= true,
		.build		= coll_kary_build_both,
		.rounds		= coll_kary_rounds_both,
		.messages	= coll_tree_messages_both,
	},
	{
		.name		= "binomial reduce and broadcast",
		.operation	= COLLSOCK_ALLREDUCE,
		.algorithm	= COLLSOCK_BINOMIAL,
		.build		= coll_binomial_build_both,
		.rounds		= coll_binomial_rounds_both,
		.messages	= coll_tree_messages_both,
	},
	{
		.name		= "k-ary reduce and broadcast",
		.operation	= COLLSOCK_ALLREDUCE,
		.algorithm	= COLLSOCK_KARY,
		.fans_out	= true,
		.build		= coll_kary_build_both,
		.rounds		= coll_kary_rounds_both,
		.messages	= coll_tree_messages_both,
	},
	{
		.name		= "binomial reduce",
		.operation	= COLLSOCK_REDUCE,
		.algorithm	= COLLSOCK_BINOMIAL,
		.rooted		= true,
		.build		= coll_binomial_build_reduce,
		.rounds		= coll_binomial_rounds,
		.messages	= coll_tree_messages,
	},
	{
		.name		= "k-ary reduce",
		.operation	= COLLSOCK_REDUCE,
		.algorithm	= COLLSOCK_KARY,
		.rooted		= true,
		.fans_out	= true,
		.build		= coll_kary_build_reduce,
		.rounds		= coll_kary_rounds,
		.messages	= coll_tree_messages,
	},
	{
		.name		= "binomial broadcast",
		.operation	= COLLSOCK_BROADCAST,
		.algorithm	= COLLSOCK_BINOMIAL,
		.rooted		= true,
		.build		= coll_binomial_build_broadcast,
		.rounds		= coll_binomial_rounds,
		.messages	= coll_tree_messages,
	},
	{
		.name		= "k-ary broadcast",
		.operation	= COLLSOCK_BROADCAST,
		.algorithm	= COLLSOCK_KARY,
		.rooted		= true,
		.fans_out	= true,
		.build		= coll_kary_build_broadcast,
		.rounds		= coll_kary_rounds,
		.messages	= coll_tree_messages,
	},
};

const unsigned int coll_algorithms_count = ARRAY_SIZE(coll_algorithms);

/**
 * coll_algorithm_auto - what COLLSOCK_AUTO means
 * @operation: enum collsock_operation
 * @hosts: hosts of the group, at least 1
 *
 * Rounds decide, since each costs a crossing of the network, and a barrier waits
 * for nothing else. With m = floor(log2 n):
 *
 *			n = 2^m			any other n
 *	dissemination	m, n * m, 2m - 1	m + 1, n * (m + 1), 2m + 2 at most
 *	pairwise	m, n * m, m		m + 2, 2^m * m + 2 * (n - 2^m), m + 1 at most
 *
 * (rounds, messages, hosts that one host has to do with). So for a power of two
 * pairwise exchange is never worse: the same rounds and messages with half the
 * peers, and of two messages that cross between two hosts each acknowledges what
 * came before. For other n dissemination saves one round. An allreduce has no
 * choice: dissemination folds some contributions twice.
 *
 * Return: enum collsock_algorithm; COLLSOCK_AUTO if there is no such operation.
 */
u8 coll_algorithm_auto(u8 operation, u32 hosts)
{
	switch (operation) {
	case COLLSOCK_BARRIER:
		return is_power_of_2(hosts) ? COLLSOCK_PAIRWISE_EXCHANGE :
					      COLLSOCK_DISSEMINATION;
	case COLLSOCK_ALLREDUCE:
		return COLLSOCK_PAIRWISE_EXCHANGE;
	case COLLSOCK_REDUCE:
	case COLLSOCK_BROADCAST:
		return COLLSOCK_BINOMIAL;
	default:
		return COLLSOCK_AUTO;
	}
}

/**
 * coll_algorithm_find - the entry of an operation and algorithm
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm
 *
 * Return: the entry, or NULL if there is none. COLLSOCK_AUTO has none: ask
 * coll_algorithm_auto() first.
 */
const struct coll_algorithm *coll_algorithm_find(u8 operation, u8 algorithm)
{
	unsigned int i;

	for (i = 0; i < coll_algorithms_count; i++)
		if (coll_algorithms[i].operation == operation &&
		    coll_algorithms[i].algorithm == algorithm)
			return &coll_algorithms[i];
	return NULL;
}
