/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Experiments: hosts with one CPU each, where every step has a cost, run the core, or the
 * same algorithms in a program over datagrams. CPU time and latency are compared. Costs
 * come from counted instructions; the results are those of a model.
 *
 * A host's CPU does one thing at a time. Softirq takes precedence over the program and
 * delays it; a system call of the program is not interrupted.
 */
#ifndef SIM_EXPERIMENT_H
#define SIM_EXPERIMENT_H

#include "registry.h"
#include "world.h"

/**
 * struct exp_costs - cost of each step, in ns; experiment_costs.c has their origin
 * @wire: transit of a packet from host to host; costs no CPU
 * @byte: ps for each of its bytes; likewise
 * @post: call that posts and waits, without its packets and its sleep
 * @answered: additional for the call of a rank that receives no result
 * @send: the core writes a packet and passes it to the network
 * @receive: a packet reaches the core, which advances its operation
 * @data: additional if it carries data
 * @fold: and for each double of it
 * @timer: the core handles a deadline
 * @sleep: a program goes to sleep
 * @wake: a program is woken
 * @sendto: a program sends a datagram
 * @arrive: a datagram reaches a socket
 * @recv: a program receives it
 * @poll: a program polls an empty socket
 * @element: a program copies and adds a double
 * @mpi: additional for a collective call through the library for MPI
 * @message: additional in an MPI for one datagram sent and one received
 */
struct exp_costs {
	u64	wire;
	u64	byte;
	u64	post;
	u64	answered;
	u64	send;
	u64	receive;
	u64	data;
	u64	fold;
	u64	timer;
	u64	sleep;
	u64	wake;
	u64	sendto;
	u64	arrive;
	u64	recv;
	u64	poll;
	u64	element;
	u64	mpi;
	u64	message;
};

extern const struct exp_costs exp_costs_default;

/* Parse "NAME=NS"; false if there is no such cost, or no number. */
bool exp_costs_set(struct exp_costs *costs, const char *setting);
void exp_costs_explain(FILE *to, const struct exp_costs *costs, const char *before);

/* Who implements the operations: the core, or programs */
enum exp_maker {
	EXP_COLLSOCK,
	EXP_HOSTBASED,
};

enum exp_operation {
	EXP_BARRIER,
	EXP_REDUCE,		/* to host 0, sum of doubles */
	EXP_POST,		/* what the settings say, to or from host 0; collsock alone */
	EXP_OPERATIONS,
};

enum exp_state {
	EXP_RUNS,		/* or it does not matter */
	EXP_SLEEPS,
	EXP_SPINS,
};

/* Operations that a message can belong to: a rooted one and a barrier, twice */
#define EXP_WINDOW	4

struct experiment;
struct exp_host;
struct exp_datagram;

/* The next step of a host's program */
typedef void (*exp_step)(struct exp_host *h);

/**
 * struct exp_host - a host, and the program that runs there
 * @x: the experiment
 * @cpu: the host in the world
 * @member: of collsock's group
 * @id: its number
 * @next: what the program does when it has had the CPU for as long as it asked
 * @mark_ns: softirq time when it asked, or began to spin
 * @since_ns: when it began to spin
 * @used_ns: CPU time used by the program
 * @apart_ns: part of @used_ns that is not counted
 * @state: enum exp_state
 * @then: what follows the operation
 * @operation: which one it is in
 * @spins: it spins while it waits
 * @completed: collsock's operation has completed
 * @number: of the operation, from 0
 * @schedule: host-based: of the operation
 * @round: current round
 * @sent: messages of this round
 * @folded: fold entries of this round
 * @came: messages of each operation in the window, by fold entry
 * @queue: datagrams in the socket, in order of arrival
 * @last: end of that list
 * @iteration: of the experiment
 * @warm: collsock's counters at the start of counting
 * @begin_ns: start of the measured time
 * @latency_ns: sum of the measured times
 * @sleeps: number of sleeps of the program
 */
struct exp_host {
	struct experiment		*x;
	struct world_host		*cpu;
	struct world_member		*member;
	u32				id;
	exp_step			next;
	u64				mark_ns;
	u64				since_ns;
	u64				used_ns;
	u64				apart_ns;
	enum exp_state			state;
	exp_step			then;
	enum exp_operation		operation;
	bool				spins;
	bool				completed;
	u32				number;
	const struct coll_schedule	*schedule;
	u32				round;
	u32				sent;
	u32				folded;
	bool				came[EXP_WINDOW][COLL_MAX_EDGES];
	struct exp_datagram		*queue;
	struct exp_datagram		**last;
	u32				iteration;
	struct collsock_stats		warm;
	u64				begin_ns;
	u64				latency_ns;
	u64				sleeps;
};

/**
 * struct exp_settings - settings of one run
 * @costs: cost of each step
 * @maker: who implements the operations
 * @hosts: number of hosts
 * @barrier: enum collsock_algorithm of barriers
 * @multicast: the group has multicast
 * @degree: of algorithms, if posts name none; 0: the usual one
 * @doubles: of a reduce, or of the whole vector of @post
 * @post: what EXP_POST posts
 * @iterations: number of iterations
 * @seed: seed of all random numbers
 * @spins: programs spin in measured operations
 * @mpi: they are MPI programs
 * @late_us: maximum delay of a host
 * @catch_up_us: time for which they compute after a reduce
 * @reduces: include reduces
 * @steps_ns: of a program that computes: the mean time of each step
 * @steps: their number
 * @vary: by how many percent of the mean the time of a host differs at most
 */
struct exp_settings {
	struct exp_costs	costs;
	enum exp_maker		maker;
	u32			hosts;
	u8			barrier;
	bool			multicast;
	u8			degree;
	u32			doubles;
	struct collsock_post	post;
	u32			iterations;
	u64			seed;
	bool			spins;
	bool			mpi;
	u64			late_us;
	u64			catch_up_us;
	bool			reduces;
	const u64		*steps_ns;
	u32			steps;
	u32			vary;
};

/**
 * struct experiment - one run
 * @settings: its settings
 * @world: the world
 * @group: collsock's
 * @hosts: hosts, and their programs
 * @schedules: host-based: of each operation and host
 * @running: programs that have not ended
 * @wrong: wrong results, errors, CPUs that did more than possible
 * @checked: correct results
 * @called_ns: when the latest host called, by the lowest bit of the iteration
 * @met: hosts that wait for the others to call together
 * @together_ns: when they do
 * @over_ns: when the latest host has completed an operation
 */
struct experiment {
	struct exp_settings	settings;
	struct world		world;
	struct world_group	group;
	struct exp_host		*hosts;
	struct coll_schedule	*schedules[EXP_OPERATIONS];
	u32			running;
	u32			wrong;
	u64			checked;
	u64			called_ns[2];
	u32			met;
	u64			together_ns;
	u64			over_ns;
};

/* experiment_cpu.c: a program and its CPU */

/* The program uses the CPU for this time, then takes the next step. */
void exp_compute(struct exp_host *h, u64 ns, exp_step next);

/* By how much a host is late in an iteration, at random. */
u64 exp_late_ns(const struct exp_settings *s, u32 host, u32 iteration);

/* Spin from now on, until softirq has run; exp_spun() then returns the time in ns. */
void exp_spin(struct exp_host *h);
u64 exp_spun(struct exp_host *h);

/* Sleep from now on; wake up. */
void exp_sleep(struct exp_host *h);
void exp_wake(struct exp_host *h, exp_step next);

/* Take part in an operation, spinning or sleeping. */
void exp_operate(struct exp_host *h, enum exp_operation operation, bool spins, exp_step then);

/* The program's last step */
void exp_end(struct exp_host *h);

/* The counted CPU time of all hosts */
u64 exp_worked(const struct experiment *x);

/* Run from the first step of every host until all have ended and no events are left. */
void exp_run(struct experiment *x, const struct exp_settings *settings, exp_step first);
void exp_free(struct experiment *x);

/* experiment_collsock.c, experiment_hostbased.c: implementations of operations */
int exp_collsock_start(struct experiment *x);
void exp_collsock_operate(struct exp_host *h);
int exp_hostbased_start(struct experiment *x);
void exp_hostbased_operate(struct exp_host *h);

extern const struct world_user exp_collsock_user;

/* Terminates a list of the command line. */
#define EXP_LIST_END	(~0U)
#define EXP_MOST_HOSTS	4096
#define EXP_MOST_DOUBLES	(COLLSOCK_MAX_PAYLOAD / sizeof(double))

/**
 * struct exp_choice - options of the command line
 * @settings: of all runs
 * @hosts: sizes
 * @doubles: of reduces, and of vectors
 * @late_us: of hosts
 */
struct exp_choice {
	struct exp_settings	settings;
	const u32		*hosts;
	const u32		*doubles;
	const u32		*late_us;
};

/*
 * experiment_skew.c, experiment_latency.c, experiment_algorithms.c, experiment_compute.c: print a
 * table; false if a result was wrong
 */
bool exp_skew(const struct exp_choice *choice);
bool exp_reduce(const struct exp_choice *choice);
bool exp_barrier(const struct exp_choice *choice);
bool exp_multicast(const struct exp_choice *choice);
bool exp_first(const struct exp_choice *choice);
bool exp_work(const struct exp_choice *choice);
bool exp_algorithms(const struct exp_choice *choice);
bool exp_efficiency(const struct exp_choice *choice);
bool exp_arrival(const struct exp_choice *choice);
bool exp_programs(const struct exp_choice *choice);

#endif
