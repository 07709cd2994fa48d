/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family "collsock", to inspect and configure a network namespace.
 * Documentation/netlink/specs/collsock.yaml describes it; the uapi header is generated from
 * that.
 *
 * Any process in the namespace may read. Keys and payloads are never exposed.
 *
 * Dumps hold the namespace's mutex while they read groups, and all requests the group's lock
 * while they read one, so each message is a consistent snapshot. A request about one group is
 * made under RCU instead of the mutex, since it runs under a lock of generic netlink.
 */
#ifndef COLL_NETLINK_H
#define COLL_NETLINK_H

int coll_netlink_init(void);
void coll_netlink_uninit(void);

#endif
