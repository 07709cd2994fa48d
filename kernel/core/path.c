// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "path.h"

/* Payloads up to this are taken to pass wherever probes do. */
#define SHORT_BYTES	384
/* Transmissions that were lost */
#define LOSSES		2

/**
 * coll_path_needs_fragments() - does the path drop packets because they are long?
 * @m: a message that is about to be sent again; its tries are those before
 *
 * It seems so if the message is long, was lost twice, and the other side has answered a
 * probe meanwhile, which is short. A host never heard from may not have joined yet, and
 * messages serve as its probes: it gets fragments until it is heard.
 *
 * Return: true if packets to the other side may be fragmented from now on, and were not.
 * Context: group lock held.
 */
bool coll_path_needs_fragments(const struct coll_message *m)
{
	struct coll_peer *peer = m->peer;

	if (peer->conn.fragments || m->bytes <= SHORT_BYTES || m->tries < LOSSES)
		return false;
	if (!peer->conn.incarnation)
		return true;
	if (m->answered == peer->live.answered)
		return false;
	peer->group->stats.peers_fragmented++;
	return true;
}
