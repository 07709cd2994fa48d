// SPDX-License-Identifier: GPL-2.0
#include "descriptor.h"
#include "group.h"
#include "reduce.h"

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

/* ---- deadlines ---- */

/**
 * coll_group_arm() - call coll_group_expire() at @at, or earlier
 * @g: the group
 * @at: time in ns
 */
void coll_group_arm(struct coll_group *g, u64 at)
{
	if (at < g->armed_ns) {
		g->armed_ns = at;
		coll_env_deadline(g, at);
	}
}

/*
 * Put back the peers that have nothing to say, not even since they were looked at. When
 * is the first of the others due?
 */
static u64 group_release_idle_peers(struct coll_group *g)
{
	struct coll_peer **link = &g->all_peers, **bucket, *peer;
	u64 next = COLL_NEVER;

	while ((peer = *link)) {
		peer->idle &= peer->due_ns == COLL_NEVER;
		if (likely(!peer->idle)) {
			next = min(next, peer->due_ns);
			link = &peer->all;
			continue;
		}
		*link = peer->all;
		bucket = &g->peers[peer->host & g->peer_mask];
		while (*bucket != peer)
			bucket = &(*bucket)->next;
		*bucket = peer->next;
		peer->next = g->spare;
		g->spare = peer;
		coll_env_peer_idle(peer);
		g->stats.peers--;
		g->stats.peers_idle++;
	}
	return next;
}

/**
 * coll_group_expire() - the deadline has passed
 * @g: the group
 * @now: time in ns
 *
 * Looks at every peer. There are few, as many as the schedules name: a logarithm
 * of the hosts, or the largest fan-out; a heap of them cost more than it saved.
 *
 * Context: softirq; group lock held.
 */
void coll_group_expire(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;
	u64 next;

	/* Nothing is armed while this runs: it arms once, at the end. */
	g->armed_ns = 0;
	if (g->settle_ns <= now)
		coll_group_settle(g, now);
	if (g->watch_ns <= now)
		coll_watch_look(g, now);
	for (peer = g->all_peers; peer; peer = peer->all) {
		if (peer->due_ns <= now) {
			peer->due_ns = COLL_NEVER;
			if (!coll_peer_expire(peer, now))
				coll_group_accuse(g, peer, now);
		}
	}
	/* Only now: a failure makes peers due that were passed before. */
	next = group_release_idle_peers(g);
	g->armed_ns = COLL_NEVER;
	coll_group_arm(g, min(next, min(g->settle_ns, g->watch_ns)));
}

/* ---- peers ---- */

/**
 * coll_group_find_peer() - the connection to a host
 * @g: the group
 * @host: the other side
 *
 * Return: the peer, or NULL if there is none now. Context: group lock held.
 */
struct coll_peer *coll_group_find_peer(const struct coll_group *g, u32 host)
{
	struct coll_peer *peer = g->peers[host & g->peer_mask];

	while (peer && peer->host != host)
		peer = peer->next;
	return peer;
}

/**
 * coll_group_peer() - the connection to a host, which begins now if there is none
 * @g: the group
 * @host: the other side
 * @now: time in ns
 *
 * Return: the peer, or NULL if no schedule ever speaks to that host.
 * Context: group lock held.
 */
struct coll_peer *coll_group_peer(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_group_find_peer(g, host), **link;

	if (likely(peer))
		return peer;
	for (link = &g->spare; *link && (*link)->host != host; link = &(*link)->next)
		;
	peer = *link;
	if (!peer)
		return NULL;
	*link = peer->next;
	coll_peer_open(peer, g, host, now);
	peer->next = g->peers[host & g->peer_mask];
	g->peers[host & g->peer_mask] = peer;
	peer->all = g->all_peers;
	g->all_peers = peer;
	g->stats.peers++;
	coll_env_peer_open(peer);
	if (unlikely(g->leaving && !g->failed))
		coll_group_say_goodbye(g, peer, now);
	return peer;
}

typedef void (*peer_visitor)(struct coll_group *g, struct coll_peer *peer, u64 now);

static void group_each_peer(struct coll_group *g, peer_visitor visit, u64 now)
{
	struct coll_peer *peer;

	for (peer = g->all_peers; peer; peer = peer->all)
		visit(g, peer, now);
}

/**
 * coll_group_notify_join() - tell a host whose packet came before the group that the group is here
 * @g: the group
 * @host: that host
 * @now: time in ns
 *
 * Context: BH disabled; group lock held.
 */
void coll_group_notify_join(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_group_peer(g, host, now);

	if (peer && !peer->incarnation)
		coll_peer_send_ack(peer, now);
}

/* ---- the window ---- */

static void peer_tell_room(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	if (!peer->refused)
		return;
	peer->refused = false;
	g->refusals--;
	coll_peer_send_ack(peer, now);
}

/**
 * coll_group_free_slots() - free the slots of operations that nobody needs any more
 * @g: the group, whose window can advance
 * @now: time in ns
 */
void coll_group_free_slots(struct coll_group *g, u64 now)
{
	do {
		coll_group_slot(g, g->oldest++)->state = COLL_OP_FREE;
	} while (coll_group_advances(g));
	coll_env_writable(g);
	if (unlikely(g->refusals))
		group_each_peer(g, peer_tell_room, now);
}

static void peer_push(struct coll_group *g, struct coll_peer *peer, u64 now)
{
	coll_peer_push(peer, now);
}

/* Numbers of a peer that is not heard must not fall half of their range behind. */
#define AGE_EVERY	BIT(24)

static void peer_age(struct coll_group *g, struct coll_peer *peer)
{
	if (coll_after(g->common_credit, peer->credit))
		peer->credit = g->common_credit;
	if (coll_after(g->acknowledged, peer->done))
		peer->done = g->acknowledged;
}

static void group_age_peers(struct coll_group *g)
{
	struct coll_peer *peer;

	for (peer = g->all_peers; peer; peer = peer->all)
		peer_age(g, peer);
	for (peer = g->spare; peer; peer = peer->next)
		if (peer->idle)
			peer_age(g, peer);
}

/*
 * All hosts have completed through @through, this one learns by completing
 * @operation. Whoever completes that one learns the same (the minimum is over
 * the same posts), and frees the slots through @through. So if all hosts have
 * completed through an @operation of before, all have the room that its
 * @through gave them. Without this a host that is only sent to, and never sends
 * back, as in dissemination, had to tell its credit in packets of its own.
 */
static void group_learn_credit(struct coll_group *g, u32 operation, u32 through, u64 now)
{
	if (unlikely(operation % AGE_EVERY == 0))
		group_age_peers(g);
	if (coll_before(through, g->floor_operation) || coll_after(through, g->completed))
		return;
	g->common_credit = g->floor + g->window;
	g->floor_operation = operation;
	g->floor = through;
	if (unlikely(g->held))
		group_each_peer(g, peer_push, now);
}

/* Every host has completed the operations through @through. */
static void group_acknowledge_through(struct coll_group *g, u32 through, u64 now)
{
	u32 number;

	/* Not even the own post told of more: such a minimum is no honest one. */
	if (!coll_after(through, g->acknowledged) || coll_after(through, g->completed))
		return;
	g->acknowledged = through;
	for (number = g->oldest; !coll_after(number, through); number++)
		coll_op_forget(coll_group_slot(g, number), true, now);
}

/**
 * coll_group_completed() - an operation has ended
 * @g: the group
 * @op: it; DONE
 * @now: time in ns
 *
 * When an all-to-all operation completes, every host has told, directly or
 * through others, up to where it has completed: the minimum is acknowledged.
 */
void coll_group_completed(struct coll_group *g, struct coll_op *op, u64 now)
{
	if (op->schedule->all_to_all && coll_op_finished(op)) {
		group_acknowledge_through(g, op->done, now);
		group_learn_credit(g, op->number, op->done, now);
	}
	while (g->completed + 1 != g->next) {
		op = coll_group_slot(g, g->completed + 1);
		if (op->number != g->completed + 1 || op->state != COLL_OP_DONE ||
		    !coll_op_finished(op))
			break;
		g->completed++;
	}
}

/**
 * coll_group_quiet() - has the group left, with nothing under way?
 * @g: the group
 *
 * Context: group lock held.
 */
bool coll_group_quiet(const struct coll_group *g)
{
	const struct coll_peer *peer;

	if (!g->leaving || g->running)
		return false;
	for (peer = g->all_peers; peer; peer = peer->all)
		if (!coll_peer_settled(peer) || peer->ack_owed)
			return false;
	return true;
}

/* ---- ranks of this host ---- */

/**
 * coll_group_rank() - the lowest rank of a host
 * @g: the group
 * @host: of it
 *
 * Without a table of the platform it is a search through all ranks, for what happens once in
 * the life of a group.
 */
u32 coll_group_rank(const struct coll_group *g, u32 host)
{
	u32 rank = host;

	if (g->lowest)
		return g->lowest[host];
	while (coll_group_host(g, rank) != host)
		rank++;
	return rank;
}

/**
 * coll_group_join() - a rank of this host joins
 * @g: the group
 * @rank: its number in the group
 *
 * Return: its number among those of this host; -ENOENT if it lives elsewhere,
 * -EEXIST if it has joined before. Context: group lock held.
 */
int coll_group_join(struct coll_group *g, u32 rank)
{
	u32 local = 0;

	while (local < g->locals && g->ranks[local].rank != rank)
		local++;
	if (local == g->locals)
		return -ENOENT;
	if (g->ranks[local].state != COLL_RANK_ABSENT)
		return -EEXIST;
	g->ranks[local].state = COLL_RANK_JOINED;
	g->joined++;
	g->leaving = false;
	return local;
}

/* ---- posting ---- */

/* What an operation is, whatever the algorithm. */
static bool rank_takes(u32 rank, const struct coll_signature *sig)
{
	bool root = sig->root == rank;

	return sig->operation == COLLSOCK_BROADCAST ? !root :
	       sig->operation != COLLSOCK_REDUCE || root;
}

/* Ranks of this host without which an operation cannot begin. */
static u32 group_contributors(const struct coll_group *g, const struct coll_schedule *s,
			      const struct coll_signature *sig)
{
	if (!s->contributes)
		return 0;
	return sig->operation == COLLSOCK_BROADCAST ? 1 : g->locals;
}

static bool group_operands_valid(const struct coll_signature *sig)
{
	switch (sig->operation) {
	case COLLSOCK_BARRIER:
		return !sig->type && !sig->op && !sig->count;
	case COLLSOCK_BROADCAST:
		return coll_type_bytes(sig->type) && !sig->op && sig->count;
	default:
		return coll_reduce_valid(sig->type, sig->op) && sig->count;
	}
}

/* Bytes of the payload that a signature speaks of, or -EINVAL. */
static int group_payload_bytes(const struct coll_group *g, const struct coll_signature *sig)
{
	const struct coll_algorithm *a = &coll_algorithms[sig->schedule];
	u32 element;

	if (sig->schedule >= coll_algorithms_count || a->operation != sig->operation ||
	    !coll_group_has(g, a) || sig->root >= (a->rooted ? g->size : 1) ||
	    !group_operands_valid(sig))
		return -EINVAL;
	if (!sig->count)
		return 0;
	element = coll_type_bytes(sig->type);
	if (sig->count > g->max_bytes / element)
		return -EMSGSIZE;
	return sig->count * element;
}

/**
 * coll_group_signature() - what does a post mean to this group?
 * @g: the group
 * @local: which rank of this host posts
 * @post: as user space gave it
 * @sig: out
 *
 * Return: bytes of the payload that this rank has to bring; -EINVAL, or -EMSGSIZE
 * if the payload is larger than the group allows. Context: any; reads only what
 * init has set.
 */
int coll_group_signature(const struct coll_group *g, u32 local,
			 const struct collsock_post *post, struct coll_signature *sig)
{
	u32 rank = g->ranks[local].rank;
	const struct coll_algorithm *a;
	int bytes;

	if (post->size != sizeof(*post) || post->flags & ~COLLSOCK_QUIET || post->reserved)
		return -EINVAL;
	if (post->operation < COLLSOCK_BARRIER || post->operation > COLLSOCK_BROADCAST)
		return -EINVAL;
	memset(sig, 0, sizeof(*sig));
	sig->operation = post->operation;
	sig->type = post->type;
	sig->op = post->op;
	sig->count = post->count;
	sig->root = post->root;
	sig->schedule = g->default_schedule[post->operation];
	if (post->algorithm != COLLSOCK_AUTO) {
		a = coll_algorithm_find(post->operation, post->algorithm);
		if (!a || !coll_descriptor_may_name(g->algorithms, post->algorithm))
			return -EINVAL;
		sig->schedule = a - coll_algorithms;
	}
	bytes = group_payload_bytes(g, sig);
	if (bytes >= 0 && post->flags & COLLSOCK_QUIET && rank_takes(rank, sig))
		return -EINVAL;
	return bytes < 0 || coll_rank_contributes(rank, sig) ? bytes : 0;
}

/* What this host does in an operation. The slot has room for what depends on the root. */
static const struct coll_schedule *group_schedule_of(struct coll_group *g, struct coll_op *op,
						     const struct coll_signature *sig)
{
	struct coll_schedule *s = op->own;
	struct coll_shape shape;
	u32 root;

	if (likely(g->schedules[sig->schedule]))
		return g->schedules[sig->schedule];
	root = coll_group_host(g, sig->root);
	if (s->hosts && s->id == sig->schedule && op->own_root == root)
		return s;
	shape = coll_group_shape(g, root);
	/* It was built for other roots, and all are alike. */
	WARN_ON_ONCE(coll_algorithms[sig->schedule].build(s, &shape));
	s->id = sig->schedule;
	op->own_root = root;
	return s;
}

/* Was the operation that the slot served before one like this, too? */
static bool group_remembers(const struct coll_op *op, const struct coll_signature *sig)
{
	return op->schedule && coll_signature_equal(&op->signature, sig);
}

/* What follows from a signature. */
static noinline void group_plan_operation(struct coll_group *g, struct coll_op *op,
					  const struct coll_signature *sig)
{
	op->schedule = group_schedule_of(g, op, sig);
	op->signature = *sig;
	op->bytes = sig->count ? sig->count * coll_type_bytes(sig->type) : 0;
	op->segments = likely(op->bytes <= g->segment_bytes) ? 1 :
		       DIV_ROUND_UP(op->bytes, g->segment_bytes);
	op->contributors = group_contributors(g, op->schedule, sig);
}

/*
 * Make a slot the operation's: EARLY, for no rank of this host has posted it. Most are
 * like those before them, so what follows from the signature is there already.
 */
static void group_make_operation(struct coll_group *g, struct coll_op *op, u32 number,
				 const struct coll_signature *sig, u32 source)
{
	if (unlikely(!group_remembers(op, sig)))
		group_plan_operation(g, op, sig);
	op->number = number;
	op->source = source;
	op->unposted = g->locals;
	coll_op_make(op);
}

/* A rank that has posted or sent the operation. */
static u32 group_rank_that_spoke(const struct coll_group *g, const struct coll_op *op)
{
	u32 i = 0;

	if (op->source != g->self)
		return coll_group_rank(g, op->source);
	while (!coll_after(g->ranks[i].next, op->number))
		i++;
	return g->ranks[i].rank;
}

static void group_advance_rank(struct coll_group *g, struct coll_rank *rank)
{
	if (rank->next++ == g->next)
		g->next++;
}

/* A post that cannot complete: it reports with those before it, or at once. */
static void group_post_ended(struct coll_group *g, u32 local, struct coll_op *op,
			     const struct coll_signature *sig, void *token)
{
	struct coll_rank *rank = &g->ranks[local];

	if (!coll_group_settling(g) || op->state == COLL_OP_DONE) {
		g->stats.failed++;
		coll_env_complete(g, local, rank->next, token, NULL, 0,
				  coll_failure_error(&g->failure), g->failure.rank);
		return;
	}
	if (op->state != COLL_OP_ABORTED) {
		group_make_operation(g, op, rank->next, sig, g->self);
		op->state = COLL_OP_ABORTED;
		g->running++;
	}
	op->parts[local].token = token;
	op->parts[local].waits = true;
	group_advance_rank(g, rank);
}

/**
 * coll_group_post() - post an operation
 * @g: the group
 * @local: which rank of this host posts
 * @sig: from coll_group_signature()
 * @payload: as many bytes as that returned; not needed after return
 * @token: comes back in coll_env_complete(), perhaps before this returns
 * @now: time in ns
 *
 * In a group that has failed the operation completes with the error, at once or
 * when that has settled.
 *
 * Return: 0, or -EAGAIN when the window is full.
 * Context: BH disabled outside work queues; group lock held.
 */
int coll_group_post(struct coll_group *g, u32 local, const struct coll_signature *sig,
		    const void *payload, void *token, u64 now)
{
	struct coll_rank *rank = &g->ranks[local];
	struct coll_op *op = coll_group_slot(g, rank->next);
	const struct coll_post post = {
		.local		= local,
		.takes		= rank_takes(rank->rank, sig),
		.contributes	= coll_rank_contributes(rank->rank, sig),
		.payload	= payload,
		.token		= token,
	};

	if (!coll_group_writable(g, local))
		return -EAGAIN;
	if (op->state != COLL_OP_FREE && !coll_group_ended(g, local) &&
	    !coll_signature_equal(&op->signature, sig))
		coll_group_break(g, COLL_REASON_DISAGREES, group_rank_that_spoke(g, op),
				 now);
	g->stats.posted++;
	if (unlikely(coll_group_ended(g, local))) {
		group_post_ended(g, local, op, sig, token);
		return 0;
	}
	if (op->state == COLL_OP_FREE)
		group_make_operation(g, op, rank->next, sig, g->self);
	group_advance_rank(g, rank);
	coll_op_post(op, &post, now);
	coll_watch_start(g, now);
	coll_group_advance_window(g, now);
	return 0;
}

/* ---- receiving ---- */

/* Another host spoke of the operation first. False if its signature makes no sense. */
static noinline bool group_make_early(struct coll_group *g, struct coll_op *op, u32 source,
				      const struct coll_body *body, u64 now)
{
	if (!group_remembers(op, &body->signature) &&
	    group_payload_bytes(g, &body->signature) < 0)
		return false;
	group_make_operation(g, op, body->operation, &body->signature, source);
	if (!op->contributors &&
	    !(g->limited && coll_after(op->number, g->failure.limit)))
		coll_op_begin(op, now);
	return true;
}

/**
 * coll_group_slot_for() - the slot of an operation, created if need be
 * @g: the group
 * @source: host that speaks of it
 * @body: number, within the window, and signature
 * @now: time in ns
 *
 * If it does without our own rank it begins.
 *
 * Return: the slot, or NULL if the signature makes no sense in this group.
 */
struct coll_op *coll_group_slot_for(struct coll_group *g, u32 source,
				    const struct coll_body *body, u64 now)
{
	struct coll_op *op = coll_group_slot(g, body->operation);

	if (op->state != COLL_OP_FREE || group_make_early(g, op, source, body, now))
		return op;
	return NULL;
}

/**
 * coll_group_recall() - was an operation that is over what another speaks of?
 * @g: the group
 * @peer: who speaks of it
 * @body: number and signature
 * @now: time in ns
 *
 * A slot remembers its operation until it serves another one.
 */
void coll_group_recall(struct coll_group *g, struct coll_peer *peer,
		       const struct coll_body *body, u64 now)
{
	const struct coll_op *op = coll_group_slot(g, body->operation);

	if (op->number == body->operation && !g->limited &&
	    !coll_signature_equal(&op->signature, &body->signature))
		coll_group_break(g, COLL_REASON_DISAGREES, coll_group_rank(g, peer->host), now);
}

static void group_refuse_invalid(struct coll_group *g, u32 source, const struct coll_body *body)
{
	g->stats.invalid++;
	coll_env_drop(g, source, g->self, body, COLL_DROP_INVALID);
}

static void group_receive_message(struct coll_group *g, struct coll_peer *peer,
				  const struct coll_body *body, u64 now)
{
	s32 ahead = body->operation - g->oldest;
	struct coll_op *op;
	int edge;

	if (ahead < 0) {
		coll_peer_accept(peer, body, now);
		coll_peer_repeat(peer, body, now);
		coll_group_recall(g, peer, body, now);
		return;
	}
	if (ahead >= (s32)g->window) {
		coll_peer_refuse(peer, body, now);
		return;
	}
	op = coll_group_slot_for(g, peer->host, body, now);
	if (!op)
		goto invalid;
	if (!coll_signature_equal(&op->signature, &body->signature)) {
		coll_group_break(g, COLL_REASON_DISAGREES, coll_group_rank(g, peer->host), now);
		return;
	}
	edge = coll_schedule_find(op->schedule, body->round, peer->host);
	if (edge < 0 || body->segment >= op->segments ||
	    body->payload_bytes != (op->bytes ? coll_op_edge_bytes(op, body->segment, edge) : 0))
		goto invalid;
	if (op->state >= COLL_OP_ABORTED || !coll_op_store(op, edge, body)) {
		coll_peer_accept(peer, body, now);
		coll_peer_repeat(peer, body, now);
		return;
	}
	g->stats.messages_received++;
	coll_peer_accept(peer, body, now);
	if (unlikely(op->state == COLL_OP_EARLY))
		g->stats.early++;
	if (likely(op->begun)) {
		coll_op_advance(op, body->segment, now);
		/* Nothing else was missing. */
		peer->last_arrivals += coll_op_finished(op);
	}
	return;
invalid:
	group_refuse_invalid(g, peer->host, body);
}

/*
 * A group that has failed stores nothing, but it still answers: silence would
 * put the blame on this host.
 */
static void group_receive_failed(struct coll_peer *peer, const struct coll_body *body, u64 now)
{
	if (!body->seq)
		return;
	coll_peer_accept(peer, body, now);
	coll_peer_repeat(peer, body, now);
}

static void group_receive_body(struct coll_group *g, struct coll_peer *peer,
			       const struct coll_body *body, u64 now)
{
	bool repeated;

	if (unlikely(!coll_peer_possible(peer, body))) {
		group_refuse_invalid(g, peer->host, body);
		return;
	}
	repeated = coll_peer_hear(peer, body, now);
	if (body->type == COLL_PACKET_ACK)
		;
	else if (unlikely(body->type == COLL_PACKET_PROBE))
		coll_watch_probed(g, peer, body, now);
	else if (unlikely(body->type == COLL_PACKET_ANSWER))
		coll_watch_answered(peer, body, now);
	else if (unlikely(g->failed) &&
		 !(body->type == COLL_PACKET_GOODBYE && coll_group_settling(g)))
		group_receive_failed(peer, body, now);
	else if (unlikely(repeated))
		coll_peer_repeat(peer, body, now);
	else if (likely(body->type == COLL_PACKET_MESSAGE))
		group_receive_message(g, peer, body, now);
	else
		coll_group_receive_goodbye(g, peer, body, now);
	if (unlikely(g->limited || g->leaving)) {
		peer->dead = false;
		coll_group_say_goodbye(g, peer, now);
	}
	coll_group_advance_window(g, now);
	coll_peer_flush(peer, now);
}

/*
 * The packet's prefix is not the one that its sender used before: the first
 * packet of a host or of a connection, or the first after it has heard of us.
 * *@peer is who sent it, made only now that we believe it; NULL to drop it.
 */
static enum coll_refusal group_introduce(struct coll_group *g, const u8 *packet, u32 bytes,
					 struct coll_peer **peer, u64 now)
{
	struct coll_wire_side side;
	struct coll_prefix prefix;
	struct coll_body body;

	*peer = NULL;
	coll_wire_read_prefix(packet, &prefix);
	coll_wire_side_set(&side, &prefix, &g->secret.mac);
	if (!coll_wire_authentic(packet, bytes, &side))
		return COLL_FORGED;
	if (prefix.descriptor != g->descriptor)
		return COLL_WRONG_DESCRIPTOR;
	coll_wire_read_body(packet, bytes, &body);
	*peer = coll_group_peer(g, prefix.source, now);
	if (!*peer) {
		group_refuse_invalid(g, prefix.source, &body);
	} else if (!coll_peer_meet(*peer, &prefix, &side, now)) {
		g->stats.stale++;
		coll_env_drop(g, prefix.source, g->self, &body, COLL_DROP_STALE);
		if (coll_peer_changed(*peer, &prefix))
			coll_watch_changed(*peer, &prefix, packet, bytes, now);
		*peer = NULL;
	}
	return COLL_ACCEPTED;
}

/**
 * coll_group_receive() - a packet came
 * @g: the group
 * @source: the host that it says it is from; its address is that host's
 * @packet: formed; its tag and destination are those of @g
 * @bytes: its length
 * @now: time in ns
 *
 * Nothing is believed and no state is made before the MAC has been checked.
 *
 * Return: what was wrong with it. Context: softirq; group lock held.
 */
enum coll_refusal coll_group_receive(struct coll_group *g, u32 source, const u8 *packet,
				     u32 bytes, u64 now)
{
	struct coll_peer *peer = coll_group_find_peer(g, source);
	enum coll_refusal refusal;
	struct coll_body body;

	if (likely(peer && coll_wire_same_side(packet, &peer->rx))) {
		if (unlikely(!coll_wire_authentic(packet, bytes, &peer->rx)))
			return COLL_FORGED;
	} else {
		refusal = group_introduce(g, packet, bytes, &peer, now);
		if (!peer)
			return refusal;
	}
	coll_wire_read_body(packet, bytes, &body);
	group_receive_body(g, peer, &body, now);
	return COLL_ACCEPTED;
}
