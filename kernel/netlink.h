/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family "collsock": what one can see and change of a network
 * namespace. Documentation/netlink/specs/collsock.yaml describes it, and the uapi
 * header is made from that.
 *
 * Everybody in the namespace may look. Keys and payloads are never told.
 *
 * Requests hold the namespace's mutex while they look at groups, and a group's lock
 * while they look at one, so each message tells of one moment.
 */
#ifndef COLL_NETLINK_H
#define COLL_NETLINK_H

#include <net/genetlink.h>

#include "../uapi/linux/collsock_netlink.h"

extern struct genl_family coll_genl_family;

int coll_netlink_init(void);
void coll_netlink_uninit(void);

/* netlink_dump.c */
int coll_netlink_get_group(struct sk_buff *skb, struct genl_info *info);
int coll_netlink_dump_start(struct netlink_callback *cb);
int coll_netlink_dump_groups(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_hosts(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_ranks(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_operations(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_early_packets(struct sk_buff *skb, struct netlink_callback *cb);

#endif
