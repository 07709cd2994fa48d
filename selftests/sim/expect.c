// SPDX-License-Identifier: GPL-2.0
/*
 * What must come out of an operation. Contributions of a host are folded in the order
 * of its ranks. The order of hosts matters for rough values only; then the schedules of all
 * hosts are run here, round by round, for they say which order that is.
 */
#include <stdlib.h>

#include "sim.h"

/**
 * struct expected - the registers of all hosts in one operation
 * @group: whose
 * @op: the operation
 * @number: of it
 * @life: of the contributions of a host that has restarted
 * @schedules: of each host
 * @before: registers of each host at the beginning of a round
 * @after: and at its end
 */
struct expected {
	const struct sim_group	*group;
	const struct sim_op	*op;
	u32			number;
	u32			life;
	struct coll_schedule	*schedules;
	u8			*before;
	u8			*after;
};

/* What a host brings to the operation. */
static void fold_host(const struct expected *x, u32 host, u8 *result)
{
	const struct collsock_post *post = &x->op->post;
	const struct sim_rank *r;
	u8 payload[SIM_MAX_BYTES];
	bool first = true;

	for (r = x->group->lowest[host]; r; r = r->sibling) {
		if (!sim_values_contributes(x->op, r->number))
			continue;
		sim_values_payload(r, x->number, r->restarted ? x->life : 0, payload);
		if (first)
			memcpy(result, payload, x->op->bytes);
		else
			sim_values_fold(post, result, result, payload);
		first = false;
	}
}

/* ---- where the order does not matter ---- */

static void expect_exact(const struct expected *x, u8 *result)
{
	const struct collsock_post *post = &x->op->post;
	u8 payload[SIM_MAX_BYTES];
	u32 host;

	if (post->operation == COLLSOCK_BROADCAST) {
		fold_host(x, x->group->ranks[post->root].member->index, result);
		return;
	}
	fold_host(x, 0, result);
	for (host = 1; host < x->group->hosts; host++) {
		fold_host(x, host, payload);
		sim_values_fold(post, result, result, payload);
	}
}

/* ---- where it does ---- */

static u8 *register_of(const struct expected *x, u8 *registers, u32 host, u32 reg)
{
	return registers + ((size_t)host * COLL_MAX_REGISTERS + reg) * x->op->bytes;
}

/* The register that a host sends to another in a round. */
static u8 *sent_to(const struct expected *x, u32 from, u32 to, u32 round)
{
	const struct coll_schedule *s = &x->schedules[from];
	const struct coll_round *r = &s->round[round];
	u32 i;

	for (i = r->send_first; i < r->send_first + r->sends; i++)
		if (s->send[i].host == to)
			return register_of(x, x->before, from, s->send[i].reg);
	abort();
}

static void run_round(const struct expected *x, u32 host, u32 round)
{
	const struct coll_schedule *s = &x->schedules[host];
	const struct coll_round *r = &s->round[round];
	u32 i;

	if (round >= s->rounds)
		return;
	for (i = r->fold_first; i < r->fold_first + r->folds; i++) {
		const struct coll_edge *e = &s->fold[i];
		u8 *result = register_of(x, x->after, host, e->reg);
		const u8 *operand = e->host == host ?
				    register_of(x, x->before, host, e->reg) :
				    sent_to(x, e->host, host, round);

		if (e->action == COLL_PLACE)
			memcpy(result, operand, x->op->bytes);
		else if (e->action == COLL_FOLD_LEFT)
			sim_values_fold(&x->op->post, result, operand, result);
		else
			sim_values_fold(&x->op->post, result, result, operand);
	}
}

/* Returns the rounds of the host that has the most. */
static u32 build_schedules(const struct expected *x)
{
	const struct sim_group *g = x->group;
	const struct collsock_post *post = &x->op->post;
	const struct coll_algorithm *a;
	struct coll_shape shape = { .hosts = g->hosts, .fanout = g->common.join.fanout };
	u32 rounds = 0;

	a = coll_algorithm_find(post->operation, post->algorithm ?:
				coll_algorithm_auto(post->operation, g->hosts));
	shape.root = a->rooted ? g->host_of_rank[post->root] : 0;
	for (shape.self = 0; shape.self < g->hosts; shape.self++) {
		if (a->build(&x->schedules[shape.self], &shape) ||
		    x->schedules[shape.self].blocks != 1)
			abort();
		rounds = max_t(u32, rounds, x->schedules[shape.self].rounds);
	}
	return rounds;
}

static void expect_rough(struct expected *x, u8 *result)
{
	const struct sim_group *g = x->group;
	size_t bytes = (size_t)g->hosts * COLL_MAX_REGISTERS * x->op->bytes;
	u32 host, round, rounds;

	x->schedules = calloc(g->hosts, sizeof(*x->schedules));
	x->before = calloc(1, bytes);
	x->after = calloc(1, bytes);
	rounds = build_schedules(x);
	for (host = 0; host < g->hosts; host++)
		fold_host(x, host, register_of(x, x->after, host, 0));
	for (round = 0; round < rounds; round++) {
		memcpy(x->before, x->after, bytes);
		for (host = 0; host < g->hosts; host++)
			run_round(x, host, round);
	}
	host = x->op->post.operation == COLLSOCK_REDUCE ? g->host_of_rank[x->op->post.root] : 0;
	memcpy(result, register_of(x, x->after, host, 0), x->op->bytes);
	free(x->schedules);
	free(x->before);
	free(x->after);
}

/* ---- comparing ---- */

/* @life: of the ranks whose host has restarted. */
static void expect(struct sim_group *g, u32 number, u32 life)
{
	struct sim_op *op = &g->ops[number];
	struct expected x = { .group = g, .op = op, .number = number, .life = life };

	if (!op->expected)
		op->expected = malloc(op->bytes);
	op->life = life;
	if (op->rough)
		expect_rough(&x, op->expected);
	else
		expect_exact(&x, op->expected);
}

/*
 * A host that restarted may take part in its new life if nobody has heard of the
 * old one; but all ranks must have the same result.
 */
bool sim_expect_right(struct sim_rank *r, u32 number, const void *result)
{
	struct sim_group *g = r->group;
	struct sim_op *op = &g->ops[number];
	bool right;

	if (!op->bytes)
		return true;
	if (!op->expected)
		expect(g, number, 0);
	right = !memcmp(op->expected, result, op->bytes);
	/* Whom a root had not spoken to in its first life believes the second. */
	if (op->post.operation == COLLSOCK_BROADCAST && !right)
		op->agreed = 0;
	if (!right && !op->agreed) {
		expect(g, number, !op->life);
		right = !memcmp(op->expected, result, op->bytes);
	}
	if (right)
		op->agreed |= 1ULL << r->number;
	return right;
}
