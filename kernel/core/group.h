/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A group instance on one host: this is the core's interface for its platform, which
 * embeds struct coll_group and calls the functions below, each for one event, under the
 * group's lock (coll_group_init() and coll_group_destroy() need none). They never sleep.
 * Posts, packets and deadlines are handled in an event context (env.h).
 *
 * A group works until it fails (terminal, sticky) or until its ranks leave. When they
 * have left and nothing is under way any more it is quiet: the platform replaces it by a
 * time-wait entry (timewait.h).
 *
 * Several ranks may live on a host (ranks.h). Messages, credit and "done" are about the
 * host: it has completed an operation when all its ranks have posted it and its rounds
 * are over.
 */
#ifndef COLL_CORE_GROUP_H
#define COLL_CORE_GROUP_H

#include "env.h"
#include "failure.h"
#include "peers.h"
#include "ranks.h"
#include "signature.h"
#include "state.h"
#include "watch.h"
#include "window.h"

extern const struct coll_timing coll_timing_default;

/**
 * struct coll_config - what makes a group
 * @join: normalised (descriptor.h)
 * @host_of_rank: checked; stays there as long as the group
 * @lowest: the lowest rank of each host, likewise; NULL if it is not needed often
 * @secret: derived from key, id and nonce
 * @timing: see there
 * @descriptor: hash of the descriptor
 * @self: index of this host
 * @incarnation: random, not 0
 * @max_memory: bytes that it may reserve; 0 if that does not matter
 */
struct coll_config {
	const struct collsock_join	*join;
	const u32			*host_of_rank;
	const u32			*lowest;
	struct coll_secret		secret;
	struct coll_timing		timing;
	u32				descriptor;
	u32				self;
	u32				incarnation;
	u64				max_memory;
};

/* group_init.c */
int coll_group_init(struct coll_group *g, const struct coll_config *config);
void coll_group_destroy(struct coll_group *g);

/*
 * A rank joins, and has not before: its number among those of this host, or
 * -ENOENT, -EEXIST.
 */
int coll_group_join(struct coll_group *g, u32 rank);

/* A rank posts: 0, or -EAGAIN when the window is full. May complete at once. */
int coll_group_post(struct coll_group *g, u32 local, const struct coll_signature *sig,
		    const void *payload, void *token, u64 now);

/* What was wrong with a packet; the last two are for endpoint.h. */
enum coll_refusal {
	COLL_ACCEPTED,
	COLL_FORGED,
	COLL_WRONG_DESCRIPTOR,
	COLL_UNKNOWN_GROUP,
	COLL_WRONG_SOURCE,
};

/* A packet for this group and host, which came from the address of @source. */
enum coll_refusal coll_group_receive(struct coll_group *g, u32 source, const u8 *packet,
				     u32 bytes, u64 now);

/* The deadline asked for with coll_env_deadline() has passed. */
void coll_group_expire(struct coll_group *g, u64 now);

/* A packet of @host came before this group existed: send a join notice. */
void coll_group_notify_join(struct coll_group *g, u32 host, u64 now);

/* The group is ended by order. */
void coll_group_give_up(struct coll_group *g, u64 now);
void coll_group_end(struct coll_group *g, u64 now);

/* A rank closes: what it has posted completes, others learn of it. */
void coll_group_leave(struct coll_group *g, u32 local, u64 now);

/* All have left, and nothing is under way any more. */
bool coll_group_quiet(const struct coll_group *g);

#endif
