/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A platform for the core outside the kernel: hosts on a virtual network with a virtual
 * clock. Packets are written, authenticated, read and checked as on a real wire; links
 * lose, repeat, delay and damage packets, or are cut; each host has one CPU, which takes
 * time for each event, and may pause or die. All randomness follows from one number, so a
 * run can be repeated.
 *
 * The world's user (struct world_user), the simulator or a unit test, determines what is
 * posted. The count of allocations is global because the core does not pass a world when it
 * allocates: worlds of several threads need separate processes.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "../attributes.h"
#include "world_memory.h"
#include "world_state.h"

void world_init(struct world *w, u32 hosts, u64 seed, const struct world_user *user);
void world_free(struct world *w);

/* A link for each pair, equal to w->link. */
void world_make_links(struct world *w);

static inline struct world_link *world_link(struct world *w, u32 from, u32 to)
{
	return w->links ? &w->links[(size_t)from * w->count + to] : &w->link;
}

/*
 * Create a group of join->hosts members; member i is on host_of[i], or on i. Returns 0 or
 * -EINVAL.
 */
int world_group_init(struct world *w, struct world_group *group,
		     const struct collsock_join *join, const struct coll_timing *timing,
		     const u32 *host_of);
void world_group_free(struct world_group *group);

/* Copy a vector of blocks from the order of ranks to that of hosts, or the other way. */
void world_reorder(const struct coll_order *order, u8 *to, const u8 *from, u32 block,
		   bool to_hosts);

/*
 * A rank joins. The first one creates the member, with a new incarnation, which sends join
 * notices to hosts that have sent early packets. Returns the rank's number on its host, or
 * errno.
 */
int world_join_rank(struct world_member *m, u32 rank);
int world_post_rank(struct world_member *m, u32 local, const struct collsock_post *post,
		    const void *payload, u32 bytes, void *token);
void world_leave_rank(struct world_member *m, u32 local);

/* The platform has waited long enough after the last rank of the host has left. */
void world_give_up(struct world_member *m);

/* The same if each host has one rank */
static inline int world_join(struct world_member *m)
{
	return world_join_rank(m, m->index);
}

static inline int world_post(struct world_member *m, const struct collsock_post *post,
			     const void *payload, u32 bytes, void *token)
{
	return world_post_rank(m, 0, post, payload, bytes, token);
}

/* The machine dies: its state is lost. It may be restarted. */
void world_crash(struct world *w, struct world_host *h);
void world_start(struct world_host *h);

/* Its CPU pauses for this time; @deaf: packets to it are lost. */
void world_pause(struct world *w, struct world_host *h, u64 ns, bool deaf);

/* Run an action at this time; or as soon as the CPU of this host is free. */
void world_at(struct world *w, u64 at, world_action run, void *what);
void world_on_cpu(struct world *w, struct world_host *h, world_action run, void *what);

/* Add this time to the current work of the CPU. */
void world_work(struct world *w, struct world_host *h, u64 ns);

/* A packet appears on the wire as if its source had sent it; owned by the world. */
struct world_packet *world_packet_new(u32 bytes);
void world_inject(struct world *w, struct world_packet *p);

/* Send a packet: its source's CPU and NIC are busy with it. */
void world_send(struct world *w, struct world_packet *p);

/* Send a copy of a packet by multicast; its source's CPU is busy once with all of them. */
void world_copy(struct world *w, struct world_packet *p);

/* For the wire (world_wire.c): a packet arrives at a host; a member there, or NULL. */
void world_packet_arrives(struct world *w, void *what);
struct world_member *world_find(const struct world_host *h, u64 tag, u32 index);

/* Is it about a packet on the wire? */
bool world_is_packet(const struct world_event *e);

/* Run the next event. False if there is none before @until, which is then the current time. */
bool world_step(struct world *w, u64 until);

/* trace.c */
__printf(2, 3)
void world_trace(const struct world *w, const char *format, ...);
void world_trace_packet(const struct world *w, const char *what, const struct world_packet *p);

#endif
