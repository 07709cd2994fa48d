/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports of the netlink family (netlink.h) about groups. A dump proceeds by group
 * handles and by indices within a group, so whatever exists throughout a dump is reported
 * exactly once. NLM_F_DUMP_INTR is set if groups came or went meanwhile.
 */
#ifndef COLL_NETLINK_DUMP_H
#define COLL_NETLINK_DUMP_H

#include <net/genetlink.h>

struct coll_instance;

bool coll_netlink_dump_put_group(struct sk_buff *skb, struct coll_instance *gi);

int coll_netlink_dump_start(struct netlink_callback *cb);
int coll_netlink_dump_start_ranks(struct netlink_callback *cb);
int coll_netlink_dump_groups(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_hosts(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_ranks(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_operations(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_early_packets(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_devices(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_users(struct sk_buff *skb, struct netlink_callback *cb);

#endif
