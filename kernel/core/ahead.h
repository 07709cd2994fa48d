/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Multicast and one connection (struct coll_ahead). A message that a host has to send down a tree
 * may have reached its child by multicast. It waits here, without a number, until the child
 * acknowledges it, by "done" or by a position; after a time-out it is sent, for the first time,
 * like any other. The parent is owed acknowledgments of its messages that came by multicast.
 *
 * Everything here is called under the group's lock, in a group with multicast.
 */
#ifndef COLL_CORE_AHEAD_H
#define COLL_CORE_AHEAD_H

#include "congestion.h"
#include "peer.h"
#include "position.h"

/*
 * The first COLL_AHEAD_TELLS messages carry a new epoch. After that one message carries it after
 * each COLL_AHEAD_TELL_EVERY that do not.
 */
#define COLL_AHEAD_TELLS	8
#define COLL_AHEAD_TELL_EVERY	64

bool coll_ahead_asks(const struct coll_peer *peer, const struct coll_message *m);
void coll_ahead_send(struct coll_peer *peer, struct coll_message *m, bool copied, u32 epoch,
		     u64 now);
void coll_ahead_expire(struct coll_peer *peer, u64 now);
void coll_ahead_hear(struct coll_peer *peer, const struct coll_body *body);
void coll_ahead_remember(struct coll_peer *peer, u64 operation, u8 round, u16 segment, u64 now);
void coll_ahead_accept(struct coll_peer *peer, u64 operation, u8 round, u16 segment, bool ask,
		       u64 now);

#endif
