// SPDX-License-Identifier: GPL-2.0
/* The command line of experiments. */
#include <getopt.h>
#include <stdlib.h>

#include "experiment.h"
#include "names.h"
#include "sim.h"

#define MOST_LISTED	32
#define SKEW_ITERATIONS	10000	/* of the paper */
#define ITERATIONS	200	/* chance is only in the delays */
/* No reduce takes longer if no host is late: the paper's "conservative estimate" */
#define CATCH_UP_US	500
#define MOST_ITERATIONS	1000000
#define MOST_LATE_US	100000
#define HELP_INDENT	23
#define HELP_WIDTH	75	/* up to here another name follows */

#define LIST(...)	((const u32[]){ __VA_ARGS__, EXP_LIST_END })

/* The figures of the papers, and larger ones: defaults for options that are not given. */
static const struct table {
	const char	*name;
	bool		(*print)(const struct exp_choice *choice);
	const char	*about;
	const u32	*hosts;
	const u32	*doubles;
	const u32	*late_us;
	u32		iterations;
} tables[] = {
	{ "work", exp_work,
	  "Work of all CPUs together for an operation, in us, and the number of sleeps.",
	  LIST(2, 4, 8, 16), LIST(4), LIST(0), ITERATIONS },
	{ "barrier", exp_barrier,
	  "Latency of a barrier, in us.",
	  LIST(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), LIST(4), LIST(0), ITERATIONS },
	{ "multicast", exp_multicast,
	  "Barriers without multicast and with it, by degree. work: of all CPUs, in us, sleeping;\n"
	  "sleeping, spinning: latency, in us. late: hosts compute for up to this time before each;\n"
	  "latency is then from the call of the last host.",
	  LIST(2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024), LIST(4), LIST(0), ITERATIONS },
	{ "multicast", exp_multicast, NULL,
	  LIST(4, 8, 16, 64, 256), LIST(4), LIST(20, 100, 1000), ITERATIONS },
	{ "first", exp_first,
	  "Latency of the first barrier of a group, which opens its connections, and of a later one,\n"
	  "in us, sleeping; connections of a host. static: a barrier in which each host exchanges\n"
	  "with all, and so opens all connections (up to 16 hosts).",
	  LIST(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), LIST(4), LIST(0), ITERATIONS },
	{ "efficiency", exp_efficiency,
	  "Least computation, in us, between barriers of MPI programs for it to be a percentage of\n"
	  "the time.",
	  LIST(2, 4, 8, 16, 32, 64), LIST(4), LIST(0), 20 },
	{ "arrival", exp_arrival,
	  "Time, in us, of a computation that varies from host to host by up to some percent, and a\n"
	  "barrier, of MPI programs.",
	  LIST(16), LIST(4), LIST(0), 1000 },
	{ "programs", exp_programs,
	  "Time, in us, of three programs of steps of computation, which vary by 10 %, and barriers,\n"
	  "of MPI programs; efficiency: computation / time.",
	  LIST(2, 4, 8, 16), LIST(4), LIST(0), 1000 },
	{ "reduce", exp_reduce,
	  "Latency of a reduce, in us: from the call of the last host until the root has the sum.",
	  LIST(2, 4, 8, 16, 32), LIST(4, 32, 128), LIST(0), ITERATIONS },
	{ "algorithms", exp_algorithms,
	  "Operations with each algorithm and some degrees: rounds and messages, work of all CPUs and\n"
	  "latency, in us. In those with a root, and scans, all hosts call at a time.",
	  LIST(2, 4, 8, 16, 64, 256, 1024), LIST(0, 1, 16, 128), LIST(0), 20 },
	{ "skew", exp_skew,
	  "Processor time of a reduce on one host, in us, its delays subtracted. waiting: what\n"
	  "the delays alone make a polling host wait; alone: acknowledgments that found no packet\n"
	  "to travel with, of a host and reduce; again: messages sent again, in all. factor:\n"
	  "polling / collsock.",
	  LIST(2, 4, 8, 16, 32), LIST(4, 32, 128), LIST(1000), SKEW_ITERATIONS },
	{ "skew", exp_skew, NULL,
	  LIST(32), LIST(4, 32, 128), LIST(0, 200, 400, 600, 800), SKEW_ITERATIONS },
	{ "skew", exp_skew, NULL,
	  LIST(64, 128, 256), LIST(4), LIST(1000), SKEW_ITERATIONS },
};

/* Is it one for barriers of any number of hosts? */
static bool has_barrier(const struct coll_algorithm *a)
{
	return a->operation == COLLSOCK_BARRIER &&
	       coll_algorithm_fits(a, EXP_MOST_HOSTS,
				   coll_algorithm_usual_degree(a, EXP_MOST_HOSTS));
}

/* The algorithms that find_algorithm() finds */
static void explain_algorithms(FILE *to)
{
	u32 i, column = fprintf(to, "  --algorithm NAME     of barriers: ");
	const char *comma = "";

	for (i = 0; i < coll_registry_count; i++) {
		if (!has_barrier(coll_registry[i]))
			continue;
		if (column > HELP_WIDTH)
			column = fprintf(to, "%s\n%*s", comma, HELP_INDENT, "");
		else
			column += fprintf(to, "%s", *comma ? ", " : "");
		column += fprintf(to, "%s", algorithm_name(coll_registry[i]));
		comma = ",";
	}
}

static void explain(FILE *to)
{
	fputs("usage: sim --experiment [NAME] [OPTION ...]\n"
	      "\n"
	      "NAME: work, barrier, multicast, first, efficiency, arrival, programs, reduce,\n"
	      "algorithms, skew\n"
	      "\n"
	      "Figures of a model: the cost of collsock compared with operations of programs over\n"
	      "UDP, on hosts with one CPU each, where every step has a cost. Without a name\n"
	      "all tables are printed. The same options print the same figures.\n"
	      "\n"
	      "  --hosts N[,N ...]    sizes, up to 4096\n"
	      "  --doubles N[,N ...]  of a reduce, or of the vector of an operation; 0: of none\n"
	      "  --late US[,US ...]   hosts are late by up to this time\n"
	      "  --catch-up US        they compute this much longer after a reduce (500)\n"
	      "  --iterations N       of each figure; of skew less for more than 32 hosts\n"
	      "  --seed SEED          of the delays\n", to);
	explain_algorithms(to);
	fputs("\n"
	      "  --cost NAME=NS       may be repeated; the defaults are:\n"
	      "\n", to);
	exp_costs_explain(to, &exp_costs_default, "    ");
}

static u32 read_number(const char *text, u32 least, u32 most)
{
	unsigned long long value;
	char *end;

	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < least || value > most) {
		fprintf(stderr, "sim: %s is not a number from %u to %u\n", text, least, most);
		exit(2);
	}
	return value;
}

static const u32 *read_list(u32 numbers[MOST_LISTED + 1], char *text, u32 least, u32 most)
{
	u32 count = 0;
	char *word;

	for (word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (count == MOST_LISTED) {
			fprintf(stderr, "sim: lists have up to %u numbers\n", MOST_LISTED);
			exit(2);
		}
		numbers[count++] = read_number(word, least, most);
	}
	numbers[count] = EXP_LIST_END;
	return numbers;
}

static u8 find_algorithm(const char *name)
{
	u32 i;

	for (i = 0; i < coll_registry_count; i++)
		if (has_barrier(coll_registry[i]) &&
		    !strcmp(algorithm_name(coll_registry[i]), name))
			return coll_registry[i]->algorithm;
	fprintf(stderr, "sim: %s is not an algorithm for barriers (see --help)\n", name);
	exit(2);
}

static void set_cost(struct exp_costs *costs, const char *setting)
{
	if (exp_costs_set(costs, setting))
		return;
	fprintf(stderr, "sim: %s is not a cost and its ns (sim --experiment --help)\n", setting);
	exit(2);
}

static void parse(struct exp_choice *choice, int argc, char **argv)
{
	static u32 hosts[MOST_LISTED + 1], doubles[MOST_LISTED + 1], late_us[MOST_LISTED + 1];
	static const struct option known[] = {
		{ "hosts", required_argument, NULL, 'n' },
		{ "doubles", required_argument, NULL, 'd' },
		{ "late", required_argument, NULL, 'l' },
		{ "catch-up", required_argument, NULL, 'u' },
		{ "iterations", required_argument, NULL, 'i' },
		{ "seed", required_argument, NULL, 's' },
		{ "algorithm", required_argument, NULL, 'a' },
		{ "cost", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'n')
			choice->hosts = read_list(hosts, optarg, 2, EXP_MOST_HOSTS);
		else if (c == 'd')
			choice->doubles = read_list(doubles, optarg, 0, EXP_MOST_DOUBLES);
		else if (c == 'l')
			choice->late_us = read_list(late_us, optarg, 0, MOST_LATE_US);
		else if (c == 'u')
			choice->settings.catch_up_us = read_number(optarg, 0, MOST_LATE_US);
		else if (c == 'i')
			choice->settings.iterations = read_number(optarg, 1, MOST_ITERATIONS);
		else if (c == 's')
			choice->settings.seed = read_number(optarg, 0, UINT32_MAX);
		else if (c == 'a')
			choice->settings.barrier = find_algorithm(optarg);
		else if (c == 'c')
			set_cost(&choice->settings.costs, optarg);
		else
			explain(c == 'h' ? stdout : stderr);
		if (c == 'h' || c == '?')
			exit(c == 'h' ? 0 : 2);
	}
}

static u32 least(const u32 *numbers)
{
	u32 found = *numbers;

	for (; *numbers != EXP_LIST_END; numbers++)
		found = min(found, *numbers);
	return found;
}

/* Print a table with the chosen values instead of the defaults. */
static bool print(const struct table *t, const struct exp_choice *chosen)
{
	struct exp_choice choice = *chosen;

	choice.hosts = chosen->hosts ?: t->hosts;
	choice.doubles = chosen->doubles ?: t->doubles;
	choice.late_us = chosen->late_us ?: t->late_us;
	choice.settings.iterations = chosen->settings.iterations ?: t->iterations;
	choice.settings.doubles = 1;
	if (t->print != exp_algorithms && !least(choice.doubles)) {
		fprintf(stderr, "sim: %s needs 1 double at least\n", t->name);
		exit(2);
	}
	if (t->about)
		printf("\n%s\n", t->about);
	return t->print(&choice);
}

int sim_experiment(int argc, char **argv)
{
	struct exp_choice choice = { .settings = {
		.costs = exp_costs_default, .barrier = COLLSOCK_DISSEMINATION, .seed = 1,
		.catch_up_us = CATCH_UP_US,
	} };
	bool right = true, chosen;
	const char *name;
	u32 i, printed = 0;

	parse(&choice, argc, argv);
	name = optind < argc ? argv[optind] : NULL;
	chosen = choice.hosts || choice.doubles || choice.late_us;
	printf("A model, not hardware. Its costs, in ns:\n");
	exp_costs_explain(stdout, &choice.settings.costs, "  ");
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct table *t = &tables[i];

		/* With chosen values one table of each kind is enough */
		if ((name && strcmp(name, t->name)) || (chosen && !t->about))
			continue;
		right &= print(t, &choice);
		printed++;
	}
	if (!printed || optind + 1 < argc) {
		explain(stderr);
		return 2;
	}
	return !right;
}
