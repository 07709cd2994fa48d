/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of one connection, in parts, and of the messages along it (state.h).
 */
#ifndef COLL_CORE_PEER_STATE_H
#define COLL_CORE_PEER_STATE_H

#include "replay.h"
#include "wire.h"

struct coll_group;
struct coll_peer;

/* Messages in flight to one peer; bits of an acknowledgment */
#define COLL_PEER_WINDOW	64

#define COLL_MAX_TRIES		200
/* Instead of a number of transmissions: not sent, as multicast has carried the same */
#define COLL_AHEAD		255

/* ---- messages ---- */

/**
 * struct coll_message_head - what all messages of an operation share
 * @signature: what all ranks must agree on; of a goodbye, the rank to blame and the reason
 * @number: of the operation; of a goodbye, the last one in which this host takes part
 *	(coll_group_last())
 * @done: minimum of "done" over all messages and the local post
 * @unacked: number of messages not acknowledged, and of pairs folded outside the lock, one more
 *	while messages are forgotten in turns: the slot of the operation is in use
 * @type: enum coll_packet_type
 * @carries_done: the operation is synchronising (schedule.h): its messages carry @done
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
 * struct coll_peer_connection - both ends of the connection
 * @incarnation: of the other side; 0 until heard from
 * @knows_us: the other side has heard from this incarnation of ours
 * @dead: the other side was silent for too long
 * @fragments: packets to the other side may be fragmented
 * @tx: sending direction
 * @rx: receiving direction; all zero until heard from
 */
struct coll_peer_connection {
	u32			incarnation;
	bool			knows_us;
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
 * @ahead: messages in coll_ahead.messages
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
	u8			ahead;
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
 * @limit: another message may be sent while coll_peer_send_state.unacked is below this
 * @ask: a message may ask for an acknowledgment when that is this or more
 * @initial: the window at first; 0 before the first message
 * @window: packets that may be in flight
 * @threshold: where slow start ends
 * @prior: the window before the latest time-out; 0 if it is not to be restored
 * @acknowledged: packets acknowledged since the window last changed, beyond slow start
 * @ce: how many of our packets the other side has received marked, mod 256
 */
struct coll_peer_congestion {
	u64	reduced;
	u8	limit;
	u8	ask;
	u8	initial;
	u8	window;
	u8	threshold;
	u8	prior;
	u8	acknowledged;
	u8	ce;
};

/**
 * struct coll_peer_recv_state - messages from the other side
 * @packets: which packets have come
 * @last_arrivals: how often its message was the last that an operation waited for
 * @ce: how many packets were marked "congestion experienced", mod 256
 * @refused: a message was refused for lack of room; send credit when there is room
 * @gone: the other side has sent a goodbye
 */
struct coll_peer_recv_state {
	struct coll_replay	packets;
	u32			last_arrivals;
	u8			ce;
	bool			refused;
	bool			gone;
};

/**
 * struct coll_peer_ack - what acknowledgments say, and whether one is owed
 * @accepted: highest packet number of a message that was accepted
 * @bits: bit i: a message in packet @accepted - i was
 * @due_ns: when it is sent alone
 * @lone_ns: when the latest lone one was sent
 * @operation: highest operation that it acknowledges
 * @messages: number of messages that it acknowledges
 * @owed: an acknowledgment is owed
 * @copies: also of messages that came by multicast, which only a lone one acknowledges, or "done"
 * @now: it is to be sent with this event
 * @explicit: "done" does not imply it
 */
struct coll_peer_ack {
	u64	accepted;
	u64	bits;
	u64	due_ns;
	u64	lone_ns;
	u64	operation;
	u8	messages;
	bool	owed;
	bool	copies;
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
 * @answered: number of answered probes
 * @retransmits: number of retransmissions to it
 * @first_number: latest packet before the first probe since @heard_ns, or before a message
 *	was sent again
 * @filtered: packets after @first_number that a filter of this host refused
 * @filtered_in: since the first probe, packets came that a filter of this host refused
 * @idle: unused for long enough: it is released until there is something to send
 */
struct coll_peer_liveness {
	u64	heard_ns;
	u64	asked_ns;
	u64	first_asked_ns;
	u64	challenged_ns;
	u64	idle_at_ns;
	u64	first_number;
	u32	idle_mark;
	u32	questions;
	u32	answered;
	u32	retransmits;
	u32	filtered;
	bool	filtered_in;
	bool	idle;
};

/**
 * struct coll_peer_watch - which operations wait for the other side
 * @since_ns: since when one has waited
 * @operation: one such operation
 * @probed_operation: operation of the latest probe
 * @round: latest check of coll_watch_look() in which one did
 * @probes: probes sent; also the nonce of the latest
 * @answers: nonce of the latest answered probe
 * @reported_ms: when it last reported which host it waits for, in ms
 * @wait: the host that it reported
 */
struct coll_peer_watch {
	u64			since_ns;
	u64			operation;
	u64			probed_operation;
	u32			round;
	u32			probes;
	u32			answers;
	u32			reported_ms;
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
 * @ack: what acknowledgments to it say, and whether one is owed
 * @live: is the other side alive, and is the connection used?
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

#endif
