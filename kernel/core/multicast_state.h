/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of multicast, as part of a group's state (state.h). A group without a multicast
 * address has none of it.
 */
#ifndef COLL_CORE_MULTICAST_STATE_H
#define COLL_CORE_MULTICAST_STATE_H

#include "wire.h"

/**
 * struct coll_ahead - what multicast has carried along the edges of one connection
 * @messages: to the other side, which may have them already: not sent yet, oldest first
 *	(coll_peer_send_state.ahead counts them)
 * @told: epoch that was last sent to the other side
 * @tells: how often (COLL_AHEAD_TELLS)
 * @receives: the other side has reported that the latest message for all came by multicast
 * @has: latest position that the other side has acknowledged
 * @got: latest position of what came along the edge from the other side; it is acknowledged if
 *	an acknowledgment of copies is owed (struct coll_peer_ack)
 */
struct coll_ahead {
	struct list_head	messages;
	u32			told;
	u8			tells;
	bool			receives;
	struct coll_position	has;
	struct coll_position	got;
};

/**
 * struct coll_multicast_host - state of multicast for a host
 * @epoch: of what it sends to all; 0: not known
 * @ahead: of the connection to it; NULL if there cannot be one
 */
struct coll_multicast_host {
	u32			epoch;
	struct coll_ahead	*ahead;
};

/**
 * struct coll_multicast - multicast ahead of the tree
 * @host: of each host; NULL if the group has no multicast
 * @number: of the latest packet by multicast
 * @tx: direction of what this host sends to all
 * @rx: direction of what came last, authentic and with its epoch; all zero: nothing has
 * @copied: COLL_FLAG_COPIED if the latest message for all came by multicast
 * @useful: multicast is tried for the latest one that this host has to send to all
 * @silent: operations for which multicast was tried since a host last reported that it receives
 *	copies, COLL_MULTICAST_PATIENCE at most
 * @skip: operations until it is tried again
 * @pause: initial value of @skip
 */
struct coll_multicast {
	struct coll_multicast_host	*host;
	u64				number;
	struct coll_wire_side		tx;
	struct coll_wire_side		rx;
	u16				copied;
	bool				useful;
	u32				silent;
	u32				skip;
	u32				pause;
};

#endif
