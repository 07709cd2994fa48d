/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP bearer: how packets of the core leave and reach this host. All groups
 * of a namespace share one port, for IPv4 and IPv6 each a kernel socket with a
 * tunnel's receive hook; it is opened by the first group of its family and
 * closed by the tidying (netns.h). Checksums are off: the MAC covers more.
 *
 * Receiving runs in softirq context under RCU. A packet goes to a group only
 * when its source is the member that it claims to come from and its MAC is
 * right; no state is made before that.
 *
 * Sending has two halves: under the group's lock a packet gets its route and its
 * headers and is queued; after the lock is dropped, still with bottom halves off,
 * the queue is transmitted. Nothing is fragmented.
 */
#ifndef COLL_UDP_H
#define COLL_UDP_H

#include <linux/skbuff.h>
#include <net/sock.h>

#include "core/base.h"

struct coll_net;
struct dst_entry;

/**
 * struct coll_udp - the port of a namespace
 * @sk4: its IPv4 socket; changed under the namespace's mutex, used under RCU
 * @sk6: its IPv6 socket, likewise
 */
struct coll_udp {
	struct sock __rcu	*sk4;
	struct sock __rcu	*sk6;
};

/**
 * struct coll_route - the way to one host, under the lock of its group
 * @dst: with a reference, NULL if not looked up
 * @cookie: for dst_check()
 * @hops: how many it may take, as it was when @dst was looked up
 */
struct coll_route {
	struct dst_entry	*dst;
	u32			cookie;
	u8			hops;
};

int coll_udp_open(struct coll_net *cn, u16 family);
void coll_udp_close(struct coll_net *cn);

int coll_udp_check_self(struct coll_net *cn, const struct collsock_member *self);
int coll_udp_check_path(struct coll_net *cn, const struct collsock_member *self,
			const struct collsock_member *to, u32 bytes);

struct sk_buff *coll_udp_packet(u32 bytes);
bool coll_udp_address(struct coll_net *cn, struct coll_route *route, struct sk_buff *skb,
		      const struct collsock_member *self, const struct collsock_member *to);
void coll_udp_route_drop(struct coll_route *route);
void coll_udp_transmit(struct coll_net *cn, struct sk_buff *queue);

#endif
