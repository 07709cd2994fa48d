// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "path.h"

/* Payloads up to this are taken to pass wherever probes do. */
#define SHORT_BYTES	384
/* Transmissions that were lost */
#define LOSSES		2

/**
 * coll_path_repeat() - a message is about to be sent again: may its packets be fragmented?
 * @m: the message; its tries are those before
 *
 * They may be if it is long, was lost twice, and the other side has answered a probe
 * meanwhile, which is short. One that was never heard from may not have joined yet, and is
 * asked by messages instead of probes: it gets fragments until it is heard.
 *
 * Context: group lock held.
 */
void coll_path_repeat(const struct coll_message *m)
{
	struct coll_peer *peer = m->peer;

	if (peer->conn.fragments || m->bytes <= SHORT_BYTES || m->tries < LOSSES)
		return;
	if (!peer->conn.incarnation) {
		peer->conn.fragments = true;
	} else if (m->answered != peer->watch.answered) {
		peer->conn.fragments = true;
		peer->group->stats.peers_fragmented++;
	}
}
