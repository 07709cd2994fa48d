// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Connections: what is known of the other side, from the first packet of one incarnation to
 * that of the next.
 */
#include "congestion.h"
#include "peer.h"

/**
 * coll_peer_prefix() - prefix of packets to the other side
 * @peer: the other side
 * @incarnation: of the other side; 0 if unknown
 */
struct coll_prefix coll_peer_prefix(const struct coll_peer *peer, u32 incarnation)
{
	const struct coll_group *g = peer->group;

	return (struct coll_prefix) {
		.tag		= g->secret.tag,
		.descriptor	= g->descriptor,
		.incarnation	= g->incarnation,
		.known		= incarnation,
		.source		= g->self,
		.destination	= peer->host,
	};
}

static void peer_know(struct coll_peer *peer, u32 incarnation)
{
	struct coll_prefix prefix = coll_peer_prefix(peer, incarnation);

	peer->conn.incarnation = incarnation;
	peer->conn.fragments = false;
	coll_wire_side_set(&peer->conn.tx, &prefix, &peer->group->secret.mac);
}

/**
 * coll_peer_set_epoch() - packets to the other side name an epoch from now on
 * @peer: the other side
 * @epoch: of the source of the downward phase whose message is sent next; 0: none
 */
void coll_peer_set_epoch(struct coll_peer *peer, u32 epoch)
{
	struct coll_prefix prefix = coll_peer_prefix(peer, peer->conn.incarnation);

	prefix.epoch = epoch;
	coll_wire_side_set(&peer->conn.tx, &prefix, &peer->group->secret.mac);
}

/**
 * coll_peer_open() - open a connection
 * @peer: as group_init.c has reserved it, or released when it was idle
 * @g: its group
 * @host: the other side
 * @now: time in ns
 *
 * Packet numbers, and all that is known of the other side, last as long as the group, not
 * only as long as the connection.
 */
void coll_peer_open(struct coll_peer *peer, struct coll_group *g, u32 host, u64 now)
{
	peer->due_ns = COLL_NEVER;
	peer->live.idle_at_ns = now + g->timing.idle;
	if (peer->live.idle) {
		peer->live.idle = false;
		return;
	}
	INIT_LIST_HEAD(&peer->send.sent);
	INIT_LIST_HEAD(&peer->send.held);
	peer->group = g;
	peer->host = host;
	/* All hosts begin with the same window, so the initial credit is known. */
	peer->send.credit = g->credit.common;
	peer->send.done = g->credit.acknowledged;
	peer->rtt.rto_ns = g->timing.rto_initial;
	peer_know(peer, 0);
}

/**
 * coll_peer_succeed() - switch to a new incarnation of the other side
 * @peer: the other side
 * @prefix: of the new incarnation, which has proved that it is alive
 * @now: time in ns
 */
void coll_peer_succeed(struct coll_peer *peer, const struct coll_prefix *prefix, u64 now)
{
	peer_know(peer, prefix->incarnation);
	/* It numbers from the beginning. */
	peer->ack.accepted = 0;
	peer->ack.bits = 0;
	peer->recv.packets = (struct coll_replay) { };
	peer->recv.ce = 0;
	peer->congestion.ce = 0;
	coll_congestion_restart(peer);
	peer->live.heard_ns = now;
	peer->conn.knows_us = true;
	peer->send.credit = peer->group->window.size - 1;
	peer->send.done = COLL_NOTHING_DONE;
	peer->send.told = false;
	peer->recv.gone = false;
	peer->conn.dead = false;
	memset(&peer->conn.rx, 0, sizeof(peer->conn.rx));
}

/**
 * coll_peer_meet() - handle a new prefix in a packet of the other side
 * @peer: the other side
 * @prefix: authenticated, with the group's descriptor
 * @side: made from @prefix
 * @body: of the packet
 * @now: time in ns
 *
 * Return: false if the packet is of another incarnation or an older connection; it is to be
 * dropped, and nothing has changed.
 */
bool coll_peer_meet(struct coll_peer *peer, const struct coll_prefix *prefix,
		    const struct coll_wire_side *side, const struct coll_body *body, u64 now)
{
	if (prefix->known && prefix->known != peer->group->incarnation)
		return false;
	if (!peer->conn.incarnation) {
		peer_know(peer, prefix->incarnation);
		peer->live.heard_ns = now;
		coll_congestion_restart(peer);
		if (!prefix->known)
			coll_peer_send_again(peer, body->type == COLL_PACKET_ACK, now);
	}
	if (prefix->incarnation != peer->conn.incarnation)
		return false;
	/* One that came before is dropped later, and changes nothing here. */
	if (coll_replay_is_new(&peer->recv.packets, body->number)) {
		peer->conn.knows_us = prefix->known;
		peer->conn.rx = *side;
	}
	return true;
}

/**
 * coll_peer_changed() - is a packet from another incarnation to this one of ours?
 * @peer: the other side
 * @prefix: authenticated, refused by coll_peer_meet()
 */
bool coll_peer_changed(const struct coll_peer *peer, const struct coll_prefix *prefix)
{
	return prefix->incarnation != peer->conn.incarnation &&
	       (!prefix->known || prefix->known == peer->group->incarnation);
}

/**
 * coll_peer_may_be_new() - may a packet be one that has not come before?
 * @peer: the other side
 * @prefix: authenticated
 * @number: of the packet
 *
 * Nothing is noted. A host that was never heard from may have sent anything.
 *
 * Return: false if it came before, or is for another incarnation of this host.
 */
bool coll_peer_may_be_new(const struct coll_peer *peer, const struct coll_prefix *prefix,
			  u64 number)
{
	const struct coll_group *g = peer->group;

	if (prefix->descriptor != g->descriptor ||
	    (prefix->known && prefix->known != g->incarnation))
		return false;
	return !peer->conn.incarnation ||
	       (prefix->incarnation == peer->conn.incarnation &&
		coll_replay_is_new(&peer->recv.packets, number));
}
