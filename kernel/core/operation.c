// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "operation.h"

/*
 * Is it a power of the degree? Groups of no more hosts than the degree count, as all hosts
 * exchange with all there.
 */
static bool operation_is_power(u32 hosts, u32 degree)
{
	u32 power = 1;

	degree = clamp(degree, 2U, (u32)COLLSOCK_MAX_EXCHANGE_DEGREE);
	while (power < hosts)
		power *= degree;
	return power == hosts || hosts <= degree;
}

/*
 * The number of rounds decides, since a barrier waits for nothing but one network latency
 * per round. With m = floor(log_k n), k being the degree, for k = 2:
 *
 *			n = 2^m			any other n
 *	dissemination	m, n * m, 2m - 1	m + 1, n * (m + 1), 2m + 2 at most
 *	exchange	m, n * m, m		m + 2, 2^m * m + 2 * (n - 2^m), m + 1 at most
 *
 * (rounds, messages, peers of one host). So for a power of the degree exchange is never
 * worse: it has the same rounds and messages with half the peers, and two messages that
 * cross between two hosts acknowledge earlier ones. For other n dissemination saves one
 * round.
 */
static u8 operation_choose_barrier(u32 hosts, u32 degree, enum coll_length length)
{
	return operation_is_power(hosts, degree) ? COLLSOCK_EXCHANGE : COLLSOCK_DISSEMINATION;
}

/*
 * Dissemination would fold some contributions twice, and trees have twice the rounds. So has
 * halving, but with less than two vectors to send for each host, instead of one in each round, and
 * less than one to fold. A degree that somebody selects is for exchange.
 */
static u8 operation_choose_allreduce(u32 hosts, u32 degree, enum coll_length length)
{
	return length == COLL_LONG && !degree ? COLLSOCK_HALVING : COLLSOCK_EXCHANGE;
}

static u8 operation_choose_allgather(u32 hosts, u32 degree, enum coll_length length)
{
	return COLLSOCK_DISSEMINATION;
}

static u8 operation_choose_places(u32 hosts, u32 degree, enum coll_length length)
{
	return COLLSOCK_BINOMIAL;
}

/*
 * Trees of degree 4 are quicker than binomial ones, as long as folding does not count: a message
 * takes as long as some packets take to send. Of the numbers of hosts that are exceptions those of
 * more than 5 % are left to binomial trees. A degree that somebody selects is for other operations.
 */
static u8 operation_choose_broadcast(u32 hosts, u32 degree, enum coll_length length)
{
	return degree || hosts > COLLSOCK_MAX_KARY_HOSTS || hosts == 7 ? COLLSOCK_BINOMIAL :
									  COLLSOCK_KARY;
}

static u8 operation_choose_reduce(u32 hosts, u32 degree, enum coll_length length)
{
	bool exception = hosts == 5 || hosts == 7 || hosts == 17;

	return length != COLL_SHORT || degree || hosts > COLLSOCK_MAX_KARY_HOSTS || exception ?
	       COLLSOCK_BINOMIAL : COLLSOCK_KARY;
}

static u8 operation_choose_scan(u32 hosts, u32 degree, enum coll_length length)
{
	return COLLSOCK_HILLIS_STEELE;
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
		.choose		= operation_choose_reduce,
	},
	[COLLSOCK_BROADCAST] = {
		.contributes	= COLL_ROOT,
		.receives	= COLL_OTHERS,
		.rooted		= true,
		.typed		= true,
		.choose		= operation_choose_broadcast,
	},
	[COLLSOCK_ALLGATHER] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.blocks		= true,
		.own_in		= true,
		.choose		= operation_choose_allgather,
	},
	[COLLSOCK_GATHER] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ROOT,
		.rooted		= true,
		.typed		= true,
		.blocks		= true,
		.own_in		= true,
		.choose		= operation_choose_places,
	},
	[COLLSOCK_SCATTER] = {
		.contributes	= COLL_ROOT,
		.receives	= COLL_ALL,
		.rooted		= true,
		.typed		= true,
		.blocks		= true,
		.own_out	= true,
		.choose		= operation_choose_places,
	},
	[COLLSOCK_REDUCE_SCATTER_BLOCK] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.reduces	= true,
		.blocks		= true,
		.own_out	= true,
		.schedules_of	= COLLSOCK_ALLREDUCE,
		.choose		= operation_choose_allreduce,
	},
	[COLLSOCK_SCAN] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.reduces	= true,
		.prefix		= true,
		.choose		= operation_choose_scan,
	},
	[COLLSOCK_EXSCAN] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.reduces	= true,
		.prefix		= true,
		.exclusive	= true,
		.schedules_of	= COLLSOCK_SCAN,
		.choose		= operation_choose_scan,
	},
};
