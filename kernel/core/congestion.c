// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "congestion.h"
#include "env.h"

/* Least window from which slow start does not begin again (RFC 5681) */
#define LEAST_THRESHOLD	2
/* On paths with round trips up to this, no queue of this host matters. */
#define SHORT_PATH_NS	NSEC_PER_MSEC
/* Memory of some 4 and 15 packets of the default length */
#define SHORT_QUEUE	(6 * 1024)
#define LONG_QUEUE	(24 * 1024)
/* How much a group's own packets may add to a round trip on a slow link */
#define OWN_QUEUE_NS	(8 * (u64)NSEC_PER_MSEC)

/* Does each operation of the group have a single packet? */
static bool congestion_only_singles(const struct coll_group *g)
{
	return g->payload.max_result_bytes <= g->payload.segment_bytes;
}

/* While a message is lost nothing new is sent. */
static void congestion_update(struct coll_peer *peer)
{
	u32 window = peer->congestion.window;

	if (congestion_only_singles(peer->group))
		window = max_t(u32, window, COLL_CONGESTION_SINGLES);
	peer->congestion.limit = peer->send.lost ? 0 : window;
	peer->congestion.ask = (window + 1) / 2;
}

static void congestion_set_window(struct coll_peer *peer, u32 window)
{
	peer->congestion.window = clamp_t(u32, window, 1, COLL_PEER_WINDOW);
	peer->congestion.acknowledged = 0;
	congestion_update(peer);
}

/**
 * coll_congestion_begin() - the first message to a host is about to be sent
 * @peer: the host
 * @fan_in: number of hosts that send to it in the same round
 */
void coll_congestion_begin(struct coll_peer *peer, u32 fan_in)
{
	peer->congestion.initial = max(COLL_CONGESTION_BUDGET / max(fan_in, 1U), 1U);
	coll_congestion_restart(peer);
}

/**
 * coll_congestion_restart() - nothing is known of the path any more
 * @peer: the other side, which has just been heard from for the first time
 *
 * Earlier losses say nothing about the path.
 */
void coll_congestion_restart(struct coll_peer *peer)
{
	if (!peer->congestion.initial)
		return;
	peer->congestion.threshold = COLL_PEER_WINDOW;
	congestion_set_window(peer, peer->congestion.initial);
}

/* The window of messages of this operation */
static u32 congestion_window(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 window = peer->congestion.window;

	return m->head->several ? window : max_t(u32, window, COLL_CONGESTION_SINGLES);
}

/**
 * coll_congestion_admits() - may a message be sent, as far as congestion is concerned?
 * @peer: to this host
 * @m: the message
 *
 * Return: true if so.
 */
bool coll_congestion_admits(const struct coll_peer *peer, const struct coll_message *m)
{
	return !peer->send.lost && peer->send.unacked < congestion_window(peer, m);
}

/**
 * coll_congestion_asks() - is a message to be acknowledged at once?
 * @peer: to this host
 * @m: the message, just sent
 *
 * The last message that the window allows is, and the one at half of the window. The packet of a
 * short operation is acknowledged by packets that follow, unless many are in flight.
 *
 * Return: true if so.
 */
bool coll_congestion_asks(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 window = congestion_window(peer, m), half = (window + 1) / 2;

	if (!m->head->several)
		half++;
	return peer->send.unacked == half || peer->send.unacked == window;
}

/*
 * How much is in queues of this host; 0 on a short path, as devices report late that packets have
 * left
 */
static u32 congestion_queued(const struct coll_peer *peer)
{
	return peer->rtt.srtt_ns > SHORT_PATH_NS ? coll_env_queued(peer->group) : 0;
}

/*
 * By how many packets to change the window, all of which was acknowledged. If more packets are in
 * flight than keep the path busy, they only lengthen a queue of this host, which others share. A
 * group alone keeps little there, for streams that come later: TCP keeps little on its own host
 * ("small queues") if even its shortest round trip is long. A queue that others have filled also
 * makes round trips long. Then the group keeps a byte there for each microsecond, to get its share.
 */
static s32 congestion_step(const struct coll_peer *peer, u32 queued)
{
	u64 srtt = peer->rtt.srtt_ns;
	u64 least = max_t(u64, (srtt - min_t(u64, srtt, OWN_QUEUE_NS)) >> 10, SHORT_QUEUE);

	return queued > least ? -1 : queued <= LONG_QUEUE;
}

/**
 * coll_congestion_acknowledged() - open the window, which was the limit
 * @peer: the other side
 * @packets: number of packets acknowledged, of those sent since the window was last reduced
 *
 * Slow start ends when a queue of this host is long.
 */
void coll_congestion_acknowledged(struct coll_peer *peer, u32 packets)
{
	struct coll_peer_congestion *c = &peer->congestion;
	u32 queued = congestion_queued(peer);

	if (c->window < c->threshold && queued <= LONG_QUEUE) {
		congestion_set_window(peer, min_t(u32, c->window + packets, c->threshold));
		return;
	}
	c->acknowledged += packets;
	if (c->acknowledged >= c->window)
		congestion_set_window(peer, c->window + congestion_step(peer, queued));
	c->threshold = min(c->threshold, c->window);
}

/* Halve the window, once for all packets that are in flight. */
static void congestion_reduce(struct coll_peer *peer)
{
	struct coll_peer_congestion *c = &peer->congestion;

	c->threshold = max(c->window / 2, LEAST_THRESHOLD);
	c->reduced = peer->send.number;
	c->prior = 0;
	peer->group->stats.windows_reduced++;
	congestion_set_window(peer, c->window / 2);
}

static void congestion_lose(struct coll_peer *peer, struct coll_message *m)
{
	m->lost = true;
	peer->send.lost++;
	congestion_update(peer);
}

/**
 * coll_congestion_gap() - does an acknowledgment show that a message is lost?
 * @m: in flight; the acknowledgment does not name its latest packet
 * @ack: a packet that has an acknowledgment
 *
 * The bitmap covers packets of messages only. Packets leave after they were numbered, so two
 * of them may have overtaken this one.
 */
bool coll_congestion_gap(const struct coll_message *m, const struct coll_body *ack)
{
	u64 later = ack->ack_number - m->latest, bits = ack->ack_bits;

	if ((s64)later < COLL_CONGESTION_GAP)
		return false;
	if (later < COLL_PEER_WINDOW)
		bits &= BIT_ULL(later) - 1;
	return hweight64(bits) >= COLL_CONGESTION_GAP;
}

/**
 * coll_congestion_lost() - a gap shows that a message is lost
 * @peer: destination
 * @m: the message
 */
void coll_congestion_lost(struct coll_peer *peer, struct coll_message *m)
{
	if (m->lost)
		return;
	peer->group->stats.gap_repairs++;
	congestion_lose(peer, m);
	if (m->latest > peer->congestion.reduced)
		congestion_reduce(peer);
}

/**
 * coll_congestion_timed_out() - no acknowledgment of a message came in time
 * @peer: destination
 * @m: the message
 */
void coll_congestion_timed_out(struct coll_peer *peer, struct coll_message *m)
{
	struct coll_peer_congestion *c = &peer->congestion;
	u8 prior = c->window;

	congestion_lose(peer, m);
	if (m->latest <= c->reduced)
		return;
	/* A repair that gets lost says nothing new about the path. */
	if (m->tries == 1) {
		congestion_reduce(peer);
		c->prior = prior;
	}
	c->reduced = peer->send.number;
	congestion_set_window(peer, 1);
}

/**
 * coll_congestion_undo() - a packet that was taken for lost has arrived after all
 * @peer: the other side
 * @m: its message, in flight
 *
 * Time-outs are short, so a pause of either host may be longer. Then the time-out says
 * nothing about the path (RFC 4015). Only the oldest message counts: it was the late one.
 */
void coll_congestion_undo(struct coll_peer *peer, const struct coll_message *m)
{
	struct coll_peer_congestion *c = &peer->congestion;

	if (!c->prior || m != list_first_entry(&peer->send.sent, struct coll_message, link))
		return;
	c->threshold = max(c->threshold, c->prior);
	congestion_set_window(peer, c->prior);
	c->prior = 0;
}

/**
 * coll_congestion_copy_lost() - a message that multicast carried was not acknowledged in time
 * @peer: a host that reported that it receives copies
 */
void coll_congestion_copy_lost(struct coll_peer *peer)
{
	if (peer->congestion.initial)
		congestion_reduce(peer);
}

/* Has all been acknowledged that was sent before the window was last reduced? */
static bool congestion_all_fresh(const struct coll_peer *peer)
{
	return list_first_entry(&peer->send.sent, struct coll_message, link)->first >
	       peer->congestion.reduced;
}

/**
 * coll_congestion_marked() - the other side reports how many of our packets came marked
 * @peer: the other side
 * @ce: number of packets that were marked "congestion experienced", mod 256
 *
 * It does not report which ones, so the window is reduced only when all packets sent before
 * the previous reduction have been acknowledged.
 */
void coll_congestion_marked(struct coll_peer *peer, u8 ce)
{
	/* Packets overtake each other. */
	if ((s8)(ce - peer->congestion.ce) < 0)
		return;
	peer->congestion.ce = ce;
	if (list_empty(&peer->send.sent) || congestion_all_fresh(peer))
		congestion_reduce(peer);
}

/**
 * coll_congestion_local() - a queue of this host had no room for a packet
 * @peer: its destination
 *
 * If the packet is lost, a gap shows that only a round trip later. Others that share the
 * queue, such as TCP, yield at once.
 */
void coll_congestion_local(struct coll_peer *peer)
{
	if (!list_empty(&peer->send.sent) && congestion_all_fresh(peer))
		congestion_reduce(peer);
}

/**
 * coll_congestion_repairs() - may a lost message be sent again?
 * @peer: to this host
 * @m: the message
 *
 * One packet may always be in flight, and two if the operation has a single one and the host
 * was heard from.
 *
 * Return: true if so.
 */
bool coll_congestion_repairs(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 least = m->head->several || !peer->conn.incarnation ? 1 : 2;

	return peer->send.unacked - peer->send.lost < max_t(u32, peer->congestion.window, least);
}

/**
 * coll_congestion_recovered() - a message is not lost, or is sent again
 * @peer: to this host
 * @m: the message
 */
void coll_congestion_recovered(struct coll_peer *peer, struct coll_message *m)
{
	if (!m->lost)
		return;
	m->lost = false;
	peer->send.lost--;
	congestion_update(peer);
}
