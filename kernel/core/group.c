// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "congestion.h"
#include "copy.h"
#include "deadline.h"
#include "group.h"
#include "liveness.h"
#include "work.h"

const struct coll_timing coll_timing_default = {
	.rto_initial	= 10 * NSEC_PER_MSEC,
	.rto_floor	= NSEC_PER_MSEC,
	.rto_ceiling	= 100 * NSEC_PER_MSEC,
	.rto_unheard	= 1 * (u64)NSEC_PER_SEC,
	.ack_delay	= 2 * NSEC_PER_MSEC,
	.liveness	= 3 * (u64)NSEC_PER_SEC,
	.join_timeout	= 300 * (u64)NSEC_PER_SEC,
	.settle		= 20 * NSEC_PER_MSEC,
	.idle		= 300 * (u64)NSEC_PER_SEC,
};

/* ---- joining and leaving ---- */

/**
 * coll_group_join() - a rank of this host joins
 * @g: the group
 * @rank: its number in the group
 *
 * Return: its number among those of this host; -ENOENT if it belongs to another host,
 * -EEXIST if it has joined before. Context: group lock held.
 */
int coll_group_join(struct coll_group *g, u32 rank)
{
	return coll_ranks_join(g, rank);
}

/**
 * coll_group_self() - what COLLSOCK_SELF reports of a rank of this host
 * @g: the group
 * @local: which one
 * @s: all zero; the platform fills size, completion_bytes, id and nonce
 *
 * Context: group lock held.
 */
void coll_group_self(const struct coll_group *g, u32 local, struct collsock_self *s)
{
	s->rank = g->ranks.local[local].rank;
	s->ranks = g->ranks.size;
	s->host = g->self;
	s->hosts = g->hosts;
	s->local = local;
	s->locals = g->ranks.locals;
	s->max_bytes = g->payload.max_bytes;
	s->max_result_bytes = g->payload.max_result_bytes;
	s->window = g->window.size;
	s->segment_bytes = g->payload.segment_bytes;
	s->failed_rank = COLLSOCK_NO_RANK;
	if (coll_group_ended(g, local) && !coll_group_settling(g)) {
		s->error = coll_failure_error(&g->failure.what);
		s->failed_rank = g->failure.what.rank;
	}
}

/**
 * coll_group_notify_join() - send a join notice to a host that sent an early packet
 * @g: the group
 * @host: that host
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_group_notify_join(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer;

	coll_work_begin(g);
	peer = coll_peers_get(g, host, now);
	if (peer && !peer->conn.incarnation)
		coll_peer_send_ack(peer, now);
}

/**
 * coll_group_leave() - a rank leaves
 * @g: the group
 * @local: which one of this host
 * @now: time in ns
 *
 * Operations that it has posted complete, and the other hosts are notified.
 *
 * Context: group lock held.
 */
void coll_group_leave(struct coll_group *g, u32 local, u64 now)
{
	struct coll_rank *rank = &g->ranks.local[local];

	coll_work_begin(g);
	rank->state = COLL_RANK_LEFT;
	g->ranks.joined--;
	coll_failure_rank_left(g, rank, now);
}

/**
 * coll_group_end() - end the group by order of the operator
 * @g: the group
 * @now: time in ns
 *
 * Operations under way fail, here and on all other hosts.
 *
 * Context: group lock held.
 */
void coll_group_end(struct coll_group *g, u64 now)
{
	coll_work_begin(g);
	coll_failure_end(g, COLL_REASON_ENDED, g->ranks.local[0].rank, now);
}

/**
 * coll_group_give_up() - operations have lasted too long after all ranks have left
 * @g: the group
 * @now: time in ns
 *
 * They fail, here and on all other hosts, because a rank of this one has left.
 *
 * Context: group lock held.
 */
void coll_group_give_up(struct coll_group *g, u64 now)
{
	const struct coll_rank *rank = g->ranks.local;

	coll_work_begin(g);
	while (rank->state != COLL_RANK_LEFT)
		rank++;
	coll_failure_end(g, COLL_REASON_LEFT, rank->rank, now);
}

/**
 * coll_group_quiet() - have all ranks left, with nothing under way?
 * @g: the group
 *
 * Context: group lock held.
 */
bool coll_group_quiet(const struct coll_group *g)
{
	return g->ranks.leaving && !g->window.running && !coll_work_remains(g) &&
	       coll_peers_settled(g);
}

/* ---- posting ---- */

/* A rank that has posted the operation, here or on the host that sent it. */
static u32 group_rank_that_posted(const struct coll_group *g, const struct coll_op *op)
{
	u32 i = 0;

	if (op->source != g->self)
		return coll_ranks_lowest(g, op->source);
	while (!coll_after(g->ranks.local[i].next, op->head.number))
		i++;
	return g->ranks.local[i].rank;
}

/* A rank of this host posts something else than what was posted as this operation. */
static noinline void group_disagree(struct coll_group *g, const struct coll_op *op, u64 now)
{
	coll_failure_end(g, COLL_REASON_DISAGREES, group_rank_that_posted(g, op), now);
}

/* End a post that cannot complete. It reports after those before it, or at once. */
static noinline void group_post_ended(struct coll_group *g, u32 local, struct coll_op *op,
				      const struct coll_signature *sig, void *token)
{
	struct coll_rank *rank = &g->ranks.local[local];
	const struct coll_failure *f = &g->failure.what;

	if (!coll_group_settling(g)) {
		g->stats.failed++;
		coll_env_complete(g, local, rank->next, token, NULL, 0, coll_failure_error(f),
				  f->rank);
		return;
	}
	if (op->state != COLL_OP_ABORTED) {
		/* If it is DONE, other ranks of this host were told of an earlier failure. */
		if (op->state == COLL_OP_FREE)
			coll_window_open(g, op, rank->next, sig, g->self);
		op->state = COLL_OP_ABORTED;
		g->window.running++;
	}
	op->locals.post[local].token = token;
	op->locals.post[local].waits = true;
	coll_ranks_advance(g, rank);
}

/**
 * coll_group_post() - post an operation
 * @g: the group
 * @local: which rank of this host posts
 * @sig: from coll_signature_of_post()
 * @payload: as many bytes as that returned; not used after return
 * @token: passed to coll_env_complete(), perhaps before this returns
 * @now: time in ns
 *
 * In a group that has failed the operation completes with the error, at once or after the
 * settling time.
 *
 * If coll_group_take_fold() gives the caller a pair it drops the lock, calls
 * coll_locals_fold(), and then coll_group_folded(), which may leave another one.
 *
 * Return: 0, or -EAGAIN when the window is full.
 * Context: event context (env.h).
 */
int coll_group_post(struct coll_group *g, u32 local, const struct coll_signature *sig,
		    const void *payload, void *token, u64 now)
{
	struct coll_rank *rank = &g->ranks.local[local];
	struct coll_op *op = coll_group_slot(g, rank->next);

	if (!coll_group_writable(g, local))
		return -EAGAIN;
	coll_work_begin(g);
	if (op->state != COLL_OP_FREE && !coll_group_ended(g, local) &&
	    !coll_signature_equal(&op->head.signature, sig))
		group_disagree(g, op, now);
	g->stats.posted++;
	if (unlikely(coll_group_ended(g, local))) {
		group_post_ended(g, local, op, sig, token);
		return 0;
	}
	if (op->state == COLL_OP_FREE)
		coll_window_open(g, op, rank->next, sig, g->self);
	coll_ranks_advance(g, rank);
	if (coll_engine_post(op, local, payload, token, now))
		coll_window_completed(g, op, now);
	coll_watch_start(g, now);
	coll_window_advance(g, now);
	return 0;
}

/**
 * coll_group_folded() - the caller of coll_group_post() has folded a pair of values
 * @g: the group
 * @fold: that pair
 * @now: time in ns
 *
 * Context: event context (env.h).
 */
void coll_group_folded(struct coll_group *g, const struct coll_fold *fold, u64 now)
{
	struct coll_op *op = fold->op;

	coll_work_begin(g);
	if (coll_engine_folded(op, fold, now))
		coll_window_completed(g, op, now);
	coll_window_advance(g, now);
}

/* ---- receiving: accept, then advance ---- */

/**
 * struct group_sender - what is known of a packet's sender
 * @peer: its connection; NULL if the packet is dropped
 * @refusal: what was wrong with the packet
 */
struct group_sender {
	struct coll_peer	*peer;
	enum coll_refusal	refusal;
};

static void group_refuse_invalid(struct coll_group *g, u32 source, const struct coll_body *body)
{
	g->stats.invalid++;
	coll_env_drop(g, source, g->self, body, COLL_DROP_INVALID);
}

static void group_drop_repeated(struct coll_group *g, u32 source, const struct coll_body *body)
{
	g->stats.duplicates++;
	coll_env_drop(g, source, g->self, body, COLL_DROP_DUPLICATE);
}

/* The connection to which an authentic packet with a new prefix belongs; NULL to drop it */
static struct coll_peer *group_meet(struct coll_group *g, const struct coll_prefix *prefix,
				    const struct coll_wire_side *side, const u8 *packet, u32 bytes,
				    const struct coll_body *body, u64 now)
{
	struct coll_peer *peer = coll_peers_get(g, prefix->source, now);

	if (!peer) {
		group_refuse_invalid(g, prefix->source, body);
		return NULL;
	}
	if (coll_peer_meet(peer, prefix, side, body, now))
		return peer;
	g->stats.stale++;
	coll_env_drop(g, prefix->source, g->self, body, COLL_DROP_STALE);
	if (coll_peer_changed(peer, prefix))
		coll_watch_changed(peer, prefix, packet, bytes, now);
	return NULL;
}

/* Identify the sender of a packet with a new prefix, from which @side was made. */
static struct group_sender group_identify(struct coll_group *g, const struct coll_prefix *prefix,
					  const struct coll_wire_side *side, const u8 *packet,
					  u32 bytes, struct coll_body *body, u64 now)
{
	if (!coll_wire_authentic(packet, bytes, side))
		return (struct group_sender) { .refusal = COLL_FORGED };
	if (prefix->descriptor != g->descriptor)
		return (struct group_sender) { .refusal = COLL_WRONG_DESCRIPTOR };
	coll_work_begin(g);
	coll_wire_read_body(packet, bytes, body);
	if (coll_peers_repeated(g, prefix, body->number)) {
		group_drop_repeated(g, prefix->source, body);
		return (struct group_sender) { .refusal = COLL_ACCEPTED };
	}
	return (struct group_sender) {
		.peer		= group_meet(g, prefix, side, packet, bytes, body, now),
		.refusal	= COLL_ACCEPTED,
	};
}

/*
 * Handle a packet whose prefix is new: the first of a host or of a connection, or the first
 * after its sender has heard of us. The connection is opened only after authentication. A packet
 * for all hosts belongs to no connection, even where COLL_WIRE_ALL is the index of this host.
 */
static noinline struct group_sender group_introduce(struct coll_group *g, const u8 *packet,
						    u32 bytes, struct coll_body *body, u64 now)
{
	struct group_sender sender;
	struct coll_wire_side side;
	struct coll_prefix prefix;

	if (coll_wire_is_multicast(packet))
		return (struct group_sender) { .refusal = COLL_WRONG_SOURCE };
	coll_wire_read_prefix(packet, &prefix);
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	sender = group_identify(g, &prefix, &side, packet, bytes, body, now);
	memzero_explicit(&side, sizeof(side));
	return sender;
}

/* Nothing is trusted, and no state is created, before the MAC has been checked. */
static inline struct group_sender group_authenticate(struct coll_group *g, u32 source,
						     const u8 *packet, u32 bytes,
						     struct coll_body *body, u64 now)
{
	struct coll_peer *peer = coll_peers_find(g, source);

	if (unlikely(!peer || !coll_wire_same_side(packet, &peer->conn.rx)))
		return group_introduce(g, packet, bytes, body, now);
	if (unlikely(!coll_wire_authentic(packet, bytes, &peer->conn.rx)))
		return (struct group_sender) { .refusal = COLL_FORGED };
	coll_work_begin(g);
	coll_wire_read_body(packet, bytes, body);
	return (struct group_sender) { .peer = peer, .refusal = COLL_ACCEPTED };
}

/* The fold entry of the message in its operation; negative if there is none. */
static inline int group_edge(const struct coll_op *op, u32 host, const struct coll_body *body)
{
	int edge = coll_schedule_find(op->schedule, body->round, host);

	if (edge < 0 || body->segment >= op->layout.segments)
		return -EINVAL;
	if (body->payload_bytes !=
	    (op->layout.bytes ? coll_engine_edge_bytes(op, body->segment, edge) : 0))
		return -EINVAL;
	return edge;
}

/* Handle a message just stored, of an operation with a downward phase in a group with multicast. */
static noinline void group_store_down(struct coll_op *op, struct coll_peer *peer, u32 edge,
				      const struct coll_body *body, u64 now)
{
	coll_multicast_stored(op, peer, edge, body, now);
	if (edge == op->schedule->down_fold)
		coll_engine_settle_up(op, body->segment, now);
}

/*
 * A message within the window: store it and owe an acknowledgment. Returns its operation if
 * it is new and the operation has begun.
 */
static inline struct coll_op *group_store(struct coll_group *g, struct coll_peer *peer,
					  const struct coll_body *body, u64 now)
{
	struct coll_op *op = coll_window_open_early(g, peer->host, body, now);
	int edge;

	if (!op) {
		group_refuse_invalid(g, peer->host, body);
		return NULL;
	}
	if (!coll_signature_equal(&op->head.signature, &body->signature)) {
		coll_failure_disagree(g, peer, now);
		return NULL;
	}
	edge = group_edge(op, peer->host, body);
	if (edge < 0) {
		group_refuse_invalid(g, peer->host, body);
		return NULL;
	}
	if (op->state >= COLL_OP_ABORTED || !coll_engine_store(op, edge, body)) {
		coll_peer_acknowledge_again(peer, body, now);
		return NULL;
	}
	g->stats.messages_received++;
	coll_peer_accept(peer, body, now);
	if (unlikely(op->down_send != COLL_NO_DOWN))
		group_store_down(op, peer, edge, body, now);
	if (unlikely(op->state == COLL_OP_EARLY))
		g->stats.early++;
	return likely(body->segment < op->begun) ? op : NULL;
}

static inline struct coll_op *group_accept_message(struct coll_group *g, struct coll_peer *peer,
						   const struct coll_body *body, u64 now)
{
	s64 ahead = body->operation - g->window.oldest;

	if (likely(ahead >= 0 && ahead < (s64)g->window.size))
		return group_store(g, peer, body, now);
	if (ahead < 0) {
		coll_peer_acknowledge_again(peer, body, now);
		coll_failure_recall(g, peer, body, now);
	} else {
		coll_peer_refuse(peer, body, now);
	}
	return NULL;
}

/*
 * A group that has failed stores nothing, but still answers: if it were silent, this host
 * would be blamed.
 */
static bool group_only_answers(const struct coll_group *g, const struct coll_body *body)
{
	return unlikely(g->failure.terminal) &&
	       !(body->type == COLL_PACKET_GOODBYE && coll_group_settling(g));
}

/*
 * Acknowledge a packet, unless it is the goodbye of a time-wait entry, which does not ask for that.
 */
static void group_answer(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	if (body->number < COLL_NUMBER_TIMEWAIT)
		coll_peer_acknowledge_again(peer, body, now);
}

/* Handle a packet that is not a message. */
static noinline void group_accept_other(struct coll_group *g, struct coll_peer *peer,
					const struct coll_body *body, u64 now)
{
	if (body->type == COLL_PACKET_ACK)
		return;
	if (body->type == COLL_PACKET_PROBE)
		coll_watch_probed(g, peer, body, now);
	else if (body->type == COLL_PACKET_ANSWER)
		coll_watch_answered(peer, body, now);
	else if (body->type == COLL_PACKET_MULTICAST)
		group_refuse_invalid(g, peer->host, body);
	else if (group_only_answers(g, body))
		group_answer(peer, body, now);
	else if ((body->operation + 1) >> 63)
		/* Numbers are compared by their distance: limits must not go round in a circle. */
		group_refuse_invalid(g, peer->host, body);
	else
		coll_failure_receive_goodbye(g, peer, body, now);
}

/* Handle the part of a packet that depends on its type. Returns as group_store(). */
static inline struct coll_op *group_accept_body(struct coll_group *g, struct coll_peer *peer,
						const struct coll_body *body, u64 now)
{
	if (likely(body->type == COLL_PACKET_MESSAGE && !group_only_answers(g, body)))
		return group_accept_message(g, peer, body, now);
	group_accept_other(g, peer, body, now);
	return NULL;
}

static noinline void group_count_mark(struct coll_group *g, struct coll_peer *peer)
{
	g->stats.ce_received++;
	peer->recv.ce++;
}

/*
 * Let the lane wait for its turn, since others wait for theirs or the event has done what it may.
 */
static noinline void group_await_turn(struct coll_op *op, u32 segment, struct coll_peer *peer)
{
	struct coll_lane *lane = &op->lanes[segment];

	coll_fold_keep(op);
	if (!lane->missing)
		coll_work_leave_lane(op, lane);
	lane->last = peer;
}

static inline void group_run_rounds(struct coll_group *g, struct coll_op *op, u32 segment,
				    struct coll_peer *peer, u64 now)
{
	if (coll_work_waits(g)) {
		group_await_turn(op, segment, peer);
		return;
	}
	if (coll_engine_advance(op, segment, now))
		coll_window_completed(g, op, now);
	/* Only this message was missing. */
	if (coll_engine_finished(op))
		peer->recv.last_arrivals++;
	else if (coll_work_waits(g))
		group_await_turn(op, segment, peer);
}

static noinline void group_say_goodbye(struct coll_peer *peer, u64 now)
{
	peer->conn.dead = false;
	coll_peer_say_goodbye(peer, now);
}

/*
 * Process an authentic packet: read what every packet carries, store its message and owe an
 * acknowledgment for it; then run the rounds that are ready, and answer.
 */
static inline void group_process(struct coll_group *g, struct coll_peer *peer,
				 const struct coll_body *body, bool ce, u64 now)
{
	struct coll_op *op;

	if (unlikely(!coll_peer_hear(peer, body, now)))
		return;
	if (unlikely(ce))
		group_count_mark(g, peer);
	if (coll_group_multicasts(g))
		coll_multicast_hear(peer, body);
	op = group_accept_body(g, peer, body, now);
	if (op)
		group_run_rounds(g, op, body->segment, peer, now);
	if (unlikely(g->failure.known || g->ranks.leaving))
		group_say_goodbye(peer, now);
	coll_window_advance(g, now);
	coll_peer_flush(peer, now);
}

/**
 * coll_group_receive() - handle a packet
 * @g: the group
 * @source: host that the packet names as its source, and whose address it has
 * @packet: well-formed; its tag and destination are those of @g
 * @bytes: its length
 * @ce: the network has marked it "congestion experienced" (RFC 3168)
 * @now: time in ns
 *
 * Return: what was wrong with it. Context: event context (env.h).
 */
enum coll_refusal coll_group_receive(struct coll_group *g, u32 source, const u8 *packet,
				     u32 bytes, bool ce, u64 now)
{
	struct coll_body body COLL_UNINITIALIZED;
	struct group_sender sender;

	sender = group_authenticate(g, source, packet, bytes, &body, now);
	if (likely(sender.peer))
		group_process(g, sender.peer, &body, ce, now);
	return sender.refusal;
}

/**
 * coll_group_receive_multicast() - handle a packet for all hosts
 * @g: the group, perhaps without multicast
 * @packet: well-formed, coll_wire_is_multicast(); its tag is that of @g
 * @bytes: its length
 * @now: time in ns
 *
 * All members have the key, so the platform has checked that the packet comes from the address of
 * the source that it names.
 *
 * Return: what was wrong with it. Context: event context (env.h).
 */
enum coll_refusal coll_group_receive_multicast(struct coll_group *g, const u8 *packet, u32 bytes,
					       u64 now)
{
	enum coll_refusal refusal;
	struct coll_copy copy COLL_UNINITIALIZED;

	coll_work_begin(g);
	refusal = coll_copy_read(g, packet, bytes, &copy);
	if (refusal != COLL_ACCEPTED)
		return refusal;
	if (coll_copy_accept(g, &copy, now)) {
		coll_engine_settle_up(copy.op, copy.body.segment, now);
		if (copy.body.segment < copy.op->begun)
			group_run_rounds(g, copy.op, copy.body.segment, copy.parent, now);
		coll_peer_flush(copy.parent, now);
	}
	coll_window_advance(g, now);
	return COLL_ACCEPTED;
}

/**
 * coll_group_receive_other_version() - a packet of another version of the format came
 * @g: the group
 * @source: host that the packet names as its source, and whose address it has
 * @packet: coll_wire_other_version(); its tag and destination are those of @g
 * @bytes: its length
 * @now: time in ns
 *
 * If a member sent it the group ends: its hosts cannot understand each other.
 *
 * Return: what was wrong with it. Context: event context (env.h).
 */
enum coll_refusal coll_group_receive_other_version(struct coll_group *g, u32 source,
						   const u8 *packet, u32 bytes, u64 now)
{
	if (!coll_wire_authentic_any(packet, bytes, &g->secret.mac))
		return COLL_FORGED;
	coll_work_begin(g);
	coll_failure_end(g, COLL_REASON_VERSION, coll_ranks_lowest(g, source), now);
	return COLL_ACCEPTED;
}

/* ---- turns ---- */

static noinline void group_run_rest(struct coll_group *g, u64 now)
{
	if (g->work.rest & (COLL_WORK_GOODBYES | COLL_WORK_IDLE))
		coll_failure_tell_rest(g, now);
	if (g->work.rest & COLL_WORK_MESSAGES)
		coll_window_forget(g, now);
	else if (g->work.rest & COLL_WORK_PEERS)
		coll_peers_catch_up(g, now);
}

/**
 * coll_group_run() - do more of what events have left
 * @g: the group
 * @now: time in ns
 *
 * A turn does as much as an event may. If something is left after it, it asks for another.
 *
 * Context: event context (env.h).
 */
void coll_group_run(struct coll_group *g, u64 now)
{
	coll_work_begin(g);
	if (g->work.rest)
		group_run_rest(g, now);
	while (coll_work_waits(g) && !coll_work_over(g)) {
		struct coll_lane *lane = list_first_entry(&g->work.ready, struct coll_lane, link);
		struct coll_op *op = lane->op;

		g->work.before = lane->link.next;
		if (coll_engine_resume(lane, now))
			coll_window_completed(g, op, now);
		g->work.before = &g->work.ready;
		coll_work_do(g, COLL_WORK_LANE);
	}
	coll_window_advance(g, now);
	if (coll_work_remains(g))
		coll_env_run_soon(g);
}

/* ---- filters and queues of this host ---- */

/**
 * coll_group_send_refused() - a filter of this host did not let a packet out
 * @g: the group
 * @host: its destination
 *
 * Context: group lock held.
 */
void coll_group_send_refused(struct coll_group *g, u32 host)
{
	struct coll_peer *peer = coll_peers_find(g, host);

	if (peer)
		peer->live.filtered++;
}

/**
 * coll_group_send_congested() - a queue of this host is full
 * @g: the group
 * @host: destination of the packet that found it full
 *
 * Context: group lock held.
 */
void coll_group_send_congested(struct coll_group *g, u32 host)
{
	struct coll_peer *peer = coll_peers_find(g, host);

	if (peer)
		coll_congestion_local(peer);
}

/**
 * coll_group_receive_refused() - a filter of this host did not let a packet in
 * @g: the group
 * @source: host that the packet names as its source, and whose address it has
 * @packet: formed; its tag and destination are those of @g
 * @bytes: its length
 *
 * Nothing of the packet is used, except that a member sent it, and not to a former incarnation of
 * this host. A repeated packet does not count: a stranger can repeat it so that the filter refuses
 * it.
 *
 * Context: group lock held.
 */
void coll_group_receive_refused(struct coll_group *g, u32 source, const u8 *packet, u32 bytes)
{
	struct coll_peer *peer = coll_peers_find(g, source);
	struct coll_prefix prefix;
	struct coll_body body;

	if (!peer || !coll_wire_authentic_any(packet, bytes, &g->secret.mac))
		return;
	coll_wire_read_prefix(packet, &prefix);
	coll_wire_read_body(packet, bytes, &body);
	if (!coll_wire_is_multicast(packet) && coll_peer_may_be_new(peer, &prefix, body.number))
		peer->live.filtered_in = true;
}

/* ---- deadlines ---- */

/*
 * Peers that one timer callback checks, besides the limit of any event. Others that are due
 * wait a moment.
 */
#define EXPIRE_PEERS	64
#define EXPIRE_PAUSE_NS	(100 * NSEC_PER_USEC)
/* Peers that are due within this time are also checked, while half of each limit is left. */
#define EXPIRE_SOON_NS	(4 * COLL_DEADLINE_GRAIN)

static void group_expire_peer(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	peer->due_ns = COLL_NEVER;
	if (coll_liveness_silent(peer, now)) {
		coll_failure_accuse(g, peer, now);
		return;
	}
	if (unlikely(coll_peer_blocked(peer)))
		coll_failure_blocked(g, peer, now);
	coll_peer_expire(peer, now);
	if (coll_group_multicasts(g))
		coll_ahead_expire(peer, now);
	coll_watch_ask(peer, now);
	coll_liveness_check_idle(peer, now);
}

/*
 * Will the peer be due soon, with nothing to do until then? Often its message has been acknowledged
 * by now. Without a check now, the timer would expire once more only to find that out.
 */
static bool group_due_soon(const struct coll_peer *peer, u64 now)
{
	return peer->due_ns <= now + EXPIRE_SOON_NS && !peer->send.lost &&
	       list_empty(&peer->send.held);
}

/* Check the peers that are due. False if there are more than it may check. */
static bool group_expire_peers(struct coll_group *g, u64 now)
{
	u32 left = EXPIRE_PEERS;
	struct coll_peer *peer;

	/* Nothing is sent again that is about to be forgotten. */
	if (g->work.rest & COLL_WORK_MESSAGES)
		return false;
	for (peer = g->peers.all; peer; peer = peer->all) {
		if (peer->due_ns > now && (left <= EXPIRE_PEERS / 2 ||
					   !coll_work_may_look_ahead(g) ||
					   !group_due_soon(peer, now)))
			continue;
		if (!left-- || coll_work_over(g))
			return false;
		group_expire_peer(g, peer, now);
	}
	return true;
}

/**
 * coll_group_expire() - the deadline has passed
 * @g: the group
 * @now: time in ns
 *
 * Checks every peer. There are only those that the schedules name, a logarithm of the hosts
 * or a few for each child in a k-ary tree, at most COLL_MAX_PEERS; a heap cost more than it
 * saved. However many peers fall due together, the amount sent at once is limited.
 *
 * Context: event context (env.h).
 */
void coll_group_expire(struct coll_group *g, u64 now)
{
	bool all;
	u64 next;

	coll_work_begin(g);
	/* No deadline is armed while this runs; it is armed once, at the end. */
	g->armed_ns = 0;
	if (g->failure.settle_ns <= now)
		coll_failure_settle(g, now);
	if (g->watch.next_ns <= now)
		coll_watch_look(g, now);
	all = group_expire_peers(g, now);
	/* Last, since a failure makes peers due that were checked before. */
	next = coll_peers_release_idle(g);
	if (unlikely(!all))
		next = now + EXPIRE_PAUSE_NS;
	g->armed_ns = COLL_NEVER;
	coll_deadline_arm(g, min(next, min(g->failure.settle_ns, g->watch.next_ns)));
}
