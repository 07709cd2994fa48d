/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer: one connection to another host of a group. It comes into being when
 * the first message is sent to or received from that host; there is no
 * handshake and no state "open". It numbers messages, acknowledges, sends
 * again, estimates the round-trip time and watches that the other side answers.
 * It does not know what messages mean.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PEER_H
#define COLL_CORE_PEER_H

#include "wire.h"

struct coll_group;
struct coll_op;

#define COLL_NEVER		(~0ULL)

/* Messages under way to one peer; bits of an acknowledgment. */
#define COLL_PEER_WINDOW	64
#define COLL_MAX_TRIES		200

/**
 * struct coll_message - what is sent along one edge, until it is acknowledged
 * @link: in coll_peer.sent or coll_peer.held; empty when acknowledged
 * @peer: to whom
 * @op: the operation; NULL for a goodbye
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
	struct list_head	link;
	struct coll_peer	*peer;
	struct coll_op		*op;
	const u8		*payload;
	u64			first_ns;
	u64			sent_ns;
	u32			bytes;
	u32			seq;
	u32			answered;
	u8			tries;
	u8			round;
	u16			segment;
};

/**
 * struct coll_peer - one connection
 * @due_ns: when to look after it: never later than what is next due
 * @next: in a bucket of coll_group.peers
 * @all: in coll_group.all_peers
 * @group: whose
 * @host: index of the other side
 * @incarnation: of the other side; 0 until heard
 * @connection: number of our side
 * @their_connection: highest number heard of the other side
 * @next_seq: of the next message
 * @credit: highest operation that the other side takes
 * @done: operations through this one are complete at the other side
 * @sent: messages sent and not acknowledged, in order of seq
 * @held: messages that wait for credit
 * @srtt_ns: smoothed round-trip time, 0 before the first sample
 * @rttvar_ns: its mean deviation
 * @rto_ns: retransmission time-out of a first transmission
 * @heard_ns: when the other side proved last that it is there: by something new
 * @ack_due_ns: when the acknowledgment that is owed goes out alone
 * @lone_ack_ns: when one last did
 * @ack_operation: highest operation that it acknowledges
 * @ack_messages: how many messages
 * @recv_seq: highest sequence number received
 * @recv_bits: bit i: recv_seq - i was received
 * @backed_off_seq: what came before had been sent when the time-out was raised
 * @unsampled: messages sent twice since the latest sample
 * @ack_owed: an acknowledgment is owed
 * @ack_now: it is to leave with this event
 * @ack_explicit: "done" cannot stand for it
 * @forced: something was sent beyond the credit
 * @refused: something was refused for want of room; tell when there is some
 * @gone: said goodbye
 * @last: if so, the last operation that it takes part in
 * @told: we have said goodbye,
 * @told_last: with this last operation
 * @knows_us: the other side has heard this incarnation of ours
 * @dead: it was silent for too long
 * @idle: put back until there is something to say
 * @quiet_ns: if nothing is said until then, it rests
 * @quiet_mark: changes when something is said
 * @asked_ns: latest question whether the other side is there
 * @first_asked_ns: the first since it was heard
 * @questions: how many of them
 * @watched: latest round of looking in which an operation waited for the other side
 * @watched_operation: one such operation
 * @probed_operation: that which it was asked about last
 * @watched_ns: since when one waits
 * @probes: probes sent, which is the nonce of the latest
 * @answered: how many of them were answered
 * @answers: the latest that was
 * @wait: for whom it waited then
 * @told_ms: when, in ms
 * @retransmits: sent again
 * @last_arrivals: how often its message was the last thing an operation waited for
 * @challenged_ns: when another incarnation was challenged
 * @goodbye: ours
 * @tx: our direction
 * @rx: the other direction; all zero until heard
 */
struct coll_peer {
	u64			due_ns;
	struct coll_peer	*next;
	struct coll_peer	*all;
	struct coll_group	*group;
	u32			host;
	u32			incarnation;
	u32			connection;
	u32			their_connection;
	u32			next_seq;
	u32			credit;
	u32			done;
	struct list_head	sent;
	struct list_head	held;
	u32			srtt_ns;
	u32			rttvar_ns;
	u32			rto_ns;
	u32			ack_operation;
	u64			heard_ns;
	u64			ack_due_ns;
	u64			lone_ack_ns;
	u64			recv_bits;
	u32			recv_seq;
	u32			last;
	u32			told_last;
	u32			backed_off_seq;
	u8			ack_messages;
	u8			unsampled;
	bool			ack_owed;
	bool			ack_now;
	bool			ack_explicit;
	bool			forced;
	bool			refused;
	bool			gone;
	bool			told;
	bool			knows_us;
	bool			dead;
	bool			idle;
	u32			quiet_mark;
	u64			quiet_ns;
	u64			asked_ns;
	u64			first_asked_ns;
	u32			questions;
	u32			watched;
	u32			watched_operation;
	u32			probed_operation;
	u32			probes;
	u32			answered;
	u64			watched_ns;
	u32			answers;
	u32			retransmits;
	u32			last_arrivals;
	struct coll_wait	wait;
	u32			told_ms;
	u64			challenged_ns;
	struct coll_message	goodbye;
	struct coll_wire_side	tx;
	struct coll_wire_side	rx;
};

/* The connection begins, or begins again. */
void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now);

/* The prefix of what is said to an incarnation of the other side, 0 for any. */
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation);

/* The other side has lost its former state: it is a new one from now on. */
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now);

/* Send a packet that is neither a message nor a goodbye, with what every packet tells. */
void coll_peer_speak(struct coll_peer *peer, struct coll_body *body);

/* Send a packet of any direction to the other side. */
void coll_peer_emit(struct coll_peer *peer, const struct coll_wire_side *side,
		    const struct coll_body *body);

/* Give a message to the peer: it leaves now, or when there is credit. */
void coll_peer_send(struct coll_peer *peer, struct coll_message *m, u64 now);

/* The message needs no further transmission. @sample: it was received. */
void coll_peer_forget(struct coll_message *m, bool sample, u64 now);

/* Credit or acknowledgments came: send what may leave now. */
void coll_peer_push(struct coll_peer *peer, u64 now);

/*
 * The other side speaks with a prefix that it has not used before. False if it
 * is of another incarnation or an older connection: that changes nothing.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, u64 now);

/* Is it another incarnation, that speaks to us? */
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix);

/*
 * Can the sequence number be? One side sends no more than a window beyond what
 * was not acknowledged, and what was not is no further back.
 */
static inline bool coll_peer_possible(const struct coll_peer *peer,
				      const struct coll_body *body)
{
	u32 ahead = body->seq - peer->recv_seq;

	return ahead < 2 * COLL_PEER_WINDOW || (s32)ahead < 0 || !body->seq ||
	       !peer->recv_bits;
}

/*
 * Read what every packet tells: acknowledgment, "done", credit. True if its
 * sequence number was accepted before.
 */
bool coll_peer_hear(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message is stored: it may be acknowledged from now on. */
void coll_peer_accept(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message came again: the acknowledgment must have been lost. */
void coll_peer_repeat(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* The message cannot be stored now: answer with the credit. */
void coll_peer_refuse(struct coll_peer *peer, const struct coll_body *body, u64 now);

/* Let the other side know that we are here, or what we have received. */
void coll_peer_send_ack(struct coll_peer *peer, u64 now);

/* The event is over: send the acknowledgment that is due with it. */
static inline void coll_peer_flush(struct coll_peer *peer, u64 now)
{
	if (unlikely(peer->ack_now))
		coll_peer_send_ack(peer, now);
}

/* The peer is due. False: the other side is silent too long. */
bool coll_peer_expire(struct coll_peer *peer, u64 now);

/* Nothing is owed to the other side. */
static inline bool coll_peer_settled(const struct coll_peer *peer)
{
	return list_empty(&peer->sent) && list_empty(&peer->held);
}

#endif
