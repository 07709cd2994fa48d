/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The connections of a group. Each is opened when the first packet is sent to or received
 * from its host, in memory that was reserved when the group was created, and is released
 * when it was idle for long enough. What is known of the other side stays.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PEERS_H
#define COLL_CORE_PEERS_H

#include "peer.h"

static inline struct coll_peer **coll_peers_bucket(const struct coll_group *g, u32 host)
{
	return &g->peers.bucket[host & g->peers.mask];
}

/* The open connection to a host, or NULL */
static inline struct coll_peer *coll_peers_find(const struct coll_group *g, u32 host)
{
	struct coll_peer *peer = *coll_peers_bucket(g, host);

	while (peer && peer->host != host)
		peer = peer->next;
	return peer;
}

struct coll_peer *coll_peers_open(struct coll_group *g, u32 host, u64 now);

/* The connection to a host, opened if need be; NULL if no schedule names that host. */
static inline struct coll_peer *coll_peers_get(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_peers_find(g, host);

	return likely(peer) ? peer : coll_peers_open(g, host, now);
}

bool coll_peers_repeated(const struct coll_group *g, const struct coll_prefix *prefix, u64 number);
u64 coll_peers_release_idle(struct coll_group *g);
void coll_peers_reopen(struct coll_group *g, u64 now);
void coll_peers_push(struct coll_group *g, u64 now);
void coll_peers_tell_room(struct coll_group *g, u64 now);
void coll_peers_catch_up(struct coll_group *g, u64 now);

/* Is nothing owed to any other host? */
bool coll_peers_settled(const struct coll_group *g);

#endif
