/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Congestion control of one connection (RFC 8085): how many of its packets may be in flight,
 * and which of them are lost. The window counts packets, is kept from operation to operation,
 * and follows RFC 5681: slow start, then one packet more for each window; half of it after a
 * gap, a mark (RFC 3168) or a drop by this host, once in a round trip; one packet after a
 * time-out. Nothing is sent here.
 *
 * The path of a packet sees two numbers in struct coll_peer_congestion: @limit, below which
 * another message may follow, and @ask, from which a message may ask for an acknowledgment.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_CONGESTION_H
#define COLL_CORE_CONGESTION_H

#include "state.h"

/* The initial window of all that send to a host in one round together (RFC 6928) */
#define COLL_CONGESTION_BUDGET	10
/*
 * Messages of operations of a single packet that may be in flight whatever the window. Where
 * each operation waits for the one before there are four at most, and none of these asks for
 * an acknowledgment.
 */
#define COLL_CONGESTION_SINGLES	8
/* Acknowledged packets after which one before them is lost (RFC 5681) */
#define COLL_CONGESTION_GAP	3

void coll_congestion_begin(struct coll_peer *peer, u32 fan_in);
void coll_congestion_restart(struct coll_peer *peer);
bool coll_congestion_admits(const struct coll_peer *peer, const struct coll_message *m);
bool coll_congestion_asks(const struct coll_peer *peer, const struct coll_message *m);
void coll_congestion_acknowledged(struct coll_peer *peer, u32 packets);
bool coll_congestion_gap(const struct coll_message *m, const struct coll_body *ack);
void coll_congestion_lost(struct coll_peer *peer, struct coll_message *m);
void coll_congestion_timed_out(struct coll_peer *peer, struct coll_message *m);
void coll_congestion_undo(struct coll_peer *peer, const struct coll_message *m);
void coll_congestion_marked(struct coll_peer *peer, u8 ce);
void coll_congestion_copy_lost(struct coll_peer *peer);
void coll_congestion_local(struct coll_peer *peer);
bool coll_congestion_repairs(const struct coll_peer *peer, const struct coll_message *m);
void coll_congestion_recovered(struct coll_peer *peer, struct coll_message *m);

#endif
