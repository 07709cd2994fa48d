// SPDX-License-Identifier: GPL-2.0
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp_tunnel.h>

#include "compat.h"
#include "core/wire.h"
#include "instance.h"
#include "netns.h"
#include "trace.h"
#include "udp.h"

/*
 * Room before a packet for the headers of UDP, IP and a plain Ethernet device;
 * whoever needs more makes it. With it the smallest packet and what the kernel
 * keeps behind it fit into 512 bytes.
 */
#define UDP_HEADROOM	96

static __be32 member_ipv4(const struct collsock_member *m)
{
	return *(const __be32 *)m->address;
}

static struct in6_addr *member_ipv6(const struct collsock_member *m)
{
	return (struct in6_addr *)m->address;
}

/* ---- dropping ---- */

static void udp_trace_drop(const u8 *packet, u32 bytes, enum coll_drop drop)
{
	struct coll_prefix prefix = {};
	struct coll_body body = {};

	if (packet) {
		coll_wire_read_prefix(packet, &prefix);
		coll_wire_read_body(packet, bytes, &body);
	}
	trace_coll_packet_dropped(prefix.tag, prefix.source, prefix.destination, &body, bytes,
				  drop);
}

#define COLL_DROP_COUNTER(identifier, name)	[COLL_DROP_##identifier] = COLL_COUNT_##identifier,

/* A packet that no group has seen goes no further: count it. NULL: it is not formed. */
static noinline void udp_drop(struct coll_net *cn, const u8 *packet, u32 bytes,
			      enum coll_drop drop)
{
	static const u8 counters[] = { COLL_NET_DROP_LIST(COLL_DROP_COUNTER) };

	coll_count(cn->counters, counters[drop]);
	if (trace_coll_packet_dropped_enabled())
		udp_trace_drop(packet, bytes, drop);
}

/* ---- routes ---- */

static struct dst_entry *udp_lookup4(struct net *net, const struct collsock_member *self,
				     const struct collsock_member *to)
{
	struct flowi4 fl = {
		.daddr		= member_ipv4(to),
		.saddr		= member_ipv4(self),
		.fl4_dport	= htons(to->port),
		.fl4_sport	= htons(self->port),
		.flowi4_proto	= IPPROTO_UDP,
	};
	struct rtable *rt = ip_route_output_flow(net, &fl, NULL);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *udp_lookup6(struct net *net, const struct collsock_member *self,
				     const struct collsock_member *to)
{
	struct flowi6 fl = {
		.daddr		= *member_ipv6(to),
		.saddr		= *member_ipv6(self),
		.fl6_dport	= htons(to->port),
		.fl6_sport	= htons(self->port),
		.flowi6_oif	= to->scope_id,
		.flowi6_proto	= IPPROTO_UDP,
	};

	return coll_ip6_route(net, &fl);
}

static void udp_route_set6(struct coll_route *route, struct dst_entry *dst)
{
	route->cookie = rt6_get_cookie((struct rt6_info *)dst);
	route->hops = ip6_dst_hoplimit(dst);
}
#else
static struct dst_entry *udp_lookup6(struct net *net, const struct collsock_member *self,
				     const struct collsock_member *to)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static void udp_route_set6(struct coll_route *route, struct dst_entry *dst)
{
}
#endif

static void udp_route_set4(struct coll_route *route, struct dst_entry *dst)
{
	route->cookie = 0;
	route->hops = ip4_dst_hoplimit(dst);
}

static struct dst_entry *udp_lookup(struct coll_net *cn, const struct collsock_member *self,
				    const struct collsock_member *to)
{
	if (to->family == AF_INET)
		return udp_lookup4(cn->net, self, to);
	return udp_lookup6(cn->net, self, to);
}

/**
 * coll_udp_route_drop() - forget a route
 * @route: under the group's lock, or nobody else has it any more
 *
 * Context: any.
 */
void coll_udp_route_drop(struct coll_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}

/* The route's dst, looked up if it is not there or not valid any more. */
static struct dst_entry *udp_route_dst(struct coll_net *cn, struct coll_route *route,
				       const struct collsock_member *self,
				       const struct collsock_member *to)
{
	struct dst_entry *dst = route->dst;

	if (likely(dst && dst_check(dst, route->cookie)))
		return dst;
	coll_udp_route_drop(route);
	dst = udp_lookup(cn, self, to);
	if (IS_ERR(dst))
		return NULL;
	if (to->family == AF_INET6)
		udp_route_set6(route, dst);
	else
		udp_route_set4(route, dst);
	route->dst = dst;
	return dst;
}

/* ---- sending ---- */

/**
 * coll_udp_packet() - a packet to be sent
 * @bytes: of it; they are there already, not initialised
 *
 * It comes from the caches that drivers use for received packets: there is
 * nothing cheaper, and a packet is consumed where another is soon sent.
 *
 * Return: the packet, or NULL if there is no memory. Context: BH disabled.
 */
struct sk_buff *coll_udp_packet(u32 bytes)
{
	u32 room = SKB_DATA_ALIGN(UDP_HEADROOM + bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *head;

	head = napi_alloc_frag(room);
	if (unlikely(!head))
		return NULL;
	skb = napi_build_skb(head, room);
	if (unlikely(!skb)) {
		skb_free_frag(head);
		return NULL;
	}
	skb_reserve(skb, UDP_HEADROOM);
	__skb_put(skb, bytes);
	return skb;
}

/* Make room for the headers; returns the one of IP, behind which stands the one of UDP. */
static void *udp_push_headers(struct sk_buff *skb, u32 ip_bytes,
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

/* Never fragmented, so it needs no identification (RFC 6864). */
static void udp_push_ipv4(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			  const struct collsock_member *to)
{
	struct iphdr *ip = udp_push_headers(skb, sizeof(*ip), self, to);

	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	ip->version = 4;
	ip->ihl = sizeof(*ip) / sizeof(u32);
	ip->tos = 0;
	ip->id = 0;
	ip->frag_off = htons(IP_DF);
	ip->ttl = hops;
	ip->protocol = IPPROTO_UDP;
	ip->saddr = member_ipv4(self);
	ip->daddr = member_ipv4(to);
}

#if IS_ENABLED(CONFIG_IPV6)
static void udp_push_ipv6(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			  const struct collsock_member *to)
{
	struct ipv6hdr *ip = udp_push_headers(skb, sizeof(*ip), self, to);

	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	ip6_flow_hdr(ip, 0, 0);
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = hops;
	ip->saddr = *member_ipv6(self);
	ip->daddr = *member_ipv6(to);
}

static void udp_output6(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	ip6_local_out(net, sk, skb);
}
#else
static void udp_push_ipv6(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			  const struct collsock_member *to)
{
}

static void udp_output6(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
}
#endif

/**
 * coll_udp_address() - give a packet its way and its headers
 * @cn: the namespace
 * @route: the way to @to as it was used before
 * @skb: the packet, from coll_udp_packet()
 * @self: its source
 * @to: its destination
 *
 * The packet takes no reference on its route: whoever drops the route now frees
 * it after a grace period, and by then the packet is transmitted.
 *
 * Return: true, or false if there is no way: the packet is gone, and counted.
 * Context: BH disabled from here until after coll_udp_transmit(); @route is
 * under the lock of its group.
 */
bool coll_udp_address(struct coll_net *cn, struct coll_route *route, struct sk_buff *skb,
		      const struct collsock_member *self, const struct collsock_member *to)
{
	struct dst_entry *dst = udp_route_dst(cn, route, self, to);

	if (unlikely(!dst)) {
		udp_drop(cn, skb->data, skb->len, COLL_DROP_NO_ROUTE);
		kfree_skb(skb);
		return false;
	}
	trace_coll_packet_sent(skb->data, skb->len);
	skb_dst_set_noref(skb, dst);
	if (likely(to->family == AF_INET))
		udp_push_ipv4(skb, route->hops, self, to);
	else
		udp_push_ipv6(skb, route->hops, self, to);
	return true;
}

/**
 * coll_udp_transmit() - send what was queued
 * @cn: the namespace
 * @queue: packets that have their addresses, linked by skb->next
 *
 * Context: BH disabled since the packets were addressed, no lock.
 */
void coll_udp_transmit(struct coll_net *cn, struct sk_buff *queue)
{
	while (queue) {
		struct sk_buff *skb = queue;
		bool ipv4 = skb->protocol == htons(ETH_P_IP);
		struct sock *sk = rcu_dereference_bh(*(ipv4 ? &cn->udp.sk4 : &cn->udp.sk6));

		queue = skb->next;
		skb_mark_not_on_list(skb);
		if (unlikely(!sk))
			kfree_skb(skb);	/* the namespace ends */
		else if (likely(ipv4))
			ip_local_out(cn->net, sk, skb);
		else
			udp_output6(cn->net, sk, skb);
	}
}

/* ---- receiving ---- */

/* Is the packet from this member? */
static bool udp_is_from(const struct sk_buff *skb, const struct collsock_member *m)
{
	if (udp_hdr(skb)->source != htons(m->port))
		return false;
	if (m->family == AF_INET)
		return skb->protocol == htons(ETH_P_IP) &&
		       ip_hdr(skb)->saddr == member_ipv4(m);
	return skb->protocol == htons(ETH_P_IPV6) &&
	       ipv6_addr_equal(&ipv6_hdr(skb)->saddr, member_ipv6(m)) &&
	       (!m->scope_id || m->scope_id == inet6_iif(skb));
}

/* Does it come from the member that it says it is from, which is another host? */
static bool udp_is_member(const struct sk_buff *skb, const struct coll_members *members,
			  u32 self, u32 source)
{
	return source < members->hosts && source != self &&
	       udp_is_from(skb, &members->member[source]);
}

static void udp_set_address(struct collsock_member *m, const struct sk_buff *skb,
			    const struct in6_addr *ipv6)
{
	m->family = AF_INET6;
	memcpy(m->address, ipv6, sizeof(*ipv6));
	if (ipv6_addr_type(ipv6) & IPV6_ADDR_LINKLOCAL)
		m->scope_id = inet6_iif(skb);
}

/* Both ends of a received packet, as a table of members has them. */
static void udp_ends(const struct sk_buff *skb, struct collsock_member *from,
		     struct collsock_member *self)
{
	memset(from, 0, sizeof(*from));
	memset(self, 0, sizeof(*self));
	from->port = ntohs(udp_hdr(skb)->source);
	self->port = ntohs(udp_hdr(skb)->dest);
	if (skb->protocol == htons(ETH_P_IP)) {
		from->family = AF_INET;
		self->family = AF_INET;
		memcpy(from->address, &ip_hdr(skb)->saddr, sizeof(__be32));
		memcpy(self->address, &ip_hdr(skb)->daddr, sizeof(__be32));
	} else {
		udp_set_address(from, skb, &ipv6_hdr(skb)->saddr);
		udp_set_address(self, skb, &ipv6_hdr(skb)->daddr);
	}
}

static void udp_answer(struct coll_net *cn, const u8 *answer, u32 bytes,
		       const struct collsock_member *self, const struct collsock_member *to)
{
	struct coll_route route = {};
	struct sk_buff *skb;

	skb = bytes ? coll_udp_packet(bytes) : NULL;
	if (!skb)
		return;
	memcpy(skb->data, answer, bytes);
	if (coll_udp_address(cn, &route, skb, self, to))
		coll_udp_transmit(cn, skb);
	coll_udp_route_drop(&route);
}

static void udp_drop_refused(struct coll_net *cn, const u8 *packet, u32 bytes,
			     enum coll_refusal refusal)
{
	if (unlikely(refusal != COLL_ACCEPTED))
		udp_drop(cn, packet, bytes, refusal == COLL_FORGED ? COLL_DROP_FORGED :
								     COLL_DROP_WRONG_DESCRIPTOR);
}

/*
 * No group of that name is here: perhaps not yet, perhaps not any more. Inlined it
 * would make the packets of groups more expensive, which do not come here.
 */
static noinline void udp_receive_unknown(struct coll_net *cn, const struct sk_buff *skb,
					 const u8 *packet, u32 bytes)
{
	u16 source = coll_wire_source(packet);
	u64 tag = coll_wire_tag(packet);
	u8 answer[COLL_TIMEWAIT_ANSWER] __aligned(8);
	const struct coll_timewait *timewait;
	const struct coll_members *members;
	struct collsock_member from, self;
	enum coll_refusal refusal;
	u32 answer_bytes;

	udp_ends(skb, &from, &self);
	timewait = coll_timewait_table_find(&cn->timewait, tag, coll_wire_destination(packet),
					    &members);
	if (!timewait) {
		udp_drop(cn, packet, bytes, COLL_DROP_UNKNOWN_GROUP);
		coll_early_packet_note(&cn->early_packets, tag, source, &from);
		return;
	}
	if (!udp_is_member(skb, members, timewait->self, source)) {
		udp_drop(cn, packet, bytes, COLL_DROP_WRONG_SOURCE);
		return;
	}
	refusal = coll_timewait_answer(timewait, packet, bytes, answer, &answer_bytes);
	udp_drop_refused(cn, packet, bytes, refusal);
	if (refusal == COLL_ACCEPTED) {
		coll_count(cn->counters, COLL_COUNT_TIMEWAIT_ANSWERED);
		udp_answer(cn, answer, answer_bytes, &self, &from);
	}
}

/* Give a packet to its group, if it comes from whom it says. */
static void udp_deliver(struct coll_net *cn, struct coll_instance *gi, const struct sk_buff *skb,
			u32 source, const u8 *packet, u32 bytes)
{
	const struct coll_group *g = &gi->group;

	if (unlikely(!udp_is_member(skb, gi->members, g->self, source)))
		udp_drop(cn, packet, bytes, COLL_DROP_WRONG_SOURCE);
	else
		udp_drop_refused(cn, packet, bytes,
				 coll_instance_receive(gi, source, packet, bytes));
}

/*
 * The receive hook of both sockets: in softirq context, or with bottom halves
 * off, under RCU. The packet begins with its UDP header and is as long as that
 * says. It is always consumed.
 */
static int udp_receive(struct sock *sk, struct sk_buff *skb)
{
	struct coll_net *cn = rcu_dereference_sk_user_data(sk);
	struct coll_instance *gi;
	const u8 *packet;
	u32 bytes;

	if (unlikely(!cn))
		goto drop;
	coll_count(cn->counters, COLL_COUNT_PACKETS);
	if (unlikely(skb->len < sizeof(struct udphdr) + COLL_WIRE_MIN ||
		     skb->len > sizeof(struct udphdr) + COLL_WIRE_MAX || skb_linearize(skb)))
		goto malformed;
	packet = skb->data + sizeof(struct udphdr);
	bytes = skb->len - sizeof(struct udphdr);
	if (unlikely(!coll_wire_formed(packet, bytes)))
		goto malformed;

	trace_coll_packet_received(packet, bytes);
	gi = coll_instance_find(cn, coll_wire_tag(packet), coll_wire_destination(packet));
	if (likely(gi))
		udp_deliver(cn, gi, skb, coll_wire_source(packet), packet, bytes);
	else
		udp_receive_unknown(cn, skb, packet, bytes);
	/* Back to the cache that coll_udp_packet() takes from. */
	napi_consume_skb(skb, 1);
	return 0;

malformed:
	udp_drop(cn, NULL, skb->len - sizeof(struct udphdr), COLL_DROP_MALFORMED);
drop:
	kfree_skb(skb);
	return 0;
}

/* ---- the port ---- */

static int udp_sock_open(struct coll_net *cn, u16 family, u16 number,
			 struct sock __rcu **slot)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data	= cn,
		.encap_type	= 1,
		.encap_rcv	= udp_receive,
	};
	struct udp_port_cfg port = {
		.family			= family,
		.local_udp_port		= htons(number),
		.ipv6_v6only		= true,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(cn->net, &port, &sock);
	if (err)
		return err;
	rcu_assign_pointer(*slot, sock->sk);
	setup_udp_tunnel_sock(cn->net, coll_tunnel_sock(sock->sk), &tunnel);
	return 0;
}

/**
 * coll_udp_open() - open the port of a namespace, if it is not open
 * @cn: the namespace; its mutex is held
 * @family: AF_INET or AF_INET6
 *
 * Return: 0 or -errno, -EADDRINUSE among them. Context: process.
 */
int coll_udp_open(struct coll_net *cn, u16 family)
{
	struct sock __rcu **slot = family == AF_INET ? &cn->udp.sk4 : &cn->udp.sk6;
	u16 port = coll_net_port(cn);
	int err;

	lockdep_assert_held(&cn->mutex);
	if (rcu_access_pointer(*slot))
		return 0;
	err = udp_sock_open(cn, family, port, slot);
	if (!err)
		WRITE_ONCE(cn->port, port);
	return err;
}

static void udp_sock_close(struct sock __rcu **slot)
{
	struct sock *sk = rcu_replace_pointer(*slot, NULL, true);

	/* It waits for the packets that are on their way, in either direction. */
	if (sk)
		udp_tunnel_sock_release(coll_tunnel_sock(sk));
}

/**
 * coll_udp_close() - close the port of a namespace, if it is open
 * @cn: the namespace; its mutex is held
 *
 * Context: process.
 */
void coll_udp_close(struct coll_net *cn)
{
	lockdep_assert_held(&cn->mutex);
	udp_sock_close(&cn->udp.sk4);
	udp_sock_close(&cn->udp.sk6);
	WRITE_ONCE(cn->port, 0);
}

/* ---- checks when a group is joined ---- */

#if IS_ENABLED(CONFIG_IPV6)
static bool udp_is_local6(struct net *net, const struct collsock_member *self)
{
	bool strict = ipv6_addr_type(member_ipv6(self)) & IPV6_ADDR_LINKLOCAL;
	struct net_device *dev = NULL;
	bool local;

	rcu_read_lock();
	if (strict)
		dev = dev_get_by_index_rcu(net, self->scope_id);
	local = (dev || !strict) && ipv6_chk_addr(net, member_ipv6(self), dev, strict);
	rcu_read_unlock();
	return local;
}
#else
static bool udp_is_local6(struct net *net, const struct collsock_member *self)
{
	return false;
}
#endif

/**
 * coll_udp_check_self() - can this host be that member?
 * @cn: the namespace
 * @self: the member
 *
 * Return: 0, -EAFNOSUPPORT, or -EADDRNOTAVAIL if it is not an address of this
 * namespace or not its port. Context: process.
 */
int coll_udp_check_self(struct coll_net *cn, const struct collsock_member *self)
{
	if (self->family == AF_INET6 && !ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (self->port != coll_net_port(cn))
		return -EADDRNOTAVAIL;
	if (self->family == AF_INET)
		return inet_addr_type(cn->net, member_ipv4(self)) == RTN_LOCAL ?
		       0 : -EADDRNOTAVAIL;
	return udp_is_local6(cn->net, self) ? 0 : -EADDRNOTAVAIL;
}

/**
 * coll_udp_check_path() - do packets of that size get to a member?
 * @cn: the namespace
 * @self: this host
 * @to: the member
 * @bytes: of the largest packet, without the headers of UDP and IP
 *
 * A member that cannot be reached now may be reached later.
 *
 * Return: 0 or -EMSGSIZE. Context: process.
 */
int coll_udp_check_path(struct coll_net *cn, const struct collsock_member *self,
			const struct collsock_member *to, u32 bytes)
{
	struct dst_entry *dst = udp_lookup(cn, self, to);
	bool fits;

	if (IS_ERR(dst))
		return 0;
	bytes += sizeof(struct udphdr);
	bytes += to->family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	fits = bytes <= dst_mtu(dst);
	dst_release(dst);
	return fits ? 0 : -EMSGSIZE;
}
