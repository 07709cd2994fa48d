/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Which algorithm implements which operation, one line each. The order of lines has no meaning:
 * the number on the wire and in the interface is the algorithm's.
 *
 * A new algorithm is a file algo_*.c with its rows, a line here for each operation, its number and
 * name in uapi/linux/collsock_lists.h, and the same in Python, which tools/lists python writes.
 * Documentation/changing.md names the tests and pages.
 */
#ifndef COLL_CORE_ALGORITHM_LIST_H
#define COLL_CORE_ALGORITHM_LIST_H

/* LINE(operation, algorithm, row); the row is in the algorithm's own file */
#define COLL_ALGORITHM_LIST(LINE)						\
	LINE(BARRIER,	DISSEMINATION,		coll_dissemination_barrier)	\
	LINE(BARRIER,	EXCHANGE,		coll_exchange_barrier)		\
	LINE(ALLREDUCE,	EXCHANGE,		coll_exchange_allreduce)	\
	LINE(BARRIER,	BINOMIAL,		coll_binomial_barrier)		\
	LINE(BARRIER,	KARY,			coll_kary_barrier)		\
	LINE(ALLREDUCE,	BINOMIAL,		coll_binomial_allreduce)	\
	LINE(ALLREDUCE,	KARY,			coll_kary_allreduce)		\
	LINE(REDUCE,	BINOMIAL,		coll_binomial_reduce)		\
	LINE(REDUCE,	KARY,			coll_kary_reduce)		\
	LINE(BROADCAST,	BINOMIAL,		coll_binomial_broadcast)	\
	LINE(BROADCAST,	KARY,			coll_kary_broadcast)		\
	LINE(BARRIER,	FLAT,			coll_flat_barrier)		\
	LINE(ALLREDUCE,	FLAT,			coll_flat_allreduce)		\
	LINE(REDUCE,	FLAT,			coll_flat_reduce)		\
	LINE(BROADCAST,	FLAT,			coll_flat_broadcast)		\
	LINE(BARRIER,	MCS,			coll_mcs_barrier)		\
	LINE(ALLREDUCE,	MCS,			coll_mcs_allreduce)		\
	LINE(ALLGATHER,	DISSEMINATION,		coll_allgather_dissemination)	\
	LINE(GATHER,	BINOMIAL,		coll_binomial_gather)		\
	LINE(SCATTER,	BINOMIAL,		coll_binomial_scatter)		\
	LINE(SCAN,	HILLIS_STEELE,		coll_hillis_steele_scan)	\
	LINE(ALLREDUCE,	HALVING,		coll_halving_allreduce)

#endif
