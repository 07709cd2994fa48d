/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An endpoint: the rules of a host outside the lifetime of a group instance. Which group a
 * request describes, and whether two requests describe the same one; how a packet without
 * an instance is handled; to which hosts a new instance sends a join notice.
 *
 * These are functions and small structures. Containers, look-up and locks belong to the
 * platform: on the packet path it may look up without any lock.
 */
#ifndef COLL_CORE_ENDPOINT_H
#define COLL_CORE_ENDPOINT_H

#include "group.h"
#include "timewait.h"

/* ---- joining ---- */

/**
 * struct coll_request - JOIN's request, checked (descriptor.h)
 * @join: the fixed part, normalised
 * @members: the hosts
 * @host_of_rank: the host of each rank
 */
struct coll_request {
	const struct collsock_join	*join;
	const struct collsock_member	*members;
	const u32			*host_of_rank;
};

/**
 * struct coll_identity - which group instance a request describes
 * @secret: tag and MAC key
 * @descriptor: hash of what must be equal on all ranks
 * @self: index of this host
 */
struct coll_identity {
	struct coll_secret	secret;
	u32			descriptor;
	u32			self;
};

void coll_endpoint_identify(const struct coll_request *request, struct coll_identity *id);
bool coll_endpoint_agrees(const struct collsock_join *a, const struct coll_secret *a_secret,
			  const struct collsock_join *b, const struct coll_secret *b_secret);
bool coll_endpoint_same_tables(const struct coll_request *a, const struct coll_request *b);

/* ---- packets ---- */

/* May host @source of a group of @hosts hosts send to host @self? */
static inline bool coll_endpoint_may_be_from(u32 source, u32 self, u32 hosts)
{
	return source < hosts && source != self;
}

enum coll_refusal coll_endpoint_receive(const struct coll_timewait *t, bool from_member,
					const u8 *packet, u32 bytes, u8 *answer,
					u32 *answer_bytes);

/* ---- early packets ---- */

#define COLL_EARLY_SETS		32
#define COLL_EARLY_WAYS		4	/* in a set */
#define COLL_EARLY_PACKETS	(COLL_EARLY_SETS * COLL_EARLY_WAYS)

/**
 * struct coll_early_packet - a packet for a group that is not here (yet)
 * @tag: of the group
 * @at_ns: when it was received
 * @from: its source address
 * @host: index of the host that it claims as its source
 * @used: the entry is in use
 *
 * Such a packet is never answered and nothing in it is authenticated.
 */
struct coll_early_packet {
	u64			tag;
	u64			at_ns;
	struct collsock_member	from;
	u16			host;
	bool			used;
};

/**
 * struct coll_early_packets - table of fixed size: a later early packet may displace
 *	an earlier one
 * @seed: random, so that nobody can predict which addresses share a set
 * @entry: sets, hashed by the address that packets come from: a sender of many displaces
 *	those of few others. A displaced one costs the time until its next retransmission
 */
struct coll_early_packets {
	siphash_key_t			seed;
	struct coll_early_packet	entry[COLL_EARLY_PACKETS];
};

void coll_endpoint_note_early(struct coll_early_packets *table, u64 tag, u16 host,
			      const struct collsock_member *from, u64 now);
bool coll_endpoint_take_early(struct coll_early_packets *table, u32 index,
			      const struct coll_identity *id,
			      const struct collsock_member *members, u32 hosts, u32 *host);

#endif
