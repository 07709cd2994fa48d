// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts that are late: the experiments of the paper on application-bypass
 * reduction (§VI). In each iteration a host computes for a random time,
 * reduces, computes until all must have finished, and enters a barrier. The
 * cost of the reduces is the time of all CPUs, less that of a run without
 * reduces. It excludes what programs do in barriers, which is calls and sleeps:
 * their number depends on whether hosts come in step.
 */
#include "experiment.h"

/* Reduces of all hosts together, at most: large groups run fewer iterations. */
#define MOST_REDUCES	320000
/* Before counting: connections are opened, round-trip times are measured. */
#define WARM_UP		300

/* ---- the program ---- */

static void iterates(struct exp_host *h);

static void has_met(struct exp_host *h)
{
	h->apart_ns += h->used_ns;
	iterates(h);
}

static void meets(struct exp_host *h)
{
	h->apart_ns -= h->used_ns;
	exp_operate(h, EXP_BARRIER, false, has_met);
}

static void catches_up(struct exp_host *h)
{
	exp_compute(h, h->x->settings.catch_up_us * NSEC_PER_USEC, meets);
}

static void reduces(struct exp_host *h)
{
	if (h->x->settings.reduces)
		exp_operate(h, EXP_REDUCE, h->x->settings.spins, catches_up);
	else
		catches_up(h);
}

static void iterates(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration == WARM_UP) {
		h->apart_ns = h->used_ns + h->cpu->worked_ns;
		if (h->member)
			h->warm = h->member->group.stats;
	}
	if (h->iteration == WARM_UP + s->iterations)
		exp_end(h);
	else
		exp_compute(h, exp_late_ns(s, h->id, h->iteration++), reduces);
}

/* ---- what it costs ---- */

/**
 * struct cost - cost of a reduce
 * @cpu_us: CPU time of one host
 * @alone: lone acknowledgments of one host
 * @again: retransmissions of all hosts
 */
struct cost {
	double	cpu_us;
	double	alone;
	u64	again;
};

static void count_packets(const struct experiment *x, struct cost *cost, int sign)
{
	u32 i;

	for (i = 0; x->settings.maker == EXP_COLLSOCK && i < x->settings.hosts; i++) {
		const struct collsock_stats *stats = &x->group.members[i].group.stats;
		const struct exp_host *h = &x->hosts[i];

		cost->alone += sign * (double)(stats->lone_acks - h->warm.lone_acks);
		cost->again += stats->retransmits - h->warm.retransmits;
	}
}

/* Measure with and without the reduces; false if a sum was wrong. */
static bool measure(struct exp_settings *s, enum exp_maker maker, bool spins, struct cost *cost)
{
	double all = (double)s->hosts * s->iterations;
	struct experiment x;
	bool right = true;
	int sign;

	*cost = (struct cost){ };
	s->maker = maker;
	s->spins = spins;
	for (sign = 1; sign >= -1; sign -= 2) {
		s->reduces = sign > 0;
		exp_run(&x, s, iterates);
		cost->cpu_us += sign * (double)exp_worked(&x) / NSEC_PER_USEC / all;
		count_packets(&x, cost, sign);
		right &= !x.wrong;
		if (maker == EXP_COLLSOCK && s->reduces)
			right &= x.checked == WARM_UP + s->iterations;
		exp_free(&x);
	}
	cost->alone /= all;
	return right;
}

/* The average time for which the delays alone make the hosts wait in a binomial tree. */
static double waiting_us(const struct exp_settings *s)
{
	u64 ready[EXP_MOST_HOSTS], waits = 0;
	u32 i, k, iteration;

	for (iteration = WARM_UP; iteration < WARM_UP + s->iterations; iteration++) {
		for (i = 0; i < s->hosts; i++)
			waits -= ready[i] = exp_late_ns(s, i, iteration);
		for (k = 1; k < s->hosts; k *= 2)
			for (i = 0; i + k < s->hosts; i += 2 * k)
				ready[i] = max(ready[i], ready[i + k]);
		for (i = 0; i < s->hosts; i++)
			waits += ready[i];
	}
	return (double)waits / NSEC_PER_USEC / s->hosts / s->iterations;
}

static bool skew_row(const struct exp_choice *choice, u32 hosts, u32 doubles, u32 late_us)
{
	struct exp_settings s = choice->settings;
	struct cost collsock, sleeping, polling;
	bool right;

	s.hosts = hosts;
	s.doubles = doubles;
	s.late_us = late_us;
	s.catch_up_us += late_us;
	s.iterations = clamp(MOST_REDUCES / hosts, 1U, s.iterations);
	right = measure(&s, EXP_COLLSOCK, false, &collsock) &
		measure(&s, EXP_HOSTBASED, false, &sleeping) &
		measure(&s, EXP_HOSTBASED, true, &polling);
	printf("%5u %7u %5u %6u %9.2f %9.2f %9.2f %9.2f %7.2f %7.3f %6llu%s\n", hosts, doubles,
	       late_us, s.iterations, collsock.cpu_us, sleeping.cpu_us, polling.cpu_us,
	       waiting_us(&s), polling.cpu_us / collsock.cpu_us, collsock.alone,
	       (unsigned long long)collsock.again, right ? "" : "  WRONG");
	return right;
}

static const char heading[] = "\n"
	"hosts doubles  late   runs  collsock  sleeping   polling   waiting  factor   alone  again";

bool exp_skew(const struct exp_choice *choice)
{
	const u32 *hosts, *doubles, *late_us;
	bool right = true;

	puts(heading);
	for (doubles = choice->doubles; *doubles != EXP_LIST_END; doubles++)
		for (late_us = choice->late_us; *late_us != EXP_LIST_END; late_us++)
			for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++)
				right &= skew_row(choice, *hosts, *doubles, *late_us);
	return right;
}
