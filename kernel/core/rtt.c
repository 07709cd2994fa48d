// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "deadline.h"
#include "rtt.h"

/* Between 0 and 255, different for each packet and host */
static u32 rtt_random(const struct coll_peer *peer, const struct coll_message *m)
{
	u32 mix = peer->group->incarnation ^ peer->host * 0x9e3779b1U;

	mix = (mix ^ (u32)m->latest * 0x85ebca6bU) * 0xc2b2ae35U;
	return mix >> 24;
}

/**
 * coll_rtt_due() - when a message is taken for lost
 * @peer: destination
 * @m: the message, sent
 *
 * A time-out is up to a quarter longer than the estimate, and one that was backed off up to a
 * quarter shorter, so that hosts whose packets were dropped together do not send them again
 * together.
 *
 * The first one begins with the latest acknowledgment of any message (RFC 6298, 5.3): if only
 * this one is lost, a gap shows that, though late if a queue grows. But it is never twice as
 * long.
 *
 * Return: time in ns. Context: group lock held.
 */
u64 coll_rtt_due(const struct coll_peer *peer, const struct coll_message *m)
{
	u64 timeout = coll_rtt_timeout(peer, m), jitter = timeout / 1024 * rtt_random(peer, m);
	u64 latest = m->sent_ns + timeout;

	if (m->tries > 1)
		return latest - jitter;
	return clamp(peer->rtt.progress_ns, m->sent_ns, latest) + timeout + jitter;
}

/**
 * coll_rtt_sample() - add a sample of the round-trip time
 * @peer: the other side
 * @rtt_ns: from the transmission of a packet to its acknowledgment
 *
 * Context: group lock held.
 */
void coll_rtt_sample(struct coll_peer *peer, u64 rtt_ns)
{
	const struct coll_timing *t = &peer->group->timing;
	u32 rtt = (u32)min_t(u64, rtt_ns, NSEC_PER_SEC), off;
	struct coll_peer_rtt *r = &peer->rtt;
	u64 rto;

	r->unsampled = 0;
	r->received = 0;
	if (!r->srtt_ns) {
		r->srtt_ns = rtt;
		r->rttvar_ns = rtt / 2;
	} else {
		off = rtt > r->srtt_ns ? rtt - r->srtt_ns : r->srtt_ns - rtt;
		r->rttvar_ns += off / 4 - r->rttvar_ns / 4;
		r->srtt_ns += rtt / 8 - r->srtt_ns / 8;
	}
	rto = (u64)r->srtt_ns + 4ULL * r->rttvar_ns + t->ack_delay + COLL_DEADLINE_GRAIN;
	r->rto_ns = (u32)clamp(rto, t->rto_floor, coll_rtt_ceiling(peer));
}

/**
 * coll_rtt_back_off() - keep a backed-off time-out that was perhaps too short
 * @peer: the other side
 * @m: a message that was retransmitted and has been received
 *
 * A retransmitted message is no sample (Karn). If the round-trip time has grown beyond the
 * time-out, each message is retransmitted, and there would never be a sample: so the
 * backed-off time-out of this message stays in force until there is a sample, which counts
 * as the first (RFC 6298, 5.5 to 5.7). Once the round-trip time is known, a few lost
 * packets say nothing about it.
 *
 * Context: group lock held.
 */
void coll_rtt_back_off(struct coll_peer *peer, const struct coll_message *m)
{
	struct coll_peer_rtt *r = &peer->rtt;

	if (r->srtt_ns && m->tries == 2 && ++r->unsampled < COLL_RTT_SAMPLE_EVERY)
		return;
	/* Other messages in flight at the same time were late for the same reason. */
	if (!r->srtt_ns && m->first <= r->backed_off)
		return;
	r->rto_ns = max_t(u32, r->rto_ns, coll_rtt_timeout(peer, m));
	r->srtt_ns = 0;
	r->backed_off = peer->send.number;
}
