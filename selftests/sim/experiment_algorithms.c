// SPDX-License-Identifier: GPL-2.0
/*
 * Each operation with each algorithm and some degrees, for a choice between them: rounds and
 * messages, which follow from formulas, work of all CPUs, and latency.
 *
 * In most operations each host waits for all others, so they follow each other at once. Where some
 * hosts would run ahead, in an operation with a root or a scan, all call at the same time and meet
 * in a barrier. The latency is from that time until the last host has its result, the work is that
 * of both less that of the barrier.
 */
#include "descriptor.h"
#include "experiment.h"
#include "formulas.h"
#include "menu.h"
#include "names.h"

#define WARM_UP	5

/* Time for what hosts still have to do when the first of them leaves a barrier */
#define TOGETHER_NS	(200 * NSEC_PER_USEC)

/**
 * struct alg_row - a line of the table
 * @a: the algorithm
 * @degree: its degree, or 0
 * @us: latency of an operation, or 0 if something was wrong
 * @work_us: of all hosts
 */
struct alg_row {
	const struct coll_algorithm	*a;
	u32				degree;
	double				us;
	double				work_us;
};

/* ---- the programs ---- */

static void in_a_row(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration == WARM_UP)
		h->begin_ns = h->x->world.now;
	if (h->iteration++ < WARM_UP + s->iterations) {
		exp_operate(h, EXP_POST, false, in_a_row);
		return;
	}
	h->latency_ns = h->x->world.now - h->begin_ns;
	exp_end(h);
}

static void together(struct exp_host *h);

static void calls(struct world *w, void *host)
{
	exp_compute(host, 0, together);
}

/* All have completed the operation: none leaves the barrier before. */
static void has_met(struct exp_host *h)
{
	struct experiment *x = h->x;
	u32 i;

	if (h->iteration > WARM_UP)
		h->latency_ns += x->over_ns - h->begin_ns;
	if (!x->met++)
		x->together_ns = x->world.now + TOGETHER_NS;
	if (x->met < x->settings.hosts)
		return;
	x->met = 0;
	x->together_ns = max(x->together_ns, x->world.now);
	for (i = 0; i < x->settings.hosts; i++)
		world_at(&x->world, x->together_ns, calls, &x->hosts[i]);
}

static void meets(struct exp_host *h)
{
	h->x->over_ns = h->x->world.now;
	exp_operate(h, EXP_BARRIER, false, has_met);
}

/* Without an algorithm barriers alone */
static void together(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	h->begin_ns = h->x->together_ns;
	if (h->iteration++ == WARM_UP + s->iterations)
		exp_end(h);
	else if (s->post.algorithm)
		exp_operate(h, EXP_POST, false, meets);
	else
		meets(h);
}

/* Some hosts do not wait in it. */
static bool runs_ahead(const struct exp_settings *s)
{
	const struct coll_operation *operation = &coll_operations[s->post.operation];

	return operation->rooted || operation->prefix;
}

static void measure(const struct exp_settings *settings, struct alg_row *row)
{
	struct exp_settings s = *settings;
	struct experiment x;
	u32 i;

	s.post.algorithm = row->a ? row->a->algorithm : COLLSOCK_AUTO;
	s.post.degree = row->degree;
	exp_run(&x, &s, runs_ahead(&s) ? together : in_a_row);
	for (i = 0; i < s.hosts; i++)
		row->us += (double)x.hosts[i].latency_ns / NSEC_PER_USEC;
	row->us /= (double)s.iterations * s.hosts;
	row->work_us = exp_worked(&x) / (WARM_UP + s.iterations) / (double)NSEC_PER_USEC;
	if (x.wrong)
		row->us = 0;
	exp_free(&x);
}

/* The work of the barriers that separate operations */
static double measure_barriers(const struct exp_settings *s)
{
	struct alg_row none = {};

	if (!runs_ahead(s))
		return 0;
	measure(s, &none);
	return none.work_us;
}

/* ---- the table ---- */

/* What COLLSOCK_AUTO means in a group that names nothing and has vectors of this length */
static struct coll_choice automatic(const struct exp_settings *s)
{
	const struct collsock_post post = { .operation = s->post.operation };
	u32 bytes = s->doubles * sizeof(double);
	struct collsock_join join = {
		.size = sizeof(join), .hosts = s->hosts, .ranks = s->hosts,
	};
	struct coll_choice choice = {};
	struct coll_menu menu;

	if (coll_operation_moves(post.operation))
		join.max_result_bytes = bytes;
	else
		join.max_bytes = bytes;
	if (!coll_descriptor_normalise(&join)) {
		coll_menu_init(&menu, &join);
		coll_menu_search(&menu, &post, bytes, &choice);
	}
	return choice;
}

static bool is_automatic(const struct exp_settings *s, const struct alg_row *row)
{
	struct coll_choice choice = automatic(s);

	return row->a->algorithm == choice.algorithm && row->degree == choice.degree;
}

/* Lengths of vectors of blocks are those of all blocks. */
static bool set_bytes(struct exp_settings *s, u32 bytes)
{
	const struct coll_operation *operation = &coll_operations[s->post.operation];
	u32 elements = bytes / sizeof(double);

	s->doubles = 0;
	if (!operation->typed)
		return !bytes;
	s->post.count = operation->blocks ? elements / s->hosts : elements;
	s->post.type = COLLSOCK_DOUBLE;
	s->post.op = operation->reduces ? COLLSOCK_SUM : COLLSOCK_NOP;
	s->doubles = operation->blocks ? s->post.count * s->hosts : elements;
	return s->post.count;
}

static double best_of(const struct alg_row *rows, u32 count)
{
	double best = rows[0].us;
	u32 i;

	for (i = 1; i < count; i++)
		best = min(best, rows[i].us);
	return best;
}

static bool print_rows(const struct exp_settings *s, const struct alg_row *rows, u32 count)
{
	const struct coll_shape shape = { .hosts = s->hosts };
	double best = best_of(rows, count);
	bool right = true;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct alg_row *row = &rows[i];
		struct coll_shape own = shape;

		own.degree = row->degree;
		printf("%-20s %6u %6u %-15s %6u %7u %9llu %10.1f %9.2f %6.2f %s\n",
		       operation_name(s->post.operation), s->hosts,
		       (u32)(s->doubles * sizeof(double)), algorithm_name(row->a), row->degree,
		       formulas_rounds(row->a, &own), formulas_messages(row->a, &own),
		       row->work_us, row->us, row->us / best,
		       is_automatic(s, row) ? "auto" : row->us ? "" : "WRONG");
		right &= row->us > 0;
	}
	return right;
}

/* 0 if it has none; otherwise the usual one, and some others that make a difference */
static bool is_tried(const struct coll_algorithm *a, u32 hosts, u32 degree)
{
	if (!a->most_degree || degree == coll_algorithm_usual_degree(a, hosts))
		return true;
	return !(degree & (degree - 1)) && degree / 2 < hosts;
}

#define MOST_ROWS 256

static bool one_size(const struct exp_settings *s)
{
	struct alg_row rows[MOST_ROWS];
	u32 scheduled = coll_operation_scheduled(s->post.operation), i, degree, count = 0;
	double barriers_us = measure_barriers(s);

	for (i = 0; i < coll_registry_count; i++) {
		const struct coll_algorithm *a = coll_registry[i];

		for (degree = 0; degree <= COLLSOCK_MAX_DEGREE; degree++) {
			if (a->operation != scheduled || count == MOST_ROWS ||
			    !coll_algorithm_fits(a, s->hosts, degree) ||
			    !is_tried(a, s->hosts, degree))
				continue;
			rows[count] = (struct alg_row){ .a = a, .degree = degree };
			measure(s, &rows[count]);
			rows[count++].work_us -= barriers_us;
		}
	}
	return print_rows(s, rows, count);
}

static void print_heading(void)
{
	printf("\n%-20s %6s %6s %-15s %6s %7s %9s %10s %9s %6s\n", "operation", "hosts", "bytes",
	       "algorithm", "degree", "rounds", "messages", "work us", "time us", "/ best");
}

bool exp_algorithms(const struct exp_choice *choice)
{
	struct exp_settings s = choice->settings;
	const u32 *hosts, *doubles;
	bool right = true;
	u32 operation;

	print_heading();
	for (operation = 0; operation < COLL_MAX_OPERATIONS; operation++) {
		if (!coll_operation_find(operation))
			continue;
		for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++)
			for (doubles = choice->doubles; *doubles != EXP_LIST_END; doubles++) {
				s.hosts = *hosts;
				s.post = (struct collsock_post){ .operation = operation };
				if (set_bytes(&s, *doubles * sizeof(double)))
					right &= one_size(&s);
			}
	}
	return right;
}
