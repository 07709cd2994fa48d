/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the netlink family (netlink.h) tells of groups. A dump goes by handles of groups
 * and by indices of what is in them, so what exists throughout a dump is told once,
 * whatever comes and goes meanwhile. If groups did, NLM_F_DUMP_INTR says so.
 */
#ifndef COLL_NETLINK_DUMP_H
#define COLL_NETLINK_DUMP_H

#include <net/genetlink.h>

struct coll_instance;

bool coll_netlink_dump_put_group(struct sk_buff *skb, struct coll_instance *gi);

int coll_netlink_dump_start(struct netlink_callback *cb);
int coll_netlink_dump_groups(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_hosts(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_ranks(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_peers(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_operations(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_early_packets(struct sk_buff *skb, struct netlink_callback *cb);
int coll_netlink_dump_users(struct sk_buff *skb, struct netlink_callback *cb);

#endif
