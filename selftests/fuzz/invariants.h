/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariants of a group between any two events, whatever it received: counters equal the
 * lengths of lists, and every peer with work to do has a deadline.
 */
#ifndef COLL_FUZZ_INVARIANTS_H
#define COLL_FUZZ_INVARIANTS_H

#include "fuzz.h"
#include "group.h"
#include "work.h"

static void check_message(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct coll_op *op = container_of(m->head, struct coll_op, head);

	FUZZ_EXPECT(m->peer == peer, "message in the list of another peer");
	if (m->head == &peer->group->failure.goodbye)
		FUZZ_EXPECT(m == &peer->goodbye.message, "goodbye of another peer");
	else
		FUZZ_EXPECT(m >= op->messages &&
			    m < op->messages + op->layout.segments * op->schedule->sends,
			    "message of no operation");
}

static u32 check_sent(const struct coll_peer *peer)
{
	const struct coll_message *m, *before = NULL;
	u32 count = 0, lost = 0;

	list_for_each_entry(m, &peer->send.sent, link) {
		check_message(peer, m);
		FUZZ_EXPECT(m->first && m->latest >= m->first && m->tries,
			    "packets %llu to %llu, tries %u", m->first,
			    m->latest, m->tries);
		if (before)
			FUZZ_EXPECT(before->first < m->first, "%llu after %llu",
				    m->first,
				    before->first);
		before = m;
		count++;
		lost += m->lost;
	}
	FUZZ_EQUAL(peer->send.lost, lost, "messages lost");
	if (lost)
		FUZZ_EQUAL(peer->congestion.limit, 0, "limit");
	else
		FUZZ_EXPECT(peer->congestion.limit >= peer->congestion.window,
			    "limit %u, window %u", peer->congestion.limit, peer->congestion.window);
	FUZZ_EXPECT(lost < count || !lost || peer->group->work.rest & COLL_WORK_PEERS,
		    "all %u messages lost, none sent again", lost);
	FUZZ_EQUAL(peer->send.unacked, count, "messages under way");
	FUZZ_EXPECT(count <= COLL_PEER_WINDOW, "%u messages under way", count);
	return count;
}

static u32 check_held(const struct coll_peer *peer)
{
	const struct coll_message *m, *before = NULL, *last = NULL;
	u32 count = 0;

	list_for_each_entry(m, &peer->send.held, link) {
		check_message(peer, m);
		FUZZ_EQUAL(m->first, 0, "packet of a message that was not sent");
		if (before && before->head->type == COLL_PACKET_MESSAGE)
			FUZZ_EXPECT(!coll_after(before->head->number, m->head->number),
				    "operation %llu waits before %llu", before->head->number,
				    m->head->number);
		before = m;
		count++;
		if (m->link.next == &peer->send.held ||
		    list_next_entry(m, link)->head != m->head) {
			FUZZ_EXPECT(m->older == last, "operation %llu: another one is older",
				    m->head->number);
			FUZZ_EXPECT(!last || last->newer == m, "another one is newer");
			last = m;
		}
	}
	FUZZ_EXPECT(!last || !last->newer, "an operation is newer than the newest");
	FUZZ_EQUAL(peer->held, count, "messages held for a host");
	return count;
}

/* What multicast has carried: it has no packet, and is neither sent nor held. */
static u32 check_ahead(const struct coll_peer *peer)
{
	const struct coll_ahead *a;
	const struct coll_message *m;
	u32 count = 0;

	if (!coll_group_multicasts(peer->group))
		return 0;
	a = coll_peer_ahead(peer);
	list_for_each_entry(m, &a->messages, link) {
		check_message(peer, m);
		FUZZ_EQUAL(m->first, 0, "packet of a message that was not sent");
		FUZZ_EQUAL(m->tries, COLL_AHEAD, "tries of what multicast has carried");
		count++;
	}
	FUZZ_EQUAL(peer->send.ahead, count, "messages that multicast has carried");
	FUZZ_EXPECT(count <= COLL_PEER_WINDOW, "%u messages carried by multicast", count);
	return count;
}

/* What is due and exceeds what one event may do follows soon after @now. */
#define PAUSE_NS	(100 * NSEC_PER_USEC)

/* While a turn is to forget messages, what waits for an acknowledgment may be among these. */
static void check_deadline(const struct coll_group *g, const struct coll_peer *peer, u64 now)
{
	FUZZ_EXPECT(peer->due_ns != COLL_NEVER || g->work.rest & COLL_WORK_MESSAGES,
		    "peer %u is owed something and never due", peer->host);
	FUZZ_EXPECT(g->armed_ns <= max(peer->due_ns, now + PAUSE_NS), "due at %llu, armed for %llu",
		    (unsigned long long)peer->due_ns, (unsigned long long)g->armed_ns);
}

static void check_peers(const struct coll_group *g, u64 now)
{
	u32 peers = 0, held = 0, refused = 0;
	const struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all) {
		u32 waiting = check_sent(peer), kept = check_held(peer);
		u32 ahead = check_ahead(peer);

		if (waiting || kept || ahead || peer->ack.owed)
			check_deadline(g, peer, now);
		FUZZ_EXPECT(peer->host < g->hosts && peer->host != g->self, "peer %u", peer->host);
		held += kept;
		refused += peer->recv.refused;
		peers++;
	}
	FUZZ_EQUAL(g->peers.held, held, "messages held");
	FUZZ_EQUAL(g->peers.refusals, refused, "peers refused");
	FUZZ_EQUAL(g->stats.peers, peers, "peers counted");
	FUZZ_EXPECT(peers < g->hosts, "%u peers of %u hosts", peers, g->hosts);
}

/* A lane waits for the messages of its current round that are missing. */
static void check_lane(const struct coll_op *op, const struct coll_lane *lane)
{
	const struct coll_round *r = &op->schedule->round[lane->round];
	u32 i, missing = 0;

	FUZZ_EXPECT(lane->round <= op->schedule->rounds, "round %u", lane->round);
	if (lane->round == op->schedule->rounds)
		return;
	for (i = r->fold_first; i < r->fold_first + r->folds; i++)
		missing += op->schedule->fold[i].host != op->schedule->self &&
			   !(lane->arrived[i / 64] >> (i % 64) & 1);
	FUZZ_EQUAL(lane->missing, missing, "messages that a lane misses");
	FUZZ_EXPECT(missing || !list_empty(&lane->link), "round %u waits for nothing",
		    lane->round);
}

/* Does any of its lanes wait for its turn? */
static bool check_left(const struct coll_op *op)
{
	u32 i;

	for (i = 0; i < op->layout.segments; i++)
		if (!list_empty(&op->lanes[i].link))
			return true;
	return false;
}

/* Check which ranks of this host have posted and contributed. */
static void check_parts(const struct coll_group *g, const struct coll_op *op)
{
	u32 i, unposted = 0, contributed = 0, over = 0;

	if (op->state != COLL_OP_EARLY && op->state != COLL_OP_RUNNING)
		return;
	for (i = 0; i < g->ranks.locals; i++) {
		bool posted = coll_after(g->ranks.local[i].next, op->head.number);

		unposted += !posted;
		contributed += posted &&
			       coll_signature_contributes(&op->head.signature,
							  g->ranks.local[i].rank);
		FUZZ_EXPECT(posted || !op->locals.post[i].waits, "local %u waits for nothing", i);
	}
	FUZZ_EQUAL(op->locals.unposted, unposted, "ranks that have not posted");
	FUZZ_EQUAL(op->locals.contributed, contributed, "ranks that have contributed");
	FUZZ_EXPECT(op->state == COLL_OP_EARLY || op->locals.folding || check_left(op) ||
		    !!op->begun == (contributed == op->locals.contributors),
		    "begun %u, %u of %u have contributed", op->begun, contributed,
		    op->locals.contributors);
	for (i = 0; i < op->begun; i++) {
		check_lane(op, &op->lanes[i]);
		over += op->lanes[i].round == op->schedule->rounds;
	}
	if (op->begun)
		FUZZ_EQUAL(op->unfinished, op->layout.segments - over,
			   "lanes that have rounds left");
	FUZZ_EXPECT(op->state == COLL_OP_EARLY || op->unfinished || unposted || check_left(op),
		    "operation %llu has nothing to wait for", op->head.number);
}

static void check_op(const struct coll_group *g, const struct coll_op *op)
{
	u32 i, unacked = 0;

	if (op->state == COLL_OP_FREE)
		return;
	FUZZ_EXPECT(op->head.number - g->window.oldest < g->window.size,
		    "operation %llu in a window from %llu", op->head.number, g->window.oldest);
	FUZZ_EXPECT(coll_group_slot(g, op->head.number) == op, "operation %llu in a foreign slot",
		    op->head.number);
	FUZZ_EQUAL(op->state == COLL_OP_EARLY, !coll_before(op->head.number, g->window.next),
		   "operation that has not been posted is early");
	for (i = 0; i < op->layout.segments * op->schedule->sends; i++)
		unacked += !!op->messages[i].peer;
	FUZZ_EQUAL(op->head.unacked, unacked + op->locals.folding + op->forget.in_turns,
		   "messages not acknowledged");
	FUZZ_EXPECT(!op->forget.in_turns || g->work.rest & COLL_WORK_MESSAGES,
		    "operation %llu forgets nothing", op->head.number);
	FUZZ_EXPECT(!unacked || op->forget.in_turns || !g->failure.terminal,
		    "operation %llu sends in a group that failed", op->head.number);
	check_parts(g, op);
}

static void check_window(const struct coll_group *g)
{
	const struct coll_window *w = &g->window;
	u32 i, k, running = 0, waiting = 0;

	FUZZ_EXPECT(w->next - w->oldest <= w->size, "window from %llu to %llu", w->oldest, w->next);
	FUZZ_EXPECT(coll_before(w->completed, w->next), "completed %llu, next %llu", w->completed,
		    w->next);
	for (i = 0; i <= w->mask; i++) {
		const struct coll_op *op = &w->slots[i];

		check_op(g, op);
		if (op->state != COLL_OP_RUNNING && op->state != COLL_OP_ABORTED)
			continue;
		running++;
		for (k = 0; k < g->ranks.locals; k++)
			waiting += op->locals.post[k].waits;
	}
	FUZZ_EQUAL(w->running, running, "operations running");
	FUZZ_EXPECT(!g->failure.terminal || coll_group_settling(g) || !running,
		    "%u operations run in a group that failed", running);
	FUZZ_EXPECT(!coll_group_settling(g) || g->armed_ns <= g->failure.settle_ns,
		    "settles at %llu, armed for %llu", (unsigned long long)g->failure.settle_ns,
		    (unsigned long long)g->armed_ns);
	FUZZ_EQUAL(g->stats.posted, g->stats.completed + g->stats.failed + waiting,
		   "operations posted");
	FUZZ_EQUAL(g->stats.rounds_misplaced, 0, "rounds misplaced");
	FUZZ_EQUAL(g->stats.memory_short, 0, "packets without memory");
}

static void check_ranks(const struct coll_group *g)
{
	u32 i, joined = 0, next = 0;

	for (i = 0; i < g->ranks.locals; i++) {
		joined += g->ranks.local[i].state == COLL_RANK_JOINED;
		next = max(next, g->ranks.local[i].next);
		FUZZ_EXPECT(g->ranks.local[i].state != COLL_RANK_ABSENT || !g->ranks.local[i].next,
			    "rank %u has posted before it joined", g->ranks.local[i].rank);
	}
	FUZZ_EQUAL(g->ranks.joined, joined, "ranks that have joined");
	FUZZ_EQUAL(g->window.next, next, "next operation");
	FUZZ_EQUAL(g->ranks.leaving, !joined, "all ranks have left");
}

/* It is composed once: each transmission has the current state. */
static void check_goodbye(const struct coll_group *g)
{
	const struct coll_message_head *goodbye = &g->failure.goodbye;
	const struct coll_failure *f = &g->failure.what;
	bool failure = g->failure.known && coll_group_last(g) == f->limit;
	const struct coll_peer *peer;
	u32 unacked = 0;

	for (peer = g->peers.all; peer; peer = peer->all)
		unacked += !!peer->goodbye.message.peer;
	FUZZ_EQUAL(goodbye->unacked, unacked, "goodbyes not acknowledged");
	if (!g->failure.known && !g->ranks.leaving)
		return;
	FUZZ_EQUAL(goodbye->number, coll_group_last(g), "last operation of the goodbye");
	FUZZ_EQUAL(goodbye->signature.root, failure ? f->rank : g->ranks.local[0].rank,
		   "rank of the goodbye");
	FUZZ_EQUAL(goodbye->signature.count, failure ? f->reason : COLL_REASON_LEFT,
		   "reason of the goodbye");
	FUZZ_EQUAL(goodbye->expires, coll_group_failed(g), "goodbye that expires");
}

/* Check a group between two events. */
static void check_group(const struct coll_group *g, u64 now)
{
	check_ranks(g);
	check_goodbye(g);
	check_window(g);
	check_peers(g, now);
}

#endif
