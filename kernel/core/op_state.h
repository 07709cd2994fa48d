/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one operation in a group's window, in parts (state.h).
 */
#ifndef COLL_CORE_OP_STATE_H
#define COLL_CORE_OP_STATE_H

#include "peer_state.h"
#include "schedule.h"

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
 * @unsent: while it waits in coll_work.ready: send edges of the current round along which
 *	nothing was sent
 * @part: parts of the current round's fold that are over
 * @at: bytes of the next part that are over
 * @index: its number
 * @copied: multicast has carried what the downward phase sends; set before its first edge
 * @link: in coll_work.ready, or empty
 * @op: its operation, while it waits in coll_work.ready
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
 * @elements: of each; of a copy, its bytes
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
 * struct coll_op_layout - how the vector is divided
 * @bytes: its length
 * @elements: how many there are
 * @segment_bytes: of each lane but the last: whole elements
 * @block: bytes of the block of each rank, if it has one; else 0
 * @part_bytes: bytes of a block of a vector in parts; else 0
 * @segments: number of lanes
 * @own_in: ranks contribute their own block only, or several to prefixes
 * @own_out: ranks receive their own block only, or their prefix
 */
struct coll_op_layout {
	u32	bytes;
	u32	elements;
	u32	segment_bytes;
	u32	block;
	u32	part_bytes;
	u16	segments;
	bool	own_in;
	bool	own_out;
};

/**
 * struct coll_op_result - a result that ranks of this host share (result.h)
 * @to: where it goes; NULL until a rank has posted that receives it
 * @bytes: its length; 0 if they share none
 * @copied: bytes of it that are in @to
 */
struct coll_op_result {
	struct coll_result	*to;
	u32			bytes;
	u32			copied;
};

/**
 * struct coll_op_rooted - a schedule that depends on the root
 * @schedule: room for it
 * @algorithm: its algorithm; NULL if there is none
 * @root: its root
 * @degree: its degree
 */
struct coll_op_rooted {
	struct coll_schedule		*schedule;
	const struct coll_algorithm	*algorithm;
	u32				root;
	u32				degree;
};

/**
 * struct coll_op_forget - how far its messages, which nobody needs, have been forgotten
 * @lanes: lanes whose messages have been forgotten; while @in_turns
 * @in_turns: its messages are forgotten in turns
 * @received: its messages have been received
 */
struct coll_op_forget {
	u16	lanes;
	bool	in_turns;
	bool	received;
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
 * @layout: how its vector is divided
 * @awaited_ns: since when it is waited for: when the first rank of this host posted, or
 *	another host probed
 * @source: host that posted it or sent a packet about it first
 * @unfinished: number of lanes that have rounds left
 * @begun: number of lanes whose rounds have begun
 * @state: enum coll_op_state
 * @probed: while EARLY: other hosts wait for this one
 * @down_send: that of @schedule if the group has multicast, else COLL_NO_DOWN
 * @result: what ranks of this host share
 * @rooted: its schedule if that depends on the root
 * @forget: its messages are being forgotten
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
	struct coll_op_layout		layout;
	u64				awaited_ns;
	u32				source;
	u16				unfinished;
	u16				begun;
	u8				state;
	bool				probed;
	u8				down_send;
	struct coll_op_result		result;
	struct coll_op_rooted		rooted;
	struct coll_op_forget		forget;
};

#endif
