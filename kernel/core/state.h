/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a group instance on one host: the group, its connections, and the
 * operations in its window. Each part is a structure named after the file whose
 * functions change it; others read. Nothing here calls anything but the inline
 * functions below, which only read.
 *
 * All of it is under the group's lock, but for what coll_group_init() sets once.
 */
#ifndef COLL_CORE_STATE_H
#define COLL_CORE_STATE_H

#include "algorithm.h"
#include "wire.h"

struct coll_group;
struct coll_peer;

#define COLL_NEVER		(~0ULL)
/* Nothing has completed yet: one before the first operation, number 0. */
#define COLL_NOTHING_DONE	(~0U)

#define COLL_MAX_SCHEDULES	16
/* Messages under way to one peer; bits of an acknowledgment. */
#define COLL_PEER_WINDOW	64
#define COLL_MAX_TRIES		200

/* ---- messages ---- */

/**
 * struct coll_message_head - what all messages of an operation have in common
 * @signature: what all ranks must agree on; of a goodbye, who failed and why
 * @number: of the operation; of a goodbye, the last that can complete
 * @done: minimum of "done" over all messages and the own post
 * @unacked: messages not acknowledged
 * @type: enum coll_packet_type
 * @carries_done: an all-to-all operation: its messages carry @done
 * @expires: given up after the liveness time if the other side was never heard
 */
struct coll_message_head {
	struct coll_signature	signature;
	u32			number;
	u32			done;
	u32			unacked;
	u8			type;
	bool			carries_done;
	bool			expires;
};

/**
 * struct coll_message - what is sent along one edge, until it is acknowledged
 * @link: in coll_peer_send_state.sent or .held; empty when acknowledged
 * @peer: to whom; NULL if it is not under way
 * @head: what it shares with the other messages of its operation
 * @payload: as first sent; stays until acknowledged
 * @first_ns: first transmission
 * @sent_ns: latest transmission
 * @bytes: of the payload
 * @seq: sequence number, given at the first transmission; 0 before it
 * @answered: answers that had come from the other side then, or when it last had no room
 * @tries: transmissions so far, COLL_MAX_TRIES at most
 * @round: round of the schedule
 * @segment: lane of the operation
 */
struct coll_message {
	struct list_head		link;
	struct coll_peer		*peer;
	struct coll_message_head	*head;
	const u8			*payload;
	u64				first_ns;
	u64				sent_ns;
	u32				bytes;
	u32				seq;
	u32				answered;
	u8				tries;
	u8				round;
	u16				segment;
};

/* ---- one connection ---- */

/**
 * struct coll_peer_connection - both ends of the connection, and whether it is in use
 * @incarnation: of the other side; 0 until heard
 * @number: of the connection, on our side
 * @their_number: highest one heard of the other side
 * @knows_us: the other side has heard this incarnation of ours
 * @idle: nothing was said for long enough: it is released until there is something to say
 * @dead: the other side was silent for too long
 * @tx: our direction
 * @rx: the other direction; all zero until heard
 */
struct coll_peer_connection {
	u32			incarnation;
	u32			number;
	u32			their_number;
	bool			knows_us;
	bool			idle;
	bool			dead;
	struct coll_wire_side	tx;
	struct coll_wire_side	rx;
};

/**
 * struct coll_peer_send_state - what goes to the other side
 * @sent: messages sent and not acknowledged, in order of seq
 * @held: messages that wait for credit
 * @next_seq: of the next message
 * @credit: highest operation that the other side can store
 * @done: operations through this one are complete at the other side
 * @forced: something was sent beyond the credit
 * @told: we have said goodbye
 * @unsampled: messages sent twice since the latest sample of the round-trip time; it is
 *	here and not in struct coll_peer_rtt since there is a hole here
 */
struct coll_peer_send_state {
	struct list_head	sent;
	struct list_head	held;
	u32			next_seq;
	u32			credit;
	u32			done;
	bool			forced;
	bool			told;
	u8			unsampled;
};

/**
 * struct coll_peer_rtt - round-trip time and retransmission time-out
 * @srtt_ns: smoothed round-trip time, 0 before the first sample
 * @rttvar_ns: its mean deviation
 * @rto_ns: retransmission time-out of a first transmission
 * @backed_off_seq: messages before this one were sent when the time-out was raised
 */
struct coll_peer_rtt {
	u32	srtt_ns;
	u32	rttvar_ns;
	u32	rto_ns;
	u32	backed_off_seq;
};

/**
 * struct coll_peer_recv_state - what has come from the other side
 * @seq: highest sequence number received
 * @bits: bit i: @seq - i was received
 * @refused: something was refused for want of room; tell when there is some
 * @gone: the other side has said goodbye
 */
struct coll_peer_recv_state {
	u64	bits;
	u32	seq;
	bool	refused;
	bool	gone;
};

/**
 * struct coll_peer_ack - the acknowledgment that is owed
 * @due_ns: when it goes out alone
 * @lone_ns: when one last did
 * @operation: highest operation that it acknowledges
 * @messages: how many messages
 * @owed: it is owed
 * @now: it is to leave with this event
 * @explicit: "done" does not imply it
 */
struct coll_peer_ack {
	u64	due_ns;
	u64	lone_ns;
	u32	operation;
	u8	messages;
	bool	owed;
	bool	now;
	bool	explicit;
};

/**
 * struct coll_peer_goodbye - which operations the two take part in
 * @message: our goodbye
 * @last: if the other side is gone, the last operation that it takes part in
 * @told_last: if we have said goodbye, the last operation that we named
 */
struct coll_peer_goodbye {
	struct coll_message	message;
	u32			last;
	u32			told_last;
};

/**
 * struct coll_peer_liveness - is the other side there, and is anything said?
 * @heard_ns: when it proved last that it is there: by something new
 * @asked_ns: latest question whether it is
 * @first_asked_ns: the first since it was heard
 * @challenged_ns: when another incarnation was challenged
 * @idle_at_ns: if nothing is said until then, the connection becomes idle
 * @idle_mark: changes when something is said
 * @questions: how many were asked since it was heard
 */
struct coll_peer_liveness {
	u64	heard_ns;
	u64	asked_ns;
	u64	first_asked_ns;
	u64	challenged_ns;
	u64	idle_at_ns;
	u32	idle_mark;
	u32	questions;
};

/**
 * struct coll_peer_watch - which operations wait for the other side
 * @round: latest round of looking in which one did
 * @operation: one such operation
 * @since_ns: since when one waits
 * @probed_operation: the operation that it was asked about last
 * @probes: probes sent, which is the nonce of the latest
 * @answers: the latest probe that was answered
 * @answered: how many of them were
 * @told_ms: when it last said whom it waits for, in ms
 * @last_arrivals: how often its message was the last thing an operation waited for
 * @wait: for whom it waited then
 */
struct coll_peer_watch {
	u64			since_ns;
	u32			round;
	u32			operation;
	u32			probed_operation;
	u32			probes;
	u32			answers;
	u32			answered;
	u32			told_ms;
	u32			last_arrivals;
	struct coll_wait	wait;
};

/**
 * struct coll_peer - one connection
 * @due_ns: when to look after it: never later than what is next due
 * @group: of which group
 * @next: in a bucket of coll_peers.bucket, or in coll_peers.spare
 * @all: in coll_peers.all
 * @host: index of the other side
 * @retransmits: messages sent to it again
 * @rtt: round-trip time
 * @send: what goes to the other side
 * @recv: what has come from it
 * @ack: the acknowledgment that is owed
 * @live: is it there?
 * @conn: both ends of the connection
 * @watch: which operations wait for it
 * @goodbye: which operations the two take part in
 */
struct coll_peer {
	u64				due_ns;
	struct coll_group		*group;
	struct coll_peer		*next;
	struct coll_peer		*all;
	u32				host;
	u32				retransmits;
	struct coll_peer_rtt		rtt;
	struct coll_peer_send_state	send;
	struct coll_peer_recv_state	recv;
	struct coll_peer_ack		ack;
	struct coll_peer_liveness	live;
	struct coll_peer_connection	conn;
	struct coll_peer_watch		watch;
	struct coll_peer_goodbye	goodbye;
};

/* ---- one operation ---- */

/*
 * States of an operation (a slot in the group's window):
 *   FREE -> EARLY	a message came before a rank of this host posted
 *   FREE, EARLY -> RUNNING	a rank of this host has posted
 *   RUNNING -> DONE	the rounds are over, and all ranks of this host have posted
 *   RUNNING -> ABORTED	cannot complete; or posted so
 *   ABORTED -> DONE	has reported the error
 *   DONE -> FREE	all its messages are acknowledged
 */
enum coll_op_state {
	COLL_OP_FREE,
	COLL_OP_EARLY,
	COLL_OP_RUNNING,
	COLL_OP_ABORTED,
	COLL_OP_DONE,
};

/**
 * struct coll_lane - the run of the schedule for one segment
 * @arrived: a bit for each fold entry of the schedule
 * @round: present round
 * @missing: messages that the present round still waits for
 * @value: rounds that have folded
 */
struct coll_lane {
	u64	arrived[COLL_MAX_EDGES / 64];
	u8	round;
	u8	missing;
	u8	value;
};

/**
 * struct coll_local_post - the post of one rank of this host
 * @token: handed to coll_env_complete()
 * @waits: it was posted, and not answered yet
 * @receives: it receives the result
 */
struct coll_local_post {
	void	*token;
	bool	waits;
	bool	receives;
};

/**
 * struct coll_op_locals - the ranks of this host in an operation
 * @post: one for each
 * @buffers: one for each, if there are several; what came out of turn waits there
 * @contributors: ranks that contribute
 * @contributed: of these, those that have posted
 * @folded: how many of the first ranks have their contributions folded
 * @unposted: ranks that have not posted
 */
struct coll_op_locals {
	struct coll_local_post	*post;
	u8			*buffers;
	u16			contributors;
	u16			contributed;
	u16			folded;
	u16			unposted;
};

/**
 * struct coll_op - one operation in the window
 * @group: whose
 * @schedule: what to do
 * @head: what its messages have in common: signature, number, "done", unacknowledged
 * @lanes: one for each segment
 * @messages: one for each send edge of the schedule in each lane
 * @values: the registers at the beginning, then again for each round that
 *	folds, so that what was sent stays as it was
 * @early: a buffer for each fold entry of the schedule
 * @locals: the ranks of this host
 * @awaited_ns: since when it is waited for: the first rank of this host posted, or another
 *	host asked
 * @bytes: of its payload
 * @source: host that posted it or sent something for it first
 * @segments: lanes
 * @unfinished: of these, those that have rounds left
 * @state: enum coll_op_state
 * @probed: while EARLY: others wait for this host
 * @begun: its rounds run
 * @own: room for a schedule that depends on the root
 * @own_algorithm: what was built there last, NULL if nothing was
 * @own_root: root of that
 */
struct coll_op {
	struct coll_group		*group;
	const struct coll_schedule	*schedule;
	struct coll_message_head	head;
	struct coll_lane		*lanes;
	struct coll_message		*messages;
	u8				*values;
	u8				*early;
	struct coll_op_locals		locals;
	u64				awaited_ns;
	u32				bytes;
	u32				source;
	u16				segments;
	u16				unfinished;
	u8				state;
	bool				probed;
	bool				begun;
	struct coll_schedule		*own;
	const struct coll_algorithm	*own_algorithm;
	u32				own_root;
};

/* ---- the group ---- */

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
 * @idle: a connection over which nothing was said for this time becomes idle
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
 * struct coll_ranks - which ranks live where
 * @size: number of ranks in the group
 * @host_of: the host of each; NULL if each host has one
 * @lowest: the lowest rank of each host; NULL if the platform has no table of them
 * @locals: number of ranks of this host
 * @joined: of these, those that have joined and not left
 * @leaving: all that had joined have left
 * @local: the ranks of this host
 */
struct coll_ranks {
	u32			size;
	const u32		*host_of;
	const u32		*lowest;
	u32			locals;
	u32			joined;
	bool			leaving;
	struct coll_rank	*local;
};

/**
 * struct coll_payload - sizes of payloads
 * @max_bytes: of one operation
 * @room: the same, rounded up so that what follows is aligned
 * @segment_bytes: of it in one packet
 * @packet_bytes: length of the largest packet of the group
 */
struct coll_payload {
	u32	max_bytes;
	u32	room;
	u32	segment_bytes;
	u32	packet_bytes;
};

/**
 * struct coll_plan - how operations are carried out
 * @nameable: algorithms that posts may name, a bit each
 * @algorithms: these, and those that COLLSOCK_AUTO means: memory is reserved for them
 * @fanout: of k-ary trees; 0 if there are none
 * @default_algorithm: what COLLSOCK_AUTO means, by operation
 * @schedules: by position in coll_algorithms[]; those of operations with a root are
 *	built when it is known
 */
struct coll_plan {
	u64			nameable;
	u64			algorithms;
	u32			fanout;
	u8			default_algorithm[COLL_MAX_OPERATIONS];
	struct coll_schedule	*schedules[COLL_MAX_SCHEDULES];
};

/**
 * struct coll_peers - the connections
 * @bucket: hash table by host
 * @mask: size of the table - 1
 * @all: the same as a list
 * @spare: memory for the peers that the schedules name, until first use
 * @held: messages that wait for credit, of all of them
 * @refusals: peers that wait to hear of room
 * @ack_every: messages of one host that are acknowledged before the delay is over
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
 * @mask: size of the ring - 1
 * @size: operations under way at once
 * @next: number of the first operation that no rank of this host has posted
 * @oldest: oldest operation whose slot is in use
 * @completed: all operations through this one are complete
 * @running: operations RUNNING or ABORTED
 */
struct coll_window {
	struct coll_op		*slots;
	u32			mask;
	u32			size;
	u32			next;
	u32			oldest;
	u32			completed;
	u32			running;
};

/**
 * struct coll_credit - what all-to-all operations tell of all hosts
 * @cover_done: latest "done" sent in such an operation
 * @cover_ns: when
 * @acknowledged: operations through this one are complete at all hosts, and
 *	every host knows or is about to know it
 * @floor_operation: an operation whose completion
 * @floor: made us know that all hosts had completed through this one
 * @common: highest operation that every host can take, as follows
 */
struct coll_credit {
	u32	cover_done;
	u64	cover_ns;
	u32	acknowledged;
	u32	floor_operation;
	u32	floor;
	u32	common;
};

/**
 * struct coll_watch - looking for whom operations wait
 * @next_ns: when to look next
 * @round: number of the latest look
 */
struct coll_watch {
	u64	next_ns;
	u32	round;
};

/**
 * struct coll_failure - operations beyond @limit cannot complete
 * @limit: the last that can
 * @rank: who is to blame
 * @reason: enum coll_reason
 */
struct coll_failure {
	u32	limit;
	u32	rank;
	u32	reason;
};

/**
 * struct coll_failure_state - what is known of a failure
 * @what: the failure limit, and who failed
 * @known: if there is one
 * @terminal: this host takes part in nothing any more
 * @settle_ns: when aborted operations report; COLL_NEVER if there are none
 * @goodbye: what the other hosts are told
 */
struct coll_failure_state {
	struct coll_failure		what;
	bool				known;
	bool				terminal;
	u64				settle_ns;
	struct coll_message_head	goodbye;
};

/**
 * struct coll_memory - what the group has reserved
 * @bytes: when it was made; more than @most if that was why it could not be made
 * @most: that it may reserve
 */
struct coll_memory {
	u64	bytes;
	u64	most;
};

/**
 * struct coll_group - the group on this host
 * @secret: MAC key and tag
 * @timing: tunables
 * @descriptor: its hash
 * @incarnation: of this host in this group
 * @hosts: number of hosts
 * @self: index of this one
 * @armed_ns: the deadline that the platform knows
 * @ranks: which ranks live where
 * @payload: sizes of payloads
 * @plan: how operations are carried out
 * @peers: the connections
 * @window: the operations under way
 * @credit: what is known of all hosts
 * @watch: looking for whom operations wait
 * @failure: what is known of a failure
 * @memory: what was reserved
 * @stats: counters (uapi); the platform adds hosts, host and size
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
	struct coll_memory		memory;
	struct collsock_stats		stats;
};

/* ---- reading ---- */

static inline struct coll_op *coll_group_slot(const struct coll_group *g, u32 number)
{
	return &g->window.slots[number & g->window.mask];
}

/* The host of a rank. */
static inline u32 coll_group_host(const struct coll_group *g, u32 rank)
{
	return g->ranks.host_of ? g->ranks.host_of[rank] : rank;
}

/* What its schedules depend on. */
static inline struct coll_shape coll_group_shape(const struct coll_group *g, u32 root)
{
	return (struct coll_shape) {
		.hosts	= g->hosts,
		.self	= g->self,
		.root	= root,
		.fanout	= g->plan.fanout,
	};
}

/* Can operations of the group run with the algorithm? */
static inline bool coll_plan_has(const struct coll_plan *plan, const struct coll_algorithm *a)
{
	return coll_algorithm_usable(a, plan->algorithms, plan->fanout);
}

/* Will the rank's next operation fail? One that left had not posted it. */
static inline bool coll_group_ended(const struct coll_group *g, u32 local)
{
	return g->failure.known && coll_after(g->ranks.local[local].next, g->failure.what.limit);
}

/* Are errors held? */
static inline bool coll_group_settling(const struct coll_group *g)
{
	return g->failure.settle_ns != COLL_NEVER;
}

/* Is it a failure, and not a rank that left, that limits the group? */
static inline bool coll_group_failed(const struct coll_group *g)
{
	return g->failure.known && g->failure.what.reason != COLL_REASON_LEFT;
}

/* Is there room for the rank to post? */
static inline bool coll_group_writable(const struct coll_group *g, u32 local)
{
	return (coll_group_ended(g, local) && !coll_group_settling(g)) ||
	       g->ranks.local[local].next - g->window.oldest < g->window.size;
}

/*
 * Highest operation whose messages can be stored. It also tells which operations
 * this host has done with, all its messages being acknowledged: what was aborted
 * is not among them.
 */
static inline u32 coll_group_credit(const struct coll_group *g)
{
	u32 oldest = g->window.oldest;

	if (unlikely(g->failure.known && coll_after(oldest, g->failure.what.limit)))
		oldest = g->failure.what.limit + 1;
	return oldest + g->window.size - 1;
}

/*
 * The last operation that this host takes part in, if all its ranks have left, or if
 * it knows of one that cannot complete. Until then they may post all before that.
 */
static inline u32 coll_group_last(const struct coll_group *g)
{
	const struct coll_failure *f = &g->failure.what;

	if (g->failure.known &&
	    (!g->ranks.leaving || coll_before(f->limit, g->window.next - 1)))
		return f->limit;
	return g->window.next - 1;
}

#endif
