/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The connections of a group. Each comes into being when something is first said to or
 * heard from its host, from memory that was reserved when the group was made, and is
 * released to that memory when nothing was said over it for long enough. What is known of
 * the other side stays.
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

/* The connection to a host, or NULL if there is none now. */
static inline struct coll_peer *coll_peers_find(const struct coll_group *g, u32 host)
{
	struct coll_peer *peer = *coll_peers_bucket(g, host);

	while (peer && peer->host != host)
		peer = peer->next;
	return peer;
}

/* The connection to a host begins. NULL if no schedule ever names that host. */
struct coll_peer *coll_peers_open(struct coll_group *g, u32 host, u64 now);

/* The connection to a host; it begins if there is none now. NULL as above. */
static inline struct coll_peer *coll_peers_get(struct coll_group *g, u32 host, u64 now)
{
	struct coll_peer *peer = coll_peers_find(g, host);

	return likely(peer) ? peer : coll_peers_open(g, host, now);
}

/* Release the connections that are idle. When is the first of the others due? */
u64 coll_peers_release_idle(struct coll_group *g);

/* Open the connections of all hosts that were ever heard. */
void coll_peers_reopen(struct coll_group *g, u64 now);

/* Credit came for all: send what may leave now. */
void coll_peers_push(struct coll_group *g, u64 now);

/* There is room: tell those that were refused. */
void coll_peers_tell_room(struct coll_group *g, u64 now);

/* Is nothing owed to any other host? */
bool coll_peers_settled(const struct coll_group *g);

#endif
