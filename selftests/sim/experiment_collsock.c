// SPDX-License-Identifier: GPL-2.0
/* Operations of the core: one call, one sleep; the rest is softirq. */
#include "experiment.h"

/* Whole numbers, so sums are exact in any order. */
/* The contribution of a host to the reduce of an iteration, and the sum, in element i. */
static double exp_value(u32 host, u32 number, u32 i)
{
	return (double)(host + 1) * (i + 1) + number;
}

static double exp_sum(u32 hosts, u32 number, u32 i)
{
	return (double)hosts * (hosts + 1) / 2 * (i + 1) + (double)hosts * number;
}

int exp_collsock_start(struct experiment *x)
{
	const struct exp_settings *s = &x->settings;
	struct collsock_join join = {
		.size = sizeof(join), .id = 7, .hosts = s->hosts, .ranks = s->hosts,
		.max_bytes = max(s->doubles, 1U) * sizeof(double),
		.algorithm[COLLSOCK_BARRIER] = s->barrier,
		.algorithm[COLLSOCK_REDUCE] = COLLSOCK_BINOMIAL,
		.multicast[0] = s->multicast, .degree = s->degree,
	};
	u32 i;

	/* For posts that name them */
	if (s->post.algorithm)
		join.algorithms = 1ULL << s->post.algorithm | 1ULL << s->barrier;
	if (s->post.degree)
		join.degrees = COLLSOCK_DEGREE(s->post.degree);
	if (world_group_init(&x->world, &x->group, &join, NULL, NULL))
		return -EINVAL;
	for (i = 0; i < s->hosts; i++) {
		x->hosts[i].cpu->send_ns = s->costs.send;
		x->hosts[i].member = &x->group.members[i];
		if (world_join(x->hosts[i].member))
			return -EINVAL;
	}
	return 0;
}

static void is_over(struct exp_host *h)
{
	h->number++;
	h->then(h);
}

/* An event during the transition to sleep wakes it, too. */
static void has_fallen_asleep(struct exp_host *h)
{
	exp_sleep(h);
	if (h->completed)
		exp_wake(h, is_over);
}

static int post_reduce(struct exp_host *h)
{
	struct collsock_post post = {
		.size = sizeof(post), .operation = COLLSOCK_REDUCE, .type = COLLSOCK_DOUBLE,
		.op = COLLSOCK_SUM, .count = h->x->settings.doubles,
	};
	double values[EXP_MOST_DOUBLES];
	u32 i;

	for (i = 0; i < post.count; i++)
		values[i] = exp_value(h->id, h->number, i);
	return world_post(h->member, &post, values, post.count * sizeof(double), h);
}

/* What the settings say. Nobody looks at the values. */
static int post_chosen(struct exp_host *h)
{
	static const double values[EXP_MOST_DOUBLES];
	const struct exp_settings *s = &h->x->settings;
	const struct coll_operation *operation = &coll_operations[s->post.operation];
	struct collsock_post post = s->post;
	u32 bytes = 0;

	post.size = sizeof(post);
	if (operation->typed && coll_operation_contributes(post.operation, !h->id))
		bytes = (operation->own_in ? post.count : s->doubles) * sizeof(double);
	return world_post(h->member, &post, values, bytes, h);
}

static int post_barrier(struct exp_host *h)
{
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };

	return world_post(h->member, &post, NULL, 0, h);
}

static void posts(struct exp_host *h)
{
	int err;

	h->completed = false;
	err = h->operation == EXP_REDUCE ? post_reduce(h) :
	      h->operation == EXP_POST ? post_chosen(h) : post_barrier(h);
	h->x->wrong += !!err;
	if (h->completed)
		is_over(h);
	else if (h->spins)
		exp_spin(h);
	else
		exp_compute(h, h->x->settings.costs.sleep, has_fallen_asleep);
}

void exp_collsock_operate(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;
	u64 ns = s->costs.post + (s->mpi ? s->costs.mpi : 0);

	if (h->operation == EXP_REDUCE && h->id)
		ns += s->costs.answered;
	exp_compute(h, ns, posts);
}

/* ---- callbacks of the world ---- */

static void check(struct exp_host *h, const double *result, u32 bytes)
{
	u32 i, doubles = h->x->settings.doubles;

	if (h->operation != EXP_REDUCE || h->id)
		return;
	for (i = 0; bytes == doubles * sizeof(double) && i < doubles; i++)
		if (result[i] != exp_sum(h->x->settings.hosts, h->number, i))
			break;
	if (i == doubles)
		h->x->checked++;
	else
		h->x->wrong++;
}

/* Do the elements of a packet's payload have to be folded? */
static bool is_folded(const struct coll_body *body)
{
	return coll_operation_find(body->signature.operation) &&
	       coll_operations[body->signature.operation].reduces;
}

static void completes(struct world_member *m, void *token, const void *result, u32 bytes,
		      u32 error, u32 failed_rank)
{
	struct exp_host *h = token;

	h->completed = true;
	h->x->wrong += !!error;
	check(h, result, bytes);
	if (h->state == EXP_SPINS) {
		exp_spun(h);
		exp_compute(h, 0, is_over);
	} else if (h->state == EXP_SLEEPS) {
		exp_wake(h, is_over);
	}
}

static void before(struct world_member *m, const struct world_packet *p)
{
	const struct experiment *x = m->world->owner;
	const struct exp_costs *costs = &x->settings.costs;
	struct coll_body body;
	u64 ns = costs->timer;

	if (p) {
		coll_wire_read_body(p->data, p->bytes, &body);
		ns = costs->receive;
		if (body.payload_bytes && (body.type == COLL_PACKET_MESSAGE ||
					   body.type == COLL_PACKET_MULTICAST))
			ns += costs->data + (is_folded(&body) ? body.payload_bytes /
					     sizeof(double) * costs->fold : 0);
	}
	world_work(m->world, m->host, ns);
}

const struct world_user exp_collsock_user = {
	.complete	= completes,
	.before		= before,
};
