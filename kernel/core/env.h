/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What the core needs from its platform: the kernel module, the simulator, a unit test.
 * These are ordinary functions, bound when the platform is linked.
 *
 * The platform calls the core under the group's lock, and the core calls these functions
 * under it; none of them may call the core. coll_env_alloc(), coll_env_free(),
 * coll_env_charge(), coll_env_peer_new() and coll_env_peer_free() are called only from
 * coll_group_init() and coll_group_destroy(), without the lock: what a group needs for its
 * operations, but for packets and long results, is reserved when it is created.
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

/**
 * coll_env_alloc() - zeroed memory for the lifetime of a group
 * @bytes: its length
 *
 * Return: NULL if there is none. Context: may sleep.
 */
void *coll_env_alloc(size_t bytes);

/**
 * coll_env_free() - free it
 * @memory: or NULL
 */
void coll_env_free(void *memory);

/**
 * coll_env_charge() - may a group that is being created reserve more memory?
 * @g: the group
 * @bytes: how much more
 *
 * Return: true if so. Context: may sleep.
 */
bool coll_env_charge(struct coll_group *g, size_t bytes);

/**
 * coll_env_peer_new() - memory for a connection
 * @g: the group
 *
 * Return: a zeroed peer; NULL if there is no memory. Context: may sleep.
 */
struct coll_peer *coll_env_peer_new(struct coll_group *g);

/**
 * coll_env_peer_free() - free it
 * @peer: the connection
 */
void coll_env_peer_free(struct coll_peer *peer);

/**
 * coll_env_peer_idle() - no new packet is sent over a connection until it is opened again
 * @peer: the connection, which is idle
 */
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

/**
 * coll_env_packet() - a packet to be written
 * @g: the group
 * @bytes: length of its contents
 *
 * Return: a packet, to be passed to coll_env_transmit() or coll_env_multicast(); its @data is NULL
 * if there is none.
 */
struct coll_blank coll_env_packet(struct coll_group *g, u32 bytes);

/**
 * coll_env_transmit() - send a packet, which may be lost
 * @peer: to this host
 * @packet: of coll_env_packet(); it becomes the platform's
 */
void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet);

/**
 * coll_env_multicast() - the same to all other hosts
 * @g: the group, whose JOIN has named a multicast address
 * @packet: as for coll_env_transmit()
 */
void coll_env_multicast(struct coll_group *g, struct coll_packet *packet);

/**
 * coll_env_run_soon() - ask for coll_group_run() soon, after the present event
 * @g: the group, which may ask several times before one call
 */
void coll_env_run_soon(struct coll_group *g);

/**
 * coll_env_queued() - how much waits in queues of this host?
 * @g: the group, some of whose messages wait for a congestion window
 *
 * Return: bytes of memory that its packets have there.
 */
u32 coll_env_queued(struct coll_group *g);

/**
 * coll_env_deadline() - ask for coll_group_expire() at a time
 * @g: the group
 * @at: ns, before any deadline asked for earlier
 */
void coll_env_deadline(struct coll_group *g, u64 at);

/**
 * coll_env_complete() - an operation that a rank of this host has posted has ended
 * @g: the group
 * @local: the rank
 * @number: of the operation; of one posted after the group has ended, that of the first which
 *	cannot complete
 * @token: of the post
 * @result: to be copied at once, unless it is where the platform looks for it
 *	(coll_env_exchange())
 * @bytes: length of the result
 * @error: 0, or a positive errno: then there is no result
 * @failed_rank: the rank at fault
 *
 * Cannot fail.
 */
void coll_env_complete(struct coll_group *g, u32 local, u64 number, void *token,
		       const void *result, u32 bytes, u32 error, u32 failed_rank);

/**
 * coll_env_exchange() - exchange memory with the platform, of max_bytes, rounded up to 8
 * @g: the group
 * @local: a rank of this host
 * @token: of its post
 * @payload: of this post; NULL: the memory is that for its result
 * @buffer: the core's; from then on it is where the platform looks for the result
 *
 * Return: the post's memory for its payload or result, which is the core's from then on, for the
 * lifetime of the group. NULL, and nothing has changed, if @payload is elsewhere or the platform
 * has no such memory.
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

/**
 * coll_env_result_take() - the memory that a post has reserved for such a result
 * @g: the group
 * @local: a rank of this host that receives it
 * @token: of its post, whose operation has no memory for the result yet
 * @bytes: length of the result (coll_signature_shared())
 *
 * Cannot fail. Return: memory for the operation.
 */
struct coll_result *coll_env_result_take(struct coll_group *g, u32 local, void *token, u32 bytes);

/**
 * coll_env_result_share() - the next result that coll_env_complete() gives a rank is shared
 * @g: the group
 * @local: the rank
 * @token: of its post
 * @result: where it is; it need not be copied
 */
void coll_env_result_share(struct coll_group *g, u32 local, void *token,
			   struct coll_result *result);

/**
 * coll_env_result_put() - the operation no longer needs the memory of a result
 * @g: the group
 * @result: the memory
 */
void coll_env_result_put(struct coll_group *g, struct coll_result *result);

/**
 * coll_env_writable() - the window has room again for a post by any rank of this host
 * @g: the group
 */
void coll_env_writable(struct coll_group *g);

/**
 * coll_env_round() - a round is over
 * @g: the group
 * @number: of the operation
 * @lane: in which lane
 * @round: of the schedule
 *
 * Return: true if this is an event context.
 */
bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round);

/**
 * coll_env_bearer() - the bearer of an address family
 * @family: any number
 *
 * Return: NULL if there is none. Context: any.
 */
const struct coll_bearer *coll_env_bearer(u16 family);

/**
 * coll_env_vector_begin() - begin a section, in which vector instructions may be used
 *
 * It has the default settings of floating point: it rounds to nearest even, and subnormals are
 * numbers. It is short, and calls nothing of the platform but coll_env_vector_end().
 *
 * Return: false if it cannot begin now. Context: any; also without the group's lock.
 */
bool coll_env_vector_begin(void);

/**
 * coll_env_vector_end() - end it
 */
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

/**
 * coll_env_drop() - a packet is dropped, or there was no memory to send one
 * @g: the group
 * @source: index of the host that sent it
 * @destination: index of the host to which it was sent, or COLL_WIRE_ALL
 * @body: its contents
 * @drop: why
 */
void coll_env_drop(struct coll_group *g, u32 source, u32 destination,
		   const struct coll_body *body, enum coll_drop drop);

/**
 * coll_env_send_again() - a message is retransmitted
 * @m: the message, whose tries do not yet count this one
 */
void coll_env_send_again(const struct coll_message *m);

/**
 * coll_env_peer_open() - a connection opens
 * @peer: a new one, or one that was idle
 */
void coll_env_peer_open(struct coll_peer *peer);

/**
 * coll_env_failure() - the failure limit is new or has changed
 * @g: the group; see its failure.what
 */
void coll_env_failure(struct coll_group *g);

#endif
