/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A platform for the core outside the kernel: hosts on a virtual network and a
 * virtual clock. Packets are written, sealed, read and checked as on a real
 * wire; links lose, repeat, delay, damage and cut; each host has one CPU, which
 * takes time for each event, and may pause or die. All randomness comes from
 * one number, so a run can be repeated.
 *
 * The world does not know what is posted and why: its user does (struct
 * world_user), the simulator or a unit test. The count of allocations is global
 * because the core allocates without saying for which world: worlds of several
 * threads need a process each.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdio.h>

#include "descriptor.h"
#include "env.h"
#include "group.h"
#include "endpoint.h"

/* Room for the header of any bearer */
#define WORLD_HEADER_ROOM	48

struct world;
struct world_member;

/* ---- chance ---- */

/* SplitMix64: all of its state is one number, and any number will do. */
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
 * @duplication: likewise
 * @reordering: likewise: so many are four delays late, at most
 * @corruption: likewise: so many have a few bits flipped
 * @cut: partitions that cut it now
 * @kind: distribution of the delay
 * @delay_ns: its constant part
 * @spread_ns: its random part
 * @byte_ps: time for each byte
 */
struct world_link {
	u32			loss;
	u32			duplication;
	u32			reordering;
	u32			corruption;
	u32			cut;
	enum world_delay	kind;
	u64			delay_ns;
	u64			spread_ns;
	u64			byte_ps;
};

/**
 * struct world_packet - in transit
 * @from: host that its source address names
 * @to: host
 * @bytes: length
 * @damaged: no member has written it as it is
 * @header_bytes: length of @header
 * @header: of its bearer, if its group has one
 * @data: it
 */
struct world_packet {
	u32	from;
	u32	to;
	u32	bytes;
	bool	damaged;
	u32	header_bytes;
	u8	header[WORLD_HEADER_ROOM];
	u8	data[] __aligned(8);
};

struct world_job;

/**
 * struct world_host - one machine
 * @id: index in the world
 * @members: of groups, on this host
 * @busy_ns: the CPU is free from then on
 * @worked_ns: total time that it has worked
 * @nic_ns: the next packet can leave from then on
 * @receive_ns: what an event costs the CPU
 * @send_ns: what a packet that is sent costs it
 * @gap_ns: least time between two packets sent
 * @late_ns: maximum delay of timers
 * @waiting: what the CPU has to do, in order of arrival
 * @last: end of that list
 * @deaf_ns: packets that arrive before are lost
 * @down: crashed
 * @early_packets: for groups not here
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
	struct coll_early_packets	early_packets;
};

/* ---- groups ---- */

/**
 * struct world_group - what the members of a group have in common
 * @join: normalised
 * @secret: derived
 * @timing: of all members
 * @descriptor: hash
 * @host_of: the host of each member
 * @machine: the same, as the addresses from which their packets come
 * @host_of_rank: the member of each rank; NULL if each has one. For the user to set
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
	const struct collsock_member *member;
	struct world_member	*members;
};

enum world_state {
	WORLD_ABSENT,
	WORLD_JOINED,
	WORLD_TIMEWAIT,		/* has left; for twice the liveness time it answers */
};

/**
 * struct world_told - what the core has told of a group beside what it counts
 * @drops: by enum coll_drop
 * @again: messages sent again
 * @rounds: that were over
 * @open: peers
 * @rested: of those that were open
 * @failure: the latest
 * @number: of the operation that ended last
 */
struct world_told {
	u64	drops[COLL_DROPS];
	u64	again;
	u64	rounds;
	u64	open;
	u64	rested;
	struct coll_failure failure;
	u32	number;
};

/**
 * struct world_member - one host in one group
 * @group: the core's
 * @common: the group
 * @world: where
 * @host: on which machine
 * @next: on that machine
 * @index: in the group
 * @state: enum world_state
 * @deadline: asked for, or COLL_NEVER
 * @timewait_ns: when it became a time-wait entry
 * @timewait: what is left then
 * @memory: what the core has allocated for it
 * @last_stats: of @group when it ended here
 * @told: beside what @group counts
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
	u64			timewait_ns;
	struct coll_timewait	timewait;
	struct list_head	memory;
	struct collsock_stats	last_stats;
	struct world_told	told;
};

/**
 * struct world_user - the user of a world
 * @complete: see coll_env_complete()
 * @writable: see coll_env_writable(); may be NULL
 * @before: the core is about to look at a packet, or NULL, at its deadlines; may be NULL
 * @after: an event of this member is over; may be NULL
 * @tap: looks at a packet that is sent; true drops it; may be NULL
 * @damaged: a packet that nobody has written came to a member, with this
 *	outcome; changed: the member is not what it was; may be NULL
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

/* Something that happens at a time. */
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
 * @random: state of chance
 * @hosts: machines
 * @count: of them
 * @link: of all pairs of hosts, unless there is
 * @links: a link for each ordered pair
 * @user: who lives in it
 * @owner: of the user
 * @trace: where every event is printed, or NULL
 * @events: heap of what is to come
 * @pending: length of the heap
 * @room: its capacity
 * @order: events so far: those of equal time happen in the order of their making
 * @sent: packets
 * @forged: packets that no member or time-wait entry accepted
 * @strangers: of these, packets for no group that is here
 * @early_packets_lost: too many
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
	u64			forged;
	u64			strangers;
};

/* Allocations of the core that have not been freed, in all worlds. */
extern long world_memory;

/* Peers that were freed with a state of the MAC in them, likewise. */
extern long world_states_left;

void world_init(struct world *w, u32 hosts, u64 seed, const struct world_user *user);
void world_free(struct world *w);

/* A link for each pair, equal to w->link. */
void world_make_links(struct world *w);

static inline struct world_link *world_link(struct world *w, u32 from, u32 to)
{
	return w->links ? &w->links[(size_t)from * w->count + to] : &w->link;
}

/* A group of join->hosts members; member i lives on host_of[i], or on i. -EINVAL. */
int world_group_init(struct world *w, struct world_group *group,
		     const struct collsock_join *join, const struct coll_timing *timing,
		     const u32 *host_of);
void world_group_free(struct world_group *group);

/*
 * A rank joins. The first one makes the member, with a new incarnation, which sends a join
 * notice to hosts whose early packets came. The rank's number on its host, or errno.
 */
int world_join_rank(struct world_member *m, u32 rank);
int world_post_rank(struct world_member *m, u32 local, const struct collsock_post *post,
		    const void *payload, u32 bytes, void *token);
void world_leave_rank(struct world_member *m, u32 local);

/* The platform has waited long enough after the last rank of the host has left. */
void world_give_up(struct world_member *m);

/* The same where each host has one rank. */
static inline int world_join(struct world_member *m)
{
	return world_join_rank(m, m->index);
}

static inline int world_post(struct world_member *m, const struct collsock_post *post,
			     const void *payload, u32 bytes, void *token)
{
	return world_post_rank(m, 0, post, payload, bytes, token);
}

/* The machine dies: its state is lost. It may be started again. */
void world_crash(struct world *w, struct world_host *h);
void world_start(struct world_host *h);

/* Its CPU does nothing for this time; deaf: packets to it are lost. */
void world_pause(struct world *w, struct world_host *h, u64 ns, bool deaf);

/* Do it at this time; or as soon as the CPU of this host can. */
void world_at(struct world *w, u64 at, world_action run, void *what);
void world_on_cpu(struct world *w, struct world_host *h, world_action run, void *what);

/* What the CPU does now takes this much longer. */
void world_work(struct world *w, struct world_host *h, u64 ns);

/* A packet appears on the wire as if its source had sent it; owned by the world. */
struct world_packet *world_packet_new(u32 bytes);
void world_inject(struct world *w, struct world_packet *p);

/* The next event. False if there is none until @until, which is then the time. */
bool world_step(struct world *w, u64 until);

/* Bytes that the core has allocated for it. */
u64 world_reserved(const struct world_member *m);

/* A number that differs if anything in the member differs but its counters. */
u64 world_digest(const struct world_member *m);

/* trace.c */
void world_trace(const struct world *w, const char *format, ...);
void world_trace_packet(const struct world *w, const char *what, const struct world_packet *p);

#endif
