/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events for operators, sent to the multicast group of the netlink family. Without a
 * listener an event costs one check. With one it is sent under the lock of the group, so
 * listeners see events in the order in which they happened. A listener that is too slow, or
 * for which there is no memory, receives ENOBUFS: it has missed events.
 */
#ifndef COLL_EVENT_H
#define COLL_EVENT_H

#include <net/genetlink.h>

#include "../uapi/linux/collsock_netlink.h"
#include "core/base.h"

struct coll_instance;
struct coll_peer;

void coll_event_allow(const struct genl_family *family);
void coll_event_group(struct coll_instance *gi, enum collsock_event kind);
void coll_event_group_failed(struct coll_instance *gi);
void coll_event_operation_failed(struct coll_instance *gi, u64 operation, u32 rank, u32 error);
void coll_event_peer(struct coll_peer *peer, enum collsock_event kind, u64 operation);

#endif
