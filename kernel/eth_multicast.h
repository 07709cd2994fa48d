/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The multicast addresses of groups over Ethernet. A device tells its driver when its addresses
 * change. Drivers rely on RTNL there, since all else that configures them holds it; the lock of the
 * addresses alone would not do. Others take RTNL before the namespace's mutex, so that must not be
 * held. A packet socket could have the address, as a UDP socket has, but needs CAP_NET_RAW.
 */
#ifndef COLL_ETH_MULTICAST_H
#define COLL_ETH_MULTICAST_H

#include "eth.h"

/**
 * struct coll_eth_multicast - the multicast address by which a group receives; zeroed at first
 * @node: in coll_eth.multicasts, while it has a device
 * @dev: the device; NULL once it has left the namespace, or may have changed its type
 * @address: the address, which other groups, or programs, may have on the device, too. The device
 *	takes as many bytes as its addresses have
 * @joined: it has been joined; constant afterwards
 */
struct coll_eth_multicast {
	struct hlist_node	node;
	struct net_device	*dev;
	u8			address[MAX_ADDR_LEN];
	bool			joined;
};

int coll_eth_multicast_join(struct coll_eth *eth, const struct collsock_member *everyone,
			    struct coll_eth_multicast *m);
void coll_eth_multicast_leave(struct coll_eth_multicast *m);
void coll_eth_multicast_forget(struct coll_eth *eth, const struct net_device *dev);

#endif
