// SPDX-License-Identifier: GPL-2.0
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "eth_multicast.h"

/**
 * coll_eth_multicast_join() - coll_bearer_multicast_join() of Ethernet
 * @eth: the devices
 * @everyone: the address, with the device
 * @m: zeroed; coll_eth_multicast_leave() follows
 *
 * The device counts how often each address was added.
 *
 * Return: 0; -EADDRNOTAVAIL if the device has left, or is not Ethernet any more; or the device's
 * -errno. Context: process; takes RTNL.
 */
int coll_eth_multicast_join(struct coll_eth *eth, const struct collsock_member *everyone,
			    struct coll_eth_multicast *m)
{
	struct net_device *dev;
	int err = -EADDRNOTAVAIL;

	memcpy(m->address, everyone->address, ETH_ALEN);
	rtnl_lock();
	dev = __dev_get_by_index(eth->net, everyone->scope_id);
	if (dev && coll_eth_is_ethernet(dev))
		err = dev_mc_add(dev, m->address);
	if (!err) {
		m->dev = dev;
		m->joined = true;
		hash_add(eth->multicasts, &m->node, (unsigned long)dev);
	}
	rtnl_unlock();
	return err;
}

static void eth_multicast_drop(struct coll_eth_multicast *m)
{
	ASSERT_RTNL();
	hash_del(&m->node);
	dev_mc_del(m->dev, m->address);
	m->dev = NULL;
}

/**
 * coll_eth_multicast_leave() - coll_bearer_multicast_leave() of Ethernet
 * @m: perhaps not joined
 *
 * Context: process; takes RTNL if it was joined.
 */
void coll_eth_multicast_leave(struct coll_eth_multicast *m)
{
	if (!m->joined)
		return;
	rtnl_lock();
	if (m->dev)
		eth_multicast_drop(m);
	rtnl_unlock();
}

/**
 * coll_eth_multicast_forget() - a device leaves the namespace, or its type may change
 * @eth: of the namespace
 * @dev: the device, which still has its addresses
 *
 * Context: process; RTNL is held.
 */
void coll_eth_multicast_forget(struct coll_eth *eth, const struct net_device *dev)
{
	struct coll_eth_multicast *m;
	struct hlist_node *next;

	hash_for_each_possible_safe(eth->multicasts, m, next, node, (unsigned long)dev)
		if (m->dev == dev)
			eth_multicast_drop(m);
}
