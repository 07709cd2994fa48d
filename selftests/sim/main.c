// SPDX-License-Identifier: GPL-2.0
/* The command line; processes that run seeds; TAP */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "registry.h"
#include "sim.h"

#define DEFAULT_SEEDS	380
#define MAX_JOBS	64
#define MAX_CLASSES	32
/*
 * Limit of CPU time. Simulated hours with many forged packets take some of it; a seed that
 * takes longer is in an endless loop.
 */
#define SEED_SECONDS	120

struct options {
	u64			first;
	u64			seeds;
	u32			jobs;
	const struct sim_class	*class;
	bool			trace;
};

/* Messages between the processes. */
struct shared {
	u64	at[MAX_JOBS];
	u32	ran[MAX_CLASSES];
	u32	failed[MAX_CLASSES];
	struct sim_completed	completed;
};

static const struct sim_class *class_of(const struct options *o, u64 seed)
{
	return o->class ? o->class : &sim_classes[seed % sim_classes_count];
}

static void work(const struct options *o, struct shared *shared, u32 job)
{
	const struct itimerval most = { .it_value.tv_sec = SEED_SECONDS };
	u64 i;

	for (i = shared->at[job]; i < o->seeds; i += o->jobs) {
		const struct sim_class *class = class_of(o, o->first + i);
		u32 index = class - sim_classes;

		shared->at[job] = i;
		setitimer(ITIMER_PROF, &most, NULL);
		__atomic_add_fetch(&shared->ran[index], 1, __ATOMIC_RELAXED);
		if (!sim_run(class, o->first + i, NULL, &shared->completed))
			__atomic_add_fetch(&shared->failed[index], 1, __ATOMIC_RELAXED);
	}
	fflush(stdout);
	_exit(0);
}

static pid_t start(const struct options *o, struct shared *shared, u32 job)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid)
		work(o, shared, job);
	return pid;
}

/* A process killed by a seed is replaced by one that continues after that seed. */
static void work_all(const struct options *o, struct shared *shared)
{
	pid_t pids[MAX_JOBS];
	u32 job, running;
	int status;

	for (job = 0; job < o->jobs; job++) {
		shared->at[job] = job;
		pids[job] = start(o, shared, job);
	}
	for (running = o->jobs; running;) {
		pid_t pid = wait(&status);
		const struct sim_class *class;

		for (job = 0; pids[job] != pid; job++)
			;
		if (!status) {
			running--;
			continue;
		}
		class = class_of(o, o->first + shared->at[job]);
		printf("# class %s seed %llu: died with status %#x; ", class->name,
		       (unsigned long long)(o->first + shared->at[job]), status);
		printf("replay: build/sim/sim --class %s --seed %llu --trace\n", class->name,
		       (unsigned long long)(o->first + shared->at[job]));
		shared->failed[class - sim_classes]++;
		shared->at[job] += o->jobs;
		pids[job] = start(o, shared, job);
	}
}

static void print_completed(u32 operation, const u64 *algorithms)
{
	const char *comma = "";
	u32 i;

	for (i = 0; i < COLL_MAX_ALGORITHMS; i++) {
		const struct coll_algorithm *a = coll_registry_find(operation, i);

		if (!a)
			continue;
		printf("%s %s %llu", comma, algorithm_name(a), (unsigned long long)algorithms[i]);
		comma = ",";
	}
}

/* Which operations have completed, by which algorithm */
static void report_completed(const struct sim_completed *completed)
{
	u32 operation;

	printf("# operations that have completed, by algorithm\n");
	for (operation = 1; operation < COLL_MAX_OPERATIONS; operation++) {
		if (!coll_operations[operation].contributes)
			continue;
		printf("# %s:", operation_name(operation));
		print_completed(operation, completed->operations[operation]);
		putchar('\n');
	}
}

static int report(const struct options *o, const struct shared *shared, double seconds)
{
	u32 i, number = 0, tests = 0, failed = 0;

	for (i = 0; i < sim_classes_count; i++)
		tests += !!shared->ran[i];
	printf("# %.1f s, %.0f seeds a second\n", seconds, o->seeds / max(seconds, 0.001));
	printf("1..%u\n", tests);
	for (i = 0; i < sim_classes_count; i++) {
		if (!shared->ran[i])
			continue;
		failed += shared->failed[i];
		printf("%sok %u %s: %s, %u of %u seeds failed\n", shared->failed[i] ? "not " : "",
		       ++number, sim_classes[i].name, sim_classes[i].about, shared->failed[i],
		       shared->ran[i]);
	}
	report_completed(&shared->completed);
	return !!failed;
}

static int run_many(const struct options *o)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec begin, end;

	printf("TAP version 13\n# seeds %llu to %llu\n", (unsigned long long)o->first,
	       (unsigned long long)(o->first + o->seeds - 1));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	work_all(o, shared);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return report(o, shared, end.tv_sec - begin.tv_sec +
				 (end.tv_nsec - begin.tv_nsec) / 1e9);
}

static int run_traced(const struct options *o)
{
	struct sim_completed completed = {};
	bool right = sim_run(class_of(o, o->first), o->first, stdout, &completed);

	report_completed(&completed);
	return !right;
}

static void explain(FILE *to)
{
	u32 i;

	fputs("usage: sim [--seeds N] [--first SEED] [--class CLASS] [--jobs N]\n"
	      "       sim --seed SEED [--class CLASS] [--trace]\n"
	      "       sim --large HOSTS [OPTION ...]    (sim --large --help)\n"
	      "       sim --experiment [NAME] [OPTION ...]\n"
	      "\n"
	      "Groups on a virtual network with faults; every promise of the\n"
	      "protocol is checked. Everything follows from class and seed. Speaks TAP.\n"
	      "\n"
	      "  --seeds N      number of seeds (380), each of the next class\n"
	      "  --first SEED   the first of them (1)\n"
	      "  --class CLASS  only this class\n"
	      "  --jobs N       processes (1)\n"
	      "  --seed SEED    only this one\n"
	      "  --trace        print every event\n"
	      "\n"
	      "classes:\n", to);
	for (i = 0; i < sim_classes_count; i++)
		fprintf(to, "  %-12s %s\n", sim_classes[i].name, sim_classes[i].about);
}

static const struct sim_class *find_class(const char *name)
{
	u32 i;

	for (i = 0; i < sim_classes_count; i++)
		if (!strcmp(sim_classes[i].name, name))
			return &sim_classes[i];
	fprintf(stderr, "sim: no class %s\n", name);
	exit(2);
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "seeds", required_argument, NULL, 'n' },
		{ "first", required_argument, NULL, 'f' },
		{ "class", required_argument, NULL, 'c' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "seed", required_argument, NULL, 's' },
		{ "trace", no_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'n')
			o->seeds = strtoull(optarg, NULL, 0);
		else if (c == 'f')
			o->first = strtoull(optarg, NULL, 0);
		else if (c == 'c')
			o->class = find_class(optarg);
		else if (c == 'j')
			o->jobs = clamp((u32)strtoul(optarg, NULL, 0), 1U, (u32)MAX_JOBS);
		else if (c == 't')
			o->trace = true;
		else if (c == 's')
			*o = (struct options){ strtoull(optarg, NULL, 0), 1, 1, o->class,
					       o->trace };
		else
			explain(c == 'h' ? stdout : stderr);
		if (c == 'h' || c == '?')
			exit(c == 'h' ? 0 : 2);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .first = 1, .seeds = DEFAULT_SEEDS, .jobs = 1 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "--large"))
		return sim_large(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "--experiment"))
		return sim_experiment(argc - 1, argv + 1);
	parse(&o, argc, argv);
	return o.trace ? run_traced(&o) : run_many(&o);
}
