/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of an operation in user space: a list of steps, made once. A step sends to a
 * host, waits for a message, or does both in this order. Pure: no messages, no time.
 */
#ifndef COLLPERF_PLAN_H
#define COLLPERF_PLAN_H

#include <stdbool.h>

#include "options.h"

#define NOBODY (-1)

/* Slots of a host: one for each message that it receives in an operation */
#define PLAN_SLOTS 128

/* Up a broad tree and down again, or a send and a wait for each slot */
#define PLAN_STEPS (2 * PLAN_SLOTS)

/**
 * struct range - consecutive blocks: those of hosts, with host 0 after the last one; in halving,
 *	one for each host that exchanges, equally long but for the last ones
 * @first: number of the first one
 * @blocks: their number
 */
struct range {
	unsigned int	first;
	unsigned int	blocks;
};

/**
 * struct step - step of an operation
 * @to: rank to send to, or NOBODY
 * @to_slot: which of the receiver's slots the message is for
 * @slot: slot whose message the step waits for, or NOBODY
 * @replaces: its data replaces the local data instead of being added
 * @given: blocks to send, if the operation moves blocks or the algorithm is halving
 * @taken: blocks to receive then
 */
struct step {
	int	to;
	int	to_slot;
	int	slot;
	bool	replaces;
	struct range	given;
	struct range	taken;
};

/**
 * struct plan - one host's side of an operation
 * @blocks: of the vector, if the algorithm is halving; else 0
 * @steps: number of steps
 * @step: the steps
 */
struct plan {
	unsigned int	blocks;
	unsigned int	steps;
	struct step	step[PLAN_STEPS];
};

/**
 * struct shape - parameters of a plan
 * @operation: enum collsock_operation
 * @algorithm: enum collsock_algorithm, one that the operation has
 * @hosts: number of hosts
 * @rank: rank of this host
 * @root: root of a reduce, broadcast, gather or scatter, else 0
 * @degree: of the algorithm, if it has one
 */
struct shape {
	unsigned int	operation;
	int		algorithm;
	unsigned int	hosts;
	unsigned int	rank;
	unsigned int	root;
	unsigned int	degree;
};

/* Is there a plan of this algorithm? The kernel may have others. */
bool plan_has(int algorithm);

void plan_make(struct plan *plan, const struct shape *shape);

#endif
