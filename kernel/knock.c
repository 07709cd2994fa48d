// SPDX-License-Identifier: GPL-2.0
#include <linux/hash.h>
#include <linux/ktime.h>

#include "knock.h"

/**
 * coll_knocks_init() - nobody has knocked
 * @knocks: zeroed
 */
void coll_knocks_init(struct coll_knocks *knocks)
{
	spin_lock_init(&knocks->lock);
}

/**
 * coll_knock_note() - somebody has knocked
 * @knocks: of the namespace
 * @tag: of the unknown group
 * @host: index that the sender claims
 * @from: address and port that the packet came from
 *
 * Context: softirq.
 */
void coll_knock_note(struct coll_knocks *knocks, u64 tag, u16 host,
		     const struct collsock_member *from)
{
	struct coll_knock *k = &knocks->knock[hash_64(tag + host, COLL_KNOCKS_BITS)];

	spin_lock(&knocks->lock);
	k->tag = tag;
	k->host = host;
	k->from = *from;
	k->at_ns = ktime_get_ns();
	k->used = true;
	spin_unlock(&knocks->lock);
}

/**
 * coll_knock_look() - who has knocked?
 * @knocks: of the namespace
 * @index: entry of the table to look at, below COLL_KNOCKS
 * @knock: out: what is there
 *
 * Return: whether there is anything. Context: process.
 */
bool coll_knock_look(struct coll_knocks *knocks, u32 index, struct coll_knock *knock)
{
	spin_lock_bh(&knocks->lock);
	*knock = knocks->knock[index];
	spin_unlock_bh(&knocks->lock);
	return knock->used;
}

/**
 * coll_knock_take() - has a member of this group knocked?
 * @knocks: of the namespace
 * @index: entry of the table to look at, below COLL_KNOCKS
 * @tag: of the group
 * @members: its hosts
 * @hosts: number of them
 * @host: out: index of the host that knocked
 *
 * The entry is free afterwards.
 *
 * Return: whether that entry is of one. Context: process.
 */
bool coll_knock_take(struct coll_knocks *knocks, u32 index, u64 tag,
		     const struct collsock_member *members, u32 hosts, u32 *host)
{
	struct coll_knock *k = &knocks->knock[index];
	bool taken = false;

	spin_lock_bh(&knocks->lock);
	if (k->used && k->tag == tag && k->host < hosts &&
	    !memcmp(&k->from, &members[k->host], sizeof(k->from))) {
		*host = k->host;
		k->used = false;
		taken = true;
	}
	spin_unlock_bh(&knocks->lock);
	return taken;
}
