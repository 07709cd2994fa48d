/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a group instance on one host: the group, its connections, and the operations
 * in its window. Each part is a structure named after the file whose functions change it;
 * other files only read it, as do the inline functions below.
 *
 * All of it is protected by the group's lock, except what coll_group_init() sets once.
 */
#ifndef COLL_CORE_STATE_H
#define COLL_CORE_STATE_H

#include "menu.h"
#include "multicast_state.h"
#include "order.h"
#include "replay.h"
#include "timing.h"
#include "wire.h"

struct coll_group;
struct coll_peer;

#define COLL_NEVER		(~0ULL)
/* The last completed operation when there is none: one before number 0. */
#define COLL_NOTHING_DONE	(~0ULL)

#define COLL_MAX_SCHEDULES	32
/* Messages in flight to one peer; bits of an acknowledgment */
#define COLL_PEER_WINDOW	64
/* Of a group on one host: some loops over them count no work (work.h). */
#define COLL_MAX_PEERS		512

#define COLL_MAX_TRIES		200
/* Instead of a number of transmissions: not sent, as multicast has carried the same */
#define COLL_AHEAD		255

/* ---- messages ---- */

/**
 * struct coll_message_head - what all messages of an operation share
 * @signature: what all ranks must agree on; of a goodbye, the rank that failed and the
 *             reason
 * @number: of the operation; of a goodbye, the last that can complete
 * @done: minimum of "done" over all messages and the local post
 * @unacked: number of messages not acknowledged, and of pairs folded outside the lock: the
 *	slot of the operation is in use
 * @type: enum coll_packet_type
 * @carries_done: the operation is all-to-all: its messages carry @done
 * @expires: given up after the liveness time if the other side was never heard from
 * @several: the operation has several segments
 * @copied: COLL_FLAGS_COPIED, which its messages carry
 */
struct coll_message_head {
	struct coll_signature	signature;
	u64			number;
	u64			done;
	u32			unacked;
	u8			type;
	bool			carries_done;
	bool			expires;
	bool			several;
	u16			copied;
};

/**
 * struct coll_message - a message along one edge, until it is acknowledged
 * @link: in coll_peer_send_state.sent or .held, or coll_ahead.messages; empty when acknowledged
 * @peer: destination; NULL if it is in none of these
 * @head: shared with the other messages of its operation
 * @payload: as first sent; unchanged until acknowledged, or received (schedule.h, parts)
 * @first_ns: first transmission, or that by multicast
 * @sent_ns: latest transmission
 * @older: in the place of the two times while this is held, and the last of its operation:
 *	the last one of the next older operation, or NULL (held.h)
 * @newer: likewise of the next newer operation
 * @first: number of the packet of the first transmission; 0 before it
 * @latest: number of the packet of the latest one
 * @bytes: length of the payload
 * @rest: bytes of its second piece, if it has two
 * @gap: in memory, bytes between both pieces
 * @answered: answers received from the other side before, or before it last had no room
 * @tries: transmissions so far, COLL_MAX_TRIES at most; COLL_AHEAD while in coll_ahead.messages
 * @round: round of the schedule
 * @segment: lane of the operation
 * @fan_in: number of hosts that send to @peer in this round; 0 if not of an operation
 * @lost: in flight, but taken for lost and not sent again yet
 */
struct coll_message {
	struct list_head		link;
	struct coll_peer		*peer;
	struct coll_message_head	*head;
	const u8			*payload;
	union {
		struct {
			u64			first_ns;
			u64			sent_ns;
		};
		struct {
			struct coll_message	*older;
			struct coll_message	*newer;
		};
	};
	u64				first;
	u64				latest;
	u32				answered;
	u16				bytes;
	u16				rest;
	u16				gap;
	u16				segment;
	u8				tries;
	u8				round;
	u8				fan_in;
	bool				lost;
};

/* ---- one connection ---- */

/**
 * struct coll_peer_connection - both ends of the connection, and whether it is in use
 * @incarnation: of the other side; 0 until heard from
 * @knows_us: the other side has heard from this incarnation of ours
 * @idle: unused for long enough: it is released until there is something to send
 * @dead: the other side was silent for too long
 * @fragments: packets to the other side may be fragmented
 * @tx: sending direction
 * @rx: receiving direction; all zero until heard from
 */
struct coll_peer_connection {
	u32			incarnation;
	bool			knows_us;
	bool			idle;
	bool			dead;
	bool			fragments;
	struct coll_wire_side	tx;
	struct coll_wire_side	rx;
};

/**
 * struct coll_peer_send_state - messages to the other side
 * @sent: messages sent and not acknowledged, in order of their first transmission
 * @held: messages that wait for credit, or for the congestion window: those of the oldest
 *	operations first
 * @number: of the latest packet
 * @credit: highest operation that the other side can store
 * @done: operations up to this one are complete at the other side
 * @unacked: messages in @sent
 * @lost: those that are taken for lost and have not been sent again yet
 * @limit: another message may be sent while @unacked is below this
 * @ask: a message may ask for an acknowledgment when @unacked is this or more
 * @forced: something was sent beyond the credit
 * @told: we have sent a goodbye
 */
struct coll_peer_send_state {
	struct list_head	sent;
	struct list_head	held;
	u64			number;
	u64			credit;
	u64			done;
	u8			unacked;
	u8			lost;
	u8			limit;
	u8			ask;
	bool			forced;
	bool			told;
};

/**
 * struct coll_peer_rtt - round-trip time and retransmission time-out
 * @srtt_ns: smoothed round-trip time, 0 before the first sample
 * @rttvar_ns: mean deviation of the round-trip time
 * @rto_ns: retransmission time-out after a first transmission
 * @progress_ns: when an acknowledgment last named a message in flight
 * @backed_off: latest packet when the time-out was raised
 * @unsampled: messages sent twice since the latest sample of the round-trip time
 * @received: messages that were sent once and received since then
 */
struct coll_peer_rtt {
	u32	srtt_ns;
	u32	rttvar_ns;
	u32	rto_ns;
	u8	unsampled;
	u8	received;
	u64	progress_ns;
	u64	backed_off;
};

/**
 * struct coll_peer_congestion - how many packets may be in flight to the other side
 * @reduced: latest packet when the window was last reduced
 * @initial: the window at first; 0 before the first message
 * @window: packets that may be in flight
 * @threshold: where slow start ends
 * @prior: the window before the latest time-out; 0 if it is not to be restored
 * @acknowledged: packets acknowledged since the window last changed, beyond slow start
 * @ce: how many of our packets the other side has received marked, mod 256
 */
struct coll_peer_congestion {
	u64	reduced;
	u8	initial;
	u8	window;
	u8	threshold;
	u8	prior;
	u8	acknowledged;
	u8	ce;
};

/**
 * struct coll_peer_recv_state - messages from the other side
 * @accepted: highest packet number of a message that was accepted
 * @bits: bit i: a message in packet @accepted - i was
 * @packets: which packets have come
 * @ce: how many of them were marked "congestion experienced", mod 256
 * @refused: a message was refused for lack of room; send credit when there is room
 * @gone: the other side has sent a goodbye
 * @filtered: since the first probe, packets came that a filter of this host refused
 */
struct coll_peer_recv_state {
	u64			accepted;
	u64			bits;
	struct coll_replay	packets;
	u8			ce;
	bool			refused;
	bool			gone;
	bool			filtered;
};

/**
 * struct coll_peer_ack - the acknowledgment that is owed
 * @due_ns: when it is sent alone
 * @lone_ns: when the latest lone one was sent
 * @operation: highest operation that it acknowledges
 * @messages: number of messages that it acknowledges
 * @owed: an acknowledgment is owed
 * @now: it is to be sent with this event
 * @explicit: "done" does not imply it
 */
struct coll_peer_ack {
	u64	due_ns;
	u64	lone_ns;
	u64	operation;
	u8	messages;
	bool	owed;
	bool	now;
	bool	explicit;
};

/**
 * struct coll_peer_goodbye - operations in which both hosts take part
 * @message: our goodbye
 * @last: if the other side has sent a goodbye, the last operation in which it takes part
 * @told_last: if we have sent a goodbye, the last operation that it named
 */
struct coll_peer_goodbye {
	struct coll_message	message;
	u64			last;
	u64			told_last;
};

/**
 * struct coll_peer_liveness - is the other side alive, and is the connection used?
 * @heard_ns: when it last proved that it is alive, by a packet that is no replay
 * @asked_ns: latest probe
 * @first_asked_ns: first probe since @heard_ns
 * @challenged_ns: when another incarnation was challenged
 * @idle_at_ns: when the connection becomes idle unless it is used before
 * @idle_mark: changes when the connection is used
 * @questions: number of probes since @heard_ns
 * @filtered: packets after @first_number that a filter of this host refused
 * @retransmits: number of retransmissions to it
 * @first_number: latest packet before the first probe since @heard_ns, or before a message
 *	was sent again
 */
struct coll_peer_liveness {
	u64	heard_ns;
	u64	asked_ns;
	u64	first_asked_ns;
	u64	challenged_ns;
	u64	idle_at_ns;
	u32	idle_mark;
	u32	questions;
	u32	filtered;
	u32	retransmits;
	u64	first_number;
};

/**
 * struct coll_peer_watch - which operations wait for the other side
 * @since_ns: since when one has waited
 * @operation: one such operation
 * @probed_operation: operation of the latest probe
 * @round: latest check of coll_watch_look() in which one did
 * @probes: probes sent; also the nonce of the latest
 * @answers: nonce of the latest answered probe
 * @answered: number of answered probes
 * @told_ms: when it last reported which host it waits for, in ms
 * @last_arrivals: how often its message was the last that an operation waited for
 * @wait: the host that it reported
 */
struct coll_peer_watch {
	u64			since_ns;
	u64			operation;
	u64			probed_operation;
	u32			round;
	u32			probes;
	u32			answers;
	u32			answered;
	u32			told_ms;
	u32			last_arrivals;
	struct coll_wait	wait;
};

/**
 * struct coll_peer - one connection
 * @due_ns: when to check it: not later than its next due work
 * @group: its group
 * @next: in a bucket of coll_peers.bucket, or in coll_peers.spare
 * @all: in coll_peers.all
 * @host: index of the other side
 * @held: messages in @send.held
 * @rtt: round-trip time
 * @send: messages to the other side
 * @congestion: how many packets may be in flight to it
 * @recv: messages from the other side
 * @ack: the acknowledgment that is owed
 * @live: is the other side alive?
 * @conn: both ends of the connection
 * @watch: which operations wait for it
 * @goodbye: operations in which both hosts take part
 */
struct coll_peer {
	u64				due_ns;
	struct coll_group		*group;
	struct coll_peer		*next;
	struct coll_peer		*all;
	u32				host;
	u32				held;
	struct coll_peer_rtt		rtt;
	struct coll_peer_send_state	send;
	struct coll_peer_congestion	congestion;
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
 *   FREE -> EARLY	a message arrived before a rank of this host posted
 *   FREE, EARLY -> RUNNING	a rank of this host has posted
 *   RUNNING -> DONE	the rounds are over, and all ranks of this host have posted
 *   RUNNING -> ABORTED	it cannot complete; or could not when it was posted
 *   ABORTED -> DONE	it has reported the error
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
 * @arrived: one bit for each fold entry whose message has arrived
 * @round: current round
 * @missing: messages that the current round still waits for
 * @value: number of rounds that have folded
 * @unsent: while it is there: send edges of the current round along which nothing was sent
 * @part: parts of the current round's fold that are over
 * @at: bytes of the next part that are over
 * @index: its number
 * @copied: multicast has carried what the downward phase sends; set before its first edge
 * @link: in coll_work.ready, or empty
 * @op: while it is there: its operation
 * @last: the peer whose message was the last to arrive while it waited there, or NULL
 */
struct coll_lane {
	u64			arrived[COLL_MAX_EDGES / 64];
	u8			round;
	u8			missing;
	u8			value;
	u8			unsent;
	u16			part;
	u16			at;
	u16			index;
	bool			copied;
	struct list_head	link;
	struct coll_op		*op;
	struct coll_peer	*last;
};

/**
 * struct coll_local_post - the post of one rank of this host
 * @token: handed to coll_env_complete()
 * @waits: it was posted, and has not completed
 * @receives: the rank receives the result
 * @level: if its buffer has the value of a node of the tree of local ranks, which waits for
 *	the one beside it: 1 + the level of that node, else 0; for prefixes enum locals_prefix
 */
struct coll_local_post {
	void	*token;
	bool	waits;
	bool	receives;
	u8	level;
};

/**
 * struct coll_op_locals - the ranks of this host in an operation
 * @post: one for each
 * @buffers: one for each, if there are several: its contribution, and what is folded into it
 * @contributors: ranks that contribute
 * @contributed: number of these that have posted
 * @folding: number of pairs that are being folded outside the lock
 * @unposted: number of ranks that have not posted
 * @latest: rank that posted last
 */
struct coll_op_locals {
	struct coll_local_post	*post;
	u8			*buffers;
	u16			contributors;
	u16			contributed;
	u16			folding;
	u16			unposted;
	u16			latest;
};

/**
 * struct coll_fold - a pair of values of local ranks, folded outside the group's lock
 * @op: the operation; NULL if there is no pair to fold
 * @result: where the value goes; may be @left
 * @left: value of the lower ranks
 * @right: value of the higher ones; NULL if a long contribution is only to be copied
 * @elements: length of each
 * @type: of the elements
 * @operator: what folds them
 * @low: the lowest local rank of the pair; for prefixes, the one whose prefix it makes; of a
 *	copy, the rank that contributes
 * @level: level of both values in the tree of local ranks
 */
struct coll_fold {
	struct coll_op	*op;
	u8		*result;
	const u8	*left;
	const u8	*right;
	u32		elements;
	u8		type;
	u8		operator;
	u16		low;
	u8		level;
};

/**
 * struct coll_op_vector - where the vector of an operation begins and ends, without copies if it is
 *	long (values.h)
 * @buffer: memory for a payload, which may be exchanged for the platform's
 * @first: the initial value of register 0: @buffer, or coll_op.values if it is only moved
 * @last: where the platform wants the result, if @last_value is not 0
 * @last_value: number of the value of the only register that goes there
 * @direct: messages are received into @first, as they overwrite nothing that was sent
 */
struct coll_op_vector {
	u8	*buffer;
	u8	*first;
	u8	*last;
	u8	last_value;
	bool	direct;
};

/**
 * struct coll_op_arrival - a message that is folded where it is, by the event that received it
 * @payload: in its packet; NULL before and after that event
 * @first: where the bytes of its lane begin in the vector
 * @bytes: how many there are
 * @edge: its fold entry
 */
struct coll_op_arrival {
	const u8	*payload;
	u32		first;
	u16		bytes;
	u8		edge;
};

/**
 * struct coll_op - one operation in the window
 * @group: its group
 * @schedule: what to do
 * @head: shared by its messages: signature, number, "done", number unacknowledged
 * @lanes: one for each segment
 * @messages: one for each send edge of the schedule in each lane
 * @vector: its first and its last value
 * @arrival: the message that is being received, if it is not kept
 * @values: the other initial registers, then those after each round that folds, so that a
 *	payload that was sent stays unchanged
 * @early: a buffer for each fold entry of the schedule
 * @locals: the ranks of this host
 * @awaited_ns: since when it is waited for: when the first rank of this host posted, or
 *	another host probed
 * @bytes: length of its vector
 * @elements: of its vector
 * @segment_bytes: of each lane but the last: whole elements
 * @block: bytes of the block of each rank, if it has one; else 0
 * @part_bytes: bytes of a block of a vector in parts; else 0
 * @own_in: ranks contribute their own block only, or several to prefixes
 * @own_out: ranks receive their own block only, or their prefix
 * @shared: bytes of a result that ranks of this host share (result.h), else 0
 * @copied: bytes of it that are in @result
 * @result: where it goes; NULL until a rank has posted that receives it
 * @source: host that posted it or sent a packet about it first
 * @segments: number of lanes
 * @unfinished: number of lanes that have rounds left
 * @state: enum coll_op_state
 * @probed: while EARLY: other hosts wait for this one
 * @down_send: that of @schedule if the group has multicast, else COLL_NO_DOWN
 * @begun: number of lanes whose rounds have begun
 * @own: room for a schedule that depends on the root
 * @own_algorithm: algorithm of the schedule in @own, NULL if there is none
 * @own_root: root of that schedule
 * @own_degree: its degree
 * @forgotten: number of lanes whose messages have been forgotten, while
 * @forgets: its messages are forgotten in turns
 * @received: they have been received
 */
struct coll_op {
	struct coll_group		*group;
	const struct coll_schedule	*schedule;
	struct coll_message_head	head;
	struct coll_lane		*lanes;
	struct coll_message		*messages;
	struct coll_op_vector		vector;
	struct coll_op_arrival		arrival;
	u8				*values;
	u8				*early;
	struct coll_op_locals		locals;
	u64				awaited_ns;
	u32				bytes;
	u32				elements;
	u32				segment_bytes;
	u32				source;
	u16				segments;
	u16				unfinished;
	u8				state;
	bool				probed;
	u8				down_send;
	u16				begun;
	u32				block;
	u32				part_bytes;
	bool				own_in;
	bool				own_out;
	u32				shared;
	u32				copied;
	struct coll_result		*result;
	struct coll_schedule		*own;
	const struct coll_algorithm	*own_algorithm;
	u32				own_root;
	u32				own_degree;
	u16				forgotten;
	bool				forgets;
	bool				received;
};

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
 * @schedules: by position in coll_algorithms[], then by degree; with a root they are built per
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
 * @held: messages of all peers that wait for credit
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
 * struct coll_credit - what all-to-all operations reveal about all hosts
 * @cover_done: latest "done" sent in such an operation
 * @cover_ns: when it was sent
 * @acknowledged: operations up to this one are complete at all hosts, and every host knows
 *	that or is about to
 * @floor_operation: an operation whose completion
 * @floor: made us know that all hosts had completed through this one
 * @common: highest operation that every host can store, as follows
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
 * @round: number of the latest check
 * @left: slots of the window, the last ones, where the check goes on; 0 if it is over
 * @fold: in the first of these, if it still has @operation: fold entry where it goes on
 * @operation: number of the operation that was last checked
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
 * @settle_ns: when aborted operations report; COLL_NEVER if there are none
 * @reporting: they are reporting; some of them may have
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
 * struct coll_memory - what the group has reserved
 * @bytes: when it was made
 */
struct coll_memory {
	u64	bytes;
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
 * @memory: memory reserved
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
	struct coll_memory		memory;
	struct collsock_stats		stats;
};

/* ---- accessors ---- */

static inline struct coll_op *coll_group_slot(const struct coll_group *g, u64 number)
{
	return &g->window.slots[number & g->window.mask];
}

/* Has the group a multicast address? */
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

/* Has the group a limit because of a failure, not because a rank left? */
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
 * limit is known. Its ranks may still post operations up to it.
 */
static inline u64 coll_group_last(const struct coll_group *g)
{
	const struct coll_failure *f = &g->failure.what;

	if (g->failure.known &&
	    (!g->ranks.leaving || coll_before(f->limit, g->window.next - 1)))
		return f->limit;
	return g->window.next - 1;
}

#endif
