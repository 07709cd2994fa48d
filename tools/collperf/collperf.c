// SPDX-License-Identifier: GPL-2.0
/*
 * Latency of collsock's operations, posted and waited for in one call. hostbarrier
 * is the same for a barrier that the programs make themselves.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

#include <collsock.h>

#include "measure.h"

#define DEFAULT_ID 1
#define DEFAULT_NONCE 1
#define DEFAULT_COUNT 4
#define MAX_COUNT (COLLSOCK_MAX_SEGMENT / sizeof(double))
#define TEXT_BYTES 512

/**
 * struct collperf - what is measured
 * @options: shared with hostbarrier
 * @socket: of this rank
 * @key_file: or NULL
 * @id: of the group
 * @nonce: of this formation of the group
 * @operation: enum collsock_operation
 * @root: of a reduce or broadcast
 * @fanout: of k-ary trees
 * @count: elements of an operation with data
 * @sum: that every element of a reduction must come to
 * @broadcasts: that were run: what the next one brings
 * @mine: elements
 * @all: their sums, or what is broadcast
 */
struct collperf {
	struct options	options;
	struct collsock	*socket;
	const char	*key_file;
	uint64_t	id;
	uint64_t	nonce;
	unsigned int	operation;
	unsigned int	root;
	unsigned int	fanout;
	unsigned int	count;
	double		sum;
	double		broadcasts;
	double		mine[MAX_COUNT];
	double		all[MAX_COUNT];
};

static noreturn void fail(const char *what, int error, uint32_t failed_rank)
{
	char text[TEXT_BYTES];

	errx(EXIT_FAILED, "%s: %s", what,
	     collsock_strerror(error, failed_rank, text, sizeof(text)));
}

static void check_elements(const struct collperf *c, const char *what, double wanted)
{
	if (c->all[0] != wanted || c->all[c->count - 1] != wanted)
		errx(EXIT_FAILED, "%s: the result is %g and %g, not %g", what, c->all[0],
		     c->all[c->count - 1], wanted);
}

static void set_elements(struct collperf *c, double value)
{
	c->all[0] = value;
	c->all[c->count - 1] = value;
}

static void run_barrier(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_barrier(c->socket, &completion);
	if (error)
		fail("barrier", error, completion.failed_rank);
}

static void run_allreduce(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_allreduce(c->socket, c->mine, c->all, c->count, COLLSOCK_DOUBLE,
				   COLLSOCK_SUM, &completion);
	if (error)
		fail("allreduce", error, completion.failed_rank);
	check_elements(c, "allreduce", c->sum);
}

static void run_reduce(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_reduce(c->socket, c->mine, c->all, c->count, COLLSOCK_DOUBLE,
				COLLSOCK_SUM, c->root, &completion);
	if (error)
		fail("reduce", error, completion.failed_rank);
	if (c->options.rank == c->root)
		check_elements(c, "reduce", c->sum);
}

/* What it brings is another number each time. */
static void run_broadcast(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	c->broadcasts++;
	if (c->options.rank == c->root)
		set_elements(c, c->broadcasts);
	error = collsock_broadcast(c->socket, c->all, c->count, COLLSOCK_DOUBLE, c->root,
				   &completion);
	if (error)
		fail("broadcast", error, completion.failed_rank);
	check_elements(c, "broadcast", c->broadcasts);
}

static const struct {
	const char	*name;
	void		(*run)(void *context);
	bool		rooted;
} operations[] = {
	[COLLSOCK_BARRIER]	= { "barrier", run_barrier },
	[COLLSOCK_ALLREDUCE]	= { "allreduce", run_allreduce },
	[COLLSOCK_REDUCE]	= { "reduce", run_reduce, true },
	[COLLSOCK_BROADCAST]	= { "broadcast", run_broadcast, true },
	{ }
};

static void prepare_elements(struct collperf *c)
{
	unsigned int hosts = c->options.hosts.count, i;

	c->sum = (double)hosts * (hosts + 1) / 2;
	for (i = 0; i < c->count; i++)
		c->mine[i] = c->options.rank + 1;
}

static void add_hosts(struct collsock_group *group, const struct hosts *hosts)
{
	unsigned int i;
	int error;

	for (i = 0; i < hosts->count; i++) {
		error = collsock_group_add_sockaddr(group, (struct sockaddr *)&hosts->address[i],
						    hosts->bytes);
		if (error)
			fail("host", error, COLLSOCK_NO_RANK);
	}
}

/* The elements go into one packet, which the network must be able to carry. */
static void configure(const struct collperf *c, struct collsock_join *request)
{
	unsigned int quanta;

	request->fanout = c->fanout;
	switch (c->operation) {
	case COLLSOCK_BARRIER:
		request->barrier_algorithm = c->options.algorithm;
		return;
	case COLLSOCK_ALLREDUCE:
		request->allreduce_algorithm = c->options.algorithm;
		break;
	case COLLSOCK_REDUCE:
		request->reduce_algorithm = c->options.algorithm;
		break;
	case COLLSOCK_BROADCAST:
		request->broadcast_algorithm = c->options.algorithm;
		break;
	}
	request->max_bytes = c->count * sizeof(double);
	quanta = (request->max_bytes + COLLSOCK_SEGMENT_QUANTUM - 1) / COLLSOCK_SEGMENT_QUANTUM;
	if (request->max_bytes > COLLSOCK_DEFAULT_SEGMENT)
		request->segment_bytes = quanta * COLLSOCK_SEGMENT_QUANTUM;
}

static void join(struct collperf *c)
{
	uint8_t key[COLLSOCK_KEY_BYTES];
	struct collsock_group *group;
	int error;

	if (c->key_file) {
		error = collsock_key_from_file(c->key_file, key);
		if (error)
			fail(c->key_file, error, COLLSOCK_NO_RANK);
	}
	error = collsock_group_new(&group, c->id, c->nonce, c->key_file ? key : NULL);
	if (error)
		fail("group", error, COLLSOCK_NO_RANK);
	add_hosts(group, &c->options.hosts);
	configure(c, collsock_group_request(group));
	error = collsock_open(&c->socket, 0);
	if (error)
		fail("socket", error, COLLSOCK_NO_RANK);
	error = collsock_set_spin(c->socket, c->options.spin_us);
	if (error)
		fail("--spin", error, COLLSOCK_NO_RANK);
	error = collsock_join(c->socket, group, c->options.rank);
	if (error)
		fail("join", error, COLLSOCK_NO_RANK);
	collsock_group_free(group);
	explicit_bzero(key, sizeof(key));
}

static struct collsock_stats read_stats(const struct collperf *c)
{
	struct collsock_stats stats;
	int error = collsock_stats(c->socket, &stats, sizeof(stats));

	if (error)
		fail("statistics", error, COLLSOCK_NO_RANK);
	return stats;
}

/* What has been counted since @before. */
static void print_stats(const struct collperf *c, const struct collsock_stats *before)
{
	struct collsock_stats now = read_stats(c);
	const char *text = "  %u peers, %llu operations, %llu rounds, %llu messages sent";
	const char *more = ", %llu sent again, %llu acknowledgements alone\n";

	if (c->options.json) {
		printf(", \"stats\": ");
		text = "{\"peers\": %u, \"operations\": %llu, \"rounds\": %llu, \"messages\": %llu";
		more = ", \"retransmits\": %llu, \"lone_acks\": %llu}}\n";
	}
	printf(text, now.peers, now.completed - before->completed, now.rounds - before->rounds,
	       now.messages_sent - before->messages_sent);
	printf(more, now.retransmits - before->retransmits, now.lone_acks - before->lone_acks);
}

static unsigned int parse_operation(const char *name)
{
	unsigned int i;

	for (i = COLLSOCK_BARRIER; operations[i].name; i++)
		if (!strcmp(name, operations[i].name))
			return i;
	errx(EXIT_USAGE, "--operation: \"%s\" is not barrier, allreduce, reduce or broadcast",
	     name);
}

static void take(void *context, int letter, const char *value)
{
	struct collperf *c = context;

	switch (letter) {
	case 'o':
		c->operation = parse_operation(value);
		break;
	case 'R':
		c->root = options_number("--root", value, 0, COLLSOCK_MAX_HOSTS - 1);
		break;
	case 'F':
		c->fanout = options_number("--fanout", value, 2, COLLSOCK_MAX_FANOUT);
		break;
	case 'c':
		c->count = options_number("--count", value, 1, MAX_COUNT);
		break;
	case 'i':
		c->id = options_number("--id", value, 0, UINT64_MAX);
		break;
	case 'N':
		c->nonce = options_number("--nonce", value, 0, UINT64_MAX);
		break;
	case 'k':
		c->key_file = value;
		break;
	}
}

/* JOIN would say to most of it that it is not valid, and no more. */
static void check_options(const struct collperf *c)
{
	bool rooted = operations[c->operation].rooted;
	int algorithm = c->options.algorithm;
	bool fans_out = algorithm == COLLSOCK_KARY;

	if (algorithm == COLLSOCK_DISSEMINATION && c->operation != COLLSOCK_BARRIER)
		errx(EXIT_USAGE, "dissemination covers some hosts twice: only for a barrier");
	if (algorithm == COLLSOCK_PAIRWISE_EXCHANGE && rooted)
		errx(EXIT_USAGE, "pairwise exchange has no root: only for a barrier or allreduce");
	if (!!c->fanout != fans_out)
		errx(EXIT_USAGE, "--algorithm kary and --fanout need each other");
	if (c->root && !rooted)
		errx(EXIT_USAGE, "--root: only a reduce or broadcast has one");
	if (c->root >= c->options.hosts.count)
		errx(EXIT_USAGE, "--root %u: there are %u hosts, and ranks count from 0", c->root,
		     c->options.hosts.count);
}

static void parse(struct collperf *c, int argc, char **argv)
{
	static const struct option own[] = {
		{ "operation",	required_argument, NULL, 'o' },
		{ "root",	required_argument, NULL, 'R' },
		{ "fanout",	required_argument, NULL, 'F' },
		{ "count",	required_argument, NULL, 'c' },
		{ "id",		required_argument, NULL, 'i' },
		{ "nonce",	required_argument, NULL, 'N' },
		{ "key-file",	required_argument, NULL, 'k' },
		{ }
	};
	const struct program program = {
		.help = "collperf: latency of collective sockets\n\n"
			"usage: collperf [OPTION]... --hosts N | --hosts-file FILE\n\n"
			"Start it on every host with the same options.\n\n",
		.own = own,
		.own_help =
			"  -o, --operation NAME  barrier, allreduce, reduce or broadcast (default\n"
			"                        barrier); the data is doubles, and what comes out is\n"
			"                        checked. In a reduce or broadcast, who waits for\n"
			"                        nothing runs ahead, up to the window: the mean is that\n"
			"                        of a stream of operations\n"
			"  -R, --root N          rank of the root of a reduce or broadcast (default 0)\n"
			"  -F, --fanout N        children of a host with --algorithm kary, 2 to 64\n"
			"  -c, --count N         elements of what has data, 1 to 1080 (default 4)\n"
			"  -i, --id N            number of the group (default 1)\n"
			"  -N, --nonce N         of this formation of the group, another one for\n"
			"                        every run (default 1)\n"
			"  -k, --key-file FILE   shared secret: 32 hexadecimal digits, mode 600;\n"
			"                        without it hosts must allow it:\n"
			"                        sysctl net.collsock.keyless=1\n\n"
			"Port: 7607. exit code: 0 done, 1 failed, 2 wrong usage\n",
		.take = take,
		.context = c,
		.port = COLLSOCK_PORT,
	};
	int *algorithm = &c->options.algorithm;

	options_parse(&c->options, &program, argc, argv);
	if (*algorithm == NO_ALGORITHM)
		*algorithm = c->operation == COLLSOCK_BARRIER ? COLLSOCK_DISSEMINATION :
								COLLSOCK_AUTO;
	check_options(c);
}

int main(int argc, char **argv)
{
	static struct collperf c = {
		.id		= DEFAULT_ID,
		.nonce		= DEFAULT_NONCE,
		.operation	= COLLSOCK_BARRIER,
		.count		= DEFAULT_COUNT,
	};
	struct collsock_stats before;
	struct figures figures;
	void (*operation)(void *context);

	parse(&c, argc, argv);
	prepare_elements(&c);
	join(&c);
	operation = operations[c.operation].run;
	measure_warm_up(&c.options, operation, &c);
	before = read_stats(&c);
	measure(&figures, &c.options, operation, &c);
	measure_print(&figures, &c.options, "collperf", operations[c.operation].name);
	print_stats(&c, &before);
	collsock_close(c.socket);
	return EXIT_DONE;
}
