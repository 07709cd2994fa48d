/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Early packets: the sources of packets for groups that do not exist here (yet).
 * Such packets are never answered and nothing in them is authenticated, so
 * this is a small table of fixed size, and a later packet may displace an
 * earlier one. When a group is joined, a join notice is sent to each of its members
 * that the table names, once: they need not wait for their next retransmission.
 */
#ifndef COLL_EARLY_PACKET_H
#define COLL_EARLY_PACKET_H

#include <linux/spinlock.h>

#include "core/base.h"

#define COLL_EARLY_PACKETS_BITS	6
#define COLL_EARLY_PACKETS	BIT(COLL_EARLY_PACKETS_BITS)

/**
 * struct coll_early_packet - one packet for an unknown group
 * @tag: of the group
 * @host: index of the host that it claims to come from
 * @used: the entry is in use
 * @at_ns: when it came
 * @from: where it came from
 */
struct coll_early_packet {
	u64			tag;
	u16			host;
	bool			used;
	u64			at_ns;
	struct collsock_member	from;
};

/**
 * struct coll_early_packets - those of a namespace
 * @lock: taken with bottom halves off; nothing else is taken under it
 * @entry: hashed by tag and host
 */
struct coll_early_packets {
	spinlock_t			lock;	/* of the table */
	struct coll_early_packet	entry[COLL_EARLY_PACKETS];
};

void coll_early_packets_init(struct coll_early_packets *early_packets);
void coll_early_packet_note(struct coll_early_packets *early_packets, u64 tag, u16 host,
			    const struct collsock_member *from);
bool coll_early_packet_look(struct coll_early_packets *early_packets, u32 index,
			    struct coll_early_packet *early);
bool coll_early_packet_take(struct coll_early_packets *early_packets, u32 index, u64 tag,
			    const struct collsock_member *members, u32 hosts, u32 *host);

#endif
