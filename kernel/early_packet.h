/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The early packets of a namespace: packets for groups that do not exist here (yet); the
 * table of core/endpoint.h with a lock. When a group is joined, its members in the table
 * are sent one join notice each, so that they need not wait for their next retransmission.
 */
#ifndef COLL_EARLY_PACKET_H
#define COLL_EARLY_PACKET_H

#include <linux/spinlock.h>

#include "core/endpoint.h"

/**
 * struct coll_early_table - early packets of a namespace
 * @lock: taken with bottom halves disabled; innermost
 * @packets: the table
 */
struct coll_early_table {
	spinlock_t			lock;	/* protects the table */
	struct coll_early_packets	packets;
};

void coll_early_packet_init(struct coll_early_table *table);
void coll_early_packet_note(struct coll_early_table *table, u64 tag, u16 host,
			    const struct collsock_member *from);
bool coll_early_packet_look(struct coll_early_table *table, u32 index,
			    struct coll_early_packet *early);
bool coll_early_packet_take(struct coll_early_table *table, u32 index,
			    const struct coll_identity *id,
			    const struct collsock_member *members, u32 hosts, u32 *host);

#endif
