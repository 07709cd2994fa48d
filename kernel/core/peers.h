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

/* The connection to a host, or NULL if there is none now. */
struct coll_peer *coll_peers_find(const struct coll_group *g, u32 host);

/* The same; it begins now if there is none. NULL if no schedule ever names that host. */
struct coll_peer *coll_peers_get(struct coll_group *g, u32 host, u64 now);

/* Release the connections that are idle. When is the first of the others due? */
u64 coll_peers_release_idle(struct coll_group *g);

/* Open the connections of all hosts that were ever heard. */
void coll_peers_reopen(struct coll_group *g, u64 now);

/* Credit came for all: send what may leave now. */
void coll_peers_push(struct coll_group *g, u64 now);

/* There is room: tell those that were refused. */
void coll_peers_tell_room(struct coll_group *g, u64 now);

/* What all hosts have done is known of each. */
void coll_peers_age(struct coll_group *g);

/* Is nothing owed to any other host? */
bool coll_peers_settled(const struct coll_group *g);

#endif
