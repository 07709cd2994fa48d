/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a group instance on one host: the group, its connections (peer_state.h), and the
 * operations in its window (op_state.h), in parts. Every file may read all of it, as the inline
 * functions below do; which files write a part is in Documentation/architecture.md ("Who writes
 * the state").
 *
 * All of it is protected by the group's lock, except what coll_group_init() sets once.
 */
#ifndef COLL_CORE_STATE_H
#define COLL_CORE_STATE_H

#include "menu.h"
#include "multicast_state.h"
#include "op_state.h"
#include "order.h"
#include "peer_state.h"
#include "timing.h"

#define COLL_NEVER		(~0ULL)
/* The last completed operation when there is none: one before number 0. */
#define COLL_NOTHING_DONE	(~0ULL)

#define COLL_MAX_SCHEDULES	32
/* Peers of a group on one host: some loops over them count no work (work.h). */
#define COLL_MAX_PEERS		512

/* ---- the group ---- */

enum coll_rank_state {
	COLL_RANK_ABSENT,
	COLL_RANK_JOINED,
	COLL_RANK_LEFT,
};

/**
 * struct coll_rank - a rank of this host
 * @next: number of the next operation that it posts
 * @rank: its number in the group
 * @last: how often its post was the last that an operation waited for
 * @state: enum coll_rank_state
 */
struct coll_rank {
	u64	next;
	u32	rank;
	u32	last;
	u8	state;
};

/**
 * struct coll_ranks - the ranks of a group and their hosts
 * @size: number of ranks in the group
 * @host_of: the host of each rank; NULL if each host has one rank
 * @lowest: the lowest rank of each host; NULL if the platform has no table of them
 * @locals: number of ranks of this host
 * @joined: number of these that have joined and not left
 * @leaving: all that had joined have left
 * @local: the ranks of this host
 * @order: the order of their blocks
 */
struct coll_ranks {
	u32			size;
	const u32		*host_of;
	const u32		*lowest;
	u32			locals;
	u32			joined;
	bool			leaving;
	struct coll_rank	*local;
	struct coll_order	order;
};

/**
 * struct coll_payload - sizes of payloads
 * @max_bytes: largest payload of one operation
 * @room: the same, rounded up for alignment
 * @max_result_bytes: largest vector that has a block for each rank and is not reduced
 * @segment_bytes: largest part of it in one packet
 * @packet_bytes: length of the largest packet of the group
 */
struct coll_payload {
	u32	max_bytes;
	u32	room;
	u32	max_result_bytes;
	u32	segment_bytes;
	u32	packet_bytes;
};

/**
 * struct coll_plan - how operations are carried out
 * @menu: which algorithms they may use, with which degrees; memory is reserved for all
 * @schedules: by position in coll_registry[], then by degree; with a root they are built per
 *	operation
 */
struct coll_plan {
	struct coll_menu	menu;
	struct coll_schedule	**schedules[COLL_MAX_SCHEDULES];
};

/**
 * struct coll_peers - the connections
 * @bucket: hash table by host
 * @mask: size of the table - 1
 * @all: the same as a list
 * @spare: memory for the peers that the schedules name, while not in use
 * @held: messages of all peers that wait for credit, or for the congestion window
 * @refusals: peers to notify when there is room
 * @ack_every: messages of one host after which an acknowledgment is not delayed
 */
struct coll_peers {
	struct coll_peer	**bucket;
	u32			mask;
	struct coll_peer	*all;
	struct coll_peer	*spare;
	u32			held;
	u32			refusals;
	u32			ack_every;
};

/**
 * struct coll_window - the operations under way
 * @slots: ring of operations, indexed by number & @mask
 * @buffers: memory for a payload of each slot (struct coll_op_vector)
 * @mask: size of the ring - 1
 * @size: largest number of operations under way
 * @running: number of operations RUNNING or ABORTED
 * @next: number of the first operation that no rank of this host has posted
 * @oldest: oldest operation whose slot is in use
 * @completed: all operations up to this one are complete
 */
struct coll_window {
	struct coll_op		*slots;
	u8			*buffers;
	u32			mask;
	u32			size;
	u32			running;
	u64			next;
	u64			oldest;
	u64			completed;
};

/**
 * struct coll_credit - what synchronising operations (schedule.h) reveal about all hosts
 * @cover_done: latest "done" sent in such an operation
 * @cover_ns: when it was last sent, also by a retransmission or a copy
 * @acknowledged: operations up to this one are complete at all hosts, and every host knows
 *	that or is about to
 * @floor_operation: the operation whose completion revealed @floor
 * @floor: all hosts had completed operations up to this one
 * @common: highest operation that every host can store: the previous @floor plus the window
 */
struct coll_credit {
	u64	cover_done;
	u64	cover_ns;
	u64	acknowledged;
	u64	floor_operation;
	u64	floor;
	u64	common;
};

/**
 * struct coll_watch - finding out which hosts operations wait for
 * @next_ns: when to check next, or to go on checking
 * @operation: number of the operation that was last checked
 * @round: number of the latest check
 * @left: slots of the window, the last ones, where the check goes on; 0 if it is over
 * @fold: in the first of these, if it still has @operation: fold entry where it goes on
 * @found: it has found an operation that waits
 */
struct coll_watch {
	u64	next_ns;
	u64	operation;
	u32	round;
	u32	left;
	u32	fold;
	bool	found;
};

/**
 * struct coll_failure - operations beyond @limit cannot complete
 * @limit: the last that can
 * @rank: rank to blame
 * @reason: enum coll_reason
 */
struct coll_failure {
	u64	limit;
	u32	rank;
	u32	reason;
};

/**
 * struct coll_failure_state - what is known of a failure
 * @what: the failure limit, and the rank to blame
 * @known: there is a limit
 * @terminal: the group has ended on this host
 * @reporting: aborted operations are reporting; some of them may have
 * @settle_ns: when they report; COLL_NEVER if there are none
 * @goodbye: what the other hosts are sent
 */
struct coll_failure_state {
	struct coll_failure		what;
	bool				known;
	bool				terminal;
	bool				reporting;
	u64				settle_ns;
	struct coll_message_head	goodbye;
};

/**
 * struct coll_work - how much one event does
 * @left: what the present event may still do (work.h)
 * @most: what each may do
 * @unit: elements that are folded in one step
 * @rest: COLL_WORK_*: what else waits for the next turn
 * @ready: lanes with work that waits for their turn, oldest first
 * @before: where to insert the next one: at the end, but what a turn leaves keeps its place
 * @fold: a pair that the present event leaves to its caller; @op is NULL if there is none
 */
struct coll_work {
	s32			left;
	s32			most;
	u32			unit;
	u8			rest;
	struct list_head	ready;
	struct list_head	*before;
	struct coll_fold	fold;
};

/**
 * struct coll_group - the group on this host
 * @secret: MAC key and tag
 * @timing: tunables
 * @descriptor: hash of the descriptor
 * @incarnation: of this host in this group
 * @hosts: number of hosts
 * @self: index of this one
 * @armed_ns: the deadline that the platform has been given
 * @ranks: the ranks and their hosts
 * @payload: sizes of payloads
 * @plan: how operations are carried out
 * @peers: the connections
 * @window: the operations under way
 * @credit: what is known of all hosts
 * @watch: finding out which hosts operations wait for
 * @failure: what is known of a failure
 * @work: how much one event does
 * @multicast: multicast ahead of the tree
 * @stats: counters (uapi); the platform sets hosts, host and size
 */
struct coll_group {
	struct coll_secret		secret;
	struct coll_timing		timing;
	u32				descriptor;
	u32				incarnation;
	u32				hosts;
	u32				self;
	u64				armed_ns;
	struct coll_ranks		ranks;
	struct coll_payload		payload;
	struct coll_plan		plan;
	struct coll_peers		peers;
	struct coll_window		window;
	struct coll_credit		credit;
	struct coll_watch		watch;
	struct coll_failure_state	failure;
	struct coll_work		work;
	struct coll_multicast		multicast;
	struct collsock_stats		stats;
};

/* ---- accessors ---- */

static inline struct coll_op *coll_group_slot(const struct coll_group *g, u64 number)
{
	return &g->window.slots[number & g->window.mask];
}

/* Does the group have a multicast address? */
static inline bool coll_group_multicasts(const struct coll_group *g)
{
	return unlikely(g->multicast.host);
}

/* The host of a rank. */
static inline u32 coll_group_host(const struct coll_group *g, u32 rank)
{
	return g->ranks.host_of ? g->ranks.host_of[rank] : rank;
}

/* The shape on which schedules with this root and degree depend */
static inline struct coll_shape coll_group_shape(const struct coll_group *g, u32 root, u32 degree)
{
	return (struct coll_shape) {
		.hosts	= g->hosts,
		.self	= g->self,
		.root	= root,
		.degree	= degree,
	};
}

/* Will the rank's next operation fail? A rank that left has no next one. */
static inline bool coll_group_ended(const struct coll_group *g, u32 local)
{
	return g->failure.known && coll_after(g->ranks.local[local].next, g->failure.what.limit);
}

/* Is the settling time running? */
static inline bool coll_group_settling(const struct coll_group *g)
{
	return g->failure.settle_ns != COLL_NEVER;
}

/* Has the group failed, other than by a rank that left? */
static inline bool coll_group_failed(const struct coll_group *g)
{
	return g->failure.known && g->failure.what.reason != COLL_REASON_LEFT;
}

/* Does the window have room for the rank's next post? */
static inline bool coll_group_writable(const struct coll_group *g, u32 local)
{
	return (coll_group_ended(g, local) && !coll_group_settling(g)) ||
	       g->ranks.local[local].next - g->window.oldest < g->window.size;
}

/*
 * Highest operation whose messages can be stored. It also reveals which operations this
 * host has finished, with all its messages acknowledged; aborted ones are not among them.
 */
static inline u64 coll_group_credit(const struct coll_group *g)
{
	u64 oldest = g->window.oldest;

	if (unlikely(g->failure.known && coll_after(oldest, g->failure.what.limit)))
		oldest = g->failure.what.limit + 1;
	return oldest + g->window.size - 1;
}

/*
 * The last operation in which this host takes part, if all its ranks have left or a failure
 * limit is known: the limit, or the last one posted before all ranks left, whichever is
 * earlier. Up to a limit ranks may still post.
 */
static inline u64 coll_group_last(const struct coll_group *g)
{
	const struct coll_failure *f = &g->failure.what;

	if (g->failure.known &&
	    (!g->ranks.leaving || coll_before(f->limit, g->window.next - 1)))
		return f->limit;
	return g->window.next - 1;
}

/* What multicast has carried along the edges of the connection, in a group that has it */
static inline struct coll_ahead *coll_peer_ahead(const struct coll_peer *peer)
{
	return peer->group->multicast.host[peer->host].ahead;
}

#endif
