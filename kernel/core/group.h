/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A group instance on one host. This is the core's interface to its platform, which embeds
 * struct coll_group and calls the functions below, each for one event, under the group's
 * lock (coll_group_init() and coll_group_destroy() need none). They never sleep. Posts,
 * packets, deadlines and turns are handled in event context (env.h). An event does a certain
 * amount; the rest follows in turns of their own (work.h).
 *
 * A group works until it fails (terminal, sticky) or its ranks leave. When all ranks have
 * left and nothing is under way it is quiet, and the platform replaces it by a time-wait
 * entry (timewait.h).
 *
 * A host may have several ranks (ranks.h). Messages, credit and "done" concern the host: it
 * has completed an operation when all its ranks have posted it and its rounds are over.
 */
#ifndef COLL_CORE_GROUP_H
#define COLL_CORE_GROUP_H

#include "env.h"
#include "failure.h"
#include "locals.h"
#include "peers.h"
#include "ranks.h"
#include "signature.h"
#include "state.h"
#include "watch.h"
#include "window.h"

extern const struct coll_timing coll_timing_default;

/**
 * struct coll_config - configuration of a group instance
 * @join: normalised (descriptor.h)
 * @host_of_rank: checked; must outlive the group
 * @lowest: the lowest rank of each host, likewise; NULL to search @host_of_rank instead
 * @secret: derived from key, id and nonce
 * @timing: tunables of the protocol
 * @descriptor: hash of the descriptor
 * @self: index of this host
 * @incarnation: random, not 0
 */
struct coll_config {
	const struct collsock_join	*join;
	const u32			*host_of_rank;
	const u32			*lowest;
	const struct coll_secret	*secret;
	struct coll_timing		timing;
	u32				descriptor;
	u32				self;
	u32				incarnation;
};

/* group_init.c */
int coll_group_init(struct coll_group *g, const struct coll_config *config);
void coll_group_destroy(struct coll_group *g);

/* group.c */
int coll_group_join(struct coll_group *g, u32 rank);
void coll_group_self(const struct coll_group *g, u32 local, struct collsock_self *s);
int coll_group_post(struct coll_group *g, u32 local, const struct coll_signature *sig,
		    const void *payload, void *token, u64 now);
/* Take the pair that a post has left to its caller, if there is one (coll_group_post()). */
static inline bool coll_group_take_fold(struct coll_group *g, struct coll_fold *fold)
{
	*fold = g->work.fold;
	g->work.fold.op = NULL;
	return fold->op;
}

/*
 * Must the next post of a rank that receives a shared result (coll_signature_shared())
 * reserve memory for it? Not if another rank of this host has.
 */
static inline bool coll_group_wants_result(const struct coll_group *g, u32 local)
{
	const struct coll_op *op = coll_group_slot(g, g->ranks.local[local].next);

	return coll_group_writable(g, local) && !coll_group_ended(g, local) &&
	       !(op->state == COLL_OP_RUNNING && op->result.to);
}

void coll_group_folded(struct coll_group *g, const struct coll_fold *fold, u64 now);

enum coll_refusal coll_group_receive(struct coll_group *g, u32 source, const u8 *packet,
				     u32 bytes, bool ce, u64 now);

/* The same for a packet by multicast (coll_wire_is_multicast()). */
enum coll_refusal coll_group_receive_multicast(struct coll_group *g, const u8 *packet, u32 bytes,
					       u64 now);

/* The same for a packet of another version of the format (coll_wire_other_version()). */
enum coll_refusal coll_group_receive_other_version(struct coll_group *g, u32 source,
						   const u8 *packet, u32 bytes, u64 now);

/* A filter of this host did not let a packet to @host out, or one from @source in. */
void coll_group_send_refused(struct coll_group *g, u32 host);
void coll_group_send_congested(struct coll_group *g, u32 host);
void coll_group_receive_refused(struct coll_group *g, u32 source, const u8 *packet, u32 bytes);

/* The deadline asked for with coll_env_deadline() has passed. */
void coll_group_expire(struct coll_group *g, u64 now);
void coll_group_run(struct coll_group *g, u64 now);
void coll_group_notify_join(struct coll_group *g, u32 host, u64 now);
void coll_group_give_up(struct coll_group *g, u64 now);
void coll_group_end(struct coll_group *g, u64 now);
void coll_group_leave(struct coll_group *g, u32 local, u64 now);
bool coll_group_quiet(const struct coll_group *g);

#endif
