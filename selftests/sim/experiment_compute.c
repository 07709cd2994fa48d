// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that compute and meet in barriers, at the MPI level: the experiments of the paper
 * on the NIC-based barrier (§4.3 to §4.5). A program is a list of steps; in each, a host computes
 * for the time of the step, which may differ by some percent from host to host, and enters a
 * barrier.
 */
#include "experiment.h"

/* Steps before counting: connections are opened. */
#define WARM_UP		20

/* No barrier takes as long, nor does any efficiency below need as much computation. */
#define MOST_COMPUTE_NS	(64 * NSEC_PER_MSEC)
/* The precision of the least computation */
#define GRAIN_NS	10

#define STEPS(...)	((const u32[]){ __VA_ARGS__, EXP_LIST_END })

/* ---- the program ---- */

/* Uniform in the step's time plus or minus a percentage */
static u64 compute_ns(const struct exp_settings *s, u32 host, u32 iteration)
{
	u64 mean_ns = s->steps_ns[iteration % s->steps], reach_ns = mean_ns * s->vary / 100;
	u64 state = s->seed;

	state = world_random(&state) + host;
	state = world_random(&state) + iteration;
	return mean_ns - reach_ns + world_random(&state) % (2 * reach_ns + 1);
}

static void computes(struct exp_host *h);

static void meets(struct exp_host *h)
{
	exp_operate(h, EXP_BARRIER, h->x->settings.spins, computes);
}

static void computes(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration == WARM_UP)
		h->begin_ns = h->x->world.now;
	if (h->iteration == WARM_UP + s->iterations * s->steps) {
		h->latency_ns = h->x->world.now - h->begin_ns;
		exp_end(h);
		return;
	}
	exp_compute(h, compute_ns(s, h->id, h->iteration++), meets);
}

/* The time of all steps together, in ns, the mean of all hosts; 0 if something was wrong. */
static double run_ns(struct exp_settings *s, enum exp_maker maker)
{
	struct experiment x;
	double ns = 0;
	u32 i;

	s->maker = maker;
	exp_run(&x, s, computes);
	for (i = 0; i < s->hosts; i++)
		ns += x.hosts[i].latency_ns;
	if (x.wrong)
		ns = 0;
	exp_free(&x);
	return ns / s->iterations / s->hosts;
}

static struct exp_settings settings_of(const struct exp_choice *choice, u32 hosts)
{
	struct exp_settings s = choice->settings;

	s.hosts = hosts;
	s.mpi = true;
	s.spins = true;
	return s;
}

/* ---- efficiency ---- */

/*
 * The least computation, in us, that is the given percent of the time that it takes with its
 * barrier.
 */
static double least_us(struct exp_settings *s, enum exp_maker maker, u32 percent)
{
	u64 few_ns = 0, enough_ns = MOST_COMPUTE_NS, middle_ns;

	s->steps_ns = &middle_ns;
	s->steps = 1;
	while (enough_ns - few_ns > GRAIN_NS) {
		middle_ns = (few_ns + enough_ns) / 2;
		if (middle_ns * 100.0 >= run_ns(s, maker) * percent)
			enough_ns = middle_ns;
		else
			few_ns = middle_ns;
	}
	return (double)enough_ns / NSEC_PER_USEC;
}

bool exp_efficiency(const struct exp_choice *choice)
{
	static const u32 percents[] = { 25, 50, 75, 90 };
	bool right = true;
	const u32 *hosts;
	u32 i;

	printf("\nhosts percent  collsock  hostbas. factor\n");
	for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++)
		for (i = 0; i < ARRAY_SIZE(percents); i++) {
			struct exp_settings s = settings_of(choice, *hosts);
			double ours = least_us(&s, EXP_COLLSOCK, percents[i]);
			double theirs = least_us(&s, EXP_HOSTBASED, percents[i]);

			printf("%5u %7u %9.2f %9.2f %6.2f\n", *hosts, percents[i], ours, theirs,
			       theirs / ours);
			right &= max(ours, theirs) < MOST_COMPUTE_NS / NSEC_PER_USEC;
		}
	return right;
}

/* ---- varying arrival ---- */

static bool arrival_row(struct exp_settings *s, u32 us, u32 vary)
{
	const u64 ns = us * NSEC_PER_USEC;
	double ours, theirs;

	s->steps_ns = &ns;
	s->steps = 1;
	s->vary = vary;
	ours = run_ns(s, EXP_COLLSOCK) / NSEC_PER_USEC;
	theirs = run_ns(s, EXP_HOSTBASED) / NSEC_PER_USEC;
	printf("%5u %7u %5u %9.2f %9.2f %10.2f\n", s->hosts, us, vary, ours, theirs,
	       theirs - ours);
	return ours > 0 && theirs > 0;
}

bool exp_arrival(const struct exp_choice *choice)
{
	static const u32 vary[] = { 0, 1, 2, 5, 10, 20 };
	bool right = true;
	const u32 *hosts;
	u32 i, us;

	printf("\nhosts compute  vary  collsock  hostbas. difference\n");
	for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++)
		for (i = 0; i < ARRAY_SIZE(vary); i++)
			for (us = 64; us <= 4096; us *= 2) {
				struct exp_settings s = settings_of(choice, *hosts);

				right &= arrival_row(&s, us, vary[i]);
			}
	return right;
}

/* ---- synthetic programs ---- */

#define MOST_STEPS	20
#define PROGRAM_VARY	10

static const u32 *const programs[] = {
	STEPS(10, 20, 30, 40, 50, 60, 70, 80),
	STEPS(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190,
	      200),
	STEPS(100, 500, 1000, 2000, 3000, 500, 500, 250, 600, 1000),
};

static bool program_row(struct exp_settings *s, u32 program)
{
	u64 steps_ns[MOST_STEPS], all_ns = 0;
	double ours, theirs;

	s->steps_ns = steps_ns;
	s->vary = PROGRAM_VARY;
	for (s->steps = 0; programs[program][s->steps] != EXP_LIST_END; s->steps++) {
		steps_ns[s->steps] = programs[program][s->steps] * NSEC_PER_USEC;
		all_ns += steps_ns[s->steps];
	}
	ours = run_ns(s, EXP_COLLSOCK);
	theirs = run_ns(s, EXP_HOSTBASED);
	printf("%5u %7u %8llu %9.2f %9.2f %6.2f %8.3f %8.3f\n", s->hosts, program + 1,
	       all_ns / NSEC_PER_USEC, ours / NSEC_PER_USEC, theirs / NSEC_PER_USEC,
	       theirs / ours, all_ns / ours, all_ns / theirs);
	return ours > 0 && theirs > 0;
}

bool exp_programs(const struct exp_choice *choice)
{
	bool right = true;
	const u32 *hosts;
	u32 i;

	printf("\n                       -------- time ------- factor --- efficiency --\n"
	       "hosts program computes  collsock  hostbas.        collsock hostbas.\n");
	for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++)
		for (i = 0; i < ARRAY_SIZE(programs); i++) {
			struct exp_settings s = settings_of(choice, *hosts);

			right &= program_row(&s, i);
		}
	return right;
}
