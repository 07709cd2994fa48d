// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts without delays: the latency of barriers, without and with an MPI, as in the paper
 * on the NIC-based barrier (§4.1, §4.2), and with multicast; that of a reduce, as in the paper on
 * application-bypass reduction (§VI.B); and the work of all CPUs together for an operation,
 * to be compared with the counted instructions.
 */
#include "experiment.h"

/* Before measuring, connections are opened and hosts synchronise. */
#define WARM_UP	20

/* ---- programs ---- */

static void barriers(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration == WARM_UP)
		h->begin_ns = h->x->world.now;
	if (h->iteration++ < WARM_UP + s->iterations) {
		exp_operate(h, EXP_BARRIER, s->spins, barriers);
		return;
	}
	h->latency_ns = h->x->world.now - h->begin_ns;
	exp_end(h);
}

static void reduces(struct exp_host *h);

static void meets(struct exp_host *h)
{
	exp_operate(h, EXP_BARRIER, h->x->settings.spins, reduces);
}

/* At the root: since the most distant host has called. */
static void has_reduced(struct exp_host *h)
{
	struct experiment *x = h->x;

	if (!h->id && h->iteration > WARM_UP)
		h->latency_ns += x->world.now - x->hosts[x->settings.hosts - 1].begin_ns;
	exp_compute(h, x->settings.catch_up_us * NSEC_PER_USEC, meets);
}

static void reduces(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (h->iteration++ == WARM_UP + s->iterations) {
		exp_end(h);
		return;
	}
	h->begin_ns = h->x->world.now;
	exp_operate(h, EXP_REDUCE, s->spins, has_reduced);
}

/* ---- latencies ---- */

/**
 * struct latency - latency of one program
 * @right: no result was wrong
 * @us: latency of an operation, sleeping and spinning
 */
struct latency {
	bool	right;
	double	us[2];
};

static struct latency measure(struct exp_settings *s, enum exp_maker maker, exp_step program)
{
	struct latency l = { .right = true };
	struct experiment x;
	u32 i, spins, sums;

	s->maker = maker;
	for (spins = 0; spins < 2; spins++) {
		s->spins = spins;
		exp_run(&x, s, program);
		/* Only the root knows the latency of a reduce */
		for (i = 0, sums = 0; i < s->hosts; i++) {
			l.us[spins] += (double)x.hosts[i].latency_ns / NSEC_PER_USEC;
			sums += !!x.hosts[i].latency_ns;
		}
		l.us[spins] /= (double)s->iterations * max(sums, 1U);
		l.right &= !x.wrong;
		exp_free(&x);
	}
	return l;
}

static bool barrier_row(struct exp_settings *s)
{
	struct latency raw, raw_host, mpi, mpi_host;
	bool right;

	s->mpi = false;
	raw = measure(s, EXP_COLLSOCK, barriers);
	raw_host = measure(s, EXP_HOSTBASED, barriers);
	s->mpi = true;
	mpi = measure(s, EXP_COLLSOCK, barriers);
	mpi_host = measure(s, EXP_HOSTBASED, barriers);
	right = raw.right && raw_host.right && mpi.right && mpi_host.right;
	printf("%5u %8.2f %8.2f %6.2f %8.2f %8.2f %6.2f %8.2f %8.2f %6.2f %6.2f%s\n", s->hosts,
	       raw.us[0], raw_host.us[0], raw_host.us[0] / raw.us[0], raw.us[1], raw_host.us[1],
	       raw_host.us[1] / raw.us[1], mpi.us[1], mpi_host.us[1],
	       mpi_host.us[1] / mpi.us[1], mpi.us[1] - raw.us[1], right ? "" : "  WRONG");
	return right;
}

static const char barrier_heading[] = "\n"
	"      ------ sleeping ------ ------ spinning ------ ------- in MPI -------- MPI\n"
	"hosts collsock hostbas. factor collsock hostbas. factor collsock hostbas. factor   adds";

bool exp_barrier(const struct exp_choice *choice)
{
	struct exp_settings s = choice->settings;
	bool right = true;
	const u32 *hosts;

	puts(barrier_heading);
	for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++) {
		s.hosts = *hosts;
		right &= barrier_row(&s);
	}
	return right;
}

/* ---- the first barrier ---- */

/* At the end the time since the first barrier is in @begin_ns. */
static void starts(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;

	if (!h->iteration)
		h->begin_ns = h->x->world.now;
	if (h->iteration == 1)
		h->latency_ns = h->x->world.now - h->begin_ns;
	if (h->iteration++ < s->iterations) {
		exp_operate(h, EXP_POST, s->spins, starts);
		return;
	}
	h->begin_ns = h->x->world.now - h->begin_ns - h->latency_ns;
	exp_end(h);
}

/**
 * struct first - start of a group
 * @right: no result was wrong
 * @first_us: latency of its first barrier, the mean of all hosts
 * @later_us: the mean of a number of later ones
 * @connections: of a host
 */
struct first {
	bool	right;
	double	first_us;
	double	later_us;
	double	connections;
};

static struct first measure_first(struct exp_settings *s, u8 algorithm, u32 degree)
{
	struct first f = { };
	struct experiment x;
	u64 later_ns = 0;
	u32 i;

	s->maker = EXP_COLLSOCK;
	s->post = (struct collsock_post){ .operation = COLLSOCK_BARRIER, .algorithm = algorithm,
					  .degree = degree };
	exp_run(&x, s, starts);
	for (i = 0; i < s->hosts; i++) {
		const struct exp_host *h = &x.hosts[i];

		f.first_us += (double)h->latency_ns / NSEC_PER_USEC / s->hosts;
		later_ns += h->begin_ns;
		f.connections += (double)h->member->group.stats.peers / s->hosts;
	}
	f.later_us = (double)later_ns / NSEC_PER_USEC / s->hosts / (s->iterations - 1);
	f.right = !x.wrong;
	exp_free(&x);
	return f;
}

static bool first_row(struct exp_settings *s)
{
	const struct first made = measure_first(s, s->barrier, 2);
	struct first all = { .right = true };

	printf("%5u %8.2f %8.2f %6.2f %11.2f", s->hosts, made.first_us, made.later_us,
	       made.first_us / made.later_us, made.connections);
	if (s->hosts <= COLLSOCK_MAX_EXCHANGE_DEGREE) {
		all = measure_first(s, COLLSOCK_DISSEMINATION, s->hosts);
		printf(" %8.2f %11.2f", all.first_us, all.connections);
	} else {
		printf(" %8s %11s", "-", "-");
	}
	printf("%s\n", made.right && all.right ? "" : "  WRONG");
	return made.right && all.right;
}

bool exp_first(const struct exp_choice *choice)
{
	struct exp_settings s = choice->settings;
	bool right = true;
	const u32 *hosts;

	if (s.iterations < 2)
		s.iterations = 2;
	printf("\n      ------------ on demand ------------ ------ static -----\n"
	       "hosts    first    later factor connections    first connections\n");
	for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++) {
		s.hosts = *hosts;
		right &= first_row(&s);
	}
	return right;
}

/* ---- latency of a reduce ---- */

bool exp_reduce(const struct exp_choice *choice)
{
	struct exp_settings s = choice->settings;
	const u32 *hosts, *doubles;
	struct latency l, host;
	bool right = true;

	printf("\n              ------ sleeping ------ ------ spinning ------\n"
	       "hosts doubles collsock hostbas. factor collsock hostbas. factor\n");
	for (doubles = choice->doubles; *doubles != EXP_LIST_END; doubles++)
		for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++) {
			s.hosts = *hosts;
			s.doubles = *doubles;
			l = measure(&s, EXP_COLLSOCK, reduces);
			host = measure(&s, EXP_HOSTBASED, reduces);
			printf("%5u %7u %8.2f %8.2f %6.2f %8.2f %8.2f %6.2f%s\n", s.hosts,
			       s.doubles, l.us[0], host.us[0], host.us[0] / l.us[0], l.us[1],
			       host.us[1], host.us[1] / l.us[1],
			       l.right && host.right ? "" : "  WRONG");
			right &= l.right && host.right;
		}
	return right;
}

/* ---- work ---- */

/* The work of all hosts together for one operation: us, and the number of sleeps */
static bool work_of(struct exp_settings *s, enum exp_maker maker, exp_step program, double *us,
		    double *sleeps)
{
	const double operations = WARM_UP + s->iterations;
	struct experiment x;
	bool right;
	u32 i;

	s->maker = maker;
	s->spins = false;
	s->catch_up_us = 0;
	exp_run(&x, s, program);
	*us = exp_worked(&x) / operations / NSEC_PER_USEC;
	*sleeps = 0;
	for (i = 0; i < s->hosts; i++)
		*sleeps += x.hosts[i].sleeps / operations;
	right = !x.wrong;
	exp_free(&x);
	return right;
}

bool exp_work(const struct exp_choice *choice)
{
	static const struct {
		const char	*name;
		exp_step	program;
	} programs[] = { { "barrier", barriers }, { "reduce and barrier", reduces } };
	struct exp_settings s = choice->settings;
	double us[2], sleeps[2];
	bool right = true;
	const u32 *hosts;
	u32 i, maker;

	printf("\noperation           hosts collsock sleeps hostbas. sleeps\n");
	for (i = 0; i < ARRAY_SIZE(programs); i++)
		for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++) {
			s.hosts = *hosts;
			for (maker = EXP_COLLSOCK; maker <= EXP_HOSTBASED; maker++)
				right &= work_of(&s, maker, programs[i].program, &us[maker],
						 &sleeps[maker]);
			printf("%-18s %6u %8.1f %6.1f %8.1f %6.1f\n", programs[i].name, *hosts,
			       us[EXP_COLLSOCK], sleeps[EXP_COLLSOCK], us[EXP_HOSTBASED],
			       sleeps[EXP_HOSTBASED]);
		}
	return right;
}

/* ---- multicast ---- */

/* Of the exchanges without multicast (0: the usual degree), and of the k-ary trees with it */
static const struct {
	bool	multicast;
	u8	degree;
} shapes[] = {
	{ false, 0 }, { false, 4 },
	{ true, 2 }, { true, 3 }, { true, 4 }, { true, 6 }, { true, 8 }, { true, 16 },
};

static void arrives(struct exp_host *h);

static void has_met(struct exp_host *h)
{
	const struct experiment *x = h->x;

	if (h->iteration > WARM_UP)
		h->latency_ns += x->world.now - x->called_ns[h->iteration % 2];
	arrives(h);
}

/* Another host may be one iteration ahead, but not two. */
static void calls(struct exp_host *h)
{
	h->x->called_ns[h->iteration % 2] = h->x->world.now;
	exp_operate(h, EXP_BARRIER, h->x->settings.spins, has_met);
}

/* Barriers of hosts that are late. */
static void arrives(struct exp_host *h)
{
	const struct exp_settings *s = &h->x->settings;
	u64 ns = exp_late_ns(s, h->id, h->iteration);

	if (h->iteration++ == WARM_UP + s->iterations) {
		exp_end(h);
		return;
	}
	h->apart_ns += ns;
	exp_compute(h, ns, calls);
}

static bool multicast_rows(const struct exp_settings *settings)
{
	const exp_step program = settings->late_us ? arrives : barriers;
	double us[3][ARRAY_SIZE(shapes)], sleeps;
	struct exp_settings s = *settings;
	bool right = true;
	u32 i, row;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct latency l;

		s.multicast = shapes[i].multicast;
		s.barrier = s.multicast ? COLLSOCK_KARY : settings->barrier;
		s.degree = shapes[i].degree;
		right &= work_of(&s, EXP_COLLSOCK, program, &us[0][i], &sleeps);
		l = measure(&s, EXP_COLLSOCK, program);
		right &= l.right;
		us[1][i] = l.us[0];
		us[2][i] = l.us[1];
	}
	for (row = 0; row < 3; row++) {
		static const char *const names[] = { "work", "sleeping", "spinning" };

		printf("%-8s %5u %5llu", names[row], s.hosts, (unsigned long long)s.late_us);
		for (i = 0; i < ARRAY_SIZE(shapes); i++)
			printf(" %7.*f", row ? 2 : 1, us[row][i]);
		printf("%s\n", right ? "" : "  WRONG");
	}
	return right;
}

static const char multicast_heading[] = "\n"
	"                     --- without --- -------------- with multicast ---------------\n"
	"         hosts  late   usual       4       2       3       4       6       8      16";

bool exp_multicast(const struct exp_choice *choice)
{
	struct exp_settings s = choice->settings;
	const u32 *hosts, *late_us;
	bool right = true;

	puts(multicast_heading);
	for (late_us = choice->late_us; *late_us != EXP_LIST_END; late_us++)
		for (hosts = choice->hosts; *hosts != EXP_LIST_END; hosts++) {
			s.hosts = *hosts;
			s.late_us = *late_us;
			right &= multicast_rows(&s);
		}
	return right;
}
