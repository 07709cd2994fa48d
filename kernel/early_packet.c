// SPDX-License-Identifier: GPL-2.0
#include <linux/hash.h>
#include <linux/ktime.h>

#include "bearer.h"
#include "early_packet.h"

/**
 * coll_early_packets_init() - the table is empty
 * @early_packets: zeroed
 *
 * Context: process.
 */
void coll_early_packets_init(struct coll_early_packets *early_packets)
{
	spin_lock_init(&early_packets->lock);
}

/**
 * coll_early_packet_note() - a packet came for a group that is not here
 * @early_packets: of the namespace
 * @tag: of the unknown group
 * @host: index that the sender claims
 * @from: the member that it comes from, whatever its index
 *
 * Context: softirq.
 */
void coll_early_packet_note(struct coll_early_packets *early_packets, u64 tag, u16 host,
			    const struct collsock_member *from)
{
	struct coll_early_packet *k =
		&early_packets->entry[hash_64(tag + host, COLL_EARLY_PACKETS_BITS)];

	spin_lock(&early_packets->lock);
	k->tag = tag;
	k->host = host;
	k->from = *from;
	k->at_ns = ktime_get_ns();
	k->used = true;
	spin_unlock(&early_packets->lock);
}

/**
 * coll_early_packet_look() - read an entry of the table
 * @early_packets: of the namespace
 * @index: entry of the table to look at, below COLL_EARLY_PACKETS
 * @early: out: what is there
 *
 * Return: whether there is anything. Context: process.
 */
bool coll_early_packet_look(struct coll_early_packets *early_packets, u32 index,
			    struct coll_early_packet *early)
{
	spin_lock_bh(&early_packets->lock);
	*early = early_packets->entry[index];
	spin_unlock_bh(&early_packets->lock);
	return early->used;
}

/**
 * coll_early_packet_take() - take the early packet of a member of a group
 * @early_packets: of the namespace
 * @index: entry of the table to look at, below COLL_EARLY_PACKETS
 * @tag: of the group
 * @members: its hosts
 * @hosts: number of them
 * @host: out: index of the host that sent it
 *
 * The entry is free afterwards.
 *
 * Return: whether that entry is of one. Context: process.
 */
bool coll_early_packet_take(struct coll_early_packets *early_packets, u32 index, u64 tag,
			    const struct collsock_member *members, u32 hosts, u32 *host)
{
	struct coll_early_packet *k = &early_packets->entry[index];
	bool taken = false;

	spin_lock_bh(&early_packets->lock);
	if (k->used && k->tag == tag && k->host < hosts &&
	    coll_bearer_same(&k->from, &members[k->host])) {
		*host = k->host;
		k->used = false;
		taken = true;
	}
	spin_unlock_bh(&early_packets->lock);
	return taken;
}
