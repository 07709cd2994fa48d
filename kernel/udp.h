/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP bearer (bearer.h): packets of groups whose members have IPv4 or IPv6 addresses.
 * All groups of a namespace share one port, with one kernel socket each for IPv4 and IPv6
 * and a tunnel receive hook. IPv4 packets have no UDP checksum, as the MAC covers more; IPv6
 * packets must have one. Only packets whose skb has ignore_df set may be fragmented. Each group
 * sends through a socket of its own (owner.h).
 *
 * A group with multicast joins its address with that socket, so the kernel counts the users of
 * the address (udp_multicast.c). Its packets come to the port's sockets, like all packets to the
 * port: the group is looked up, and then the address is compared.
 *
 * Only udp*.[ch] know UDP and IP; udp_bearer.[ch] is the part that the core and other platforms
 * use.
 */
#ifndef COLL_UDP_H
#define COLL_UDP_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "owner.h"
#include "tunables.h"
#include "udp_bearer.h"

struct dst_entry;

/* Is it an IP packet? If not, it is one of another bearer. */
static inline bool coll_udp_has(const struct sk_buff *skb)
{
	return likely(skb->protocol == htons(ETH_P_IP)) || skb->protocol == htons(ETH_P_IPV6);
}

/* A packet that was addressed, after its last header */
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
void coll_udp_stop(struct coll_udp *udp);
void coll_udp_end(struct coll_udp *udp);
bool coll_udp_is_open(const struct coll_udp *udp);
u16 coll_udp_port(const struct coll_udp *udp);

int coll_udp_socket(struct net *net, u16 family, struct socket **sock);
int coll_udp_check_self(const struct coll_udp *udp, const struct collsock_member *self);
int coll_udp_check_owner(const struct coll_udp *udp, const struct sock *owner,
			 const struct collsock_member *self);
int coll_udp_check_path(const struct coll_udp *udp, struct sock *owner,
			const struct collsock_member *self, const struct collsock_member *to,
			u32 bytes);

int coll_udp_multicast(const struct coll_udp *udp, struct sock *owner,
		       const struct collsock_member *self, u32 bytes,
		       struct collsock_member *everyone);

int coll_udp_route_find(const struct coll_udp *udp, struct coll_udp_route *route,
			struct sock *owner, const struct collsock_member *self,
			const struct collsock_member *to);
void coll_udp_route_drop(struct coll_udp_route *route);
int coll_udp_route_replace(struct coll_udp_route *route, struct coll_udp_route *found);
struct sock *coll_udp_port_owner(const struct coll_udp *udp, const struct collsock_member *to);
void coll_udp_let_fragment(struct sk_buff *skb, struct iphdr *ip);
void coll_udp_push_ipv6(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			const struct collsock_member *to);
int coll_udp_transmit(struct coll_udp *udp, struct sk_buff *skb);

void coll_udp_source(const struct sk_buff *skb, struct collsock_member *from);
bool coll_udp_came_by(const struct sk_buff *skb, int device);

/* Did the received packet go to a multicast address? */
static inline bool coll_udp_was_multicast(const struct sk_buff *skb)
{
	return skb->protocol == htons(ETH_P_IP) ? ipv4_is_multicast(ip_hdr(skb)->daddr) :
						  ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
}

/*
 * Pass the port's owner and the packet, which begins with its UDP header, to @receive, or to
 * @copy if it went to a multicast address. On devices without multicast frames @receive gets all
 * packets.
 */
static __always_inline int coll_udp_receive(struct sock *sk, struct sk_buff *skb,
					    void (*receive)(void *owner, struct sk_buff *skb,
							    u32 header_bytes),
					    void (*copy)(void *owner, struct sk_buff *skb,
							 u32 header_bytes))
{
	void *owner = rcu_dereference_sk_user_data(sk);

	if (unlikely(!owner))
		kfree_skb(skb);
	else if (unlikely(skb->pkt_type != PACKET_HOST) && coll_udp_was_multicast(skb))
		copy(owner, skb, sizeof(struct udphdr));
	else
		receive(owner, skb, sizeof(struct udphdr));
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

static inline bool coll_udp_is_multicast(const struct collsock_member *m)
{
	return m->family == AF_INET ? ipv4_is_multicast(coll_udp_ipv4(m)) :
				      ipv6_addr_is_multicast(coll_udp_ipv6(m));
}

/* ---- sending: inline, as it is done for each packet ---- */

static inline bool coll_udp_route_is_valid(const struct coll_udp_route *route)
{
	return likely(route->dst) && likely(dst_check(route->dst, route->cookie));
}

/* Push the headers; returns the IP header, which is followed by the UDP header. */
static inline void *coll_udp_push_headers(struct sk_buff *skb, u32 ip_bytes,
					  const struct collsock_member *self,
					  const struct collsock_member *to)
{
	u32 bytes = skb->len + sizeof(struct udphdr);
	u8 *ip = __skb_push(skb, ip_bytes + sizeof(struct udphdr));
	struct udphdr *uh = (struct udphdr *)(ip + ip_bytes);

	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_bytes);
	uh->source = htons(self->port);
	uh->dest = htons(to->port);
	uh->len = htons(bytes);
	uh->check = 0;
	return ip;
}

/* Packets that are never fragmented need no identification (RFC 6864). */
static inline void coll_udp_push_ipv4(struct sk_buff *skb, u8 hops,
				      const struct collsock_member *self,
				      const struct collsock_member *to)
{
	struct iphdr *ip = coll_udp_push_headers(skb, sizeof(*ip), self, to);

	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / sizeof(u32);
	ip->tos = INET_ECN_ECT_0;
	ip->id = 0;
	ip->frag_off = htons(IP_DF);
	ip->ttl = hops;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = coll_udp_ipv4(self);
	ip->daddr = coll_udp_ipv4(to);
	if (unlikely(skb->ignore_df))
		coll_udp_let_fragment(skb, ip);
}

/**
 * coll_udp_address() - coll_bearer_address() of UDP
 * @udp: the port
 * @route: cached route to @to
 * @skb: the packet
 * @owner: of the packet; NULL for the port
 * @self: its source
 * @to: its destination
 *
 * Return: see coll_bearer_address(). Context: likewise.
 */
static inline int coll_udp_address(struct coll_udp *udp, struct coll_udp_route *route,
				   struct sk_buff *skb, struct sock *owner,
				   const struct collsock_member *self,
				   const struct collsock_member *to)
{
	if (unlikely(!owner))
		owner = coll_udp_port_owner(udp, to);
	if (unlikely(!owner))
		return -EHOSTUNREACH;
	if (unlikely(!coll_owner_has_room(owner)))
		return -ENOBUFS;
	if (unlikely(!coll_udp_route_is_valid(route)))
		return -EAGAIN;
	coll_owner_take(owner, skb);
	skb_dst_set_noref(skb, route->dst);
	if (likely(to->family == AF_INET))
		coll_udp_push_ipv4(skb, route->hops, self, to);
	else
		coll_udp_push_ipv6(skb, route->hops, self, to);
	return 0;
}

void coll_udp_multicast_clear_ecn(struct sk_buff *skb);

/* ---- receiving ---- */

/* Has the network marked the received packet "congestion experienced"? */
static inline bool coll_udp_is_marked(const struct sk_buff *skb)
{
	if (likely(skb->protocol == htons(ETH_P_IP)))
		return INET_ECN_is_ce(ip_hdr(skb)->tos);
	return INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
}

/* Does the owner accept the received packet? If bound to a device, only packets of that. */
static inline bool coll_udp_accepts(struct sock *owner, struct sk_buff *skb)
{
	int device = owner->sk_bound_dev_if;

	return (likely(!device) || coll_udp_came_by(skb, device)) && coll_owner_accepts(owner, skb);
}

/* Is the received packet from this member? One that came by another bearer has no UDP header. */
static inline bool coll_udp_is_from(const struct sk_buff *skb, const struct collsock_member *m)
{
	if (m->family == AF_INET)
		return skb->protocol == htons(ETH_P_IP) &&
		       udp_hdr(skb)->source == htons(m->port) &&
		       ip_hdr(skb)->saddr == coll_udp_ipv4(m);
	return skb->protocol == htons(ETH_P_IPV6) &&
	       udp_hdr(skb)->source == htons(m->port) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, coll_udp_ipv6(m)) &&
	       (!m->scope_id || m->scope_id == inet6_iif(skb));
}

/* Did the received packet go to this address? */
static inline bool coll_udp_is_to(const struct sk_buff *skb, const struct collsock_member *m)
{
	if (m->family == AF_INET)
		return skb->protocol == htons(ETH_P_IP) &&
		       ip_hdr(skb)->daddr == coll_udp_ipv4(m);
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->daddr, coll_udp_ipv6(m));
}

#endif
