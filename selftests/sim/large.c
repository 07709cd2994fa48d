// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers of many hosts in a LogGP network: a packet takes L, and G for each byte; sending
 * or receiving it costs the CPU o; two packets of one host are at least g apart. A host has
 * one CPU: arriving packets wait until it is free. All ranks post at once; the latency is
 * the time from then until the last one has completed.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <time.h>

#include "formulas.h"
#include "names.h"
#include "sim.h"

/* Time between two barriers: everything is acknowledged meanwhile. */
#define PAUSE_NS	(20 * NSEC_PER_MSEC)

/**
 * struct large - barriers of one group
 * @world: the world
 * @group: the group
 * @algorithm: of the barrier
 * @hosts: size of the group
 * @barriers: number of barriers, one after the other
 * @latency_ns: L
 * @overhead_ns: o
 * @gap_ns: g
 * @byte_ps: G
 * @completed: ranks that have completed the current one
 * @last_ns: when the last of them completed
 */
struct large {
	struct world			world;
	struct world_group		group;
	const struct coll_algorithm	*algorithm;
	u32				hosts;
	u32				barriers;
	u64				latency_ns;
	u64				overhead_ns;
	u64				gap_ns;
	u64				byte_ps;
	u32				completed;
	u64				last_ns;
};

static void large_complete(struct world_member *m, void *token, const void *result,
			   u32 bytes, u32 error, u32 failed_rank)
{
	struct large *l = m->world->owner;

	l->completed += !error;
	l->last_ns = max(l->last_ns, m->host->busy_ns);
}

static const struct world_user large_user = {
	.complete	= large_complete,
};

static void large_post(struct world *w, void *what)
{
	struct collsock_post post = { .size = sizeof(post), .operation = COLLSOCK_BARRIER };

	if (world_post(what, &post, NULL, 0, NULL))
		abort();
}

static bool large_begin(struct large *l)
{
	struct collsock_join join = {
		.size = sizeof(join), .id = 7, .hosts = l->hosts, .ranks = l->hosts, .window = 2,
		.max_bytes = 8, .max_result_bytes = 8,
		.algorithm[COLLSOCK_BARRIER] = l->algorithm->algorithm,
	};
	u32 i;

	world_init(&l->world, l->hosts, 1, &large_user);
	l->world.owner = l;
	l->world.link.delay_ns = l->latency_ns;
	l->world.link.byte_ps = l->byte_ps;
	if (world_group_init(&l->world, &l->group, &join, NULL, NULL))
		return false;
	for (i = 0; i < l->hosts; i++) {
		l->world.hosts[i].receive_ns = l->overhead_ns;
		l->world.hosts[i].send_ns = l->overhead_ns;
		l->world.hosts[i].gap_ns = l->gap_ns;
		if (world_join(&l->group.members[i]))
			return false;
	}
	return true;
}

/* Returns the latency, or 0 if a rank did not complete. */
static u64 large_barrier(struct large *l)
{
	u64 begin = l->world.now;
	u32 i;

	l->completed = 0;
	l->last_ns = 0;
	for (i = 0; i < l->hosts; i++)
		world_on_cpu(&l->world, &l->world.hosts[i], large_post, &l->group.members[i]);
	while (world_step(&l->world, begin + PAUSE_NS))
		;
	return l->completed == l->hosts ? l->last_ns - begin : 0;
}

static u64 large_messages(const struct large *l, u64 *again)
{
	u64 messages = 0;
	u32 i;

	*again = 0;
	for (i = 0; i < l->hosts; i++) {
		messages += l->group.members[i].group.stats.messages_sent;
		*again += l->group.members[i].group.stats.retransmits;
	}
	return messages;
}

static double cpu_seconds(void)
{
	struct timespec cpu;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	return cpu.tv_sec + cpu.tv_nsec / 1e9;
}

/* One line of TAP: do they complete with exactly the messages of the schedule? */
static bool large_run(struct large *l, u32 number)
{
	u32 degree = coll_algorithm_usual_degree(l->algorithm, l->hosts);
	const struct coll_shape shape = { .hosts = l->hosts, .degree = degree };
	double begin = cpu_seconds();
	u64 expected = formulas_messages(l->algorithm, &shape) * l->barriers, messages, again;
	u64 latency, cold = 0, warm = 0;
	bool right = large_begin(l);
	u32 i;

	for (i = 0; right && i < l->barriers; i++) {
		latency = large_barrier(l);
		right = latency;
		if (i)
			warm += latency;
		else
			cold = latency;
	}
	messages = large_messages(l, &again);
	right &= messages == expected && !again;
	printf("%sok %u barrier of %u hosts, %s: %.1f us, first %.1f us, ",
	       right ? "" : "not ", number, l->hosts, algorithm_name(l->algorithm),
	       l->barriers > 1 ? warm / 1e3 / (l->barriers - 1) : cold / 1e3, cold / 1e3);
	printf("%llu messages of %llu, %llu again, %llu packets, %.1f s of CPU\n",
	       (unsigned long long)messages, (unsigned long long)expected,
	       (unsigned long long)again, (unsigned long long)l->world.sent,
	       cpu_seconds() - begin);
	world_group_free(&l->group);
	world_free(&l->world);
	return right;
}

static void explain(FILE *to)
{
	fputs("usage: sim --large HOSTS[,HOSTS ...] [OPTION ...]\n"
	      "\n"
	      "Latency of a barrier with these numbers of hosts (up to 65536) and every\n"
	      "algorithm, in a LogGP network with one CPU for each host. Speaks TAP: it\n"
	      "must complete with exactly the messages of the schedule.\n"
	      "\n"
	      "  --latency NS    L, of the network (5000)\n"
	      "  --overhead NS   o, CPU for a packet sent, or received (1000)\n"
	      "  --gap NS        g, least time between two packets of one host (200)\n"
	      "  --byte PS       G, for each byte (800: 10 Gbit/s)\n"
	      "  --barriers N    one after the other (3); the first is printed apart\n", to);
}

static u64 *number_option(struct large *l, int c)
{
	switch (c) {
	case 'L':
		return &l->latency_ns;
	case 'o':
		return &l->overhead_ns;
	case 'g':
		return &l->gap_ns;
	case 'G':
		return &l->byte_ps;
	default:
		return NULL;
	}
}

static void parse(struct large *l, int argc, char **argv)
{
	static const struct option known[] = {
		{ "latency", required_argument, NULL, 'L' },
		{ "overhead", required_argument, NULL, 'o' },
		{ "gap", required_argument, NULL, 'g' },
		{ "byte", required_argument, NULL, 'G' },
		{ "barriers", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (number_option(l, c))
			*number_option(l, c) = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			l->barriers = max(strtoul(optarg, NULL, 0), 1UL);
		else
			explain(c == 'h' ? stdout : stderr);
		if (c == 'h' || c == '?')
			exit(c == 'h' ? 0 : 2);
	}
	if (optind + 1 != argc) {
		explain(stderr);
		exit(2);
	}
}

/* Test all algorithms for one size; returns the number of failures. */
static u32 large_size(const struct large *settings, u32 *number)
{
	u32 i, failed = 0;

	for (i = 0; i < coll_registry_count; i++) {
		struct large l = *settings;

		if (coll_registry[i]->operation != COLLSOCK_BARRIER ||
		    !coll_algorithm_fits(coll_registry[i], l.hosts,
					 coll_algorithm_usual_degree(coll_registry[i], l.hosts)))
			continue;
		l.algorithm = coll_registry[i];
		failed += !large_run(&l, ++*number);
	}
	return failed;
}

int sim_large(int argc, char **argv)
{
	struct large settings = { .latency_ns = 5000, .overhead_ns = 1000, .gap_ns = 200,
				  .byte_ps = 800, .barriers = 3 };
	u32 number = 0, failed = 0;
	char *size;

	parse(&settings, argc, argv);
	/* The next group uses the memory of the last, instead of fresh pages */
	mallopt(M_TRIM_THRESHOLD, -1);
	printf("TAP version 13\n# L %llu ns, o %llu ns, g %llu ns, G %llu ps\n",
	       (unsigned long long)settings.latency_ns,
	       (unsigned long long)settings.overhead_ns, (unsigned long long)settings.gap_ns,
	       (unsigned long long)settings.byte_ps);
	for (size = strtok(argv[optind], ","); size; size = strtok(NULL, ",")) {
		settings.hosts = strtoul(size, NULL, 0);
		failed += large_size(&settings, &number);
	}
	printf("1..%u\n", number);
	return !!failed;
}
