/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bearers carry the packets of groups: UDP and Ethernet. Every namespace has all of them; the
 * address family of a group's members selects one for the group. Only a bearer knows its
 * addresses, ports, routes and headers.
 *
 * A bearer NAME is NAME.[ch], with coll_NAME_* for each function here, and
 *
 *   struct coll_bearer		its addresses, as the core uses them (core/bearer.h),
 *				in the table in bearer.c
 *   struct coll_NAME		its state for a namespace, in struct coll_bearers
 *   struct coll_NAME_route	its state for a peer, in union coll_route
 *   coll_NAME_receive()	its receive hook, in receive.c
 *
 * The functions here are the interface. Each switches on the member's family, or on the packet's
 * protocol, and calls no function pointer: a packet passes through four of these functions, so
 * the compiler binds them.
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
#include "eth_multicast.h"
#include "packet_memory.h"
#include "udp.h"

/**
 * struct coll_bearers - the bearers of a namespace
 * @udp: see there
 * @eth: see there
 */
struct coll_bearers {
	struct coll_udp		udp;
	struct coll_eth		eth;
};

/**
 * union coll_route - the route to one host, under the lock of its group; begins as zero
 * @udp: see there. Ethernet has no routes
 */
union coll_route {
	struct coll_udp_route	udp;
};

/**
 * struct coll_bearer_hooks - what bearers do with the packets that they receive
 * @udp: calls coll_udp_receive()
 * @eth: calls coll_eth_receive()
 */
struct coll_bearer_hooks {
	coll_udp_hook		udp;
	coll_eth_hook		eth;
};

const struct coll_bearer *coll_bearer_of(u16 family);
u32 coll_bearer_address_bytes(const struct collsock_member *m);

/*
 * Headroom for the headers of the bearer and of a plain Ethernet device; a device that
 * needs more reallocates. With this value the smallest packet and its skb_shared_info fit
 * into 512 bytes (env.c).
 */
#define COLL_BEARER_HEADROOM	96

/* Memory of a packet of this length */
#define COLL_BEARER_ROOM(bytes)	(SKB_DATA_ALIGN(COLL_BEARER_HEADROOM + (bytes)) + \
				 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

/* What administrators call the port */
#define COLL_BEARER_PORT	"UDP port"

static_assert(COLL_UDP_HEADER_BYTES + ETH_HLEN <= COLL_BEARER_HEADROOM);

struct sk_buff *coll_bearer_long_packet(u32 bytes);

/**
 * coll_bearer_packet() - allocate a packet to be sent by any bearer
 * @bytes: length of the packet; its contents are uninitialised
 *
 * Its memory is that of earlier packets (packet_memory.h), its struct sk_buff comes from the
 * per-CPU cache to which a received packet is freed.
 *
 * Return: the packet, or NULL if there is no memory. Context: BH disabled.
 */
static inline struct sk_buff *coll_bearer_packet(u32 bytes)
{
	u32 room = COLL_BEARER_ROOM(bytes);
	struct sk_buff *skb;
	void *head;

	if (unlikely(room > PAGE_SIZE))
		return coll_bearer_long_packet(bytes);
	head = coll_packet_memory_take(room);
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
	coll_eth_init(&b->eth, net, tunables, hooks->eth, owner);
}

/**
 * coll_bearer_has_port() - does a member have a port, which is to be open?
 * @m: a complete member
 *
 * Context: any.
 */
static inline bool coll_bearer_has_port(const struct collsock_member *m)
{
	return !coll_eth_has(m);
}

/**
 * coll_bearer_open() - start to receive packets at a port
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
 * coll_bearer_close() - stop receiving packets at the port
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
 * coll_bearer_is_open() - is the port open?
 * @b: of the namespace; its mutex is held
 *
 * Context: process.
 */
static inline bool coll_bearer_is_open(const struct coll_bearers *b)
{
	return coll_udp_is_open(&b->udp);
}

/**
 * coll_bearer_open_device() - start to receive packets from a device
 * @b: of the namespace; its mutex is held
 * @self: this host, a member without a port
 *
 * Return: 0, also if it is open already; -EADDRNOTAVAIL if the device is not here any more, or
 * another -errno. Context: process.
 */
static inline int coll_bearer_open_device(struct coll_bearers *b,
					  const struct collsock_member *self)
{
	return coll_eth_open(&b->eth, self);
}

/**
 * coll_bearer_close_devices() - stop receiving packets from devices
 * @b: of the namespace; its mutex is held
 *
 * Waits for packets in flight to here.
 *
 * Context: process.
 */
static inline void coll_bearer_close_devices(struct coll_bearers *b)
{
	coll_eth_close(&b->eth);
}

/**
 * coll_bearer_forget_device() - a device leaves the namespace, or its type may change
 * @b: of the namespace
 * @dev: the device; RTNL is held
 *
 * Context: process.
 */
static inline void coll_bearer_forget_device(struct coll_bearers *b,
					     const struct net_device *dev)
{
	coll_eth_forget(&b->eth, dev);
	coll_eth_multicast_forget(&b->eth, dev);
}

/**
 * struct coll_bearer_device - a device that groups use, or that every user may use
 * @ifindex: its index
 * @open: does it receive packets of groups?
 * @allowed: may every user use it?
 */
struct coll_bearer_device {
	u32	ifindex;
	bool	open;
	bool	allowed;
};

/**
 * coll_bearer_next_device() - one of these devices
 * @b: of the namespace
 * @device: in: its ifindex is where to begin; out: the first device from there on
 *
 * Return: is there any? Context: process.
 */
static inline bool coll_bearer_next_device(struct coll_bearers *b,
					   struct coll_bearer_device *device)
{
	if (!coll_eth_next(&b->eth, &device->ifindex))
		return false;
	device->open = coll_eth_is_open(&b->eth, device->ifindex);
	device->allowed = coll_eth_is_allowed(&b->eth, device->ifindex);
	return true;
}

/**
 * coll_bearer_next_allowed() - a device that every user may use
 * @b: of the namespace
 * @ifindex: in and out: the first with at least this index
 *
 * Return: is there any? Context: process.
 */
static inline bool coll_bearer_next_allowed(struct coll_bearers *b, u32 *ifindex)
{
	return coll_eth_next_allowed(&b->eth, ifindex);
}

/**
 * coll_bearer_allow_device() - may every user use a device, without a port and without IP?
 * @b: of the namespace
 * @ifindex: of the device
 * @allowed: every user, or only those with CAP_NET_RAW
 *
 * Existing groups are not affected. The setting is forgotten when the device leaves the namespace.
 *
 * Return: 0, -ENODEV or -ENOMEM. Context: process.
 */
static inline int coll_bearer_allow_device(struct coll_bearers *b, int ifindex, bool allowed)
{
	return coll_eth_allow(&b->eth, ifindex, allowed);
}

/**
 * coll_bearer_stop() - stop receiving packets for good
 * @b: of the namespace, which ends; its mutex is held
 *
 * Waits for nothing: packets in flight may still be received, and answered, for a grace period.
 *
 * Context: process.
 */
static inline void coll_bearer_stop(struct coll_bearers *b)
{
	coll_udp_stop(&b->udp);
	coll_eth_stop(&b->eth);
}

/**
 * coll_bearer_end() - free what is left of the bearers
 * @b: stopped a grace period ago; nothing is sent any more
 *
 * Context: process.
 */
static inline void coll_bearer_end(struct coll_bearers *b)
{
	coll_udp_end(&b->udp);
	coll_eth_end(&b->eth);
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
	if (family == AF_PACKET)
		return coll_eth_socket(net, sock);
	return coll_udp_socket(net, family, sock);
}

/**
 * coll_bearer_localise() - complete the members of a request with what only this host knows
 * @b: of the namespace
 * @members: of the group, complete but for that
 * @hosts: number of them
 * @self: which of them this host is
 *
 * For instance which device has an address.
 *
 * Return: 0; -EINVAL if they do not fit together; -EPERM if the process may not use the bearer;
 * -EADDRNOTAVAIL, -ENOTUNIQ or -EXDEV, as coll_bearer_check_self(), if the member cannot be
 * completed. Context: process.
 */
static inline int coll_bearer_localise(const struct coll_bearers *b,
				       struct collsock_member *members, u32 hosts, u32 self)
{
	return coll_eth_has(members) ? coll_eth_localise(&b->eth, members, hosts, self) : 0;
}

/**
 * coll_bearer_check_self() - can this host be that member?
 * @b: of the namespace
 * @self: the member
 *
 * Return: 0; -EAFNOSUPPORT; -EADDRNOTAVAIL if it is not an address of this namespace; -EXDEV
 * if the address is in a part of the namespace that groups cannot use. Context: process.
 */
static inline int coll_bearer_check_self(const struct coll_bearers *b,
					 const struct collsock_member *self)
{
	if (coll_eth_has(self))
		return coll_eth_check_self(&b->eth, self);
	return coll_udp_check_self(&b->udp, self);
}

/**
 * coll_bearer_check_owner() - can this owner send that member's packets?
 * @b: of the namespace
 * @owner: of the packets
 * @self: the member, which coll_bearer_check_self() has accepted
 *
 * Return: 0, or -EADDRNOTAVAIL if @owner is bound to a device where the address of @self is not
 * available. Context: process.
 */
static inline int coll_bearer_check_owner(const struct coll_bearers *b, const struct sock *owner,
					  const struct collsock_member *self)
{
	if (coll_eth_has(self))
		return coll_eth_check_owner(owner, self);
	return coll_udp_check_owner(&b->udp, owner, self);
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
	if (coll_eth_has(self))
		return coll_eth_check_path(&b->eth, self, bytes);
	return coll_udp_check_path(&b->udp, owner, self, to, bytes);
}

/**
 * coll_bearer_multicast_join() - give a group a multicast address
 * @b: of the namespace; its mutex is not held
 * @owner: of the packets; over UDP it joins the address, and leaves it when it ends
 * @self: this host
 * @bytes: length of the largest packet, without the headers of the bearer
 * @everyone: this host as a member, with that address in the place of its own; out: its scope id
 *	is the device by which packets to the address come and go
 * @m: zeroed; the address if the owner does not have it; coll_bearer_multicast_leave() follows
 *
 * Packets may come from now on, once the device is open.
 *
 * Return: 0; -EADDRNOTAVAIL if there is no device for it; -EMSGSIZE; or another -errno. Context:
 * process; takes RTNL.
 */
static inline int coll_bearer_multicast_join(struct coll_bearers *b, struct sock *owner,
					     const struct collsock_member *self, u32 bytes,
					     struct collsock_member *everyone,
					     struct coll_eth_multicast *m)
{
	if (coll_eth_has(self))
		return coll_eth_multicast_join(&b->eth, everyone, m);
	return coll_udp_multicast(&b->udp, owner, self, bytes, everyone);
}

/**
 * coll_bearer_multicast_leave() - a group leaves its multicast address
 * @m: from coll_bearer_multicast_join(), also if that failed, or zeroed
 *
 * The owner has not left it yet.
 *
 * Context: process; takes RTNL if the group has joined. The namespace's mutex is not held.
 */
static inline void coll_bearer_multicast_leave(struct coll_eth_multicast *m)
{
	coll_eth_multicast_leave(m);
}

/**
 * coll_bearer_route_find() - look up a route
 * @b: of the namespace
 * @route: out: to @to, if the bearer has routes
 * @owner: of the packets; NULL for those that belong to no group
 * @self: their source
 * @to: their destination
 *
 * The time that this takes has no bound: there may be any number of rules, one after the other.
 *
 * Return: 0, or -EHOSTUNREACH if there is none. Context: BH disabled; no lock should be held.
 */
static inline int coll_bearer_route_find(const struct coll_bearers *b, union coll_route *route,
					 struct sock *owner, const struct collsock_member *self,
					 const struct collsock_member *to)
{
	if (coll_eth_has(to))
		return 0;
	return coll_udp_route_find(&b->udp, &route->udp, owner, self, to);
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
 * The packet holds no reference on its route. coll_bearer_route_replace() keeps a route that
 * packets may have until they have been transmitted.
 *
 * Return: 0; -EAGAIN if @route is not valid, so that coll_bearer_route_find() is to look it up;
 * -EHOSTUNREACH if the port is closed or the device has left; -ENOBUFS if the packets of @owner
 * that are under way on this host fill its send buffer; the packet is unchanged then. Context: BH
 * disabled from here until after coll_bearer_transmit(); @route is protected by the lock of its
 * group.
 */
static inline int coll_bearer_address(struct coll_bearers *b, union coll_route *route,
				      struct sk_buff *skb, struct sock *owner,
				      const struct collsock_member *self,
				      const struct collsock_member *to)
{
	if (unlikely(coll_eth_has(to)))
		return coll_eth_address(&b->eth, skb, owner, self, to);
	return coll_udp_address(&b->udp, &route->udp, skb, owner, self, to);
}

/**
 * coll_bearer_address_all() - coll_bearer_address() of a packet to a multicast address
 * @b: of the namespace
 * @route: cached route to @everyone
 * @skb: the packet, which may not be fragmented
 * @owner: of the packet
 * @self: its source
 * @everyone: its destination, from coll_bearer_multicast_join()
 *
 * Return: as coll_bearer_address(). Context: likewise.
 */
static inline int coll_bearer_address_all(struct coll_bearers *b, union coll_route *route,
					  struct sk_buff *skb, struct sock *owner,
					  const struct collsock_member *self,
					  const struct collsock_member *everyone)
{
	int err = coll_bearer_address(b, route, skb, owner, self, everyone);

	if (!err && !coll_eth_has(everyone))
		coll_udp_multicast_clear_ecn(skb);
	return err;
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
 * coll_bearer_route_replace() - replace a cached route that is not valid, or not needed now
 * @route: protected by the group's lock
 * @found: from coll_bearer_route_find(), or none; none afterwards
 *
 * Packets that have the former route may still be on their way to the device on other CPUs: it is
 * kept until they have left.
 *
 * Return: 0; -ENOBUFS without memory: @route is unchanged then. Context: BH disabled.
 */
static inline int coll_bearer_route_replace(union coll_route *route, union coll_route *found)
{
	return coll_udp_route_replace(&route->udp, &found->udp);
}

/**
 * coll_bearer_written() - what coll_bearer_packet() returned, now after the headers
 * @skb: addressed
 *
 * Context: any.
 */
static inline const u8 *coll_bearer_written(const struct sk_buff *skb)
{
	return likely(coll_udp_has(skb)) ? coll_udp_packet(skb) : coll_eth_packet(skb);
}

/**
 * coll_bearer_transmit() - send a packet
 * @b: of the namespace
 * @skb: addressed; in no list
 *
 * Return: 0; -EPERM if a filter of this host refused it; NET_XMIT_DROP or NET_XMIT_CN if a
 * queue of this host is full; the caller ignores anything else.
 * Context: BH disabled since the packet was addressed, no lock.
 */
static inline int coll_bearer_transmit(struct coll_bearers *b, struct sk_buff *skb)
{
	return likely(coll_udp_has(skb)) ? coll_udp_transmit(&b->udp, skb) :
					   coll_eth_transmit(skb);
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
	if (unlikely(coll_eth_has(m)))
		return coll_eth_is_from(skb, m);
	return coll_udp_is_from(skb, m);
}

/**
 * coll_bearer_is_to() - did the packet go to this multicast address?
 * @skb: received
 * @everyone: from coll_bearer_multicast_join()
 *
 * Context: the receive hook.
 */
static inline bool coll_bearer_is_to(const struct sk_buff *skb,
				     const struct collsock_member *everyone)
{
	return coll_eth_has(everyone) ? coll_eth_is_to(skb, everyone) :
					coll_udp_is_to(skb, everyone);
}

/**
 * coll_bearer_is_marked() - has the network marked the packet "congestion experienced"?
 * @skb: received
 *
 * Context: the receive hook.
 */
static inline bool coll_bearer_is_marked(const struct sk_buff *skb)
{
	/* Ethernet marks nothing. */
	return likely(coll_udp_has(skb)) && coll_udp_is_marked(skb);
}

/**
 * coll_bearer_accepts() - do the device and the filters of the owner accept a received packet?
 * @owner: of the group that it is for
 * @skb: received
 *
 * The filters are for IP only. Over Ethernet a group has the device of its member.
 *
 * Context: the receive hook.
 */
static inline bool coll_bearer_accepts(struct sock *owner, struct sk_buff *skb)
{
	return unlikely(!coll_udp_has(skb)) || coll_udp_accepts(owner, skb);
}

/**
 * coll_bearer_source() - source of a packet as a member
 * @skb: received
 * @from: out
 *
 * Context: the receive hook.
 */
static inline void coll_bearer_source(const struct sk_buff *skb, struct collsock_member *from)
{
	if (coll_udp_has(skb))
		coll_udp_source(skb, from);
	else
		coll_eth_source(skb, from);
}

#endif
