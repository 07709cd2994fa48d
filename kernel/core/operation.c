// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "operation.h"

/*
 * Is it a power of the degree? Groups of no more hosts than the degree count, as all hosts
 * exchange with all there.
 */
static bool operation_is_power(u32 hosts, u32 degree)
{
	u32 power = 1;

	degree = clamp(degree ?: coll_operation_usual_degree(hosts), 2U,
		       (u32)COLLSOCK_MAX_EXCHANGE_DEGREE);
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
static struct coll_choice operation_choose_barrier(u32 hosts, u32 degree, enum coll_length length)
{
	if (operation_is_power(hosts, degree))
		return (struct coll_choice) { .algorithm = COLLSOCK_EXCHANGE };
	return (struct coll_choice) { .algorithm = COLLSOCK_DISSEMINATION };
}

/*
 * Dissemination would fold some contributions twice, and trees have twice the rounds. So has
 * halving, but with less than two vectors to send for each host, instead of one in each round, and
 * less than one to fold. Of 5 hosts one hands in its whole vector: a binary tree is quicker. A
 * degree that somebody selects is for exchange.
 */
static struct coll_choice operation_choose_allreduce(u32 hosts, u32 degree, enum coll_length length)
{
	if (length != COLL_LONG || degree)
		return (struct coll_choice) { .algorithm = COLLSOCK_EXCHANGE };
	if (hosts == 5)
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	return (struct coll_choice) { .algorithm = COLLSOCK_HALVING };
}

/* Long blocks are not sent twice by the same host at the same time. */
static struct coll_choice operation_choose_allgather(u32 hosts, u32 degree, enum coll_length length)
{
	return (struct coll_choice) {
		.algorithm	= COLLSOCK_DISSEMINATION,
		.degree		= length == COLL_LONG && !degree ? 2 : 0,
	};
}

static struct coll_choice operation_choose_places(u32 hosts, u32 degree, enum coll_length length)
{
	return (struct coll_choice) { .algorithm = COLLSOCK_BINOMIAL };
}

/* A degree that somebody selects is for other operations than those of trees. */
static bool operation_has_kary(u32 hosts, u32 degree)
{
	return !degree && hosts <= COLLSOCK_MAX_KARY_HOSTS;
}

/*
 * In a binary tree a host sends each segment to two others, and segments of a long vector are on
 * their way at the same time at all heights. Up to 4 hosts other trees are as quick.
 */
static bool operation_is_binary(u32 hosts, u32 degree, enum coll_length length)
{
	return length == COLL_LONG && hosts > 4 && operation_has_kary(hosts, degree);
}

/*
 * Trees of degree 4 are quicker than binomial ones, as long as folding does not count: a message
 * takes as long as some packets take to send. Of the numbers of hosts that are exceptions those of
 * more than 5 % are left to binomial trees.
 */
static struct coll_choice operation_choose_broadcast(u32 hosts, u32 degree, enum coll_length length)
{
	if (operation_is_binary(hosts, degree, length))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	if (operation_has_kary(hosts, degree) && hosts != 7)
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY };
	return (struct coll_choice) { .algorithm = COLLSOCK_BINOMIAL };
}

static struct coll_choice operation_choose_reduce(u32 hosts, u32 degree, enum coll_length length)
{
	bool exception = hosts == 5 || hosts == 7 || hosts == 17;

	/* Up to one segment, the most that groups have by default; longer, it is as much slower. */
	if (length == COLL_MEDIUM && hosts == 4 && operation_has_kary(hosts, degree))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	if (operation_is_binary(hosts, degree, length))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	if (length == COLL_SHORT && operation_has_kary(hosts, degree) && !exception)
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY };
	return (struct coll_choice) { .algorithm = COLLSOCK_BINOMIAL };
}

static struct coll_choice operation_choose_scan(u32 hosts, u32 degree, enum coll_length length)
{
	return (struct coll_choice) { .algorithm = COLLSOCK_HILLIS_STEELE };
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
