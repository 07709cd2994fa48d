// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/core/registry.h"
#include "number.h"
#include "options.h"

#define MAX_PORT 65535
#define MAX_ITERATIONS 1000000000UL
#define MAX_OPTIONS 40
#define MAX_DELAY_US 1000000
#define MAX_PERCENT 99
#define NO_ALGORITHM (-1)	/* none was named */
#define DEFAULT_COUNT 4
#define DEFAULT_ITERATIONS 1000
#define DEFAULT_SKEWED_ITERATIONS 10000
#define DEFAULT_REDUCE_US 500
#define HELP_INDENT 24
#define HELP_WIDTH 84

static const char *const algorithm_names[] = { "auto", COLLSOCK_ALGORITHM_LIST(COLLSOCK_NAME) };
static const char *const operation_names[] = { COLLSOCK_OPERATION_LIST(COLLSOCK_NAME) };

const char *options_algorithm_name(int algorithm)
{
	return algorithm_names[algorithm];
}

const char *options_operation_name(unsigned int operation)
{
	return operation_names[operation];
}

bool options_moves_blocks(unsigned int operation)
{
	return coll_operation_moves(operation);
}

bool options_has_blocks(unsigned int operation)
{
	return coll_operations[operation].blocks;
}

unsigned int options_vector(const struct options *options)
{
	return options_has_blocks(options->operation) ? options->count * options->hosts.count :
							options->count;
}

bool options_runs_ahead(unsigned int operation)
{
	return coll_operations[operation].rooted || coll_operations[operation].prefix;
}

unsigned int options_parse_name(const char *option, const char *name, const char *const *names,
				unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (names[i] && !strcmp(name, names[i]))
			return i;
	fprintf(stderr, "%s: %s: \"%s\" is not one of", program_invocation_short_name, option,
		name);
	for (i = 0; i < count; i++)
		if (names[i])
			fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

static unsigned int parse_operation(const char *name)
{
	return options_parse_name("--operation", name, operation_names,
				  ARRAY_SIZE(operation_names));
}

static bool has_algorithm(const struct program *program, int algorithm)
{
	return algorithm == COLLSOCK_AUTO || !program->has_algorithm ||
	       program->has_algorithm(algorithm);
}

/* The names of those that the program has; in place of others there is NULL. */
static void offer_algorithms(const struct program *program,
			     const char *names[ARRAY_SIZE(algorithm_names)])
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(algorithm_names); i++)
		names[i] = has_algorithm(program, i) ? algorithm_names[i] : NULL;
}

static unsigned int parse_algorithm(const struct program *program, const char *name)
{
	const char *names[ARRAY_SIZE(algorithm_names)];

	offer_algorithms(program, names);
	return options_parse_name("--algorithm", name, names, ARRAY_SIZE(names));
}

static const struct option shared[] = {
	{ "hosts",	required_argument,	NULL,	'H' },
	{ "hosts-file",	required_argument,	NULL,	'f' },
	{ "ipv6",	no_argument,		NULL,	'6' },
	{ "ethernet",	no_argument,		NULL,	'E' },
	{ "port",	required_argument,	NULL,	'p' },
	{ "rank",	required_argument,	NULL,	'r' },
	{ "operation",	required_argument,	NULL,	'o' },
	{ "root",	required_argument,	NULL,	'R' },
	{ "count",	required_argument,	NULL,	'c' },
	{ "algorithm",	required_argument,	NULL,	'a' },
	{ "degree",	required_argument,	NULL,	'd' },
	{ "iterations",	required_argument,	NULL,	'n' },
	{ "warm-up",	required_argument,	NULL,	'w' },
	{ "spin",	required_argument,	NULL,	's' },
	{ "shuffle",	no_argument,		NULL,	'x' },
	{ "skew",	required_argument,	NULL,	'S' },
	{ "catch-up",	required_argument,	NULL,	'C' },
	{ "seed",	required_argument,	NULL,	'e' },
	{ "steps",	required_argument,	NULL,	't' },
	{ "vary",	required_argument,	NULL,	'y' },
	{ "efficiency",	required_argument,	NULL,	'F' },
	{ "mean-only",	no_argument,		NULL,	'm' },
	{ "json",	no_argument,		NULL,	'j' },
	{ "help",	no_argument,		NULL,	'h' },
	{ }
};

/* Of the options that all programs have; the names that end two of them are from the lists. */
static const char hosts_help[] =
	"  -f, --hosts-file FILE one host per line, ADDRESS [PORT], in the order of ranks; #\n"
	"                        begins a comment\n"
	"  -H, --hosts N         instead: the hosts 10.1.0.1 to 10.1.0.N, which \"make vm\"\n"
	"                        makes\n"
	"  -6, --ipv6            with --hosts: fd00:1::1 to fd00:1::N\n"
	"  -E, --ethernet        with --hosts: 02:00:00:00:00:01 and so on, without IP\n"
	"  -p, --port N          UDP port of hosts without one in the file\n"
	"  -r, --rank N          rank of this host, from 0; by default found by its address\n"
	"  -o, --operation NAME  ";

static const char operation_help[] =
	"                        the default is barrier. The data is doubles, and the result\n"
	"                        is checked. With a root, and in a scan or exscan, some hosts\n"
	"                        do not wait, so each is followed by a barrier, which the\n"
	"                        mean includes\n"
	"  -R, --root N          rank of the root of a reduce, broadcast, gather or scatter\n"
	"                        (default 0)\n"
	"  -c, --count N         elements of operations with data, or of the block of each\n"
	"                        host, together 1 to 8192 (default 4)\n"
	"  -a, --algorithm NAME  ";

static const char algorithm_help[] =
	"                        collsock(7) says which operations have which. The default is\n"
	"                        dissemination for a barrier, else auto\n"
	"  -d, --degree N        of the algorithm: with how many hosts, itself included, a\n"
	"                        host exchanges in a round, 2 to 16 (default 2, with 3\n"
	"                        hosts 3); with kary the children of a host, 2 to 64\n"
	"                        (default 4)\n"
	"  -n, --iterations N    measured operations (default 1000; 10000 with\n"
	"                        --skew)\n"
	"  -w, --warm-up N       operations before them (default 100)\n"
	"  -s, --spin US         spin for this time before sleeping (default 0)\n"
	"  -x, --shuffle         compute for a random time before every 20 operations: hosts\n"
	"                        that share a CPU then run in a different order each time\n"
	"  -S, --skew US         instead of latency, measure the processor time that an\n"
	"                        operation takes when hosts are late: each computes for a\n"
	"                        random time up to US, runs it, computes again for the\n"
	"                        catch-up time, and all meet in a barrier. The same is\n"
	"                        measured without the operation, and subtracted\n"
	"  -C, --catch-up US     the catch-up time (default 500 more than --skew)\n"
	"  -e, --seed N          of the random times (default 1)\n"
	"  -t, --steps US,...    instead of latency, measure a program that computes for each\n"
	"                        of these times (up to 64), each followed by the operation,\n"
	"                        and which share of its time (efficiency) that is\n"
	"  -y, --vary PERCENT    with --steps: each computation differs at random from host\n"
	"                        to host by up to so much (default 0)\n"
	"  -F, --efficiency PERCENT,...  instead, the least computation between operations\n"
	"                        that is this share of the time; searched among 29 from 1 us\n"
	"                        to 16 ms, --iterations of each\n"
	"  -m, --mean-only       measure all operations together, not each of them\n"
	"  -j, --json            one JSON object\n"
	"  -h, --help            this text\n";

static void print_names(const char *const *names, unsigned int count)
{
	unsigned int i, column = HELP_INDENT;
	const char *comma = "";

	for (i = 0; i < count; i++) {
		if (!names[i])
			continue;
		fputs(comma, stdout);
		if (column + strlen(", ,") + strlen(names[i]) > HELP_WIDTH)
			column = printf("\n%*s", HELP_INDENT, "") - 1;
		else if (*comma)
			column += printf(" ");
		column += printf("%s", names[i]) + 1;
		comma = ",";
	}
	puts(";");
}

static void print_help(const struct program *program)
{
	const char *algorithms[ARRAY_SIZE(algorithm_names)];

	offer_algorithms(program, algorithms);
	printf("%s%s", program->help, hosts_help);
	print_names(operation_names, ARRAY_SIZE(operation_names));
	fputs(operation_help, stdout);
	print_names(algorithms, ARRAY_SIZE(algorithms));
	printf("%s%s", algorithm_help, program->own_help);
}

static void take_shared(struct options *options, const struct program *program, int letter,
			const char *value)
{
	switch (letter) {
	case 'H':
		options->numbered = number_parse("--hosts", value, 1, HOSTS_NUMBERED_MAX);
		break;
	case 'f':
		options->file = value;
		break;
	case '6':
		options->family = AF_INET6;
		break;
	case 'E':
		options->family = AF_PACKET;
		break;
	case 'p':
		options->port = number_parse("--port", value, 1, MAX_PORT);
		break;
	case 'r':
		options->given_rank = number_parse("--rank", value, 0, COLLSOCK_MAX_HOSTS - 1);
		break;
	case 'o':
		options->operation = parse_operation(value);
		break;
	case 'R':
		options->root = number_parse("--root", value, 0, COLLSOCK_MAX_HOSTS - 1);
		break;
	case 'c':
		options->count = number_parse("--count", value, 1, MAX_COUNT);
		break;
	case 'd':
		options->degree = number_parse("--degree", value, 2, COLLSOCK_MAX_DEGREE);
		break;
	case 'a':
		options->algorithm = parse_algorithm(program, value);
		break;
	case 'n':
		options->iterations = number_parse("--iterations", value, 1, MAX_ITERATIONS);
		break;
	case 'w':
		options->warm_up = number_parse("--warm-up", value, 0, MAX_ITERATIONS);
		break;
	case 's':
		options->spin_us = number_parse("--spin", value, 0, COLLSOCK_MAX_SPIN_US);
		break;
	case 'x':
		options->shuffle = true;
		break;
	case 'S':
		options->skew_us = number_parse("--skew", value, 0, MAX_DELAY_US);
		break;
	case 'C':
		options->catch_up_us = number_parse("--catch-up", value, 0, MAX_DELAY_US);
		break;
	case 'e':
		options->seed = number_parse("--seed", value, 0, UINT64_MAX);
		break;
	case 't':
		options->steps = number_parse_list("--steps", value, MAX_DELAY_US,
						   options->step_us, MAX_STEPS);
		break;
	case 'y':
		options->vary = number_parse("--vary", value, 0, 100);
		break;
	case 'F':
		options->percents = number_parse_list("--efficiency", value, MAX_PERCENT,
						      options->percent, MAX_PERCENTS);
		break;
	case 'm':
		options->mean_only = true;
		break;
	case 'j':
		options->json = true;
		break;
	default:
		errx(EXIT_USAGE, "try --help");
	}
}

bool options_launched(const struct options *options)
{
	return !options->numbered && !options->file;
}

/* The hosts, and which of them this one is. */
static void find_hosts(struct options *options, unsigned int default_port)
{
	if (options->numbered && options->file)
		errx(EXIT_USAGE, "give either --hosts or --hosts-file; try --help");
	if (options->file)
		hosts_read(&options->hosts, options->file);
	else
		hosts_number(&options->hosts, options->numbered, options->family);
	hosts_default_port(&options->hosts, options->port ? options->port : default_port);
	if (options->given_rank >= (long)options->hosts.count)
		errx(EXIT_USAGE, "--rank %ld: there are %u hosts, and ranks count from 0",
		     options->given_rank, options->hosts.count);
	options->rank = options->given_rank >= 0 ? options->given_rank :
						   hosts_find_local(&options->hosts);
}

static void check_algorithm(const struct options *options, const struct program *program)
{
	unsigned int i;

	if (options->algorithm == COLLSOCK_AUTO ||
	    coll_registry_find(options->operation, options->algorithm))
		return;
	fprintf(stderr, "%s: --algorithm %s: operation %s has only auto",
		program_invocation_short_name, options_algorithm_name(options->algorithm),
		options_operation_name(options->operation));
	for (i = 0; i < ARRAY_SIZE(algorithm_names); i++)
		if (coll_registry_find(options->operation, i) && has_algorithm(program, i))
			fprintf(stderr, ", %s", algorithm_names[i]);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

static void check_degree(const struct options *options)
{
	const struct coll_algorithm *row = coll_registry_find(options->operation,
							      options->algorithm);
	unsigned int most = row ? row->most_degree : COLLSOCK_MAX_EXCHANGE_DEGREE;

	if (options->degree && !most)
		errx(EXIT_USAGE, "--degree: --algorithm %s has none",
		     options_algorithm_name(options->algorithm));
	if (options->degree > most)
		errx(EXIT_USAGE, "--degree %u: with --algorithm %s at most %u", options->degree,
		     options_algorithm_name(options->algorithm), most);
}

/* Checked here because JOIN would report most of it only as EINVAL. */
static void check_operation(const struct options *options, const struct program *program)
{
	check_algorithm(options, program);
	check_degree(options);
	if (options->root && !coll_operations[options->operation].rooted)
		errx(EXIT_USAGE, "--root: only a reduce, broadcast, gather or scatter has one");
}

/* What depends on the number of hosts */
static void check_hosts(const struct options *options)
{
	const struct coll_algorithm *row = coll_registry_find(options->operation,
							      options->algorithm);

	if (options_vector(options) > MAX_COUNT)
		errx(EXIT_USAGE, "--count %u: the blocks of %u hosts have more than %zu elements",
		     options->count, options->hosts.count, MAX_COUNT);
	if (row && row->most_hosts && options->hosts.count > row->most_hosts)
		errx(EXIT_USAGE, "--algorithm %s: at most %u hosts",
		     options_algorithm_name(options->algorithm), row->most_hosts);
	if (options->root >= options->hosts.count)
		errx(EXIT_USAGE, "--root %u: there are %u hosts, and ranks count from 0",
		     options->root, options->hosts.count);
}

void options_meet(struct options *options, unsigned int rank, unsigned int ranks)
{
	options->rank = rank;
	options->hosts.count = ranks;
	check_hosts(options);
}

bool options_computes(const struct options *options)
{
	return options->steps || options->percents;
}

static void check_computes(const struct options *options)
{
	if (options->vary && !options->steps)
		errx(EXIT_USAGE, "--vary: only with --steps");
	if (!options_computes(options))
		return;
	if ((options->steps && options->percents) || options->shuffle ||
	    options->skew_us != NO_SKEW)
		errx(EXIT_USAGE, "--steps, --efficiency, --skew, --shuffle: only one of them");
}

/* Set defaults that depend on other options. */
static void complete_defaults(struct options *options)
{
	bool skewed = options->skew_us != NO_SKEW;

	if (!skewed && options->catch_up_us != NO_SKEW)
		errx(EXIT_USAGE, "--catch-up: only with --skew");
	if (skewed && options->operation == COLLSOCK_BARRIER)
		errx(EXIT_USAGE, "--skew: name an --operation with data; a barrier follows each");
	if (skewed && options->catch_up_us == NO_SKEW)
		options->catch_up_us = options->skew_us + DEFAULT_REDUCE_US;
	if (!options->iterations)
		options->iterations = skewed ? DEFAULT_SKEWED_ITERATIONS : DEFAULT_ITERATIONS;
	if (options->algorithm == NO_ALGORITHM && options->operation == COLLSOCK_BARRIER)
		options->algorithm = COLLSOCK_DISSEMINATION;
	else if (options->algorithm == NO_ALGORITHM)
		options->algorithm = COLLSOCK_AUTO;
}

/* Merge the shared options and the program's own, with their letters. */
static void merge(const struct program *program, struct option *known, char *letters)
{
	struct option *to = known;
	const struct option *from;

	for (from = shared; from->name; from++)
		*to++ = *from;
	for (from = program->own; from->name; from++)
		*to++ = *from;
	*to = (struct option){ };
	for (from = known; from->name; from++) {
		*letters++ = from->val;
		if (from->has_arg == required_argument)
			*letters++ = ':';
	}
	*letters = '\0';
}

static bool is_own(const struct program *program, int letter)
{
	const struct option *own;

	for (own = program->own; own->name; own++)
		if (own->val == letter)
			return true;
	return false;
}

void options_parse(struct options *options, const struct program *program, int argc,
		   char **argv)
{
	struct option known[MAX_OPTIONS];
	char letters[2 * MAX_OPTIONS];
	int letter;

	*options = (struct options){
		.family		= AF_INET,
		.operation	= COLLSOCK_BARRIER,
		.count		= DEFAULT_COUNT,
		.algorithm	= NO_ALGORITHM,
		.warm_up	= 100,
		.skew_us	= NO_SKEW,
		.catch_up_us	= NO_SKEW,
		.seed		= 1,
		.given_rank	= -1,
	};
	merge(program, known, letters);
	while ((letter = getopt_long(argc, argv, letters, known, NULL)) != -1) {
		if (letter == 'h') {
			print_help(program);
			exit(EXIT_DONE);
		}
		if (is_own(program, letter))
			program->take(program->context, letter, optarg);
		else
			take_shared(options, program, letter, optarg);
	}
	if (optind < argc)
		errx(EXIT_USAGE, "\"%s\" is not an option; try --help", argv[optind]);
	check_computes(options);
	complete_defaults(options);
	check_operation(options, program);
	if (!options_launched(options)) {
		find_hosts(options, program->port);
		check_hosts(options);
	} else if (!program->launched) {
		errx(EXIT_USAGE, "give --hosts or --hosts-file; try --help");
	}
}
