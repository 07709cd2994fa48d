/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Ethernet bearer (bearer.h): packets of groups whose members are interfaces of one
 * Ethernet network. A packet follows the Ethernet header: there is no IP, no route, and no
 * port. The EtherType has the place of the port.
 *
 * A device is opened when the first group needs it, and closed when the namespace has no group
 * left. It is closed at once when it is removed or moves to another namespace: packets to be sent
 * have no route from then on, and none are received. A group needs CAP_NET_RAW in the namespace,
 * or a device that the administrator allows to all.
 *
 * Packets pass through the queues of the device (tc, its egress hooks, taps). Firewall rules for
 * IP and programs of control groups for sockets do not see them.
 *
 * Only these files and eth_bearer.[ch], the part that the core and other platforms use, know
 * Ethernet.
 */
#ifndef COLL_ETH_H
#define COLL_ETH_H

#include <linux/etherdevice.h>
#include <linux/hashtable.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "eth_bearer.h"
#include "owner.h"
#include "tunables.h"

/* Receive function of the devices; in softirq, or with BH disabled, under RCU */
typedef int (*coll_eth_hook)(struct sk_buff *skb, struct net_device *dev,
			     struct packet_type *type, struct net_device *orig_dev);

/**
 * struct coll_eth - the Ethernet devices of a namespace
 * @net: the namespace
 * @tunables: of the namespace
 * @hook: receive function of all devices
 * @owner: for @hook
 * @lock: to change @devices and what they have; also taken with RTNL held, so nobody sleeps with it
 * @devices: open ones by their index, read under RCU: each packet that is sent looks for its own
 * @latest: the one of @devices that was opened last, often the only one; or NULL
 * @allowed: by interface index, those that every user may use; never dereferenced
 * @multicasts: addresses of groups (eth_multicast.h), by device; under RTNL
 */
struct coll_eth {
	struct net			*net;
	const struct coll_tunables	*tunables;
	coll_eth_hook			hook;
	void				*owner;
	spinlock_t			lock;	/* devices */
	struct xarray			devices;
	struct coll_eth_device __rcu	*latest;
	struct xarray			allowed;
	DECLARE_HASHTABLE(multicasts, 6);
};

/**
 * struct coll_eth_device - an open device
 * @rcu: it is freed a grace period after it was closed
 * @eth: the devices of its namespace
 * @index: its index in coll_eth.devices
 * @type: receives its packets of one EtherType; has a reference on the device
 */
struct coll_eth_device {
	struct rcu_head		rcu;
	struct coll_eth		*eth;
	unsigned long		index;
	struct packet_type	type;
};

void coll_eth_init(struct coll_eth *eth, struct net *net, const struct coll_tunables *tunables,
		   coll_eth_hook hook, void *owner);
void coll_eth_stop(struct coll_eth *eth);
void coll_eth_end(struct coll_eth *eth);
int coll_eth_open(struct coll_eth *eth, const struct collsock_member *self);
void coll_eth_close(struct coll_eth *eth);
void coll_eth_forget(struct coll_eth *eth, const struct net_device *dev);
bool coll_eth_is_open(struct coll_eth *eth, int ifindex);
bool coll_eth_next(struct coll_eth *eth, u32 *ifindex);
bool coll_eth_next_allowed(struct coll_eth *eth, u32 *ifindex);
int coll_eth_allow(struct coll_eth *eth, int ifindex, bool all);
bool coll_eth_is_allowed(const struct coll_eth *eth, int ifindex);

int coll_eth_socket(struct net *net, struct socket **sock);
int coll_eth_localise(const struct coll_eth *eth, struct collsock_member *members, u32 hosts,
		      u32 self);
int coll_eth_check_self(const struct coll_eth *eth, const struct collsock_member *self);
int coll_eth_check_owner(const struct sock *owner, const struct collsock_member *self);
int coll_eth_check_path(const struct coll_eth *eth, const struct collsock_member *self, u32 bytes);

int coll_eth_address(const struct coll_eth *eth, struct sk_buff *skb, struct sock *owner,
		     const struct collsock_member *self, const struct collsock_member *to);
void coll_eth_source(const struct sk_buff *skb, struct collsock_member *from);

/* Has the device Ethernet's addresses? That may change, with RTNL held. */
static inline bool coll_eth_is_ethernet(const struct net_device *dev)
{
	return dev->type == ARPHRD_ETHER && dev->addr_len == ETH_ALEN;
}

/* Is the member an interface of an Ethernet network? */
static inline bool coll_eth_has(const struct collsock_member *m)
{
	return m->family == AF_PACKET;
}

/* A packet that was addressed, after its header */
static inline u8 *coll_eth_packet(const struct sk_buff *skb)
{
	return skb_network_header(skb);
}

/**
 * coll_eth_transmit() - coll_bearer_transmit() of Ethernet
 * @skb: the packet, with its header
 *
 * Return: see coll_bearer_transmit(); a filter that refuses it looks like a full queue.
 * Context: likewise.
 */
static inline int coll_eth_transmit(struct sk_buff *skb)
{
	return dev_queue_xmit(skb);
}

/* A frame that went to a multicast address of the device: its packet is passed to @copy. */
static noinline int coll_eth_receive_copy(struct sk_buff *skb,
					  const struct coll_eth_device *device,
					  void (*copy)(void *owner, struct sk_buff *skb,
						       u32 header_bytes))
{
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	copy(device->eth->owner, skb, 0);
	return NET_RX_SUCCESS;
}

/*
 * Pass the owner and the packet to @receive, or to @copy if it went to a multicast address.
 * Broadcasts and frames for other hosts are not for a group. Neither are frames that only came
 * through this device: of a VLAN on it, or for a macvlan device, perhaps in another namespace.
 */
static __always_inline int coll_eth_receive(struct sk_buff *skb, struct packet_type *type,
					    void (*receive)(void *owner, struct sk_buff *skb,
							    u32 header_bytes),
					    void (*copy)(void *owner, struct sk_buff *skb,
							 u32 header_bytes))
{
	const struct coll_eth_device *device = container_of(type, struct coll_eth_device, type);

	if (unlikely(skb->pkt_type != PACKET_HOST || skb->dev != type->dev)) {
		if (skb->pkt_type == PACKET_MULTICAST && skb->dev == type->dev)
			return coll_eth_receive_copy(skb, device, copy);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	/* Packet sockets may share it. */
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb))
		return NET_RX_DROP;
	receive(device->eth->owner, skb, 0);
	return NET_RX_SUCCESS;
}

/* Is the received packet from this member, by the device of its group? */
static inline bool coll_eth_is_from(const struct sk_buff *skb, const struct collsock_member *m)
{
	return skb->protocol == htons(m->port) && skb->dev->ifindex == m->scope_id &&
	       !memcmp(eth_hdr(skb)->h_source, m->address, ETH_ALEN);
}

/* Did the received packet go to this address? */
static inline bool coll_eth_is_to(const struct sk_buff *skb, const struct collsock_member *m)
{
	return skb->protocol == htons(m->port) &&
	       !memcmp(eth_hdr(skb)->h_dest, m->address, ETH_ALEN);
}

#endif
