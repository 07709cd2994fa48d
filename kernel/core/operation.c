// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "operation.h"

/*
 * Is it a power of the degree? A group with no more hosts than the degree counts as one, since all
 * its hosts exchange with each other.
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

/* A degree that is selected is for algorithms other than trees. */
static bool operation_has_kary(u32 hosts, u32 degree)
{
	return !degree && hosts <= COLLSOCK_MAX_KARY_HOSTS;
}

/* 5, 9, 17 hosts: in an exchange or halving one of them hands its whole vector in and out. */
static bool operation_is_one_more(u32 hosts)
{
	return hosts > 4 && operation_is_power(hosts - 1, 2);
}

/* 17 or 65 hosts: with degree 4 all but one of them exchange in half as many rounds. */
static bool operation_has_degree_4(u32 hosts)
{
	return hosts > 5 && operation_is_power(hosts - 1, 4);
}

/*
 * Three hosts exchange in one round. Four need more packets to halve up to 4,096 bytes. With one
 * host more than a power of two, except five hosts, several segments are faster in a tree.
 */
static u32 operation_medium_allreduce(u32 hosts)
{
	if (hosts < 5)
		return hosts == 3 ? 8192 : 4096;
	return hosts > 5 && operation_is_one_more(hosts) ? COLLSOCK_DEFAULT_SEGMENT : 2048;
}

/*
 * Short and medium vectors are exchanged: dissemination would fold some contributions twice, and
 * trees have twice the rounds. Long vectors are halved: that also takes twice the rounds, but a
 * host sends less than two vectors in all, instead of one in each round, and folds less than one.
 * If one host hands in its whole vector, a binary tree is faster for long ones. A degree that is
 * selected is for exchange.
 */
static struct coll_choice operation_choose_allreduce(u32 hosts, u32 degree, enum coll_length length)
{
	if (length == COLL_MEDIUM && !degree && operation_has_degree_4(hosts))
		return (struct coll_choice) { .algorithm = COLLSOCK_EXCHANGE, .degree = 4 };
	if (length != COLL_LONG || degree)
		return (struct coll_choice) { .algorithm = COLLSOCK_EXCHANGE };
	if (operation_is_one_more(hosts) && operation_has_kary(hosts, degree))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	return (struct coll_choice) { .algorithm = COLLSOCK_HALVING };
}

static u32 operation_medium_allgather(u32 hosts)
{
	return 2048;
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

/* With 7 to 20 hosts four segments are too few for a pipeline, with 5 and 6 three are enough. */
static u32 operation_medium_broadcast(u32 hosts)
{
	if (hosts == 5 || hosts == 6)
		return 2048;
	return hosts > 6 && hosts <= 20 ? 4096 : 3072;
}

/*
 * Trees of degree 4 are faster than binomial ones, since a message travels for as long as it takes
 * to send several packets. In a binary tree a host sends each segment to two others, and segments
 * of a long vector travel at all levels at once. For the numbers of hosts below, the binomial tree
 * is faster nevertheless: with 7 hosts by up to 8 %; for long vectors with 6 hosts by up to 17 %,
 * with 4 by 2 %.
 */
static struct coll_choice operation_choose_broadcast(u32 hosts, u32 degree, enum coll_length length)
{
	bool binomial = length == COLL_LONG ? hosts == 4 || hosts == 6 : hosts == 7;

	if (!operation_has_kary(hosts, degree) || binomial)
		return (struct coll_choice) { .algorithm = COLLSOCK_BINOMIAL };
	if (length == COLL_LONG)
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
	return (struct coll_choice) { .algorithm = COLLSOCK_KARY };
}

/*
 * Up to four segments reach the root of 8 or 16 hosts faster by a binomial tree. With 6 hosts, and
 * with one more than a power of two, the root of a binary tree has fewer messages of two segments.
 */
static u32 operation_medium_reduce(u32 hosts)
{
	if (hosts == 8 || hosts == 16)
		return 4096;
	if (hosts == 4 || hosts == 6 || operation_is_one_more(hosts))
		return COLLSOCK_DEFAULT_SEGMENT;
	return 2048;
}

/*
 * In a binomial tree the children of a host finish one after the other, each when the host has
 * folded the message of the one before. In a tree of degree 4 their messages come together, and are
 * folded one after the other. For long vectors the reasons are those of a broadcast. With four
 * hosts a binary tree is equally fast, and with some hundred bytes faster by up to 7 %.
 */
static struct coll_choice operation_choose_reduce(u32 hosts, u32 degree, enum coll_length length)
{
	bool binary = length == COLL_LONG ? hosts > 4 : hosts == 4;

	if (binary && operation_has_kary(hosts, degree))
		return (struct coll_choice) { .algorithm = COLLSOCK_KARY, .degree = 2 };
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
		.medium		= operation_medium_allreduce,
		.choose		= operation_choose_allreduce,
	},
	[COLLSOCK_REDUCE] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ROOT,
		.rooted		= true,
		.typed		= true,
		.reduces	= true,
		.medium		= operation_medium_reduce,
		.choose		= operation_choose_reduce,
	},
	[COLLSOCK_BROADCAST] = {
		.contributes	= COLL_ROOT,
		.receives	= COLL_OTHERS,
		.rooted		= true,
		.typed		= true,
		.medium		= operation_medium_broadcast,
		.choose		= operation_choose_broadcast,
	},
	[COLLSOCK_ALLGATHER] = {
		.contributes	= COLL_ALL,
		.receives	= COLL_ALL,
		.typed		= true,
		.blocks		= true,
		.own_in		= true,
		.medium		= operation_medium_allgather,
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
		.medium		= operation_medium_allreduce,
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
