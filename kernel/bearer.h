/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bearers carry the packets of groups. Every namespace has all of them; the address family
 * of a group's members selects one for the group. Only a bearer knows its addresses, ports,
 * routes and headers.
 *
 * A bearer NAME is NAME.[ch], with coll_NAME_* for each function here, and
 *
 *   struct coll_bearer		its addresses, as the core uses them (core/bearer.h),
 *				in the table in bearer.c
 *   struct coll_NAME		its state for a namespace, in struct coll_bearers
 *   struct coll_NAME_route	its state for a peer, in union coll_route
 *   coll_NAME_receive()	its receive hook, in receive.c
 *
 * The functions here are the interface. With a second bearer each becomes a switch on the
 * member's family, not a function pointer: a packet passes through four of these functions,
 * so the compiler binds them.
 *
 * Opening, closing and checking happen in process context; opening and closing hold the
 * namespace's mutex. Sending has two halves: under the group's lock a packet gets its route
 * and headers and is queued; after the lock is dropped, still with bottom halves disabled,
 * the queue is transmitted.
 */
#ifndef COLL_BEARER_H
#define COLL_BEARER_H

#include <linux/if_ether.h>
#include <linux/skbuff.h>

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

/*
 * Headroom for the headers of the bearer and of a plain Ethernet device; a device that
 * needs more reallocates. With this value the smallest packet and its skb_shared_info fit
 * into 512 bytes.
 */
#define COLL_BEARER_HEADROOM	96

/* What administrators call the port */
#define COLL_BEARER_PORT	"UDP port"

static_assert(COLL_UDP_HEADER_BYTES + ETH_HLEN <= COLL_BEARER_HEADROOM);

/**
 * coll_bearer_packet() - allocate a packet to be sent by any bearer
 * @bytes: length of the packet; its contents are uninitialised
 *
 * It comes from the per-CPU caches that drivers use for received packets. This is the
 * cheapest source: a received packet is freed to the cache from which the next one is sent.
 *
 * Return: the packet, or NULL if there is no memory. Context: BH disabled.
 */
static inline struct sk_buff *coll_bearer_packet(u32 bytes)
{
	u32 room = SKB_DATA_ALIGN(COLL_BEARER_HEADROOM + bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *head;

	head = napi_alloc_frag(room);
	if (unlikely(!head))
		return NULL;
	skb = napi_build_skb(head, room);
	if (unlikely(!skb)) {
		skb_free_frag(head);
		return NULL;
	}
	skb_reserve(skb, COLL_BEARER_HEADROOM);
	__skb_put(skb, bytes);
	return skb;
}

/**
 * coll_bearer_init() - initialise the bearers of a namespace, none open
 * @b: bearers of the namespace
 * @net: the namespace
 * @tunables: of the namespace
 * @hooks: receive hooks of the bearers
 * @owner: passed by the hooks to the function that receives packets
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
 * coll_bearer_open() - start to receive packets
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
 * coll_bearer_close() - stop receiving packets
 * @b: of the namespace; its mutex is held
 *
 * Waits for packets in flight, in either direction.
 *
 * Context: process.
 */
static inline void coll_bearer_close(struct coll_bearers *b)
{
	coll_udp_close(&b->udp);
}

/**
 * coll_bearer_is_open() - is any bearer open?
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
 * Return: the open port, or the one that would be opened next. Context: any.
 */
static inline u16 coll_bearer_port(const struct coll_bearers *b)
{
	return coll_udp_port(&b->udp);
}

/**
 * coll_bearer_socket() - a socket to which packets of a group may belong
 * @net: the namespace
 * @family: of the members
 * @sock: out; neither bound nor connected
 *
 * Return: 0 or -errno. Context: process.
 */
static inline int coll_bearer_socket(struct net *net, u16 family, struct socket **sock)
{
	return coll_udp_socket(net, family, sock);
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
 * coll_bearer_check_path() - can packets of this size reach a member?
 * @b: of the namespace
 * @owner: of the packets
 * @self: this host
 * @to: the member
 * @bytes: length of the largest packet, without the headers of the bearer
 *
 * A member without a route now may have one later, so this is no error.
 *
 * Return: 0, -EMSGSIZE, or -EADDRNOTAVAIL if @to cannot be a member beside @self.
 * Context: process.
 */
static inline int coll_bearer_check_path(const struct coll_bearers *b, struct sock *owner,
					 const struct collsock_member *self,
					 const struct collsock_member *to, u32 bytes)
{
	return coll_udp_check_path(&b->udp, owner, self, to, bytes);
}

/**
 * coll_bearer_address() - give a packet its route and its headers
 * @b: of the namespace
 * @route: cached route to @to
 * @skb: the packet, from coll_bearer_packet(); if its ignore_df is set, it may be fragmented
 * @owner: of the packet; NULL for one that belongs to no group: it is the port's
 * @self: its source
 * @to: its destination
 *
 * The packet holds no reference on its route: a route that is dropped now is freed after a
 * grace period, by which time the packet has been transmitted.
 *
 * Return: 0; -EHOSTUNREACH if there is no route, -ENOBUFS if the packets of @owner that are
 * under way on this host fill its send buffer; the packet is unchanged then. Context: BH
 * disabled from here until after coll_bearer_transmit(); @route is protected by the lock of
 * its group.
 */
static inline int coll_bearer_address(struct coll_bearers *b, union coll_route *route,
				      struct sk_buff *skb, struct sock *owner,
				      const struct collsock_member *self,
				      const struct collsock_member *to)
{
	return coll_udp_address(&b->udp, &route->udp, skb, owner, self, to);
}

/**
 * coll_bearer_route_drop() - release a cached route
 * @route: protected by the group's lock, or no longer shared
 *
 * Context: any.
 */
static inline void coll_bearer_route_drop(union coll_route *route)
{
	coll_udp_route_drop(&route->udp);
}

/**
 * coll_bearer_written() - what coll_bearer_packet() returned, now after the headers
 * @skb: addressed
 *
 * Context: any.
 */
static inline const u8 *coll_bearer_written(const struct sk_buff *skb)
{
	return coll_udp_packet(skb);
}

/**
 * coll_bearer_transmit() - send a packet
 * @b: of the namespace
 * @skb: addressed; in no list
 *
 * Return: 0; -EPERM if a filter of this host refused it; NET_XMIT_DROP or NET_XMIT_CN if a
 * queue of this host is full; anything else is of no interest.
 * Context: BH disabled since the packet was addressed, no lock.
 */
static inline int coll_bearer_transmit(struct coll_bearers *b, struct sk_buff *skb)
{
	return coll_udp_transmit(&b->udp, skb);
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
 * coll_bearer_is_marked() - has the network marked the packet "congestion experienced"?
 * @skb: received
 *
 * Context: the receive hook.
 */
static inline bool coll_bearer_is_marked(const struct sk_buff *skb)
{
	return coll_udp_is_marked(skb);
}

/**
 * coll_bearer_ends() - source and destination of a packet as members
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
