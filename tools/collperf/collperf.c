// SPDX-License-Identifier: GPL-2.0
/*
 * Latency of collsock's operations, posted and waited for in one call. hostbased measures
 * the same for operations implemented in user space.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>

#include <collsock.h>

#include "elements.h"
#include "measure.h"
#include "missing.h"
#include "number.h"
#include "skew.h"
#include "startup.h"
#include "steps.h"
#include "team.h"

#define DEFAULT_ID 1
#define MESSAGE_BYTES 512
#define LAUNCHED_WINDOW 4
#define FIRST_WORD_MS 1000
#define WORDS_EVERY_MS 5000

static const char *const mac_names[] = { COLLSOCK_MAC_LIST(COLLSOCK_NAME) };

/**
 * struct collperf - state of the program
 * @options: shared with hostbased
 * @team: the team that the rank is, if any
 * @csv: print one line of comma-separated values
 * @starts: measure the start of groups
 * @forget_neighbours: the first barrier of each looks them up
 * @elements: contribution of this host
 * @socket: of this rank
 * @key_file: or NULL
 * @mac: enum collsock_mac
 * @multicast: multicast address; all zero: none
 * @id: of the group
 * @nonce: of this instance of the group
 * @has_nonce: there is one
 * @described: an option that describes the group, which a launcher does otherwise
 * @room: bytes that the group can carry, if its operation has fewer
 * @segment: payload of a packet; 0: all of it, if one packet can have that, else the default
 * @all: the sums, or the data of a broadcast
 */
struct collperf {
	struct options	options;
	struct team_options team;
	bool		csv;
	bool		starts;
	bool		forget_neighbours;
	struct elements	elements;
	struct collsock	*socket;
	const char	*key_file;
	unsigned int	mac;
	uint8_t		multicast[16];
	uint64_t	id;
	uint64_t	nonce;
	bool		has_nonce;
	const char	*described;
	uint32_t	room;
	uint32_t	segment;
	double		all[MAX_COUNT];
};

static noreturn void fail(const char *what, int error, uint32_t failed_rank)
{
	char text[MESSAGE_BYTES];

	errx(EXIT_FAILED, "%s: %s", what,
	     collsock_strerror(error, failed_rank, text, sizeof(text)));
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

/* A host whose waiting is not measured sleeps, and leaves the processor to the others. */
static void run_sleeping_barrier(void *context)
{
	struct collperf *c = context;

	collsock_set_spin(c->socket, 0);
	run_barrier(c);
	collsock_set_spin(c->socket, c->options.spin_us);
}

static void run_allreduce(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_allreduce(c->socket, c->elements.mine, c->all, c->options.count,
				   COLLSOCK_DOUBLE, COLLSOCK_SUM, &completion);
	if (error)
		fail("allreduce", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_reduce(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_reduce(c->socket, c->elements.mine, c->all, c->options.count,
				COLLSOCK_DOUBLE, COLLSOCK_SUM, c->options.root, &completion);
	if (error)
		fail("reduce", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_broadcast(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	elements_next(&c->elements, c->all);
	error = collsock_broadcast(c->socket, c->all, c->options.count, COLLSOCK_DOUBLE,
				   c->options.root, &completion);
	if (error)
		fail("broadcast", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_scan(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_scan(c->socket, c->elements.mine, c->all, c->options.count,
			      COLLSOCK_DOUBLE, COLLSOCK_SUM, &completion);
	if (error)
		fail("scan", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_exscan(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_exscan(c->socket, c->elements.mine, c->all, c->options.count,
				COLLSOCK_DOUBLE, COLLSOCK_SUM, &completion);
	if (error)
		fail("exscan", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_allgather(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_allgather(c->socket, c->elements.mine, c->all, c->options.count,
				   COLLSOCK_DOUBLE, &completion);
	if (error)
		fail("allgather", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_gather(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_gather(c->socket, c->elements.mine, c->all, c->options.count,
				COLLSOCK_DOUBLE, c->options.root, &completion);
	if (error)
		fail("gather", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_scatter(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_scatter(c->socket, c->elements.mine, c->all, c->options.count,
				 COLLSOCK_DOUBLE, c->options.root, &completion);
	if (error)
		fail("scatter", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void run_reduce_scatter_block(void *context)
{
	struct collsock_completion completion;
	struct collperf *c = context;
	int error;

	error = collsock_reduce_scatter_block(c->socket, c->elements.mine, c->all,
					      c->options.count, COLLSOCK_DOUBLE, COLLSOCK_SUM,
					      &completion);
	if (error)
		fail("reduce-scatter-block", error, completion.failed_rank);
	elements_check(&c->elements, c->all);
}

static void (*const run_operation[])(void *context) = {
	[COLLSOCK_BARRIER]	= run_barrier,
	[COLLSOCK_ALLREDUCE]	= run_allreduce,
	[COLLSOCK_REDUCE]	= run_reduce,
	[COLLSOCK_BROADCAST]	= run_broadcast,
	[COLLSOCK_SCAN]		= run_scan,
	[COLLSOCK_EXSCAN]	= run_exscan,
	[COLLSOCK_ALLGATHER]	= run_allgather,
	[COLLSOCK_GATHER]	= run_gather,
	[COLLSOCK_SCATTER]	= run_scatter,
	[COLLSOCK_REDUCE_SCATTER_BLOCK] = run_reduce_scatter_block,
};

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

/* Payload of a packet, if it may be longer than by default */
static unsigned int choose_segment(const struct collperf *c, unsigned int bytes)
{
	unsigned int quanta = (bytes + COLLSOCK_SEGMENT_QUANTUM - 1) / COLLSOCK_SEGMENT_QUANTUM;

	if (c->segment || bytes <= COLLSOCK_DEFAULT_SEGMENT || bytes > COLLSOCK_MAX_SEGMENT)
		return c->segment;
	return quanta * COLLSOCK_SEGMENT_QUANTUM;
}

/* Algorithms of the operations of a group */
static void choose_algorithms(const struct collperf *c, uint8_t *algorithm)
{
	/* With multicast the barrier that follows an operation is one, too. */
	if (!c->multicast[0])
		algorithm[COLLSOCK_BARRIER] = COLLSOCK_DISSEMINATION;
	algorithm[c->options.operation] = c->options.algorithm;
}

static unsigned int choose_room(const struct collperf *c, unsigned int data_bytes)
{
	return c->options.operation != COLLSOCK_BARRIER && c->room < data_bytes ? data_bytes :
										  c->room;
}

static void configure(const struct collperf *c, struct collsock_join *request)
{
	request->degree = c->options.degree;
	request->mac = c->mac;
	memcpy(request->multicast, c->multicast, sizeof(c->multicast));
	choose_algorithms(c, request->algorithm);
	request->max_bytes = choose_room(c, options_vector(&c->options) * sizeof(double));
	request->segment_bytes = choose_segment(c, request->max_bytes);
}

/* A socket that has joined the group of this number */
static struct collsock *open_rank(const struct collperf *c, uint64_t id)
{
	uint8_t key[COLLSOCK_KEY_BYTES];
	struct collsock_group *group;
	struct collsock *socket;
	int error;

	if (c->key_file) {
		error = collsock_key_from_file(c->key_file, key);
		if (error)
			fail(c->key_file, error, COLLSOCK_NO_RANK);
	}
	error = collsock_group_new(&group, id, c->nonce, c->key_file ? key : NULL);
	if (error)
		fail("group", error, COLLSOCK_NO_RANK);
	add_hosts(group, &c->options.hosts);
	configure(c, collsock_group_request(group));
	error = collsock_open(&socket, c->team.processes ? COLLSOCK_OPEN_KEEP : 0);
	if (error)
		fail("socket", error, COLLSOCK_NO_RANK);
	error = collsock_set_spin(socket, c->options.spin_us);
	if (error)
		fail("--spin", error, COLLSOCK_NO_RANK);
	error = collsock_join(socket, group, c->options.rank);
	if (error)
		fail("join", error, COLLSOCK_NO_RANK);
	collsock_group_free(group);
	explicit_bzero(key, sizeof(key));
	return socket;
}

/* The number of ranks, and thus of blocks of a vector, is not known yet. */
static unsigned int launched_bytes(const struct options *o)
{
	return options_has_blocks(o->operation) ? COLLSOCK_MAX_PAYLOAD : o->count * sizeof(double);
}

/* The same for the group of all ranks of the launcher, once packets of all have arrived */
static struct collsock *open_launched(struct collperf *c)
{
	char text[MESSAGE_BYTES];
	struct collsock_options o = {
		.size		= sizeof(o),
		.open_flags	= c->team.processes ? COLLSOCK_OPEN_KEEP : 0,
		.spin_us	= c->options.spin_us,
		.bearer		= c->options.family == AF_PACKET ? COLLSOCK_BEARER_ETHERNET :
								   COLLSOCK_BEARER_UDP,
		.family		= c->options.family == AF_INET6 ? AF_INET6 : AF_UNSPEC,
		.port		= c->options.port,
		.segment_bytes	= c->segment,
		.degree		= c->options.degree,
		.mac		= c->mac,
		.max_bytes	= choose_room(c, launched_bytes(&c->options)),
		.text		= text,
		.text_bytes	= sizeof(text),
	};
	struct collsock *socket;

	/* Room for one operation after another; many long ones would need much memory. */
	if (options_has_blocks(c->options.operation))
		o.window = LAUNCHED_WINDOW;
	memcpy(o.multicast, c->multicast, sizeof(o.multicast));
	choose_algorithms(c, o.algorithm);
	if (collsock_join_env(&socket, &o))
		errx(EXIT_FAILED, "%s", text);
	options_meet(&c->options, collsock_rank(socket), collsock_size(socket));
	return socket;
}

/* The first barrier; prints the hosts that it waits for. */
static void meet(struct collperf *c)
{
	struct pollfd socket = { .fd = collsock_fd(c->socket), .events = POLLIN };
	int error = collsock_post_barrier(c->socket, 0), ready;
	struct collsock_completion completion = { };
	uint64_t waited_ms = FIRST_WORD_MS;

	if (error)
		fail("barrier", error, COLLSOCK_NO_RANK);
	ready = poll(&socket, 1, FIRST_WORD_MS);
	while (!ready || (ready < 0 && errno == EINTR)) {
		missing_print(c->id, &c->options.hosts, waited_ms);
		waited_ms += WORDS_EVERY_MS;
		ready = poll(&socket, 1, WORDS_EVERY_MS);
	}
	error = collsock_wait(c->socket, 0, &completion, NULL, 0);
	if (!error)
		error = completion.error;
	if (error)
		fail("barrier", error, completion.failed_rank);
}

static struct collsock_stats read_stats(const struct collperf *c)
{
	struct collsock_stats stats;
	int error = collsock_stats(c->socket, &stats, sizeof(stats));

	if (error)
		fail("statistics", error, COLLSOCK_NO_RANK);
	return stats;
}

/* Print what has been counted since @before. */
static void print_stats(const struct collperf *c, const struct collsock_stats *before)
{
	struct collsock_stats now = read_stats(c);
	const char *text = "  %u peers, %llu operations, %llu rounds, %llu messages sent";
	const char *more = ", %llu retransmitted, %llu lone acknowledgments\n";

	if (c->options.json) {
		printf(", \"stats\": ");
		text = "{\"peers\": %u, \"operations\": %llu, \"rounds\": %llu, \"messages\": %llu";
		more = ", \"retransmits\": %llu, \"lone_acks\": %llu}}\n";
	}
	printf(text, now.peers, now.completed - before->completed, now.rounds - before->rounds,
	       now.messages_sent - before->messages_sent);
	printf(more, now.retransmits - before->retransmits, now.lone_acks - before->lone_acks);
}

static void take(void *context, int letter, const char *value)
{
	struct collperf *c = context;

	switch (letter) {
	case 'i':
		c->id = number_parse("--id", value, 0, UINT64_MAX);
		c->described = "--id";
		break;
	case 'N':
		c->nonce = number_parse("--nonce", value, 0, UINT64_MAX);
		c->has_nonce = true;
		c->described = "--nonce";
		break;
	case 'k':
		c->key_file = value;
		c->described = "--key-file";
		break;
	case 'M':
		c->mac = options_parse_name("--mac", value, mac_names,
					    sizeof(mac_names) / sizeof(*mac_names));
		break;
	case 'A':
		if (collsock_multicast_from_text(value, c->multicast))
			errx(EXIT_USAGE, "--multicast: %s is no multicast address", value);
		break;
	case 'T':
		team_parse(&c->team, value);
		break;
	case 'P':
		c->team.members = number_parse("--members", value, 1, TEAM_MAX_MEMBERS);
		break;
	case 'V':
		c->csv = true;
		break;
	case 'U':
		c->starts = true;
		break;
	case 'g':
		c->forget_neighbours = true;
		break;
	case 'B':
		c->room = number_parse("--max-bytes", value, 0, COLLSOCK_MAX_PAYLOAD);
		break;
	case 'G':
		c->segment = number_parse("--segment", value, COLLSOCK_MIN_SEGMENT,
					  COLLSOCK_MAX_SEGMENT);
		if (c->segment % COLLSOCK_SEGMENT_QUANTUM)
			errx(EXIT_USAGE, "--segment %s: not a multiple of %u", value,
			     COLLSOCK_SEGMENT_QUANTUM);
		break;
	}
}

/* Who describes the group: options, or the launcher? */
static bool chooses_network(const struct collperf *c)
{
	static const __u8 none[sizeof(c->multicast)];

	return c->options.port || c->options.family != AF_INET ||
	       memcmp(c->multicast, none, sizeof(none));
}

static void check_group(const struct collperf *c)
{
	bool launched = options_launched(&c->options);

	if (launched && (c->described || c->options.given_rank >= 0))
		errx(EXIT_USAGE, "%s: only with --hosts-file or --hosts",
		     c->described ? c->described : "--rank");
	if (launched && getenv("COLLSOCK_REQUEST") && chooses_network(c))
		errx(EXIT_USAGE,
		     "--port, --ipv6, --ethernet, --multicast: collsock run has decided that");
	if (launched && c->starts)
		errx(EXIT_USAGE, "--startup: only with --hosts-file or --hosts");
	if (!launched && !c->has_nonce)
		errx(EXIT_USAGE,
		     "--nonce N: a number that was never used with this key, the same on all hosts");
}

static void parse(struct collperf *c, int argc, char **argv)
{
	static const struct option own[] = {
		{ "id",		required_argument, NULL, 'i' },
		{ "nonce",	required_argument, NULL, 'N' },
		{ "key-file",	required_argument, NULL, 'k' },
		{ "mac",	required_argument, NULL, 'M' },
		{ "multicast",	required_argument, NULL, 'A' },
		{ "max-bytes",	required_argument, NULL, 'B' },
		{ "segment",	required_argument, NULL, 'G' },
		{ "team",	required_argument, NULL, 'T' },
		{ "members",	required_argument, NULL, 'P' },
		{ "csv",	no_argument,	   NULL, 'V' },
		{ "startup",	no_argument,	   NULL, 'U' },
		{ "forget-neighbours", no_argument, NULL, 'g' },
		{ }
	};
	const struct program program = {
		.help = "collperf: latency of collective sockets\n\n"
			"usage: collsock run [-H HOST,...] -- collperf [OPTION]...\n"
			"       collperf [OPTION]... --nonce N --hosts-file FILE | --hosts N\n\n"
			"Start it on every host with the same options. Until all have joined, the hosts\n"
			"or ranks that it waits for are printed on standard error. Other launchers than\n"
			"collsock run do as well: mpirun, srun, torchrun (see collsock_join_env(3)).\n\n",
		.own = own,
		.own_help =
			"  -i, --id N            number of the group (default 1)\n"
			"  -N, --nonce N         of this instance of the group, a new one for\n"
			"                        every run with this key\n"
			"  -k, --key-file FILE   shared secret: 32 hexadecimal digits, mode 600;\n"
			"                        without it hosts must allow it:\n"
			"                        collsock set require_keys 0\n"
			"  -M, --mac NAME        siphash or nh-siphash (default: the latter)\n"
			"  -A, --multicast ADDRESS  such as 239.7.7.7, ff15::7, or for --ethernet\n"
			"                        03:00:00:00:00:01: what all hosts get is sent to all\n"
			"                        at once\n"
			"  -B, --max-bytes N     the group can carry N bytes, though the operation may\n"
			"                        have fewer, or none\n"
			"  -G, --segment N       payload of a packet, a multiple of 16, 48 to 8640\n"
			"                        (default: all up to 8640 bytes in one packet, which\n"
			"                        the network has to carry; packets of 1056 of more)\n"
			"  -T, --team NAME[:processes|:threads]  barriers of a team, which is this\n"
			"                        rank; NAME is central, mcs, dissemination, or futex for\n"
			"                        a bare futex barrier in its place, or futex-ioctl\n"
			"                        for one before which each makes an empty ioctl\n"
			"  -P, --members N       members of the team, 1 to 64 (default 4)\n"
			"  -V, --csv             one line of comma-separated values after a line of names\n"
			"  -U, --startup         instead of latency, measure the start of a group: the\n"
			"                        join, the first barrier, which opens connections, and\n"
			"                        a later one; of --iterations groups, whose numbers are\n"
			"                        those after --id. --degree as many as hosts (up to 16)\n"
			"                        opens all connections\n"
			"  -g, --forget-neighbours  with --startup: the first barrier looks the hosts up\n"
			"                        again by ARP; needs CAP_NET_ADMIN\n\n"
			"Port: 7607. exit code: 0 done, 1 failed, 2 wrong usage\n",
		.take = take,
		.context = c,
		.port = COLLSOCK_PORT,
		.launched = true,
	};

	options_parse(&c->options, &program, argc, argv);
	if (c->team.algorithm && (c->options.operation != COLLSOCK_BARRIER ||
				  c->options.shuffle || c->options.skew_us != NO_SKEW ||
				  options_computes(&c->options)))
		errx(EXIT_USAGE,
		     "--team: only barriers, without --shuffle, --skew, --steps and --efficiency");
	if (c->starts && (c->team.algorithm || options_computes(&c->options) ||
			  c->options.operation != COLLSOCK_BARRIER || c->options.shuffle))
		errx(EXIT_USAGE,
		     "--startup: only barriers, without --team, --steps, --efficiency and --shuffle");
	if (c->csv && (!c->team.algorithm || c->options.json))
		errx(EXIT_USAGE, "--csv: only with --team, and without --json");
	check_group(c);
	if (c->forget_neighbours &&
	    (!c->starts || c->options.hosts.address->ss_family != AF_INET))
		errx(EXIT_USAGE, "--forget-neighbours: only with --startup, and over IPv4");
}

static void measure_latency(struct collperf *c, const struct work *work)
{
	struct collsock_stats before;
	struct figures figures;

	measure_warm_up(&c->options, work);
	before = read_stats(c);
	measure(&figures, &c->options, work);
	measure_print(&figures, &c->options, "collperf");
	print_stats(c, &before);
}

static void print_csv(const struct collperf *c, const struct figures *figures)
{
	const struct options *o = &c->options;

	printf("team,kind,members,algorithm,rank,hosts,iterations,spin_us");
	printf(",mean_ns,min_ns,p50_ns,p99_ns\n");
	printf("%s,%s,%u,%s,%u,%u,%lu,%u,%.1f,%llu,%llu,%llu\n", team_name(&c->team),
	       c->team.processes ? "processes" : "threads", c->team.members,
	       options_algorithm_name(o->algorithm), o->rank, o->hosts.count, o->iterations,
	       o->spin_us, figures->mean_ns, figures->min_ns, figures->p50_ns, figures->p99_ns);
}

static void measure_team(struct collperf *c)
{
	struct collsock_stats before = read_stats(c);
	struct figures figures = { };

	team_measure(&figures, &c->options, &c->team, c->socket);
	if (c->csv) {
		print_csv(c, &figures);
		return;
	}
	measure_print(&figures, &c->options, "collperf");
	print_stats(c, &before);
}

static void measure_skew(struct collperf *c, struct work *work)
{
	struct skew_figures figures;
	struct collsock_stats before;

	work->barrier = run_sleeping_barrier;
	measure_warm_up(&c->options, work);
	before = read_stats(c);
	skew_measure(&figures, &c->options, work);
	skew_print(&figures, &c->options, "collperf");
	print_stats(c, &before);
}

static void measure_steps(struct collperf *c, const struct work *work)
{
	struct collsock_stats before = read_stats(c);

	steps_measure(&c->options, work, "collperf");
	print_stats(c, &before);
}

static struct collsock *open_another(void *context, unsigned long number)
{
	struct collperf *c = context;

	return open_rank(c, c->id + number);
}

static void measure_startup(struct collperf *c, const struct work *work)
{
	const struct startup startup = {
		.open = open_another, .context = c, .forget_neighbours = c->forget_neighbours,
	};
	struct collsock_stats before = read_stats(c);

	startup_measure(&c->options, work, &startup, "collperf");
	print_stats(c, &before);
}

int main(int argc, char **argv)
{
	static struct collperf c = {
		.id		= DEFAULT_ID,
		.team.members	= TEAM_DEFAULT_MEMBERS,
	};
	struct work work = { .barrier = run_barrier, .context = &c };

	/* Whole lines, as other ranks may print there, too. */
	setlinebuf(stderr);
	parse(&c, argc, argv);
	c.socket = options_launched(&c.options) ? open_launched(&c) : open_rank(&c, c.id);
	elements_prepare(&c.elements, &c.options);
	if (!options_launched(&c.options))
		meet(&c);
	work.operation = run_operation[c.options.operation];
	if (c.team.algorithm)
		measure_team(&c);
	else if (c.starts)
		measure_startup(&c, &work);
	else if (options_computes(&c.options))
		measure_steps(&c, &work);
	else if (c.options.skew_us == NO_SKEW)
		measure_latency(&c, &work);
	else
		measure_skew(&c, &work);
	elements_check_all(&c.elements, c.all);
	collsock_close(c.socket);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_FAILED, "standard output");
	return EXIT_DONE;
}
