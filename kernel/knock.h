/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who knocked: the sources of packets for groups that do not exist here (yet).
 * Such packets are never answered and nothing in them is authenticated, so
 * this is a small table of fixed size, and a later knock may displace an
 * earlier one. When a group is joined, those of its members that stand here
 * are nudged, once: they need not wait for their next retransmission.
 */
#ifndef COLL_KNOCK_H
#define COLL_KNOCK_H

#include <linux/spinlock.h>

#include "core/base.h"

#define COLL_KNOCKS_BITS	6
#define COLL_KNOCKS		BIT(COLL_KNOCKS_BITS)

/**
 * struct coll_knock - one packet for an unknown group
 * @tag: of the group
 * @host: index of the host that it claims to come from
 * @used: the entry is in use
 * @at_ns: when it came
 * @from: where it came from
 */
struct coll_knock {
	u64			tag;
	u16			host;
	bool			used;
	u64			at_ns;
	struct collsock_member	from;
};

/**
 * struct coll_knocks - those of a namespace
 * @lock: taken with bottom halves off; nothing else is taken under it
 * @knock: hashed by tag and host
 */
struct coll_knocks {
	spinlock_t		lock;	/* of the table */
	struct coll_knock	knock[COLL_KNOCKS];
};

void coll_knocks_init(struct coll_knocks *knocks);
void coll_knock_note(struct coll_knocks *knocks, u64 tag, u16 host,
		     const struct collsock_member *from);
bool coll_knock_look(struct coll_knocks *knocks, u32 index, struct coll_knock *knock);
bool coll_knock_take(struct coll_knocks *knocks, u32 index, u64 tag,
		     const struct collsock_member *members, u32 hosts, u32 *host);

#endif
