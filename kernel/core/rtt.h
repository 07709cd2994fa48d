/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Round-trip time of one connection, and its retransmission time-out (struct
 * coll_peer_rtt): Jacobson's estimator with Karn's rule, as in RFC 6298.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_RTT_H
#define COLL_CORE_RTT_H

#include "state.h"

/* One message in this many is a sample of the round-trip time. */
#define COLL_RTT_SAMPLE_EVERY	8

/*
 * The greatest time-out. On a longer path it is two round trips: if a message were sent more
 * often than once in a round trip, acknowledgments would name packets that are forgotten.
 */
static inline u64 coll_rtt_ceiling(const struct coll_peer *peer)
{
	return max_t(u64, peer->group->timing.rto_ceiling, 2ULL * peer->rtt.srtt_ns);
}

/*
 * Retransmission time-out of a message after its latest transmission. A repair asks to be
 * acknowledged at once, so its time-out does not allow for a delay.
 */
static inline u64 coll_rtt_timeout(const struct coll_peer *peer, const struct coll_message *m)
{
	const struct coll_timing *t = &peer->group->timing;
	u64 ceiling = peer->conn.incarnation ? coll_rtt_ceiling(peer) : t->rto_unheard;
	u64 rto = peer->rtt.rto_ns;

	if (likely(m->tries <= 1))
		return rto;
	if (peer->rtt.srtt_ns)
		rto = max(rto - min(rto, t->ack_delay), t->rto_floor);
	return min(rto << min_t(u32, m->tries - 1, 16), max_t(u64, ceiling, rto));
}

u64 coll_rtt_due(const struct coll_peer *peer, const struct coll_message *m);
void coll_rtt_sample(struct coll_peer *peer, u64 rtt_ns);

/* A message had to be sent again, and was received; nobody knows which packet of it. */
void coll_rtt_back_off(struct coll_peer *peer, const struct coll_message *m);

/* A message was received @rtt_ns after it was sent. */
static inline void coll_rtt_acknowledged(struct coll_peer *peer, const struct coll_message *m,
					 u64 rtt_ns)
{
	if (!peer->rtt.srtt_ns || m->tries > 1 ||
	    ++peer->rtt.received >= COLL_RTT_SAMPLE_EVERY)
		coll_rtt_sample(peer, rtt_ns);
}

/* "Done" says that a message was received, but not which packet of it. */
static inline void coll_rtt_received(struct coll_peer *peer, const struct coll_message *m, u64 now)
{
	if (unlikely(m->tries > 1))
		coll_rtt_back_off(peer, m);
	else if (m->tries == 1)
		coll_rtt_acknowledged(peer, m, now - m->sent_ns);
}

#endif
