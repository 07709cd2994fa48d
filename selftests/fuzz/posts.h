/* SPDX-License-Identifier: GPL-2.0 */
/* What scripts post, and by which algorithms: valid requests, chosen by bytes of the input. */
#ifndef FUZZ_POSTS_H
#define FUZZ_POSTS_H

#include "descriptor.h"
#include "events.h"
#include "fuzz.h"
#include "reduce.h"
#include "registry.h"

#define OTHER_DEGREE	3	/* which posts may name */

/* One of the algorithms that the operation has, or COLLSOCK_AUTO */
static u8 choose_algorithm(u32 operation, u32 choice)
{
	u8 has[COLL_MAX_ALGORITHMS] = { COLLSOCK_AUTO };
	u32 i, count = 1;

	for (i = 0; i < COLL_MAX_ALGORITHMS; i++)
		if (coll_registry_find(operation, i))
			has[count++] = i;
	return has[choice % count];
}

/* The group has every algorithm. What AUTO is of each operation follows from a byte. */
static void choose_algorithms(struct fuzz_input *in, struct collsock_join *request)
{
	struct collsock_features f;
	u8 choice = fuzz_byte(in);
	u32 i;

	coll_descriptor_features(&f);
	request->algorithms = f.algorithms;
	for (i = 0; i < COLL_MAX_OPERATIONS; i++)
		if (coll_operation_find(i))
			request->algorithm[i] = choose_algorithm(i, choice);
}

static void choose_barrier(struct collsock_post *p, u8 how)
{
	p->operation = COLLSOCK_BARRIER;
	p->algorithm = how % 3;
	p->degree = how >= 0xc0 ? OTHER_DEGREE : 0;
}

static void choose_allreduce(const struct collsock_join *j, struct fuzz_input *in,
			     struct collsock_post *p)
{
	p->operation = COLLSOCK_ALLREDUCE;
	/* Numbers, pairs, and beyond bytes and exact sums 16-bit floats */
	p->type = 1 + fuzz_below(in, COLLSOCK_INT16_INT + 2);
	p->op = 1 + fuzz_below(in, COLLSOCK_MAXLOC);
	if (p->type > COLLSOCK_INT16_INT)
		p->type += COLLSOCK_EXACT - COLLSOCK_INT16_INT;
	else if (p->type >= COLLSOCK_FLOAT_INT)
		p->op = COLLSOCK_MINLOC + p->op % 2;
	p->count = 1 + fuzz_below(in, j->max_bytes / coll_type_bytes(p->type));
}

/* A valid operation with a block of bytes for each rank, the root being any */
static void choose_blocks(const struct collsock_join *j, struct collsock_post *p, u32 choice)
{
	u32 most;

	*p = (struct collsock_post){ .size = sizeof(*p), .type = COLLSOCK_BYTE };
	p->operation = COLLSOCK_ALLGATHER + choice % 4;
	if (p->operation == COLLSOCK_REDUCE_SCATTER_BLOCK) {
		p->type = COLLSOCK_UINT8;
		p->op = COLLSOCK_MAX;
	}
	most = p->op ? j->max_bytes : j->max_result_bytes;
	p->count = 1 + (choice >> 2) % (most / j->ranks);
	if (coll_operations[p->operation].rooted)
		p->root = (choice >> 10) % j->ranks;
}

/* A valid scan, if ranks are placed in their order */
static void choose_scan(const struct collsock_join *j, struct collsock_post *p, u32 choice)
{
	*p = (struct collsock_post){ .size = sizeof(*p), .type = COLLSOCK_UINT16 };
	p->operation = COLLSOCK_SCAN + choice % 2;
	p->op = COLLSOCK_SUM;
	p->count = 1 + (choice >> 1) % (j->max_bytes / 2);
}

/* A valid operation with a root, a block for each rank, or prefixes */
static void choose_rooted(const struct collsock_join *j, struct collsock_post *p)
{
	u32 choice = p->cookie >> 1;

	if (p->cookie >> 33 & 1) {
		choose_scan(j, p, choice);
		return;
	}
	if (choice >> 15 & 1) {
		choose_blocks(j, p, choice >> 16);
		return;
	}
	*p = (struct collsock_post){ .size = sizeof(*p), .type = COLLSOCK_INT64 };
	p->operation = choice & 1 ? COLLSOCK_REDUCE : COLLSOCK_BROADCAST;
	p->op = choice & 1 ? COLLSOCK_SUM : COLLSOCK_NOP;
	p->count = 1 + (choice >> 1) % 2;
	p->root = (choice >> 2) % j->ranks;
}

/* What the event posts, which is one of three */
static void choose_post(const struct collsock_join *j, enum fuzz_event event,
			struct fuzz_input *in, struct collsock_post *p)
{
	*p = (struct collsock_post){ .size = sizeof(*p) };
	if (event == EVENT_BARRIER)
		return choose_barrier(p, fuzz_byte(in));
	if (event == EVENT_ALLREDUCE)
		return choose_allreduce(j, in, p);
	fuzz_copy(in, p, sizeof(*p));
	if (p->cookie & 1)
		choose_rooted(j, p);
}

#endif
