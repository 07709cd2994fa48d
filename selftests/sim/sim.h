/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The simulator: ranks of several groups post operations in a world with faults, and every
 * promise of the protocol is checked. A scenario follows from its class, which defines the
 * possible faults, and a seed.
 */
#ifndef SIM_H
#define SIM_H

#include "world.h"

/* Faults that may happen. */
enum sim_trouble {
	SIM_LOSS	= 1 << 0,
	SIM_DELAY	= 1 << 1,	/* any distribution, repetition, reordering */
	SIM_DAMAGE	= 1 << 2,	/* flipped bits, strangers, replays */
	SIM_SKEW	= 1 << 3,	/* ranks that compute for hours, or join late */
	SIM_WINDOW	= 1 << 4,	/* many operations under way */
	SIM_SLOW	= 1 << 5,	/* CPUs that take their time, and late timers */
	SIM_PAUSE	= 1 << 6,	/* hosts that stop for a while */
	SIM_PARTITION	= 1 << 7,
	SIM_EXIT	= 1 << 8,
	SIM_CRASH	= 1 << 9,
	SIM_CRASHES	= 1 << 10,	/* several */
	SIM_RESTART	= 1 << 11,	/* with it */
	SIM_MISSING	= 1 << 12,	/* some never join */
	SIM_DISAGREE	= 1 << 13,
	SIM_GROUPS	= 1 << 14,	/* several */
	SIM_REPLAY	= 1 << 15,	/* of hosts that died, from recorded packets */
	SIM_QUIET	= 1 << 16,	/* most compute before they post anything */
	SIM_NUMBERS	= 1 << 17,	/* numbers near those where counters end */
	SIM_NARROW	= 1 << 18,	/* paths that only short packets pass */
	SIM_CONGESTION	= 1 << 19,	/* hosts behind narrow ports */
	SIM_MULTICAST	= 1 << 20,	/* groups with multicast, which works for some */
	SIM_ANY		= 1 << 21,	/* a selection of all these */
};

struct sim_class {
	const char	*name;
	u32		trouble;
	const char	*about;
};

extern const struct sim_class sim_classes[];
extern const u32 sim_classes_count;

#define SIM_MAX_HOSTS	64
#define SIM_MAX_RANKS	64
#define SIM_MAX_LOCALS	4
#define SIM_MAX_BYTES	4096
#define SIM_MAX_GROUPS	4
#define SIM_MAX_OPS	128
#define SIM_MAX_FAULTS	16
#define SIM_RECORDED	512

/**
 * struct sim_op - one operation of a group, with its expected result
 * @post: what all ranks post
 * @bytes: of its vector
 * @elements: of its vector
 * @posted: ranks that have posted it, in any life
 * @seen: ranks that are counted, once each
 * @expected: result, once it was computed; of prefixes one for each rank
 * @life: life of the contributions in @expected: 0, or 1 for the host that restarted
 * @agreed: ranks that have completed likewise, and it restarts and did not restart since
 * @disputed: some ranks post a different one
 * @completed: on some rank, without an error
 * @rough: its sums or products are not exact, so that their order matters
 */
struct sim_op {
	struct collsock_post	post;
	u32			bytes;
	u32			elements;
	u32			posted;
	u64			seen;
	u8			*expected;
	u32			life;
	u64			agreed;
	bool			disputed;
	bool			completed;
	bool			rough;
};

/* Operations that have completed on some rank, by kind and algorithm */
struct sim_completed {
	u64	operations[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS];
};

/* One post of a rank. */
struct sim_post {
	u32	number;
	u32	rank;
	u32	life;
	u64	posted_ns;
	bool	done;
};

/**
 * struct sim_rank - a rank, and its program
 * @member: its host's part in the group
 * @group: its group
 * @sibling: the next rank of its host
 * @number: in the group
 * @local: number on its host, when it has joined
 * @life: number of restarts of its host
 * @posts: its posts and their outcomes
 * @ops: number of operations that it intends to post
 * @depth: number of operations that it keeps under way
 * @posted: number of posts so far
 * @completed: number of these that have completed
 * @failed: number of the first that failed, or COLL_NOTHING_DONE
 * @extra: number of posts that it still tries after a failure
 * @think_ns: mean time of computing before a post
 * @skew_ns: time for which it computes once
 * @skew_at: before this post
 * @join_ns: when it joins
 * @dissent: operation in which it disagrees, or COLL_NOTHING_DONE
 * @busy: it computes before its next post
 * @going: it is about to leave
 * @joined: it has joined
 * @joined_ns: when
 * @left: it has left
 * @gone_ns: when it left, its host died; 0 if it never joins
 * @over: nothing more is expected of it
 * @missing: it never joins
 * @crashed: its host has crashed
 * @restarted: its host has restarted
 * @cut: a partition has cut it off for longer than half the liveness time
 * @paused: its host was paused for this long
 */
struct sim_rank {
	struct world_member	*member;
	struct sim_group	*group;
	struct sim_rank		*sibling;
	u32			number;
	u32			local;
	u32			life;
	struct sim_post		posts[SIM_MAX_OPS];
	u32			ops;
	u32			depth;
	u32			posted;
	u32			completed;
	u64			failed;
	u32			extra;
	u64			think_ns;
	u64			skew_ns;
	u32			skew_at;
	u64			join_ns;
	u64			joined_ns;
	u64			gone_ns;
	u64			dissent;
	bool			busy;
	bool			going;
	bool			joined;
	bool			left;
	bool			over;
	bool			missing;
	bool			crashed;
	bool			restarted;
	bool			cut;
	bool			paused;
};

/**
 * struct sim_known - what a host knows about the end of its group
 * @incarnation: life of the host
 * @limited: there is an operation that cannot complete
 * @settling: errors are held
 * @failure: which one, and the rank to blame
 * @held_ns: errors are held until then
 */
struct sim_known {
	u32			incarnation;
	bool			limited;
	bool			settling;
	struct coll_failure	failure;
	u64			held_ns;
};

/**
 * struct sim_group - a group
 * @common: the world's
 * @sim: the simulation
 * @id: number
 * @hosts: number of hosts
 * @size: number of ranks
 * @host_of_rank: the host of each rank
 * @ranks: the ranks
 * @lowest: the lowest rank of each host
 * @ops: the operations
 * @crashes: hosts that crashed
 * @victim: the lowest rank of one of them
 * @other_trouble: other causes of blame: sim_trouble
 * @disagreed_from: first operation that ranks disagree about
 * @gone_from: first operation that may need a rank that is gone
 * @heard_bound_ns: bound of a wait for a rank that is gone, if all hosts of the chain have
 *	heard from each other
 * @acted_ns: when a rank last joined, posted or resumed after a pause
 * @known: what each host knows about the group's end
 * @broken_ns: when the first host knew of a failure; 0 if none does
 * @broken_limit: the last operation that could complete then
 * @spread_ns: bound of the time until all know of it
 * @given: for a restarted host: operations that each other host had finished
 */
struct sim_group {
	struct world_group	common;
	struct sim		*sim;
	u32			id;
	u32			hosts;
	u32			size;
	u32			host_of_rank[SIM_MAX_RANKS];
	struct sim_rank		*ranks;
	struct sim_rank		*lowest[SIM_MAX_HOSTS];
	struct sim_op		ops[SIM_MAX_OPS];
	u32			crashes;
	u32			victim;
	u32			other_trouble;
	u64			disagreed_from;
	u64			gone_from;
	u64			heard_bound_ns;
	u64			acted_ns;
	struct sim_known	known[SIM_MAX_HOSTS];
	u64			broken_ns;
	u64			broken_limit;
	u64			spread_ns;
	u32			given[SIM_MAX_HOSTS];
};

enum sim_fault_kind {
	SIM_FAULT_LEAVE,
	SIM_FAULT_CRASH,
	SIM_FAULT_PAUSE,
	SIM_FAULT_PARTITION,
};

/**
 * struct sim_fault - a fault
 * @kind: kind of fault
 * @trigger: rank that posts
 * @at_post: number of its posts that triggers; 0: when it joins
 * @at_probe: if not 0: number of probes of its host that triggers instead
 * @delay_ns: time from the trigger to the fault
 * @duration_ns: a pause, a partition; of a crash, until it restarts, or 0
 * @side: hosts of one side of a partition
 * @one_way: only packets to that side are lost
 * @deaf: packets that arrive during the pause are lost
 * @fired: it has been triggered
 * @sim: the simulation
 */
struct sim_fault {
	enum sim_fault_kind	kind;
	struct sim_rank		*trigger;
	u32			at_post;
	u32			at_probe;
	u64			delay_ns;
	u64			duration_ns;
	u64			side;
	bool			one_way;
	bool			deaf;
	bool			fired;
	struct sim		*sim;
};

/**
 * struct sim - one simulation
 * @world: where it happens
 * @class: the class of faults
 * @seed: the seed
 * @random: state of the random numbers of scenario and ranks
 * @groups: groups
 * @group_count: number of them
 * @faults: the faults
 * @fault_count: number of them
 * @trouble: enum sim_trouble
 * @bound_ns: bound of a wait when no rank has anything left to do
 * @calm_ns: when the last pause or partition is over
 * @actions: number of pending actions of ranks and faults
 * @idle_ns: when the last action was done
 * @watching: a check of waiting ranks is scheduled
 * @active: number of ranks that have not finished
 * @replays: number of packets that may still be replayed
 * @recorded: the latest packets, if an attacker records them
 * @recorded_count: number of packets recorded
 * @passes: remaining replays of the packets of a dead host
 * @damaged: number of damaged packets checked to change nothing
 * @over: the simulation has ended
 * @failed: a promise was broken
 * @events: number of events so far
 * @completed: number of operations that have completed
 */
struct sim {
	struct world		world;
	const struct sim_class	*class;
	u64			seed;
	u64			random;
	struct sim_group	groups[SIM_MAX_GROUPS];
	u32			group_count;
	struct sim_fault	faults[SIM_MAX_FAULTS];
	u32			fault_count;
	u32			trouble;
	u64			bound_ns;
	u64			calm_ns;
	u32			actions;
	u64			idle_ns;
	bool			watching;
	u32			active;
	u32			replays;
	struct world_packet	*recorded[SIM_RECORDED];
	u32			recorded_count;
	u32			passes;
	u64			damaged;
	bool			over;
	bool			failed;
	u64			events;
	struct sim_completed	completed;
};

/* Number in the core of the operation that ranks count as @index: they count from 0. */
static inline u64 sim_number(const struct sim_group *g, u64 index)
{
	return g->common.first + index;
}

/* Does a fold entry of an operation wait for a message? */
static inline bool sim_misses(const struct coll_op *op, u32 edge)
{
	struct coll_arrived arrived = coll_engine_arrived(op);

	return coll_engine_misses(op, &arrived, edge);
}

static inline struct sim_group *sim_group_of(const struct world_member *m)
{
	return container_of(m->common, struct sim_group, common);
}

/* The lowest rank of a host; its siblings follow. */
static inline struct sim_rank *sim_lowest_of(const struct world_member *m)
{
	return sim_group_of(m)->lowest[m->index];
}

/* scenario.c: everything that is chosen before it begins */
void sim_scenario(struct sim *s, const struct sim_class *class, u64 seed);
void sim_scenario_tell(const struct sim *s, FILE *to);
void sim_scenario_free(struct sim *s);

/* ranks.c: what ranks do */
void sim_ranks_start(struct sim *s);
void sim_rank_join(struct world *w, void *rank);
void sim_rank_leave(struct world *w, void *rank);
void sim_rank_over(struct sim_rank *r);
extern const struct world_user sim_user;

/* An action of a rank or a fault: pending until it has happened. */
void sim_at(struct sim *s, u64 delay, world_action run, void *what);
void sim_acted(struct sim *s);

/* faults.c: faults during a run */
void sim_faults_posted(struct sim_rank *r);
void sim_faults_sent(struct sim *s, const struct world_packet *p);

/* attacker.c: an attacker without the key */
void sim_attacker_crashed(struct sim *s, struct world_host *h);
void sim_attacker_sent(struct sim *s, const struct world_packet *p);
void sim_attacker_free(struct sim *s);

/* values.c: what is posted, and how it is folded */
void sim_values_choose(struct sim *s, struct sim_group *g, struct sim_op *op);
struct coll_choice sim_values_choice(const struct sim_group *g, const struct collsock_post *post);
u32 sim_values_dissent(const struct sim_rank *r, struct collsock_post *post);
void sim_values_payload(const struct sim_rank *r, u64 number, u32 life, void *payload);
bool sim_values_contributes(const struct sim_op *op, u32 rank);
bool sim_values_receives(const struct sim_op *op, u32 rank);
u32 sim_values_contributed(const struct sim_op *op, u32 rank);
u32 sim_values_received(const struct sim_op *op, u32 rank);
bool sim_values_depends(const struct sim_op *op, u32 rank, u32 other);
bool sim_values_prefix(const struct sim_op *op);
void sim_values_fold(const struct sim_op *op, u8 *result, const u8 *left, const u8 *right);

/* expect.c: the expected results */
bool sim_expect_order_known(u8 algorithm);
bool sim_expect_right(struct sim_rank *r, u64 number, const void *result);

/* check.c: promises */
__printf(2, 3)
void sim_violated(struct sim *s, const char *format, ...);
bool sim_never_joins(const struct world_member *m);
bool sim_host_restarted(const struct world_member *m);
void sim_check_completion(const struct world_member *m, struct sim_rank *r,
			  const struct sim_post *p, const void *result, u32 bytes, u32 error,
			  u32 failed_rank);
void sim_check_member(struct world_member *m);
void sim_check_copy(struct sim *s, const struct world_packet *p);
void sim_check_damaged(struct world_member *m, enum coll_refusal refusal, bool changed);
void sim_check_stuck(struct sim *s);
void sim_check_end(struct sim *s);

/* check_waits.c: no operation waits for a message that will never arrive */
void sim_check_gone(struct sim_rank *r);
void sim_check_posted(struct sim_rank *r, const struct sim_post *p);
void sim_check_joined(struct sim_rank *r);
void sim_check_calm(struct sim *s, u64 at);

/* check_failure.c: what hosts know about the end of their group */
void sim_check_failure(struct world_member *m);
void sim_check_error(struct sim_rank *r, u64 number, u32 error, u32 failed_rank);

/* sim.c: true if every promise was kept; adds what has completed */
bool sim_run(const struct sim_class *class, u64 seed, FILE *trace,
	     struct sim_completed *completed);

/* large.c, experiment.c */
int sim_large(int argc, char **argv);
int sim_experiment(int argc, char **argv);

#endif
