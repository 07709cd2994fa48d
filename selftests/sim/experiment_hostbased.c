// SPDX-License-Identifier: GPL-2.0
/*
 * Operations implemented by programs over datagrams, as in tools/collperf/hostbased.c, with
 * the schedules of the core: a call for each message sent or received, and sleeping or
 * polling while there is none. Nothing is acknowledged; nothing is lost.
 */
#include <stdlib.h>

#include "experiment.h"

/* Operation and slot */
#define HEADER_BYTES	8

/**
 * struct exp_datagram - in transit, or in a socket
 * @next: next datagram in the socket
 * @to: host
 * @from: host
 * @number: of the operation
 * @round: of its schedule
 * @operation: which schedule
 */
struct exp_datagram {
	struct exp_datagram	*next;
	struct exp_host		*to;
	u32			from;
	u32			number;
	u32			round;
	enum exp_operation	operation;
};

static int build(struct experiment *x, enum exp_operation operation, u8 what, u8 algorithm)
{
	const struct coll_algorithm *a = coll_registry_find(what, algorithm);
	struct coll_shape shape = { .hosts = x->settings.hosts };
	int err = a ? 0 : -EINVAL;

	x->schedules[operation] = calloc(shape.hosts, sizeof(struct coll_schedule));
	shape.degree = a ? coll_algorithm_usual_degree(a, shape.hosts) : 0;
	for (; !err && shape.self < shape.hosts; shape.self++)
		err = a->build(&x->schedules[operation][shape.self], &shape);
	return err;
}

int exp_hostbased_start(struct experiment *x)
{
	return build(x, EXP_BARRIER, COLLSOCK_BARRIER, x->settings.barrier) ?:
	       build(x, EXP_REDUCE, COLLSOCK_REDUCE, COLLSOCK_BINOMIAL);
}

static u32 doubles(const struct exp_host *h, enum exp_operation operation)
{
	return operation == EXP_REDUCE ? h->x->settings.doubles : 0;
}

/* ---- receiving ---- */

static void advances(struct exp_host *h);
static void receives(struct exp_host *h);

static void has_received(struct exp_host *h)
{
	struct exp_datagram *d = h->queue;
	int edge = coll_schedule_find(&h->x->schedules[d->operation][h->id], d->round, d->from);

	h->x->wrong += edge < 0 || d->number - h->number >= EXP_WINDOW;
	h->came[d->number % EXP_WINDOW][max(edge, 0)] = true;
	h->queue = d->next;
	if (!h->queue)
		h->last = &h->queue;
	free(d);
	advances(h);
}

/* A datagram during the transition to sleep wakes it, too. */
static void has_fallen_asleep(struct exp_host *h)
{
	exp_sleep(h);
	if (h->queue)
		exp_wake(h, receives);
}

/* One call; it receives a datagram, or waits. */
static void receives(struct exp_host *h)
{
	const struct exp_costs *costs = &h->x->settings.costs;

	if (h->queue)
		exp_compute(h, costs->recv + doubles(h, h->queue->operation) * costs->element,
			    has_received);
	else if (h->spins)
		exp_spin(h);
	else
		exp_compute(h, costs->sleep, has_fallen_asleep);
}

/* A polling program has begun with a call that finds nothing. */
static void arrives_on_cpu(struct world *w, void *what)
{
	struct exp_datagram *d = what;
	struct exp_host *h = d->to;
	const struct exp_costs *costs = &h->x->settings.costs;

	world_work(w, h->cpu, costs->arrive);
	d->next = NULL;
	*h->last = d;
	h->last = &d->next;
	if (h->state == EXP_SLEEPS)
		exp_wake(h, receives);
	else if (h->state == EXP_SPINS)
		exp_compute(h, costs->poll - exp_spun(h) % costs->poll, receives);
}

static void arrives(struct world *w, void *what)
{
	struct exp_datagram *d = what;

	world_on_cpu(w, d->to->cpu, arrives_on_cpu, d);
}

/* ---- sending, round after round ---- */

static void sends(struct exp_host *h)
{
	const struct coll_round *round = &h->schedule->round[h->round];
	const struct exp_costs *costs = &h->x->settings.costs;
	struct exp_datagram *d = malloc(sizeof(*d));
	u32 bytes = HEADER_BYTES + doubles(h, h->operation) * sizeof(double);
	struct world *w = &h->x->world;

	*d = (struct exp_datagram){
		.to = &h->x->hosts[h->schedule->send[round->send_first + h->sent].host],
		.from = h->id, .number = h->number, .round = h->round, .operation = h->operation,
	};
	h->sent++;
	world_at(w, w->now + costs->wire + bytes * costs->byte / 1000, arrives, d);
	advances(h);
}

/* False if a message of this round is missing. */
static bool folds(struct exp_host *h)
{
	const struct coll_round *round = &h->schedule->round[h->round];
	bool *came = h->came[h->number % EXP_WINDOW];

	for (; h->folded < round->folds; h->folded++) {
		u32 edge = round->fold_first + h->folded;

		if (h->schedule->fold[edge].host == h->id)
			continue;
		if (!came[edge])
			return false;
		came[edge] = false;
	}
	return true;
}

static void advances(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	while (h->round < h->schedule->rounds) {
		if (h->sent < h->schedule->round[h->round].sends) {
			exp_compute(h, s->costs.sendto + (s->mpi ? s->costs.message : 0), sends);
			return;
		}
		if (!folds(h)) {
			receives(h);
			return;
		}
		h->round++;
		h->sent = 0;
		h->folded = 0;
	}
	h->number++;
	h->then(h);
}

void exp_hostbased_operate(struct exp_host *h)
{
	h->schedule = &h->x->schedules[h->operation][h->id];
	h->round = 0;
	h->sent = 0;
	h->folded = 0;
	advances(h);
}
