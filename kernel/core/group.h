/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group on one host: its descriptor, the window of operations, its peers,
 * and what became of it. This is the core's interface for its platform: the platform
 * embeds struct coll_group, and calls the functions below under one lock of
 * the group with bottom halves off. They never sleep, but for init and destroy,
 * which need no lock.
 *
 * A group works until it fails (terminal, sticky) or until its rank leaves.
 * When it has left and nothing is under way any more it is quiet: the platform
 * replaces it by a time-wait entry (timewait.h).
 *
 * Several ranks may live on a host; they are counted from 0 in the order of their
 * numbers ("local"). Each joins, posts and leaves for itself; the network sees
 * hosts. Messages, credit and "done" speak of what the host has done: it has
 * completed an operation when all its ranks have posted it and its rounds are over.
 */
#ifndef COLL_CORE_GROUP_H
#define COLL_CORE_GROUP_H

#include "algorithm.h"
#include "engine.h"
#include "env.h"
#include "failure.h"
#include "watch.h"

/* Nothing has completed yet: one before the first operation, number 0. */
#define COLL_NOTHING_DONE	(~0U)

#define COLL_MAX_SCHEDULES	16
/* Deadlines are rounded up to multiples of so many ns, so that they fall together. */
#define COLL_DEADLINE_GRAIN	BIT_ULL(19)

/**
 * struct coll_timing - tunables of the protocol; all in ns; local to the host
 * @rto_initial: retransmission time-out before there is a sample
 * @rto_floor: its least value
 * @rto_ceiling: the greatest value that backing off reaches
 * @rto_unheard: the same for a host that was never heard
 * @ack_delay: how long an acknowledgment waits for a packet to travel with
 * @liveness: silence after which a host counts as dead
 * @join_timeout: the same for a host that was never heard
 * @settle: how long an error is held, so that all hosts report the same
 * @idle: a connection over which nothing was said for so long is put back
 */
struct coll_timing {
	u64	rto_initial;
	u64	rto_floor;
	u64	rto_ceiling;
	u64	rto_unheard;
	u64	ack_delay;
	u64	liveness;
	u64	join_timeout;
	u64	settle;
	u64	idle;
};

extern const struct coll_timing coll_timing_default;

/**
 * struct coll_config - what makes a group
 * @join: normalised (descriptor.h)
 * @host_of_rank: checked; stays there as long as the group
 * @lowest: the lowest rank of each host, likewise; NULL if nobody asks often
 * @secret: derived from key, id and nonce
 * @timing: see there
 * @descriptor: hash of the descriptor
 * @self: index of this host
 * @incarnation: random, not 0
 * @max_memory: bytes that it may reserve; 0 if that does not matter
 */
struct coll_config {
	const struct collsock_join	*join;
	const u32			*host_of_rank;
	const u32			*lowest;
	struct coll_secret		secret;
	struct coll_timing		timing;
	u32				descriptor;
	u32				self;
	u32				incarnation;
	u64				max_memory;
};

enum coll_rank_state {
	COLL_RANK_ABSENT,
	COLL_RANK_JOINED,
	COLL_RANK_LEFT,
};

/**
 * struct coll_rank - a rank that lives on this host
 * @rank: its number in the group
 * @next: number of the next operation that it posts
 * @last: how often everything else was there when it posted
 * @state: enum coll_rank_state
 */
struct coll_rank {
	u32	rank;
	u32	next;
	u32	last;
	u8	state;
};

/**
 * struct coll_group - the group
 * @secret: MAC key and tag
 * @timing: tunables
 * @descriptor: its hash
 * @hosts: number of hosts
 * @self: index of this one
 * @size: number of ranks
 * @host_of_rank: NULL if each host has one
 * @lowest: see struct coll_config
 * @locals: ranks of this host
 * @joined: of these, those that have joined and not left
 * @ranks: they themselves
 * @incarnation: of this host in this group
 * @window: operations under way at once
 * @slots: ring of operations, indexed by number & (size - 1)
 * @slot_mask: size of the ring - 1
 * @max_bytes: of a payload
 * @room: the same, rounded up so that what follows is aligned
 * @segment_bytes: of it in one packet
 * @ack_every: messages of one host that are acknowledged before the delay is over
 * @fanout: of k-ary trees; 0 if there are none
 * @algorithms: mask of those that posts may name; 0 for all
 * @default_schedule: what COLLSOCK_AUTO means, by operation
 * @schedules: by index in coll_algorithms[]; those of operations with a root are
 *	built when it is known
 * @peers: hash table by host
 * @peer_mask: size of the table - 1
 * @spare: memory for the peers that the schedules name, until first use
 * @all_peers: the same as a list
 * @armed_ns: the deadline that the platform knows
 * @next: number of the first operation that no rank of this host has posted
 * @oldest: oldest operation whose slot is in use
 * @completed: all operations through this one are complete
 * @cover_done: latest "done" sent in an all-to-all operation
 * @cover_ns: when
 * @acknowledged: operations through this one are complete at all hosts, and
 *	every host knows or is about to know it
 * @floor_operation: an operation whose completion
 * @floor: made us know that all hosts had completed through this one
 * @common_credit: highest operation that every host can take, as follows
 * @held: messages that wait for credit
 * @settle_ns: when aborted operations report; COLL_NEVER if there are none
 * @watch_ns: when to look next for whom operations wait
 * @watch_round: number of the latest look
 * @failure: operations beyond its limit cannot complete,
 * @limited: if there is one
 * @failed: terminal: this host takes part in nothing any more
 * @leaving: our ranks have left
 * @refusals: peers that wait to hear of room
 * @running: operations RUNNING or ABORTED
 * @memory: bytes that were reserved when it was made; more than @max_memory if that
 *	was why it could not be made
 * @max_memory: the most
 * @stats: counters (uapi); the platform adds hosts, host and size
 */
struct coll_group {
	struct coll_secret	secret;
	struct coll_timing	timing;
	u32			descriptor;
	u32			hosts;
	u32			self;
	u32			incarnation;
	u32			window;
	u32			slot_mask;
	u32			max_bytes;
	u32			room;
	u32			segment_bytes;
	u32			ack_every;
	u32			peer_mask;
	u32			fanout;
	u32			size;
	u32			locals;
	u32			joined;
	const u32		*host_of_rank;
	const u32		*lowest;
	struct coll_rank	*ranks;
	struct coll_op		*slots;
	struct coll_schedule	*schedules[COLL_MAX_SCHEDULES];
	u64			algorithms;
	u8			default_schedule[COLLSOCK_BROADCAST + 1];
	struct coll_peer	**peers;
	struct coll_peer	*spare;
	struct coll_peer	*all_peers;
	u64			armed_ns;
	u32			next;
	u32			oldest;
	u32			completed;
	u32			cover_done;
	u64			cover_ns;
	u32			acknowledged;
	u32			floor_operation;
	u32			floor;
	u32			common_credit;
	u32			held;
	u64			settle_ns;
	u64			watch_ns;
	u32			watch_round;
	struct coll_failure	failure;
	bool			limited;
	bool			failed;
	bool			leaving;
	u32			refusals;
	u32			running;
	u64			memory;
	u64			max_memory;
	struct collsock_stats	stats;
};

int coll_group_init(struct coll_group *g, const struct coll_config *config);
void coll_group_destroy(struct coll_group *g);

/*
 * A rank joins, and has not before: its number among those of this host, or
 * -ENOENT, -EEXIST.
 */
int coll_group_join(struct coll_group *g, u32 rank);

/*
 * What a post of a rank means to this group: its signature, and the bytes of the
 * payload that this rank has to bring; or -EINVAL, -EMSGSIZE. Needs no lock: it reads
 * what init has set.
 */
int coll_group_signature(const struct coll_group *g, u32 local,
			 const struct collsock_post *post, struct coll_signature *sig);

/* A rank posts: 0, or -EAGAIN when the window is full. May complete at once. */
int coll_group_post(struct coll_group *g, u32 local, const struct coll_signature *sig,
		    const void *payload, void *token, u64 now);

/* What was wrong with a packet. */
enum coll_refusal {
	COLL_ACCEPTED,
	COLL_FORGED,
	COLL_WRONG_DESCRIPTOR,
};

/* A packet for this group and host, which came from the address of @source. */
enum coll_refusal coll_group_receive(struct coll_group *g, u32 source, const u8 *packet,
				     u32 bytes, u64 now);

/* The deadline asked for with coll_env_deadline() has passed. */
void coll_group_expire(struct coll_group *g, u64 now);

/* A packet of @host came before this group existed: send a join notice. */
void coll_group_notify_join(struct coll_group *g, u32 host, u64 now);

/* A rank closes: what it has posted completes, others learn of it. */
void coll_group_leave(struct coll_group *g, u32 local, u64 now);

/* All have left, and nothing is under way any more. */
bool coll_group_quiet(const struct coll_group *g);

/* Will the rank's next operation fail? One that left had not posted it. */
static inline bool coll_group_ended(const struct coll_group *g, u32 local)
{
	return g->limited && coll_after(g->ranks[local].next, g->failure.limit);
}

/* Are errors held? */
static inline bool coll_group_settling(const struct coll_group *g)
{
	return g->settle_ns != COLL_NEVER;
}

/* Is it a failure, and not a rank that left, that limits the group? */
static inline bool coll_group_broken(const struct coll_group *g)
{
	return g->limited && g->failure.reason != COLL_REASON_LEFT;
}

/* Is there room for the rank to post? */
static inline bool coll_group_writable(const struct coll_group *g, u32 local)
{
	return (coll_group_ended(g, local) && !coll_group_settling(g)) ||
	       g->ranks[local].next - g->oldest < g->window;
}

/*
 * Highest operation whose messages can be stored. It also tells which operations
 * this host has done with, all its messages being acknowledged: what was aborted
 * is not among them.
 */
static inline u32 coll_group_credit(const struct coll_group *g)
{
	u32 oldest = g->oldest;

	if (unlikely(g->limited && coll_after(oldest, g->failure.limit)))
		oldest = g->failure.limit + 1;
	return oldest + g->window - 1;
}

static inline struct coll_op *coll_group_slot(const struct coll_group *g, u32 number)
{
	return &g->slots[number & g->slot_mask];
}

/*
 * The last operation that this host takes part in, if all its ranks have left, or if
 * it knows of one that cannot complete. Until then they may post all before that.
 */
static inline u32 coll_group_last(const struct coll_group *g)
{
	if (g->limited && (!g->leaving || coll_before(g->failure.limit, g->next - 1)))
		return g->failure.limit;
	return g->next - 1;
}

/* The host of a rank. */
static inline u32 coll_group_host(const struct coll_group *g, u32 rank)
{
	return g->host_of_rank ? g->host_of_rank[rank] : rank;
}

/* The lowest rank of a host: it takes long to find if the platform has no table of them. */
u32 coll_group_rank(const struct coll_group *g, u32 host);

static inline bool coll_signature_equal(const struct coll_signature *a,
					const struct coll_signature *b)
{
	static_assert(sizeof(*a) == 12);
	return !memcmp(a, b, sizeof(*a));
}

/* Does the rank bring something to the operation, whatever the algorithm? */
static inline bool coll_rank_contributes(u32 rank, const struct coll_signature *sig)
{
	return sig->operation != COLLSOCK_BROADCAST || sig->root == rank;
}

/* What its schedules depend on. */
static inline struct coll_shape coll_group_shape(const struct coll_group *g, u32 root)
{
	return (struct coll_shape) {
		.hosts	= g->hosts,
		.self	= g->self,
		.root	= root,
		.fanout	= g->fanout,
	};
}

/* Does the group have what the algorithm needs? */
static inline bool coll_group_has(const struct coll_group *g, const struct coll_algorithm *a)
{
	return g->fanout || !a->fans_out;
}

/* Can the window advance: does nobody need its oldest operation any more? */
static inline bool coll_group_advances(const struct coll_group *g)
{
	const struct coll_op *op = coll_group_slot(g, g->oldest);

	return g->oldest != g->next && op->state == COLL_OP_DONE && !op->unacked;
}

/* For the other parts of the core */
struct coll_peer *coll_group_find_peer(const struct coll_group *g, u32 host);
struct coll_op *coll_group_slot_for(struct coll_group *g, u32 source,
				    const struct coll_body *body, u64 now);
void coll_group_recall(struct coll_group *g, struct coll_peer *peer,
		       const struct coll_body *body, u64 now);
void coll_group_free_slots(struct coll_group *g, u64 now);
void coll_group_arm(struct coll_group *g, u64 at);
struct coll_peer *coll_group_peer(struct coll_group *g, u32 host, u64 now);
void coll_group_completed(struct coll_group *g, struct coll_op *op, u64 now);

static inline void coll_group_advance_window(struct coll_group *g, u64 now)
{
	if (coll_group_advances(g))
		coll_group_free_slots(g, now);
}

/* An operation waits: look after a while whether those it waits for are there. */
static inline void coll_watch_start(struct coll_group *g, u64 now)
{
	if (unlikely(g->watch_ns == COLL_NEVER))
		coll_watch_arm(g, now);
}

/*
 * Call coll_peer_expire() at @at, or earlier. In the usual case the peer is due earlier
 * already, and this is one comparison: deadlines are not taken back when they are no
 * longer needed.
 */
static inline void coll_group_schedule(struct coll_group *g, struct coll_peer *peer, u64 at)
{
	at = (at | (COLL_DEADLINE_GRAIN - 1)) + 1;
	if (likely(at >= peer->due_ns))
		return;
	peer->due_ns = at;
	coll_group_arm(g, at);
}

#endif
