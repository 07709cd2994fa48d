/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP bearer (bearer.h): packets of groups whose members have IPv4 or IPv6 addresses.
 * All groups of a namespace share one port, with one kernel socket each for IPv4 and IPv6
 * and a tunnel receive hook. IPv4 packets have no UDP checksum, as the MAC covers more; IPv6
 * packets must have one. Nothing is fragmented, unless the packet says that it may be
 * (ignore_df of its skb). Each group sends through a socket of its own (owner.h).
 *
 * Only these files and udp_bearer.[ch], the part that the core and other platforms use,
 * know UDP and IP.
 */
#ifndef COLL_UDP_H
#define COLL_UDP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "tunables.h"
#include "udp_bearer.h"

struct dst_entry;

/* A packet that was addressed, behind its last header */
static inline u8 *coll_udp_packet(const struct sk_buff *skb)
{
	return skb_transport_header(skb) + sizeof(struct udphdr);
}

/* Receive function of the port's sockets; in softirq, or with BH disabled */
typedef int (*coll_udp_hook)(struct sock *sk, struct sk_buff *skb);

/**
 * struct coll_udp - the port of a namespace
 * @net: the namespace
 * @tunables: of the namespace
 * @hook: receive function of both sockets
 * @owner: user data of the sockets, for @hook
 * @sk4: its IPv4 socket; changed under the namespace's mutex, used under RCU
 * @sk6: its IPv6 socket, likewise
 * @number: number of the port while it is open, in host byte order; changed under the
 *	namespace's mutex
 */
struct coll_udp {
	struct net			*net;
	const struct coll_tunables	*tunables;
	coll_udp_hook			hook;
	void				*owner;
	struct sock __rcu		*sk4;
	struct sock __rcu		*sk6;
	u16				number;
};

/**
 * struct coll_udp_route - the route to one host, protected by the lock of its group
 * @dst: with a reference, NULL if not looked up
 * @cookie: for dst_check()
 * @hops: hop limit of its packets when @dst was looked up
 */
struct coll_udp_route {
	struct dst_entry	*dst;
	u32			cookie;
	u8			hops;
};

void coll_udp_init(struct coll_udp *udp, struct net *net, const struct coll_tunables *tunables,
		   coll_udp_hook hook, void *owner);
int coll_udp_open(struct coll_udp *udp, u16 number);
void coll_udp_close(struct coll_udp *udp);
bool coll_udp_is_open(const struct coll_udp *udp);
u16 coll_udp_port(const struct coll_udp *udp);

int coll_udp_check_self(const struct coll_udp *udp, const struct collsock_member *self);
int coll_udp_check_path(const struct coll_udp *udp, struct sock *owner,
			const struct collsock_member *self, const struct collsock_member *to,
			u32 bytes);

int coll_udp_address(struct coll_udp *udp, struct coll_udp_route *route, struct sk_buff *skb,
		     struct sock *owner, const struct collsock_member *self,
		     const struct collsock_member *to);
void coll_udp_route_drop(struct coll_udp_route *route);
int coll_udp_transmit(struct coll_udp *udp, struct sk_buff *skb);

void coll_udp_ends(const struct sk_buff *skb, struct collsock_member *from,
		   struct collsock_member *self);

/* Pass the port's owner, and the packet, which begins with its UDP header, to @receive. */
static __always_inline int coll_udp_receive(struct sock *sk, struct sk_buff *skb,
					    void (*receive)(void *owner, struct sk_buff *skb,
							    u32 header_bytes))
{
	void *owner = rcu_dereference_sk_user_data(sk);

	if (likely(owner))
		receive(owner, skb, sizeof(struct udphdr));
	else
		kfree_skb(skb);
	return 0;
}

static inline __be32 coll_udp_ipv4(const struct collsock_member *m)
{
	return *(const __be32 *)m->address;
}

static inline struct in6_addr *coll_udp_ipv6(const struct collsock_member *m)
{
	return (struct in6_addr *)m->address;
}

/* Has the network marked the received packet "congestion experienced"? */
static inline bool coll_udp_is_marked(const struct sk_buff *skb)
{
	if (likely(skb->protocol == htons(ETH_P_IP)))
		return INET_ECN_is_ce(ip_hdr(skb)->tos);
	return INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
}

/* Is the received packet from this member? */
static inline bool coll_udp_is_from(const struct sk_buff *skb, const struct collsock_member *m)
{
	if (udp_hdr(skb)->source != htons(m->port))
		return false;
	if (m->family == AF_INET)
		return skb->protocol == htons(ETH_P_IP) &&
		       ip_hdr(skb)->saddr == coll_udp_ipv4(m);
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, coll_udp_ipv6(m)) &&
	       (!m->scope_id || m->scope_id == inet6_iif(skb));
}

#endif
