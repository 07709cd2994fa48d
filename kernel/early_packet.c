// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/random.h>

#include "early_packet.h"

/**
 * coll_early_packet_init() - initialise the table, empty
 * @table: zeroed
 */
void coll_early_packet_init(struct coll_early_table *table)
{
	spin_lock_init(&table->lock);
	get_random_bytes(&table->packets.seed, sizeof(table->packets.seed));
}

/**
 * coll_early_packet_note() - record a packet for a group that is not here
 * @table: of the namespace
 * @tag: of the unknown group
 * @host: index that the sender claims
 * @from: address that the packet came from
 *
 * Context: softirq.
 */
void coll_early_packet_note(struct coll_early_table *table, u64 tag, u16 host,
			    const struct collsock_member *from)
{
	spin_lock(&table->lock);
	coll_endpoint_note_early(&table->packets, tag, host, from, ktime_get_ns());
	spin_unlock(&table->lock);
}

/**
 * coll_early_packet_look() - read an entry of the table
 * @table: of the namespace
 * @index: of the entry, below COLL_EARLY_PACKETS
 * @early: out: the entry
 *
 * Return: whether the entry is in use. Context: process.
 */
bool coll_early_packet_look(struct coll_early_table *table, u32 index,
			    struct coll_early_packet *early)
{
	spin_lock_bh(&table->lock);
	*early = table->packets.entry[index];
	spin_unlock_bh(&table->lock);
	return early->used;
}

/**
 * coll_early_packet_take() - remove the early packet of a member of a group
 * @table: of the namespace
 * @index: of the entry, below COLL_EARLY_PACKETS
 * @id: of the group's instance
 * @members: its hosts
 * @hosts: number of them
 * @host: out: index of the host that sent it
 *
 * Return: as coll_endpoint_take_early(). Context: process.
 */
bool coll_early_packet_take(struct coll_early_table *table, u32 index,
			    const struct coll_identity *id,
			    const struct collsock_member *members, u32 hosts, u32 *host)
{
	bool taken;

	spin_lock_bh(&table->lock);
	taken = coll_endpoint_take_early(&table->packets, index, id, members, hosts, host);
	spin_unlock_bh(&table->lock);
	return taken;
}
