/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the core needs from its platform: the kernel module, the simulator, a unit test.
 * These are ordinary functions, bound when the platform is linked.
 *
 * The platform calls the core under the group's lock, and the core calls these functions
 * under it; none of them may call the core. Those that allocate and free memory are called
 * only from coll_group_init() and coll_group_destroy(), without the lock: all that a group
 * needs is reserved when it is created.
 *
 * In an event context rounds may advance: the group's lock is held, nothing sleeps, and no
 * process had to be woken. In the kernel it is softirq, or BH disabled outside a work
 * queue. Posts, packets and deadlines are handled in event context.
 */
#ifndef COLL_CORE_ENV_H
#define COLL_CORE_ENV_H

#include "base.h"

struct coll_bearer;
struct coll_body;
struct coll_group;
struct coll_message;
struct coll_peer;
struct coll_packet;

/* Zeroed memory for the lifetime of the group; may sleep. NULL if there is none. */
void *coll_env_alloc(size_t bytes);
void coll_env_free(void *memory);

/* May a group that is being created reserve @bytes more? May sleep. */
bool coll_env_charge(struct coll_group *g, size_t bytes);

/* A zeroed peer; may sleep. NULL if there is no memory. */
struct coll_peer *coll_env_peer_new(struct coll_group *g);
void coll_env_peer_free(struct coll_peer *peer);

/* The connection is idle: nothing is sent over it until it is opened again. */
void coll_env_peer_idle(struct coll_peer *peer);

/**
 * struct coll_blank - a packet to be written
 * @packet: the platform's
 * @data: where its contents go; NULL if there is no memory
 */
struct coll_blank {
	struct coll_packet	*packet;
	u8			*data;
};

/*
 * A packet of @bytes; it is passed to coll_env_transmit(), which takes ownership. Packets
 * may be lost.
 */
struct coll_blank coll_env_packet(struct coll_group *g, u32 bytes);
void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet);

/*
 * The same of a packet for all other hosts: to the multicast address of the group, which asked for
 * one.
 */
void coll_env_multicast(struct coll_group *g, struct coll_packet *packet);

/*
 * Call coll_group_run() soon, after the present event. It may be asked for again before
 * that; one call is enough.
 */
void coll_env_run_soon(struct coll_group *g);

/*
 * How much memory have the group's packets that wait in queues of this host? Asked only while
 * messages wait for a congestion window.
 */
u32 coll_env_queued(struct coll_group *g);

/* Call coll_group_expire() at @at (ns), which is before any deadline asked for earlier. */
void coll_env_deadline(struct coll_group *g, u64 at);

/*
 * Operation @number, which rank @local of this host posted with @token, has ended: with
 * @error (a positive errno) and @failed_rank, or with a result to be copied at once, unless it is
 * where the platform looks for it (coll_env_exchange()). An
 * operation posted after the group has ended has the number of the first that cannot
 * complete. Cannot fail.
 */
void coll_env_complete(struct coll_group *g, u32 local, u64 number, void *token,
		       const void *result, u32 bytes, u32 error, u32 failed_rank);

/*
 * Memory is exchanged, of max_bytes, rounded up to 8: the platform takes @buffer, and
 * returns that which a post of rank @local brought for its payload, or for its result if @payload
 * is NULL. From then on that is the core's, for the lifetime of the group, and @buffer is where
 * the platform looks for the result. NULL if @payload is elsewhere, or the platform has no such
 * memory: then nothing has changed.
 */
u8 *coll_env_exchange(struct coll_group *g, u32 local, void *token, const void *payload,
		      u8 *buffer);

/**
 * struct coll_result - memory for a result that is longer than max_bytes, which the ranks of this
 *	host share; part of a structure of the platform
 * @data: as long as the result
 */
struct coll_result {
	u8	*data;
};

/*
 * A rank that receives such a result has posted with @token, and the operation has no memory for
 * it yet: that which the platform has reserved before the post, @bytes (coll_signature_shared()).
 * Cannot fail.
 */
struct coll_result *coll_env_result_take(struct coll_group *g, u32 local, void *token, u32 bytes);
/* What that rank's coll_env_complete() is told next is in this memory, so need not be copied. */
void coll_env_result_share(struct coll_group *g, u32 local, void *token,
			   struct coll_result *result);
/* The operation needs it no more. */
void coll_env_result_put(struct coll_group *g, struct coll_result *result);

/* The window has room again for a post by any rank of this host. */
void coll_env_writable(struct coll_group *g);

/*
 * A round of operation @number is over in this lane. Returns whether this is an event
 * context.
 */
bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round);

/* The bearer of an address family, or NULL. Any context. */
const struct coll_bearer *coll_env_bearer(u16 family);

/*
 * A section begins, in which vector instructions may be used, with the default settings of
 * floating point: it rounds to nearest even, and subnormals are numbers. It is short, and calls
 * nothing of the platform but coll_env_vector_end(). False if it cannot begin now. Any context;
 * also without the group's lock.
 */
bool coll_env_vector_begin(void);
void coll_env_vector_end(void);

/* ---- reports, for tracing and events ---- */

/*
 * Why a packet is dropped: LINE(identifier, name). Each has the name of its counter, which
 * is the namespace's if the platform drops the packet, the group's if the core does.
 */
#define COLL_NET_DROP_LIST(LINE)			\
	LINE(MALFORMED,		malformed)		\
	LINE(OTHER_VERSION,	other_version)		\
	LINE(UNKNOWN_TYPE,	unknown_type)		\
	LINE(UNKNOWN_GROUP,	unknown_group)		\
	LINE(WRONG_SOURCE,	wrong_source)		\
	LINE(FORGED,		forged)			\
	LINE(WRONG_DESCRIPTOR,	wrong_descriptor)	\
	LINE(NO_ROUTE,		no_route)		\
	LINE(BACKLOG_FULL,	backlog_full)		\
	LINE(TOO_LONG,		too_long)		\
	LINE(SEND_BUFFER_FULL,	send_buffer_full)	\
	LINE(SEND_REFUSED,	send_refused)		\
	LINE(RECEIVE_REFUSED,	receive_refused)
#define COLL_GROUP_DROP_LIST(LINE)			\
	LINE(INVALID,		invalid)		\
	LINE(STALE,		stale)			\
	LINE(DUPLICATE,		duplicates)		\
	LINE(BEYOND_WINDOW,	beyond_window)		\
	LINE(MEMORY_SHORT,	memory_short)		\
	LINE(COPY_UNUSED,	copies_unused)

#define COLL_DROP_NUMBER(identifier, name)	COLL_DROP_##identifier,
enum coll_drop {
	COLL_NET_DROP_LIST(COLL_DROP_NUMBER)
	COLL_GROUP_DROP_LIST(COLL_DROP_NUMBER)
	COLL_DROPS
};

/* A packet from @source is dropped, or there was no memory to send one. */
void coll_env_drop(struct coll_group *g, u32 source, u32 destination,
		   const struct coll_body *body, enum coll_drop drop);

/* The message is retransmitted; its tries do not yet count this one. */
void coll_env_send_again(const struct coll_message *m);

/* A connection opens: a new one, or one that was idle. */
void coll_env_peer_open(struct coll_peer *peer);

/* The failure limit, g->failure.what, is new or has changed. */
void coll_env_failure(struct coll_group *g);

#endif
