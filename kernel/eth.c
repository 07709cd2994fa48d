// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "eth.h"

/* ---- the devices of a namespace ---- */

/**
 * coll_eth_init() - initialise the devices of a namespace, none open
 * @eth: zeroed
 * @net: the namespace
 * @tunables: of the namespace
 * @hook: receives the packets of its devices
 * @owner: for @hook
 *
 * Context: process.
 */
void coll_eth_init(struct coll_eth *eth, struct net *net, const struct coll_tunables *tunables,
		   coll_eth_hook hook, void *owner)
{
	eth->net = net;
	eth->tunables = tunables;
	eth->hook = hook;
	eth->owner = owner;
	spin_lock_init(&eth->lock);
	xa_init(&eth->devices);
	xa_init(&eth->allowed);
	hash_init(eth->multicasts);
}

/* A device may be open for two types. */
#define ETH_TYPES	2

static unsigned long eth_index(u32 ifindex, u16 type)
{
	return (unsigned long)ifindex * ETH_TYPES + (type == COLLSOCK_OTHER_ETHERTYPE);
}

/*
 * Find the device by which a member sends, or that has the multicast address @m; NULL if there is
 * none. RCU read side, bottom halves off, or the lock held.
 */
static struct coll_eth_device *eth_find(const struct coll_eth *eth, const struct collsock_member *m)
{
	unsigned long index = eth_index(m->scope_id, m->port);
	struct coll_eth_device *latest;

	latest = rcu_dereference_check(eth->latest,
				       rcu_read_lock_any_held() || lockdep_is_held(&eth->lock));
	if (likely(latest && latest->index == index))
		return latest;
	return xa_load((struct xarray *)&eth->devices, index);
}

static void eth_free_rcu(struct rcu_head *rcu)
{
	struct coll_eth_device *device = container_of(rcu, struct coll_eth_device, rcu);

	dev_put(device->type.dev);
	kfree(device);
}

/*
 * Close a device. The lock is held. Packets that were received from the device, or that leave by
 * it, may be under way until a grace period has passed.
 */
static void eth_close(struct coll_eth_device *device)
{
	struct coll_eth *eth = device->eth;

	if (rcu_access_pointer(eth->latest) == device)
		RCU_INIT_POINTER(eth->latest, NULL);
	/*
	 * Erase it by the index at which it was opened: a device that moves may get another
	 * ifindex.
	 */
	xa_erase(&eth->devices, device->index);
	__dev_remove_pack(&device->type);
	call_rcu(&device->rcu, eth_free_rcu);
}

/* Does the device still belong to the namespace? Then its removal is announced later. */
static bool eth_stays(const struct coll_eth *eth, const struct net_device *dev)
{
	bool stays;

	rcu_read_lock();
	stays = dev_get_by_index_rcu(eth->net, dev->ifindex) == dev;
	rcu_read_unlock();
	return stays;
}

/* Allocate an entry for a device, with a reference on it. Returns an error pointer on failure. */
static struct coll_eth_device *eth_device_new(struct coll_eth *eth,
					      const struct collsock_member *self)
{
	struct coll_eth_device *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return ERR_PTR(-ENOMEM);
	device->eth = eth;
	device->index = eth_index(self->scope_id, self->port);
	device->type.type = htons(self->port);
	device->type.func = eth->hook;
	device->type.dev = dev_get_by_index(eth->net, self->scope_id);
	if (device->type.dev)
		return device;
	kfree(device);
	return ERR_PTR(-EADDRNOTAVAIL);
}

static bool eth_is_open(struct coll_eth *eth, const struct collsock_member *self)
{
	bool open;

	rcu_read_lock();
	open = eth_find(eth, self);
	rcu_read_unlock();
	return open;
}

/**
 * coll_eth_open() - packets of a device are received from now on
 * @eth: the devices; the namespace's mutex is held
 * @self: the member that this host is
 *
 * Return: 0, also if it is open already; -EADDRNOTAVAIL if the namespace does not have it any
 * more, or -ENOMEM. Context: process.
 */
int coll_eth_open(struct coll_eth *eth, const struct collsock_member *self)
{
	struct coll_eth_device *device;
	int err = 0;

	/* Nobody else opens one meanwhile. */
	if (eth_is_open(eth, self))
		return 0;
	device = eth_device_new(eth, self);
	if (IS_ERR(device))
		return PTR_ERR(device);
	/* Nothing is allocated under the lock. */
	err = xa_reserve(&eth->devices, device->index, GFP_KERNEL);
	if (err) {
		dev_put(device->type.dev);
		kfree(device);
		return err;
	}
	spin_lock(&eth->lock);
	WARN_ON_ONCE(xa_is_err(xa_store(&eth->devices, device->index, device, 0)));
	rcu_assign_pointer(eth->latest, device);
	dev_add_pack(&device->type);
	if (!eth_stays(eth, device->type.dev)) {
		eth_close(device);
		err = -EADDRNOTAVAIL;
	}
	spin_unlock(&eth->lock);
	return err;
}

/* Close the entries of @dev, or all of them if it is NULL. Returns true if there were any. */
static bool eth_close_those(struct coll_eth *eth, const struct net_device *dev)
{
	unsigned long first = dev ? eth_index(dev->ifindex, 0) : 0, index;
	unsigned long last = dev ? first + ETH_TYPES - 1 : ULONG_MAX;
	struct coll_eth_device *device;
	bool any = false;

	spin_lock(&eth->lock);
	xa_for_each_range(&eth->devices, index, device, first, last) {
		if (dev && device->type.dev != dev)
			continue;
		eth_close(device);
		any = true;
	}
	spin_unlock(&eth->lock);
	return any;
}

/**
 * coll_eth_close() - close all devices
 * @eth: the devices
 *
 * Waits for packets in flight, in either direction.
 *
 * Context: process.
 */
void coll_eth_close(struct coll_eth *eth)
{
	if (eth_close_those(eth, NULL))
		synchronize_net();
}

/**
 * coll_eth_stop() - close all devices; none is opened any more
 * @eth: the devices of a namespace that ends
 *
 * Waits for nothing: packets in flight, also of devices that have left, may still be received
 * for a grace period.
 *
 * Context: process.
 */
void coll_eth_stop(struct coll_eth *eth)
{
	eth_close_those(eth, NULL);
}

/**
 * coll_eth_end() - free what is left
 * @eth: the devices, stopped a grace period ago
 *
 * Context: process.
 */
void coll_eth_end(struct coll_eth *eth)
{
	xa_destroy(&eth->devices);
	xa_destroy(&eth->allowed);
}

/*
 * No longer allow the device to all users. Its removal is announced repeatedly, and another device
 * may have its index by now.
 */
static void eth_disallow(struct coll_eth *eth, const struct net_device *dev)
{
	xa_cmpxchg(&eth->allowed, dev->ifindex, (void *)dev, NULL, GFP_KERNEL);
}

/**
 * coll_eth_forget() - a device leaves the namespace, or its type may change
 * @eth: of the namespace
 * @dev: the device, which still has its index, though if it leaves it is not found by it any more;
 *	RTNL is held
 *
 * Waits for nothing: many devices may leave at once, with RTNL held, and the code that removes or
 * moves them waits for packets in flight, once for all. One that changes its type stays.
 *
 * Context: process.
 */
void coll_eth_forget(struct coll_eth *eth, const struct net_device *dev)
{
	eth_disallow(eth, dev);
	eth_close_those(eth, dev);
}

/**
 * coll_eth_is_open() - does a device receive packets of groups?
 * @eth: of the namespace
 * @ifindex: of the device
 *
 * Context: process.
 */
bool coll_eth_is_open(struct coll_eth *eth, int ifindex)
{
	unsigned long index = eth_index(ifindex, 0);

	return xa_find(&eth->devices, &index, index + ETH_TYPES - 1, XA_PRESENT);
}

/**
 * coll_eth_next_allowed() - a device that every user may use
 * @eth: of the namespace
 * @ifindex: in and out: the first with at least this index
 *
 * Return: is there any? Context: process.
 */
bool coll_eth_next_allowed(struct coll_eth *eth, u32 *ifindex)
{
	unsigned long allowed = *ifindex;

	if (!xa_find(&eth->allowed, &allowed, INT_MAX, XA_PRESENT))
		return false;
	*ifindex = allowed;
	return true;
}

/**
 * coll_eth_next() - a device that is open, or that every user may use
 * @eth: of the namespace
 * @ifindex: in and out: the first with at least this index
 *
 * Return: is there any? Context: process.
 */
bool coll_eth_next(struct coll_eth *eth, u32 *ifindex)
{
	unsigned long open = eth_index(*ifindex, 0), next = ULONG_MAX;
	u32 allowed = *ifindex;

	if (*ifindex > INT_MAX)
		return false;
	if (coll_eth_next_allowed(eth, &allowed))
		next = allowed;
	if (xa_find(&eth->devices, &open, ULONG_MAX, XA_PRESENT))
		next = min(next, open / ETH_TYPES);
	if (next == ULONG_MAX)
		return false;
	*ifindex = next;
	return true;
}

/* ---- who may use them ---- */

/**
 * coll_eth_allow() - may every user use a device?
 * @eth: of the namespace
 * @ifindex: of the device
 * @all: every user, or only those with CAP_NET_RAW
 *
 * Existing groups are not affected. The setting is forgotten when the device leaves the namespace
 * or changes its type.
 *
 * Return: 0; -ENODEV or -ENOMEM. Context: process.
 */
int coll_eth_allow(struct coll_eth *eth, int ifindex, bool all)
{
	struct net_device *dev = dev_get_by_index(eth->net, ifindex);
	int err = 0;

	if (!dev)
		return -ENODEV;
	if (all)
		err = xa_err(xa_store(&eth->allowed, ifindex, dev, GFP_KERNEL));
	else
		eth_disallow(eth, dev);
	/* The device may just have left the namespace, and its setting been forgotten. */
	if (!eth_stays(eth, dev)) {
		eth_disallow(eth, dev);
		err = -ENODEV;
	}
	dev_put(dev);
	return err;
}

/**
 * coll_eth_is_allowed() - may every user use a device?
 * @eth: of the namespace
 * @ifindex: of the device
 *
 * Context: any.
 */
bool coll_eth_is_allowed(const struct coll_eth *eth, int ifindex)
{
	return xa_load((struct xarray *)&eth->allowed, ifindex);
}

static bool eth_permitted(const struct coll_eth *eth, int ifindex)
{
	return coll_eth_is_allowed(eth, ifindex) ||
	       ns_capable(eth->net->user_ns, CAP_NET_RAW);
}

/* ---- checks when a group is joined ---- */

/*
 * Is it a port of a bridge or a bond? Then its master receives its packets, and is the device
 * for groups. A VRF is no such master, as it receives only IP. RCU read side.
 */
static bool eth_is_port(const struct net_device *dev)
{
	const struct net_device *master;

	master = netdev_master_upper_dev_get_rcu((struct net_device *)dev);
	return master && !netif_is_l3_master(master);
}

static bool eth_is_self(const struct net_device *dev, const struct collsock_member *self)
{
	return coll_eth_is_ethernet(dev) && !memcmp(dev->dev_addr, self->address, ETH_ALEN);
}

/* Is the device that member? Returns 0, or why not. RCU read side. */
static int eth_check_device(const struct net_device *dev, const struct collsock_member *self)
{
	if (!dev || !eth_is_self(dev, self))
		return -EADDRNOTAVAIL;
	return eth_is_port(dev) ? -EXDEV : 0;
}

/*
 * Find the only device with that address, not counting ports of bridges and bonds. Returns its
 * index, or why there is none. RCU read side.
 */
static int eth_find_self(struct net *net, const struct collsock_member *self)
{
	int found = -EADDRNOTAVAIL, err;
	struct net_device *dev;

	for_each_netdev_rcu(net, dev) {
		err = eth_check_device(dev, self);
		if (!err && found > 0)
			return -ENOTUNIQ;
		if (!err)
			found = dev->ifindex;
		else if (err == -EXDEV && found < 0)
			found = err;
	}
	return found;
}

/* Fill in the index of the member's device. Returns -EPERM if the process may not use it. */
static int eth_complete_self(const struct coll_eth *eth, struct collsock_member *self)
{
	int found = 0;

	if (!self->scope_id) {
		rcu_read_lock();
		found = eth_find_self(eth->net, self);
		rcu_read_unlock();
	}
	if (found < 0)
		return found;
	if (found)
		self->scope_id = found;
	return eth_permitted(eth, self->scope_id) ? 0 : -EPERM;
}

/**
 * coll_eth_localise() - coll_bearer_localise() of Ethernet
 * @eth: the devices
 * @members: of the group
 * @hosts: number of them
 * @self: which of them this host is
 *
 * Packets of all of them come and go by the device of this host.
 *
 * Return: 0; -EINVAL if their types differ; -EPERM if the process may not use the device;
 * -ENOTUNIQ if several devices have the address and the scope id does not say which; -EXDEV if it
 * is the port of a bridge or a bond; or -EADDRNOTAVAIL. Context: process.
 */
int coll_eth_localise(const struct coll_eth *eth, struct collsock_member *members, u32 hosts,
		      u32 self)
{
	int err = eth_complete_self(eth, &members[self]);
	u32 host;

	for (host = 0; !err && host < hosts; host++) {
		if (members[host].port != members[self].port)
			err = -EINVAL;
		members[host].scope_id = members[self].scope_id;
	}
	return err;
}

/**
 * coll_eth_check_self() - can this host be that member?
 * @eth: the devices
 * @self: the member, with its device
 *
 * Return: 0; -EADDRNOTAVAIL if the device has another address or the namespace another EtherType;
 * -EXDEV if the device is the port of another one. Context: process.
 */
int coll_eth_check_self(const struct coll_eth *eth, const struct collsock_member *self)
{
	int err;

	if (self->port != coll_tunable(eth->tunables, COLL_TUNABLE_ETHERTYPE))
		return -EADDRNOTAVAIL;
	rcu_read_lock();
	err = eth_check_device(dev_get_by_index_rcu(eth->net, self->scope_id), self);
	rcu_read_unlock();
	return err;
}

/**
 * coll_eth_check_owner() - can this owner send that member's packets?
 * @owner: of the packets
 * @self: the member
 *
 * Return: 0, or -EADDRNOTAVAIL if @owner is bound to another device. Context: process.
 */
int coll_eth_check_owner(const struct sock *owner, const struct collsock_member *self)
{
	if (owner->sk_bound_dev_if && owner->sk_bound_dev_if != self->scope_id)
		return -EADDRNOTAVAIL;
	return 0;
}

/**
 * coll_eth_check_path() - does the device carry packets of this size?
 * @eth: the devices
 * @self: this host
 * @bytes: length of the largest packet, without the Ethernet header
 *
 * Return: 0 or -EMSGSIZE. Context: process.
 */
int coll_eth_check_path(const struct coll_eth *eth, const struct collsock_member *self, u32 bytes)
{
	const struct net_device *dev;
	bool fits;

	rcu_read_lock();
	dev = dev_get_by_index_rcu(eth->net, self->scope_id);
	/* If the device is gone, nothing can be sent at any size, so -EMSGSIZE would be wrong. */
	fits = !dev || bytes <= READ_ONCE(dev->mtu);
	rcu_read_unlock();
	return fits ? 0 : -EMSGSIZE;
}

/**
 * coll_eth_socket() - coll_bearer_socket() of Ethernet
 * @net: the namespace
 * @sock: out
 *
 * The socket only shows whose packets these are. A packet socket would require CAP_NET_RAW.
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_eth_socket(struct net *net, struct socket **sock)
{
	int err = sock_create_kern(net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, sock);

	if (!err)
		sk_set_txhash((*sock)->sk);
	return err;
}

/* ---- packets ---- */

/*
 * Find the device by which a packet leaves. Returns NULL unless the device is still open, has the
 * address of this host, and carries packets of this length.
 */
static struct net_device *eth_way(const struct coll_eth *eth, const struct sk_buff *skb,
				  const struct collsock_member *self)
{
	const struct coll_eth_device *device = eth_find(eth, self);

	if (unlikely(!device || memcmp(device->type.dev->dev_addr, self->address, ETH_ALEN) ||
		     skb->len > READ_ONCE(device->type.dev->mtu)))
		return NULL;
	return device->type.dev;
}

/*
 * Compute the flow of packets of a group to a host, which keeps them in order; others may share
 * their queue. Tunnels expose this number to the network, so it must not reveal addresses of the
 * kernel.
 */
static u32 eth_flow(const struct sock *owner, const struct collsock_member *to)
{
	u32 last;

	memcpy(&last, to->address + ETH_ALEN - sizeof(last), sizeof(last));
	return (owner ? READ_ONCE(owner->sk_txhash) : 0) ^ last;
}

static void eth_push_header(struct sk_buff *skb, const struct collsock_member *self,
			    const struct collsock_member *to)
{
	struct ethhdr *header;

	skb_reset_network_header(skb);
	header = __skb_push(skb, sizeof(*header));
	skb_reset_mac_header(skb);
	skb->protocol = htons(to->port);
	memcpy(header->h_dest, to->address, ETH_ALEN);
	memcpy(header->h_source, self->address, ETH_ALEN);
	header->h_proto = skb->protocol;
}

/**
 * coll_eth_address() - coll_bearer_address() of Ethernet
 * @eth: the devices
 * @skb: the packet
 * @owner: of the packet, or NULL
 * @self: its source
 * @to: its destination
 *
 * Return: 0; -EHOSTUNREACH if the device is closed, has another address now, or does not carry
 * packets of this length; or -ENOBUFS. Context: see coll_bearer_address().
 */
int coll_eth_address(const struct coll_eth *eth, struct sk_buff *skb, struct sock *owner,
		     const struct collsock_member *self, const struct collsock_member *to)
{
	struct net_device *dev = eth_way(eth, skb, self);

	if (unlikely(!dev))
		return -EHOSTUNREACH;
	if (likely(owner)) {
		if (unlikely(!coll_owner_has_room(owner)))
			return -ENOBUFS;
		coll_owner_take(owner, skb);
	}
	skb->dev = dev;
	__skb_set_sw_hash(skb, eth_flow(owner, to), true);
	eth_push_header(skb, self, to);
	return 0;
}

/**
 * coll_eth_source() - coll_bearer_source() of Ethernet
 * @skb: received
 * @from: out
 *
 * Context: the receive hook.
 */
void coll_eth_source(const struct sk_buff *skb, struct collsock_member *from)
{
	memset(from, 0, sizeof(*from));
	from->family = AF_PACKET;
	from->port = ntohs(skb->protocol);
	from->scope_id = skb->dev->ifindex;
	memcpy(from->address, eth_hdr(skb)->h_source, ETH_ALEN);
}
