/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family "collsock": what one can see and change of a network
 * namespace. Documentation/netlink/specs/collsock.yaml describes it, and the uapi
 * header is made from that.
 *
 * Any process in the namespace may look. Keys and payloads are never told.
 *
 * Requests hold the namespace's mutex while they look at groups, and a group's lock
 * while they look at one, so each message tells of one moment.
 */
#ifndef COLL_NETLINK_H
#define COLL_NETLINK_H

int coll_netlink_init(void);
void coll_netlink_uninit(void);

#endif
