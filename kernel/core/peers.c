// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "env.h"
#include "peers.h"
#include "work.h"

/* Find the memory reserved for a host, in the list of what is not in use. */
static struct coll_peer **peers_find_spare(struct coll_group *g, u32 host)
{
	struct coll_peer **link = &g->peers.spare;

	while (*link && (*link)->host != host)
		link = &(*link)->next;
	return link;
}

/* Say goodbye, or leave that to the next turn: many connections may be opened at once. */
static void peers_say_goodbye(struct coll_peer *peer, u64 now)
{
	if (coll_work_over(peer->group))
		coll_work_leave(peer->group, COLL_WORK_GOODBYES);
	else
		coll_peer_say_goodbye(peer, now);
}

/* Open the connection to the host for which that memory is reserved. */
static struct coll_peer *peers_open(struct coll_group *g, struct coll_peer **spare, u64 now)
{
	struct coll_peer *peer = *spare;
	struct coll_peer **bucket = coll_peers_bucket(g, peer->host);

	*spare = peer->next;
	coll_peer_open(peer, g, peer->host, now);
	peer->next = *bucket;
	*bucket = peer;
	peer->all = g->peers.all;
	g->peers.all = peer;
	g->stats.peers++;
	coll_work_do(g, COLL_WORK_REPORT);
	coll_env_peer_open(peer);
	/* The connection may never be used; then it becomes idle at that time. */
	coll_deadline_peer(peer, peer->live.idle_at_ns);
	if (unlikely(g->ranks.leaving && !g->failure.terminal))
		peers_say_goodbye(peer, now);
	return peer;
}

/**
 * coll_peers_open() - open the connection to a host that has none
 * @g: the group
 * @host: the other side
 * @now: time in ns
 *
 * Return: the peer, or NULL if no schedule names that host. Context: group lock held.
 */
struct coll_peer *coll_peers_open(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer **spare = peers_find_spare(g, host);

	return *spare ? peers_open(g, spare, now) : NULL;
}

/**
 * coll_peers_repeated() - did a packet of a host whose connection is idle come before?
 * @g: the group
 * @prefix: of the packet, authenticated
 * @number: of the packet
 *
 * Then it does not open the connection.
 *
 * Context: group lock held.
 */
bool coll_peers_repeated(const struct coll_group *g, const struct coll_prefix *prefix, u64 number)
{
	const struct coll_peer *peer = g->peers.spare;

	if (coll_peers_find(g, prefix->source))
		return false;
	while (peer && peer->host != prefix->source)
		peer = peer->next;
	return peer && peer->conn.incarnation &&
	       peer->conn.incarnation == prefix->incarnation &&
	       !coll_replay_is_new(&peer->recv.packets, number);
}

static void peers_release(struct coll_group *g, struct coll_peer *peer)
{
	struct coll_peer **link = coll_peers_bucket(g, peer->host);

	while (*link != peer)
		link = &(*link)->next;
	*link = peer->next;
	peer->next = g->peers.spare;
	g->peers.spare = peer;
	coll_env_peer_idle(peer);
	g->stats.peers--;
	g->stats.peers_idle++;
}

/**
 * coll_peers_release_idle() - release idle connections
 * @g: the group
 *
 * A connection that was used again since it was found idle is kept.
 *
 * Return: when the first of the others is due, in ns. Context: group lock held.
 */
u64 coll_peers_release_idle(struct coll_group *g)
{
	struct coll_peer **link = &g->peers.all, *peer;
	u64 next = COLL_NEVER;

	while ((peer = *link)) {
		peer->live.idle &= peer->due_ns == COLL_NEVER;
		if (likely(!peer->live.idle)) {
			next = min(next, peer->due_ns);
			link = &peer->all;
			continue;
		}
		*link = peer->all;
		peers_release(g, peer);
	}
	return next;
}

/**
 * coll_peers_reopen() - open connections to all hosts ever heard from
 * @g: the group
 * @now: time in ns
 *
 * If the event has done what it may, the rest waits for the next turn.
 *
 * Context: group lock held.
 */
void coll_peers_reopen(struct coll_group *g, u64 now)
{
	struct coll_peer **spare = &g->peers.spare, *peer;

	g->work.rest &= ~COLL_WORK_IDLE;
	while ((peer = *spare)) {
		if (!peer->live.idle || !peer->conn.incarnation) {
			spare = &peer->next;
			continue;
		}
		if (coll_work_over(g)) {
			coll_work_leave(g, COLL_WORK_IDLE);
			return;
		}
		peers_open(g, spare, now);
	}
}

/**
 * coll_peers_push() - send held messages after credit for all hosts was learnt
 * @g: the group
 * @now: time in ns
 *
 * If the event has done what it may, the rest waits for the next turn.
 *
 * Context: group lock held.
 */
void coll_peers_push(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all) {
		if (!coll_work_may_send(g)) {
			coll_work_leave(g, COLL_WORK_PEERS);
			return;
		}
		coll_peer_push(peer, now);
	}
}

/**
 * coll_peers_tell_room() - send credit to hosts whose messages were refused
 * @g: the group
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_peers_tell_room(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all) {
		if (!peer->recv.refused)
			continue;
		if (coll_work_over(g)) {
			coll_work_leave(g, COLL_WORK_PEERS);
			return;
		}
		peer->recv.refused = false;
		g->peers.refusals--;
		coll_peer_send_ack(peer, now);
	}
}

/**
 * coll_peers_catch_up() - do what an event has left to do to the peers
 * @g: the group
 * @now: time in ns
 *
 * Context: group lock held.
 */
void coll_peers_catch_up(struct coll_group *g, u64 now)
{
	struct coll_peer *peer;

	g->work.rest &= ~COLL_WORK_PEERS;
	for (peer = g->peers.all; peer; peer = peer->all) {
		if (coll_work_over(g)) {
			coll_work_leave(g, COLL_WORK_PEERS);
			return;
		}
		coll_peer_catch_up(peer, now);
	}
	if (g->peers.refusals)
		coll_peers_tell_room(g, now);
}

/**
 * coll_peers_settled() - are no messages in flight or held for any host?
 * @g: the group
 *
 * Context: group lock held.
 */
bool coll_peers_settled(const struct coll_group *g)
{
	const struct coll_peer *peer;

	for (peer = g->peers.all; peer; peer = peer->all)
		if (!coll_peer_settled(peer) || peer->ack.owed)
			return false;
	return true;
}
