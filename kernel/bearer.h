/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bearers: what carries the packets of groups. A namespace has all of them; the family
 * of a group's members chooses one for the group. Nothing outside a bearer knows its
 * addresses, ports, routes and headers.
 *
 * A bearer NAME is NAME.[ch], with coll_NAME_* for each function here, and
 *
 *   struct coll_bearer		its addresses, as the core asks for them (core/bearer.h),
 *				in the table in bearer.c
 *   struct coll_NAME		what it keeps of a namespace, in struct coll_bearers
 *   struct coll_NAME_route	what it keeps of a peer, in union coll_route
 *   coll_NAME_receive()	its receive hook, in receive.c
 *
 * The functions here are the interface. Each is to be a switch on the family of the
 * member: bearers are bound by the compiler, as a packet passes through four of these
 * functions. As long as there is one bearer, there is nothing to choose.
 *
 * Opening, closing and checking happen in process context, opening and closing under the
 * namespace's mutex. Sending has two halves: under the group's lock a packet gets its
 * route and its headers and is queued; after the lock is dropped, still with bottom
 * halves off, the queue is transmitted.
 */
#ifndef COLL_BEARER_H
#define COLL_BEARER_H

#include "core/bearer.h"
#include "udp.h"

/**
 * struct coll_bearers - the bearers of a namespace
 * @udp: see there
 */
struct coll_bearers {
	struct coll_udp		udp;
};

/**
 * union coll_route - the route to one host, under the lock of its group; begins as zero
 * @udp: see there
 */
union coll_route {
	struct coll_udp_route	udp;
};

/**
 * struct coll_bearer_hooks - what bearers do with the packets that they receive
 * @udp: calls coll_udp_receive()
 */
struct coll_bearer_hooks {
	coll_udp_hook		udp;
};

const struct coll_bearer *coll_bearer_of(u16 family);
u32 coll_bearer_address_bytes(const struct collsock_member *m);
struct sk_buff *coll_bearer_packet(u32 bytes);

/**
 * coll_bearer_init() - nothing is open
 * @b: of a namespace
 * @net: it
 * @tunables: of it
 * @hooks: what is to become of packets
 * @owner: what the hooks hand to the function that receives packets
 *
 * Context: process.
 */
static inline void coll_bearer_init(struct coll_bearers *b, struct net *net,
				    const struct coll_tunables *tunables,
				    const struct coll_bearer_hooks *hooks, void *owner)
{
	coll_udp_init(&b->udp, net, tunables, hooks->udp, owner);
}

/**
 * coll_bearer_open() - packets come here from now on
 * @b: of the namespace; its mutex is held
 * @port: of its members here; one that is open is closed when this one is open
 *
 * Return: 0, also if it is open already; -EADDRINUSE or another -errno, and nothing has
 * changed. Context: process.
 */
static inline int coll_bearer_open(struct coll_bearers *b, u16 port)
{
	return coll_udp_open(&b->udp, port);
}

/**
 * coll_bearer_close() - no packet comes any more
 * @b: of the namespace; its mutex is held
 *
 * Waits for the packets that are under way, in either direction.
 *
 * Context: process.
 */
static inline void coll_bearer_close(struct coll_bearers *b)
{
	coll_udp_close(&b->udp);
}

/**
 * coll_bearer_is_open() - is any open?
 * @b: of the namespace; its mutex is held
 *
 * Context: process.
 */
static inline bool coll_bearer_is_open(const struct coll_bearers *b)
{
	return coll_udp_is_open(&b->udp);
}

/**
 * coll_bearer_port() - the port of a namespace
 * @b: of the namespace
 *
 * Return: the port that is open, else the one that is opened next. Context: any.
 */
static inline u16 coll_bearer_port(const struct coll_bearers *b)
{
	return coll_udp_port(&b->udp);
}

/**
 * coll_bearer_check_self() - can this host be that member?
 * @b: of the namespace
 * @self: the member
 *
 * Return: 0; -EAFNOSUPPORT; -EADDRNOTAVAIL if it is not an address of this namespace; -EXDEV
 * if it is one of a part of it that groups cannot use. Context: process.
 */
static inline int coll_bearer_check_self(const struct coll_bearers *b,
					 const struct collsock_member *self)
{
	return coll_udp_check_self(&b->udp, self);
}

/**
 * coll_bearer_check_path() - do packets of that size get to a member?
 * @b: of the namespace
 * @self: this host
 * @to: the member
 * @bytes: of the largest packet, without the headers of the bearer
 *
 * A member that cannot be reached now may be reached later.
 *
 * Return: 0, -EMSGSIZE, or -EADDRNOTAVAIL if @to cannot be a member beside @self.
 * Context: process.
 */
static inline int coll_bearer_check_path(const struct coll_bearers *b,
					 const struct collsock_member *self,
					 const struct collsock_member *to, u32 bytes)
{
	return coll_udp_check_path(&b->udp, self, to, bytes);
}

/**
 * coll_bearer_address() - give a packet its route and its headers
 * @b: of the namespace
 * @route: the route to @to as it was used before
 * @skb: the packet, from coll_bearer_packet()
 * @self: its source
 * @to: its destination
 *
 * The packet takes no reference on its route: if the route is dropped now it is freed
 * after a grace period, and by then the packet is transmitted.
 *
 * Return: true, or false if there is no route: the packet is as it was.
 * Context: BH disabled from here until after coll_bearer_transmit(); @route is under the
 * lock of its group.
 */
static inline bool coll_bearer_address(struct coll_bearers *b, union coll_route *route,
				       struct sk_buff *skb, const struct collsock_member *self,
				       const struct collsock_member *to)
{
	return coll_udp_address(&b->udp, &route->udp, skb, self, to);
}

/**
 * coll_bearer_route_drop() - forget a route
 * @route: under the group's lock, or nobody else has it any more
 *
 * Context: any.
 */
static inline void coll_bearer_route_drop(union coll_route *route)
{
	coll_udp_route_drop(&route->udp);
}

/**
 * coll_bearer_transmit() - send what was queued
 * @b: of the namespace
 * @queue: packets of one group that have their headers, linked by skb->next
 *
 * Context: BH disabled since the packets were addressed, no lock.
 */
static inline void coll_bearer_transmit(struct coll_bearers *b, struct sk_buff *queue)
{
	coll_udp_transmit(&b->udp, queue);
}

/**
 * coll_bearer_is_from() - is the packet from this member?
 * @skb: received
 * @m: the member
 *
 * Context: the receive hook.
 */
static inline bool coll_bearer_is_from(const struct sk_buff *skb, const struct collsock_member *m)
{
	return coll_udp_is_from(skb, m);
}

/**
 * coll_bearer_ends() - both ends of a packet, as a table of members has them
 * @skb: received
 * @from: out: its source
 * @self: out: its destination
 *
 * Context: the receive hook.
 */
static inline void coll_bearer_ends(const struct sk_buff *skb, struct collsock_member *from,
				    struct collsock_member *self)
{
	coll_udp_ends(skb, from, self);
}

#endif
