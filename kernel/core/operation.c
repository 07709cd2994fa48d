// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "operation.h"

/*
 * The number of rounds decides, since a barrier waits for nothing but one network latency
 * per round. With m = floor(log2 n):
 *
 *			n = 2^m			any other n
 *	dissemination	m, n * m, 2m - 1	m + 1, n * (m + 1), 2m + 2 at most
 *	pairwise	m, n * m, m		m + 2, 2^m * m + 2 * (n - 2^m), m + 1 at most
 *
 * (rounds, messages, peers of one host). So for a power of two pairwise exchange is never
 * worse: it has the same rounds and messages with half the peers, and two messages that
 * cross between two hosts acknowledge earlier ones. For other n dissemination saves one
 * round.
 */
static u8 operation_choose_barrier(u32 hosts)
{
	return is_power_of_2(hosts) ? COLLSOCK_PAIRWISE_EXCHANGE : COLLSOCK_DISSEMINATION;
}

/* Dissemination would fold some contributions twice, and trees have twice the rounds. */
static u8 operation_choose_allreduce(u32 hosts)
{
	return COLLSOCK_PAIRWISE_EXCHANGE;
}

static u8 operation_choose_tree(u32 hosts)
{
	return COLLSOCK_BINOMIAL;
}

const struct coll_operation coll_operations[COLL_MAX_OPERATIONS] = {
	[COLLSOCK_BARRIER] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.choose		= operation_choose_barrier,
	},
	[COLLSOCK_ALLREDUCE] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.reduces	= true,
		.choose		= operation_choose_allreduce,
	},
	[COLLSOCK_REDUCE] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ROOT,
		.rooted		= true,
		.typed		= true,
		.reduces	= true,
		.choose		= operation_choose_tree,
	},
	[COLLSOCK_BROADCAST] = {
		.contributes	= COLL_ROOT,
		.receives	= COLL_OTHERS,
		.rooted		= true,
		.typed		= true,
		.choose		= operation_choose_tree,
	},
};
