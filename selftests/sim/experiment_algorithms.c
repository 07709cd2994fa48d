// SPDX-License-Identifier: GPL-2.0
/*
 * Each operation with each algorithm and some degrees, for a choice between them: rounds and
 * messages, which follow from formulas, work of all CPUs, and latency. An operation with a
 * root, or a scan, is measured with a barrier after it, which is the same for all, so that no
 * host runs ahead.
 */
#include "experiment.h"
#include "formulas.h"

#define WARM_UP	5

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

/* ---- the program ---- */

static void runs(struct exp_host *h);

static void meets(struct exp_host *h)
{
	exp_operate(h, EXP_BARRIER, false, runs);
}

/* Some hosts do not wait in it. */
static bool runs_ahead(const struct exp_settings *s)
{
	const struct coll_operation *operation = &coll_operations[s->post.operation];

	return operation->rooted || operation->prefix;
}

static void runs(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration == WARM_UP)
		h->begin_ns = h->x->world.now;
	if (h->iteration++ < WARM_UP + s->iterations) {
		exp_operate(h, EXP_POST, false,
			    runs_ahead(s) ? meets : runs);
		return;
	}
	h->latency_ns = h->x->world.now - h->begin_ns;
	exp_end(h);
}

static void measure(struct exp_settings *s, struct alg_row *row)
{
	struct experiment x;
	u32 i;

	s->post.algorithm = row->a->algorithm;
	s->post.degree = row->degree;
	exp_run(&x, s, runs);
	for (i = 0; i < s->hosts; i++)
		row->us += (double)x.hosts[i].latency_ns / NSEC_PER_USEC;
	row->us /= (double)s->iterations * s->hosts;
	row->work_us = exp_worked(&x) / (WARM_UP + s->iterations) / (double)NSEC_PER_USEC;
	if (x.wrong)
		row->us = 0;
	exp_free(&x);
}

/* ---- the table ---- */

static const char *operation_name(u32 operation)
{
	static const char *const names[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };

	return names[operation];
}

static enum coll_length length_of(const struct exp_settings *s)
{
	u32 medium = coll_operation_medium(s->post.operation, s->hosts);
	u32 bytes = s->doubles * sizeof(double);

	if (bytes <= coll_operation_short(s->hosts))
		return COLL_SHORT;
	return bytes <= medium ? COLL_MEDIUM : COLL_LONG;
}

/* Is it what COLLSOCK_AUTO means? */
static bool is_automatic(const struct exp_settings *s, const struct alg_row *row)
{
	struct coll_choice choice =
		coll_operations[s->post.operation].choose(s->hosts, 0, length_of(s));

	return row->a->algorithm == choice.algorithm &&
	       row->degree == (choice.degree ?: coll_algorithm_usual_degree(row->a, s->hosts));
}

/* Lengths of vectors of blocks are those of all blocks. */
static bool set_bytes(struct exp_settings *s, u32 bytes)
{
	const struct coll_operation *operation = &coll_operations[s->post.operation];
	u32 elements = bytes / sizeof(double);

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
		printf("%-20s %6u %6u %-30s %6u %7u %9llu %10.1f %9.2f %6.2f %s\n",
		       operation_name(s->post.operation), s->hosts,
		       (u32)(s->doubles * sizeof(double)), row->a->name, row->degree,
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

static bool one_size(struct exp_settings *s)
{
	struct alg_row rows[MOST_ROWS];
	u32 scheduled = coll_operation_scheduled(s->post.operation), i, degree, count = 0;

	for (i = 0; i < coll_registry_count; i++) {
		const struct coll_algorithm *a = coll_registry[i];

		for (degree = 0; degree <= COLLSOCK_MAX_DEGREE; degree++) {
			if (a->operation != scheduled || count == MOST_ROWS ||
			    !coll_algorithm_fits(a, s->hosts, degree) ||
			    !is_tried(a, s->hosts, degree))
				continue;
			rows[count] = (struct alg_row){ .a = a, .degree = degree };
			measure(s, &rows[count++]);
		}
	}
	return print_rows(s, rows, count);
}

static void print_heading(void)
{
	printf("\n%-20s %6s %6s %-30s %6s %7s %9s %10s %9s %6s\n", "operation", "hosts", "bytes",
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
