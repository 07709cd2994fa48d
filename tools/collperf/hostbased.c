// SPDX-License-Identifier: GPL-2.0
/*
 * The baseline: operations implemented in user space over plain UDP sockets. Messages are
 * neither authenticated nor retransmitted, so it is as cheap as such a program can be, and
 * a lost message ends it. It sleeps in recv(), or polls.
 *
 * Operations are numbered. A message names its operation and its slot at the receiver
 * (plan.h). A message that arrives early is kept: a host can be ahead of another by at most one
 * operation in which all wait for all, plus one with a root or a scan.
 *
 * Blocks are sent from the vector, and placed in it, in the order of hosts.
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elements.h"
#include "measure.h"
#include "number.h"
#include "plan.h"
#include "skew.h"
#include "steps.h"

#define PORT 7777
#define WINDOW 4	/* an operation with a root, or a scan, and the barrier after it, twice */
#define PIECES 2	/* of the vector: blocks of the last hosts, and of the first ones */
#define SLOT_HELLO 0xfffffffeU	/* to rank 0: a rank is ready; @operation is the rank */
#define SLOT_GO 0xffffffffU	/* from rank 0: all ranks are ready */
#define HELLO_INTERVAL_MS 10
#define DEFAULT_LIMIT_SECONDS 300
#define BUFFER_BYTES (8 << 20)
#define DATAGRAM_BYTES 65507	/* over IPv4 */

struct message {
	uint32_t	operation;
	uint32_t	slot;
	double		data[MAX_COUNT];
};

#define HEADER_BYTES offsetof(struct message, data)
#define MOST_ELEMENTS ((DATAGRAM_BYTES - HEADER_BYTES) / sizeof(double))

/**
 * struct early - messages received for one operation
 * @came: the message of this slot was received
 * @data: payloads of all slots, one after the other
 */
struct early {
	bool	came[PLAN_SLOTS];
	double	*data;
};

/**
 * struct hostbased - state of one host
 * @options: options of the command line
 * @elements: its contributions
 * @fd: its socket
 * @flags: of recv() in the operation under way
 * @current: number of the operation under way
 * @plan: plan of the operation
 * @barrier: plan of a barrier
 * @early: indexed by operation number
 * @vector: elements of the operation, with the blocks of all hosts if it has some
 * @data_bytes: their bytes: payload of each message, unless it has some of the blocks; 0 for a
 *              barrier
 * @moves: the operation moves blocks
 * @blocks: number of blocks of the vector, if messages have some of them; else 0
 * @block: elements of a block; the last ones may be shorter, or empty
 * @result: result of this host
 * @below: that of an exscan
 * @out: the result so far, and what is sent
 * @in: what was received last
 * @all_here: all ranks are ready
 */
struct hostbased {
	struct options	options;
	struct elements	elements;
	int		fd;
	int		flags;
	uint32_t	current;
	struct plan	plan;
	struct plan	barrier;
	struct early	early[WINDOW];
	unsigned int	vector;
	size_t		data_bytes;
	bool		moves;
	unsigned int	blocks;
	unsigned int	block;
	const double	*result;
	double		below[MAX_COUNT];
	struct message	out;
	struct message	in;
	bool		all_here;
};

/* ---- messages ---- */

static void transmit(struct hostbased *h, int to, uint32_t operation, uint32_t slot,
		     size_t data_bytes)
{
	ssize_t bytes = HEADER_BYTES + data_bytes;

	h->out.operation = operation;
	h->out.slot = slot;
	if (sendto(h->fd, &h->out, bytes, 0, (struct sockaddr *)&h->options.hosts.address[to],
		   h->options.hosts.bytes) != bytes)
		err(EXIT_FAILED, "message to rank %d", to);
}

static struct iovec find_piece(struct hostbased *h, unsigned int first, unsigned int blocks)
{
	unsigned int from = first * h->block, to = (first + blocks) * h->block;

	if (to > h->vector)
		to = h->vector;
	if (from > to)
		from = to;
	return (struct iovec){ h->out.data + from, (to - from) * sizeof(double) };
}

/* Where these blocks are; returns the number of pieces. */
static int find_pieces(struct hostbased *h, const struct range *range, struct iovec *piece)
{
	unsigned int straight = h->blocks - range->first;

	if (straight > range->blocks)
		straight = range->blocks;
	piece[0] = find_piece(h, range->first, straight);
	piece[1] = find_piece(h, 0, range->blocks - straight);
	return piece[1].iov_len ? 2 : 1;
}

static void transmit_blocks(struct hostbased *h, const struct step *step)
{
	struct iovec part[1 + PIECES] = { { &h->out, HEADER_BYTES } };
	const struct msghdr message = {
		.msg_name	= &h->options.hosts.address[step->to],
		.msg_namelen	= h->options.hosts.bytes,
		.msg_iov	= part,
		.msg_iovlen	= 1 + find_pieces(h, &step->given, part + 1),
	};

	h->out.operation = h->current;
	h->out.slot = step->to_slot;
	if (sendmsg(h->fd, &message, 0) < 0)
		err(EXIT_FAILED, "message to rank %d", step->to);
}

/* Receive one message; with MSG_DONTWAIT there may be none. */
static void receive(struct hostbased *h)
{
	const struct message *in = &h->in;
	ssize_t bytes;

	bytes = recv(h->fd, &h->in, HEADER_BYTES + h->data_bytes, h->flags);
	if (bytes < (ssize_t)HEADER_BYTES) {
		if (bytes < 0 && errno != EAGAIN && errno != EINTR)
			err(EXIT_FAILED, "receive");
		return;
	}
	if (in->slot < PLAN_SLOTS && in->operation - h->current < WINDOW) {
		struct early *early = &h->early[in->operation % WINDOW];

		if (bytes > (ssize_t)HEADER_BYTES)
			memcpy(early->data + in->slot * h->vector, in->data,
			       bytes - HEADER_BYTES);
		early->came[in->slot] = true;
		h->all_here = true;
	} else if (in->slot == SLOT_GO) {
		h->all_here = true;
	} else if (in->slot == SLOT_HELLO && h->all_here && !h->options.rank &&
		   in->operation < h->options.hosts.count) {
		transmit(h, in->operation, 0, SLOT_GO, 0);
	}
}

/* ---- operations ---- */

static void add(double *sum, const double *data, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		sum[i] += data[i];
}

static void take_piece(bool replaces, const struct iovec *piece, const double *data)
{
	if (replaces)
		memcpy(piece->iov_base, data, piece->iov_len);
	else
		add(piece->iov_base, data, piece->iov_len / sizeof(double));
}

static void take_data(struct hostbased *h, const struct step *step, const double *data)
{
	struct iovec piece[PIECES] = { { h->out.data, h->data_bytes } };
	int i, pieces = h->blocks ? find_pieces(h, &step->taken, piece) : 1;

	for (i = 0; i < pieces; i++) {
		take_piece(h->moves || step->replaces, &piece[i], data);
		data += piece[i].iov_len / sizeof(double);
	}
}

static void run(struct hostbased *h, const struct plan *plan, size_t data_bytes)
{
	struct early *early = &h->early[h->current % WINDOW];
	unsigned int i;

	for (i = 0; i < plan->steps; i++) {
		const struct step *step = &plan->step[i];

		if (step->to != NOBODY && data_bytes && h->blocks)
			transmit_blocks(h, step);
		else if (step->to != NOBODY)
			transmit(h, step->to, h->current, step->to_slot, data_bytes);
		if (step->slot == NOBODY)
			continue;
		while (!early->came[step->slot])
			receive(h);
		early->came[step->slot] = false;
		if (data_bytes)
			take_data(h, step, early->data + step->slot * h->vector);
	}
	h->current++;
}

static void run_barrier(void *context)
{
	struct hostbased *h = context;

	run(h, &h->barrier, 0);
}

/* A host whose waiting is not measured sleeps, and leaves the processor to the others. */
static void run_sleeping_barrier(void *context)
{
	struct hostbased *h = context;
	int flags = h->flags;

	h->flags = 0;
	run(h, &h->barrier, 0);
	h->flags = flags;
}

static double *own_block(struct hostbased *h)
{
	return h->out.data + h->options.rank * h->options.count;
}

static void contribute(struct hostbased *h)
{
	const struct options *options = &h->options;

	switch (options->operation) {
	case COLLSOCK_BROADCAST:
		elements_next(&h->elements, h->out.data);
		break;
	case COLLSOCK_ALLGATHER:
	case COLLSOCK_GATHER:
		memcpy(own_block(h), h->elements.mine, options->count * sizeof(double));
		break;
	case COLLSOCK_SCATTER:
		if (options->rank == options->root)
			memcpy(h->out.data, h->elements.mine, h->data_bytes);
		break;
	default:
		memcpy(h->out.data, h->elements.mine, h->data_bytes);
	}
}

/* Fold the contributions of lower hosts; the message of the farthest one is on the left. */
static void fold_below(struct hostbased *h, const struct early *early)
{
	unsigned int slot = 0;

	if (!h->options.rank)
		return;
	while (2U << slot <= h->options.rank)
		slot++;
	memcpy(h->below, early->data + slot * h->vector, h->data_bytes);
	while (slot--)
		add(h->below, early->data + slot * h->vector, h->vector);
}

static void run_with_data(void *context)
{
	struct hostbased *h = context;
	const struct early *early = &h->early[h->current % WINDOW];

	contribute(h);
	run(h, &h->plan, h->data_bytes);
	if (h->options.operation == COLLSOCK_EXSCAN)
		fold_below(h, early);
	elements_check(&h->elements, h->result);
}

/* The degree in a group whose JOIN names none; 0: the algorithm has no degree */
static unsigned int usual_degree(int algorithm, unsigned int hosts)
{
	switch (algorithm) {
	case COLLSOCK_DISSEMINATION:
	case COLLSOCK_EXCHANGE:
		return hosts == 3 ? 3 : 2;
	case COLLSOCK_KARY:
		return 4;
	default:
		return 0;
	}
}

static void make_plans(struct hostbased *h)
{
	struct options *options = &h->options;
	unsigned int given = options->degree;
	struct shape shape = {
		.operation	= options->operation,
		.algorithm	= options->algorithm,
		.hosts		= options->hosts.count,
		.rank		= options->rank,
		.root		= options->root,
	};

	if (!given)
		options->degree = usual_degree(options->algorithm, options->hosts.count);
	shape.degree = options->degree;
	plan_make(&h->plan, &shape);
	shape.operation = COLLSOCK_BARRIER;
	shape.root = 0;
	if (options->operation != COLLSOCK_BARRIER)
		shape.algorithm = COLLSOCK_DISSEMINATION;
	shape.degree = given ? given : usual_degree(shape.algorithm, shape.hosts);
	plan_make(&h->barrier, &shape);
}

static const double *find_result(struct hostbased *h)
{
	switch (h->options.operation) {
	case COLLSOCK_SCATTER:
	case COLLSOCK_REDUCE_SCATTER_BLOCK:
		return own_block(h);
	case COLLSOCK_EXSCAN:
		return h->below;
	default:
		return h->out.data;
	}
}

static void prepare(struct hostbased *h)
{
	unsigned int i;

	make_plans(h);
	if (h->options.operation == COLLSOCK_BARRIER)
		return;
	elements_prepare(&h->elements, &h->options);
	h->vector = options_vector(&h->options);
	h->data_bytes = h->vector * sizeof(double);
	h->moves = options_moves_blocks(h->options.operation);
	h->blocks = h->moves ? h->options.hosts.count : h->plan.blocks;
	h->block = h->blocks ? (h->vector + h->blocks - 1) / h->blocks : 0;
	h->result = find_result(h);
	for (i = 0; i < WINDOW; i++) {
		h->early[i].data = calloc(PLAN_SLOTS, h->data_bytes);
		if (!h->early[i].data)
			err(EXIT_FAILED, "%u elements", h->options.count);
	}
}

/* ---- start ---- */

static void open_socket(struct hostbased *h)
{
	const struct hosts *hosts = &h->options.hosts;
	int bytes = BUFFER_BYTES;
	const struct sockaddr *own = (struct sockaddr *)&hosts->address[h->options.rank];

	h->fd = socket(own->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (h->fd < 0 || bind(h->fd, own, hosts->bytes))
		err(EXIT_FAILED, "socket of rank %u", h->options.rank);
	/* For a flat tree; root may exceed the limit */
	if (setsockopt(h->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) &&
	    setsockopt(h->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)))
		err(EXIT_FAILED, "buffer of rank %u", h->options.rank);
}

/* Rank 0 releases all ranks when it has heard from all. */
static void gather(struct hostbased *h)
{
	unsigned int hosts = h->options.hosts.count, missing = hosts - 1, i;
	bool *heard = calloc(hosts, sizeof(*heard));
	const struct message *in = &h->in;

	if (!heard)
		err(EXIT_FAILED, "%u hosts", hosts);
	while (missing) {
		if (recv(h->fd, &h->in, sizeof(h->in), 0) != HEADER_BYTES ||
		    in->slot != SLOT_HELLO || !in->operation || in->operation >= hosts ||
		    heard[in->operation])
			continue;
		heard[in->operation] = true;
		missing--;
	}
	free(heard);
	h->all_here = true;
	for (i = 1; i < hosts; i++)
		transmit(h, i, 0, SLOT_GO, 0);
}

/* The others send hello until released; a message of an operation releases them, too. */
static void hello(struct hostbased *h)
{
	struct pollfd readable = { .fd = h->fd, .events = POLLIN };

	while (!h->all_here) {
		transmit(h, 0, h->options.rank, SLOT_HELLO, 0);
		while (!h->all_here && poll(&readable, 1, HELLO_INTERVAL_MS) > 0)
			receive(h);
	}
}

static void give_up(int signal)
{
	static const char text[] =
		"hostbased: timed out: a host is missing, or a message was lost\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

static void take(void *context, int letter, const char *value)
{
	unsigned long *limit_seconds = context;

	(void)letter;
	*limit_seconds = number_parse("--limit", value, 1, UINT32_MAX);
}

static int automatic(unsigned int operation)
{
	switch (operation) {
	case COLLSOCK_BARRIER:
	case COLLSOCK_ALLGATHER:
		return COLLSOCK_DISSEMINATION;
	case COLLSOCK_ALLREDUCE:
	case COLLSOCK_REDUCE_SCATTER_BLOCK:
		return COLLSOCK_EXCHANGE;
	case COLLSOCK_SCAN:
	case COLLSOCK_EXSCAN:
		return COLLSOCK_HILLIS_STEELE;
	default:
		return COLLSOCK_BINOMIAL;
	}
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option own[] = {
		{ "limit", required_argument, NULL, 'l' },
		{ }
	};
	unsigned long limit_seconds = DEFAULT_LIMIT_SECONDS;
	const struct program program = {
		.help = "hostbased: latency of operations over UDP sockets\n\n"
			"usage: hostbased [OPTION]... --hosts N | --hosts-file FILE\n\n"
			"Start it on every host with the same options. It is the baseline for\n"
			"collperf, as cheap as possible: it neither authenticates messages nor\n"
			"retransmits lost ones. With --spin it polls, otherwise it sleeps; with\n"
			"--skew its barriers sleep in any case.\n\n",
		.own = own,
		.own_help =
			"  -l, --limit SECONDS   give up after this time (default 300)\n\n"
			"Port: 7777. exit code: 0 done, 1 failed, 2 wrong usage\n",
		.take = take,
		.context = &limit_seconds,
		.port = PORT,
		.has_algorithm = plan_has,
	};

	options_parse(options, &program, argc, argv);
	if (options->hosts.address->ss_family == AF_PACKET)
		errx(EXIT_USAGE, "its hosts need addresses of IP");
	if (options_vector(options) > MOST_ELEMENTS)
		errx(EXIT_USAGE, "--count %u: a datagram has at most %zu elements", options->count,
		     MOST_ELEMENTS);
	if (options->algorithm == COLLSOCK_AUTO)
		options->algorithm = automatic(options->operation);
	/* A single alarm, as a time-out in every recv() would slow down the baseline */
	signal(SIGALRM, give_up);
	alarm(limit_seconds);
}

static void measure_latency(struct hostbased *h, const struct work *work)
{
	struct figures figures;

	measure_warm_up(&h->options, work);
	measure(&figures, &h->options, work);
	measure_print(&figures, &h->options, "hostbased");
}

static void measure_skew(struct hostbased *h, struct work *work)
{
	struct skew_figures figures;

	work->barrier = run_sleeping_barrier;
	measure_warm_up(&h->options, work);
	skew_measure(&figures, &h->options, work);
	skew_print(&figures, &h->options, "hostbased");
}

int main(int argc, char **argv)
{
	static struct hostbased h;
	struct work work = { .barrier = run_barrier, .context = &h };

	parse(&h.options, argc, argv);
	prepare(&h);
	open_socket(&h);
	if (h.options.rank)
		hello(&h);
	else
		gather(&h);
	h.flags = h.options.spin_us ? MSG_DONTWAIT : 0;
	work.operation = h.options.operation == COLLSOCK_BARRIER ? run_barrier : run_with_data;
	if (options_computes(&h.options))
		steps_measure(&h.options, &work, "hostbased");
	else if (h.options.skew_us == NO_SKEW)
		measure_latency(&h, &work);
	else
		measure_skew(&h, &work);
	elements_check_all(&h.elements, h.result);
	if (h.options.json)
		printf("}\n");
	return EXIT_DONE;
}
