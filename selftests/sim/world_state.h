/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a world: world.h has what can be done with it. */
#ifndef SIM_WORLD_STATE_H
#define SIM_WORLD_STATE_H

#include <stdio.h>

#include "descriptor.h"
#include "env.h"
#include "group.h"
#include "endpoint.h"

/* Room for the header of any bearer */
#define WORLD_HEADER_ROOM	48

struct world;
struct world_member;
struct world_packet;

/**
 * struct world_stream - sender of packets of another protocol
 * @arrives: one of them arrives
 * @no_room: a queue of its own host had no room for one
 */
struct world_stream {
	void (*arrives)(struct world *w, const struct world_packet *p);
	void (*no_room)(struct world *w, const struct world_packet *p);
};

/* ---- random numbers ---- */

/* SplitMix64: its state is one number, and any number is a valid seed. */
static inline u64 world_random(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline u64 world_below(u64 *state, u64 limit)
{
	return limit ? world_random(state) % limit : 0;
}

static inline bool world_chance(u64 *state, u32 per_mille)
{
	return per_mille && world_random(state) % 1000 < per_mille;
}

/* ---- links, hosts, packets ---- */

enum world_delay {
	WORLD_CONSTANT,		/* delay */
	WORLD_UNIFORM,		/* delay + [0, spread) */
	WORLD_EXPONENTIAL,	/* delay + a mean of spread */
	WORLD_HEAVY_TAIL,	/* delay + Pareto, alpha 1.5 */
	WORLD_DELAYS,
};

/**
 * struct world_link - one direction between two hosts
 * @loss: per mille of the packets
 * @copy_loss: per mille of the packets by multicast, besides
 * @copy_late_ns: these are late by up to this time
 * @duplication: likewise
 * @reordering: likewise: share that is up to four delays late
 * @corruption: likewise: share with a few bits flipped
 * @cut: partitions that cut it now
 * @most_bytes: longer packets are lost, unless they may be fragmented; 0: none are
 * @kind: distribution of the delay
 * @delay_ns: its constant part
 * @spread_ns: its random part
 * @byte_ps: time for each byte
 */
struct world_link {
	u32			loss;
	u32			copy_loss;
	u64			copy_late_ns;
	u32			duplication;
	u32			reordering;
	u32			corruption;
	u32			cut;
	u32			most_bytes;
	enum world_delay	kind;
	u64			delay_ns;
	u64			spread_ns;
	u64			byte_ps;
};

/**
 * struct world_packet - a packet in transit
 * @from: host that its source address names
 * @to: host
 * @bytes: length
 * @damaged: it was changed or forged
 * @fragments: it may be fragmented
 * @ce: it was marked "congestion experienced"
 * @stream: of no group, but of this stream (../unit/stream.h)
 * @header_bytes: length of @header
 * @header: of its bearer, if its group has one
 * @data: the packet
 */
struct world_packet {
	u32	from;
	u32	to;
	u32	bytes;
	bool	damaged;
	bool	fragments;
	bool	ce;
	struct world_stream *stream;
	u32	header_bytes;
	u8	header[WORLD_HEADER_ROOM];
	u8	data[] __aligned(8);
};

/**
 * struct world_port - the port of a switch behind which a host is, with its queue
 * @byte_ps: time for each byte; 0 if there is no such port
 * @room: packets that it has room for; others are lost
 * @mark: packets beyond this number are marked "congestion experienced"; 0: none are
 * @local: it is a queue of the sending host, which learns at once what is lost
 * @queued: packets that it has
 * @free_ns: when it will have sent them
 * @lost: number of packets lost
 * @marked: number of packets marked
 */
struct world_port {
	u64	byte_ps;
	u32	room;
	u32	mark;
	bool	local;
	u32	queued;
	u64	free_ns;
	u64	lost;
	u64	marked;
};

struct world_job;

/**
 * struct world_host - one machine
 * @id: index in the world
 * @members: members of groups on this host
 * @busy_ns: when the CPU becomes free
 * @worked_ns: total CPU time used
 * @nic_ns: when the next packet can be sent
 * @receive_ns: CPU time of an event
 * @send_ns: CPU time of sending a packet
 * @gap_ns: least time between two packets sent
 * @late_ns: maximum delay of timers
 * @waiting: pending work of the CPU, in order of arrival
 * @last: end of that list
 * @deaf_ns: packets that arrive before this time are lost
 * @down: crashed
 * @port: what packets to it pass
 * @queued: packets of its groups in queues of its own
 * @early_packets: early packets
 */
struct world_host {
	u32			id;
	struct world_member	*members;
	u64			busy_ns;
	u64			worked_ns;
	u64			nic_ns;
	u64			receive_ns;
	u64			send_ns;
	u64			gap_ns;
	u64			late_ns;
	struct world_job	*waiting;
	struct world_job	**last;
	u64			deaf_ns;
	bool			down;
	struct world_port	port;
	u32			queued;
	struct coll_early_packets	early_packets;
};

/* ---- groups ---- */

/**
 * struct world_group - shared by the members of a group
 * @join: normalised
 * @secret: derived
 * @timing: of all members
 * @descriptor: hash
 * @host_of: the host of each member
 * @machine: the same, as the source addresses of their packets
 * @host_of_rank: the member of each rank; NULL if each has one. For the user to set
 * @most_work: what an event may do (work.h); 0: the core's. For the user to set
 * @unit: elements that are folded in one step, likewise
 * @turn_ns: turns, and folds outside the lock, are late by up to this time. For the user to set
 * @first: number of the first operation, as if the earlier ones were over when the group begins.
 *	For the user to set
 * @packets: number of packets sent to each host before. For the user to set
 * @member: addresses of the members, of the world's own bearer (world_bearer.h); NULL if they are
 *	known by their hosts alone. For the user to set
 * @members: as many as @join has hosts
 */
struct world_group {
	struct collsock_join	join;
	struct coll_secret	secret;
	struct coll_timing	timing;
	u32			descriptor;
	u32			*host_of;
	struct collsock_member	*machine;
	const u32		*host_of_rank;
	s32			most_work;
	u32			unit;
	u64			turn_ns;
	u64			first;
	u64			packets;
	const struct collsock_member *member;
	struct world_member	*members;
};

enum world_state {
	WORLD_ABSENT,
	WORLD_JOINED,
	WORLD_TIMEWAIT,		/* has left; answers for twice the liveness time */
};

/**
 * struct world_told - what the core has reported about a group besides its counters
 * @drops: by enum coll_drop
 * @again: messages sent again
 * @rounds: number of rounds completed
 * @open: number of connections opened
 * @rested: number of connections that became idle
 * @failure: the latest failure
 * @number: number of the operation that ended last, counted from the group's first
 */
struct world_told {
	u64	drops[COLL_DROPS];
	u64	again;
	u64	rounds;
	u64	open;
	u64	rested;
	struct coll_failure failure;
	u64	number;
};

/**
 * struct world_member - one host in one group
 * @group: the core's
 * @common: the group
 * @world: the world
 * @host: its machine
 * @next: on that machine
 * @index: in the group
 * @state: enum world_state
 * @deadline: requested by the core, or COLL_NEVER
 * @turn: a turn has been requested by the core
 * @folds: number of folds outside the lock
 * @timewait_ns: when it became a time-wait entry
 * @timewait: its time-wait entry
 * @memory: allocations of the core for it
 * @charged: bytes that the core has said that it reserves
 * @buffers: of its posts (world_buffers.h)
 * @last_stats: counters of @group when it ended here
 * @told: reports besides the counters of @group
 */
struct world_member {
	struct coll_group	group;
	struct world_group	*common;
	struct world		*world;
	struct world_host	*host;
	struct world_member	*next;
	u32			index;
	enum world_state	state;
	u64			deadline;
	bool			turn;
	u32			folds;
	u64			timewait_ns;
	struct coll_timewait	timewait;
	struct list_head	memory;
	u64			charged;
	struct list_head	buffers;
	struct collsock_stats	last_stats;
	struct world_told	told;
};

/**
 * struct world_user - the user of a world
 * @complete: see coll_env_complete()
 * @writable: see coll_env_writable(); may be NULL
 * @before: the core is about to handle a packet, or, with NULL, its deadlines; may be NULL
 * @after: an event of this member is over; may be NULL
 * @tap: inspects a packet that is sent; true drops it; may be NULL
 * @damaged: a changed or forged packet reached a member, with this outcome; changed: the
 *	member's state has changed; may be NULL
 */
struct world_user {
	void (*complete)(struct world_member *m, void *token, const void *result,
			 u32 bytes, u32 error, u32 failed_rank);
	void (*writable)(struct world_member *m);
	void (*before)(struct world_member *m, const struct world_packet *p);
	void (*after)(struct world_member *m);
	bool (*tap)(struct world *w, struct world_packet *p);
	void (*damaged)(struct world_member *m, enum coll_refusal refusal, bool changed);
};

/* An event at a point in time */
typedef void (*world_action)(struct world *w, void *what);

struct world_event {
	u64		at;
	u64		order;
	world_action	run;
	void		*what;
};

/**
 * struct world - all of it
 * @now: ns
 * @random: state of the random numbers
 * @hosts: machines
 * @count: of them
 * @link: of all pairs of hosts, if there is no @links
 * @links: a link for each ordered pair
 * @user: user of the world
 * @owner: data of the user
 * @trace: where to print every event, or NULL
 * @events: heap of future events
 * @pending: length of the heap
 * @room: its capacity
 * @order: number of events so far: those with equal times happen in the order of their
 *         creation
 * @sent: packets
 * @expired: deadlines that have passed
 * @forged: packets that no member or time-wait entry accepted
 */
struct world {
	u64			now;
	u64			random;
	struct world_host	*hosts;
	u32			count;
	struct world_link	link;
	struct world_link	*links;
	const struct world_user	*user;
	void			*owner;
	FILE			*trace;
	struct world_event	*events;
	u32			pending;
	u32			room;
	u64			order;
	u64			sent;
	u64			expired;
	u64			forged;
};

#endif
