// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "ack.h"

/**
 * coll_ack_owe_now() - an acknowledgment is due at once
 * @peer: destination
 * @now: time in ns
 *
 * At most one lone acknowledgment is sent per delay, so that a flood of duplicates does not
 * cause a flood of answers.
 *
 * Context: group lock held.
 */
void coll_ack_owe_now(struct coll_peer *peer, u64 now)
{
	u64 earliest = peer->ack.lone_ns + peer->group->timing.ack_delay;

	peer->ack.explicit = true;
	if (!peer->ack.lone_ns || now >= earliest)
		peer->ack.now = true;
	coll_ack_owe(peer, peer->ack.now ? now + peer->group->timing.ack_delay : earliest);
}

/**
 * coll_ack_due() - must a lone acknowledgment be sent now?
 * @peer: destination
 * @now: time in ns
 *
 * If a "done" sent meanwhile implies it, nothing is owed any more; if one is about to be
 * sent when it is due, the acknowledgment waits for that.
 *
 * Context: group lock held.
 */
bool coll_ack_due(struct coll_peer *peer, u64 now)
{
	const struct coll_group *g = peer->group;

	if (!peer->ack.owed)
		return false;
	if (coll_ack_covered(peer, g->credit.acknowledged)) {
		coll_ack_settle(peer, peer->ack.operation, g->credit.acknowledged);
		return false;
	}
	if (peer->ack.due_ns <= now && coll_ack_expected(peer))
		peer->ack.due_ns = max(peer->ack.due_ns,
				       g->credit.cover_ns + g->timing.ack_delay);
	return peer->ack.due_ns <= now;
}
