/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Multicast ahead of the tree (struct coll_multicast). The source of a downward phase sends each
 * segment once to all, besides along its edges, and a receiver treats that as the message of its
 * parent. The tree stays authoritative: messages that are not acknowledged are sent along its
 * edges (ahead.h).
 *
 * A receiver accepts packets of a source only with its epoch, which is passed down the tree, by
 * packets that name the incarnations of both ends: so no packet of a former incarnation is
 * accepted. Whether multicast works is found out by use: hosts report whether the latest message
 * for all came by multicast, and a source that gets no report pauses.
 *
 * Everything here is called under the group's lock, in a group with multicast.
 */
#ifndef COLL_CORE_MULTICAST_H
#define COLL_CORE_MULTICAST_H

#include "ahead.h"
#include "peers.h"

/*
 * A source pauses after this number of operations without a report, at first for the same number.
 */
#define COLL_MULTICAST_PATIENCE	16
/* The longest pause, in operations */
#define COLL_MULTICAST_PAUSE	16384

void coll_multicast_init(struct coll_group *g);
void coll_multicast_send(struct coll_op *op, u32 lane, u32 edge, struct coll_peer *peer,
			 struct coll_message *m, u64 now);
void coll_multicast_hear(struct coll_peer *peer, const struct coll_body *body);
void coll_multicast_stored(struct coll_op *op, struct coll_peer *peer, u32 edge,
			   const struct coll_body *body, u64 now);

#endif
