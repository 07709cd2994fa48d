// SPDX-License-Identifier: GPL-2.0
/*
 * The baseline: a barrier made by the hosts' programs themselves, over blocking
 * UDP sockets and nothing else. Messages are neither authenticated nor sent again,
 * so it is as cheap as such a program can be, and a lost message ends it.
 *
 * A barrier is a list of steps. A step sends its number to a host, waits for the
 * message of that number, or both. A host may be one barrier ahead of another,
 * never two, so what came early is kept for two barriers.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

#define PORT 7777
#define MAX_STEPS 18	/* of dissemination and pairwise exchange over 65,536 hosts */
#define STEP_HELLO 0xfffffffeU	/* to rank 0: here I am; @barrier is the rank */
#define STEP_GO 0xffffffffU	/* from rank 0: all are here */
#define HELLO_INTERVAL_MS 10
#define DEFAULT_LIMIT_SECONDS 300
#define NOBODY -1

struct message {
	uint32_t	barrier;
	uint32_t	step;
};

/**
 * struct step - of the barrier
 * @to: rank to send to, or NOBODY
 * @waits: for the message of this step
 */
struct step {
	int	to;
	bool	waits;
};

/**
 * struct barrier - one host's side
 * @options: of the command line
 * @fd: its socket
 * @flags: of recv()
 * @current: number of the barrier under way
 * @steps: of each barrier
 * @step: they
 * @came: messages of the current barrier and of the next one
 * @all_here: rank 0 has heard of everybody
 */
struct barrier {
	struct options	options;
	int		fd;
	int		flags;
	uint32_t	current;
	uint32_t	steps;
	struct step	step[MAX_STEPS];
	bool		came[2][MAX_STEPS];
	bool		all_here;
};

/* ---- the algorithms ---- */

static void add_step(struct barrier *b, int to, bool waits)
{
	b->step[b->steps++] = (struct step){ .to = to, .waits = waits };
}

/* In step k everybody tells the host 2^k further on. */
static void plan_dissemination(struct barrier *b)
{
	unsigned int rank = b->options.rank, hosts = b->options.hosts.count, distance;

	for (distance = 1; distance < hosts; distance *= 2)
		add_step(b, (rank + distance) % hosts, true);
}

/*
 * In step k everybody exchanges with the host whose number differs in bit k. Hosts
 * beyond the greatest power of two report to one below it before, and are
 * released by it after.
 */
static void plan_pairwise(struct barrier *b)
{
	unsigned int rank = b->options.rank, hosts = b->options.hosts.count;
	unsigned int power = 1, extra, bit;
	bool paired;

	while (power * 2 <= hosts)
		power *= 2;
	extra = hosts - power;
	paired = rank < extra;
	if (extra)
		add_step(b, rank >= power ? (int)(rank - power) : NOBODY, paired);
	for (bit = 1; bit < power; bit *= 2)
		add_step(b, rank < power ? (int)(rank ^ bit) : NOBODY, rank < power);
	if (extra)
		add_step(b, paired ? (int)(rank + power) : NOBODY, rank >= power);
}

/* ---- messages ---- */

static void transmit(struct barrier *b, int to, uint32_t barrier, uint32_t step)
{
	struct message message = { .barrier = barrier, .step = step };

	if (sendto(b->fd, &message, sizeof(message), 0,
		   (struct sockaddr *)&b->options.hosts.address[to],
		   b->options.hosts.bytes) != sizeof(message))
		err(EXIT_FAILED, "message to rank %d", to);
}

/* Take one message; with MSG_DONTWAIT there may be none. */
static void receive(struct barrier *b)
{
	struct message message;
	ssize_t bytes;

	bytes = recv(b->fd, &message, sizeof(message), b->flags);
	if (bytes != sizeof(message)) {
		if (bytes < 0 && errno != EAGAIN && errno != EINTR)
			err(EXIT_FAILED, "receive");
		return;
	}
	if (message.step < b->steps && message.barrier - b->current <= 1) {
		b->came[message.barrier % 2][message.step] = true;
		b->all_here = true;
	} else if (message.step == STEP_GO) {
		b->all_here = true;
	} else if (message.step == STEP_HELLO && b->all_here && !b->options.rank &&
		   message.barrier < b->options.hosts.count) {
		transmit(b, message.barrier, 0, STEP_GO);
	}
}

static void barrier(void *context)
{
	struct barrier *b = context;
	bool *came = b->came[b->current % 2];
	unsigned int i;

	for (i = 0; i < b->steps; i++) {
		if (b->step[i].to != NOBODY)
			transmit(b, b->step[i].to, b->current, i);
		while (b->step[i].waits && !came[i])
			receive(b);
		came[i] = false;
	}
	b->current++;
}

/* ---- start ---- */

static void open_socket(struct barrier *b)
{
	const struct hosts *hosts = &b->options.hosts;
	const struct sockaddr *own = (struct sockaddr *)&hosts->address[b->options.rank];

	b->fd = socket(own->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (b->fd < 0 || bind(b->fd, own, hosts->bytes))
		err(EXIT_FAILED, "socket of rank %u", b->options.rank);
}

/* Rank 0 lets everybody go when it has heard of everybody. */
static void gather(struct barrier *b)
{
	unsigned int hosts = b->options.hosts.count, missing = hosts - 1, i;
	bool *heard = calloc(hosts, sizeof(*heard));
	struct message message;

	if (!heard)
		err(EXIT_FAILED, "%u hosts", hosts);
	while (missing) {
		if (recv(b->fd, &message, sizeof(message), 0) != sizeof(message) ||
		    message.step != STEP_HELLO || !message.barrier ||
		    message.barrier >= hosts || heard[message.barrier])
			continue;
		heard[message.barrier] = true;
		missing--;
	}
	free(heard);
	b->all_here = true;
	for (i = 1; i < hosts; i++)
		transmit(b, i, 0, STEP_GO);
}

/* The others knock until it does; a message of a barrier says the same. */
static void knock(struct barrier *b)
{
	struct pollfd readable = { .fd = b->fd, .events = POLLIN };

	while (!b->all_here) {
		transmit(b, 0, b->options.rank, STEP_HELLO);
		while (!b->all_here && poll(&readable, 1, HELLO_INTERVAL_MS) > 0)
			receive(b);
	}
}

static void give_up(int signal)
{
	static const char text[] =
		"hostbarrier: the time is up: a host is missing, or a message was lost\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

static void take(void *context, int letter, const char *value)
{
	unsigned long *limit_seconds = context;

	(void)letter;
	*limit_seconds = options_number("--limit", value, 1, UINT32_MAX);
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option own[] = {
		{ "limit", required_argument, NULL, 'l' },
		{ }
	};
	unsigned long limit_seconds = DEFAULT_LIMIT_SECONDS;
	const struct program program = {
		.help = "hostbarrier: latency of a barrier over blocking UDP sockets\n\n"
			"usage: hostbarrier [OPTION]... --hosts N | --hosts-file FILE\n\n"
			"Start it on every host with the same options. It is what collperf is to be\n"
			"compared with: as cheap as can be. It has no security and does not repeat\n"
			"lost messages. It spins without end, or not at all.\n\n",
		.own = own,
		.own_help =
			"  -l, --limit SECONDS   give up then (default 300)\n\n"
			"Port: 7777. exit code: 0 done, 1 failed, 2 wrong usage\n",
		.take = take,
		.context = &limit_seconds,
		.port = PORT,
	};

	options_parse(options, &program, argc, argv);
	if (options->algorithm == COLLSOCK_BINOMIAL || options->algorithm == COLLSOCK_KARY)
		errx(EXIT_USAGE, "--algorithm: here it is dissemination or pairwise");
	if (options->algorithm != COLLSOCK_PAIRWISE_EXCHANGE)
		options->algorithm = COLLSOCK_DISSEMINATION;
	/* One alarm: a time-out of every recv() would make the baseline dearer */
	signal(SIGALRM, give_up);
	alarm(limit_seconds);
}

int main(int argc, char **argv)
{
	struct figures figures;
	struct barrier b = { };

	parse(&b.options, argc, argv);
	if (b.options.algorithm == COLLSOCK_PAIRWISE_EXCHANGE)
		plan_pairwise(&b);
	else
		plan_dissemination(&b);
	open_socket(&b);
	if (b.options.rank)
		knock(&b);
	else
		gather(&b);
	b.flags = b.options.spin_us ? MSG_DONTWAIT : 0;
	measure_warm_up(&b.options, barrier, &b);
	measure(&figures, &b.options, barrier, &b);
	measure_print(&figures, &b.options, "hostbarrier", "barrier");
	if (b.options.json)
		printf("}\n");
	return EXIT_DONE;
}
