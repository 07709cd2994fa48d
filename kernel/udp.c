// SPDX-License-Identifier: GPL-2.0
#include <linux/inetdevice.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/lwtunnel.h>
#include <net/route.h>
#include <net/udp_tunnel.h>

#include "compat.h"
#include "owner.h"
#include "udp.h"

/* ---- routes ---- */

static void udp_flow(struct flowi_common *flow, struct sock *owner)
{
	flow->flowic_mark = owner->sk_mark;
	flow->flowic_uid = owner->sk_uid;
	if (owner->sk_bound_dev_if)
		flow->flowic_oif = owner->sk_bound_dev_if;
	security_sk_classify_flow(owner, flow);
}

/* A route that broadcasts leads to no single member: -EACCES, as for other sockets. */
static struct dst_entry *udp_lookup4(struct net *net, struct sock *owner,
				     const struct collsock_member *self,
				     const struct collsock_member *to)
{
	struct flowi4 fl = {
		.daddr		= coll_udp_ipv4(to),
		.saddr		= coll_udp_ipv4(self),
		.fl4_dport	= htons(to->port),
		.fl4_sport	= htons(self->port),
		.flowi4_oif	= to->scope_id,
		.flowi4_proto	= IPPROTO_UDP,
	};
	struct rtable *rt;

	udp_flow(&fl.__fl_common, owner);
	rt = ip_route_output_flow(net, &fl, owner);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	if (likely(!(rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST))) ||
	    ipv4_is_multicast(coll_udp_ipv4(to)))
		return &rt->dst;
	ip_rt_put(rt);
	return ERR_PTR(-EACCES);
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *udp_lookup6(struct net *net, struct sock *owner,
				     const struct collsock_member *self,
				     const struct collsock_member *to)
{
	struct flowi6 fl = {
		.daddr		= *coll_udp_ipv6(to),
		.saddr		= *coll_udp_ipv6(self),
		.fl6_dport	= htons(to->port),
		.fl6_sport	= htons(self->port),
		.flowi6_oif	= to->scope_id,
		.flowi6_proto	= IPPROTO_UDP,
	};

	udp_flow(&fl.__fl_common, owner);
	return coll_ip6_route(net, owner, &fl);
}

static void udp_route_set6(struct coll_udp_route *route, struct dst_entry *dst)
{
	route->cookie = rt6_get_cookie((struct rt6_info *)dst);
	route->hops = ip6_dst_hoplimit(dst);
}
#else
static struct dst_entry *udp_lookup6(struct net *net, struct sock *owner,
				     const struct collsock_member *self,
				     const struct collsock_member *to)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static void udp_route_set6(struct coll_udp_route *route, struct dst_entry *dst)
{
}
#endif

static void udp_route_set4(struct coll_udp_route *route, struct dst_entry *dst)
{
	route->cookie = 0;
	route->hops = ip4_dst_hoplimit(dst);
}

static struct dst_entry *udp_lookup(const struct coll_udp *udp, struct sock *owner,
				    const struct collsock_member *self,
				    const struct collsock_member *to)
{
	if (to->family == AF_INET)
		return udp_lookup4(udp->net, owner, self, to);
	return udp_lookup6(udp->net, owner, self, to);
}

/**
 * coll_udp_route_drop() - release a cached route
 * @route: protected by the group's lock, or no longer shared
 *
 * Context: any.
 */
void coll_udp_route_drop(struct coll_udp_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}

/**
 * struct udp_former_route - a reference that is released after a grace period
 * @rcu: for that
 * @dst: the route
 */
struct udp_former_route {
	struct rcu_head		rcu;
	struct dst_entry	*dst;
};

static void udp_release_former(struct rcu_head *rcu)
{
	struct udp_former_route *former = container_of(rcu, struct udp_former_route, rcu);

	dst_release(former->dst);
	kfree(former);
}

/* May another than us release the last reference to the route, without a grace period? */
static bool udp_is_cached_by_fib(const struct dst_entry *dst)
{
	return dst && dst->ops->family == AF_INET && !dst_xfrm(dst);
}

/**
 * coll_udp_route_replace() - coll_bearer_route_replace() of UDP
 * @route: cached route, or none; protected by the group's lock
 * @found: from coll_udp_route_find(), or none; none afterwards
 *
 * An IPv4 route is also that of its next hop, which may be freed in this moment. Then its reference
 * would be the last one, and the kernel frees the route with it at once: for itself that is right,
 * as it has found its routes through the next hop. So our reference ends a grace period later.
 *
 * Return: see coll_bearer_route_replace(). Context: likewise.
 */
int coll_udp_route_replace(struct coll_udp_route *route, struct coll_udp_route *found)
{
	struct udp_former_route *former;

	if (udp_is_cached_by_fib(route->dst)) {
		former = kmalloc(sizeof(*former), GFP_ATOMIC | __GFP_NOWARN);
		if (!former) {
			coll_udp_route_drop(found);
			return -ENOBUFS;
		}
		former->dst = route->dst;
		call_rcu(&former->rcu, udp_release_former);
	} else {
		coll_udp_route_drop(route);
	}
	*route = *found;
	found->dst = NULL;
	return 0;
}

/**
 * coll_udp_route_find() - coll_bearer_route_find() of UDP
 * @udp: the port
 * @route: out: to @to, if there is one
 * @owner: of the packets; NULL for the port
 * @self: their source
 * @to: their destination
 *
 * Return: see coll_bearer_route_find(). Context: likewise.
 */
int coll_udp_route_find(const struct coll_udp *udp, struct coll_udp_route *route,
			struct sock *owner, const struct collsock_member *self,
			const struct collsock_member *to)
{
	struct dst_entry *dst;

	if (!owner)
		owner = coll_udp_port_owner(udp, to);
	if (!owner)
		return -EHOSTUNREACH;
	dst = udp_lookup(udp, owner, self, to);
	if (IS_ERR(dst))
		return -EHOSTUNREACH;
	if (to->family == AF_INET6)
		udp_route_set6(route, dst);
	else
		udp_route_set4(route, dst);
	/* All hosts of a group with multicast are on one network. */
	if (coll_udp_is_multicast(to))
		route->hops = 1;
	route->dst = dst;
	return 0;
}

/* ---- sending ---- */

/**
 * coll_udp_let_fragment() - the packet may be fragmented
 * @skb: with its headers
 * @ip: of these the first
 */
void coll_udp_let_fragment(struct sk_buff *skb, struct iphdr *ip)
{
	ip->frag_off = 0;
	ip_select_ident(dev_net(skb_dst(skb)->dev), skb, NULL);
}

/**
 * coll_udp_port_owner() - the owner of packets that belong to no group
 * @udp: the port, thus the module's
 * @to: their destination
 *
 * Return: the owner, or NULL if the namespace is ending. Context: BH disabled.
 */
struct sock *coll_udp_port_owner(const struct coll_udp *udp, const struct collsock_member *to)
{
	return rcu_dereference_bh(*(to->family == AF_INET ? &udp->sk4 : &udp->sk6));
}

#if IS_ENABLED(CONFIG_IPV6)
/* No packet may be without one (RFC 8200, 8.1). */
static void udp_checksum6(struct sk_buff *skb, const struct ipv6hdr *ip)
{
	udp6_set_csum(false, skb, &ip->saddr, &ip->daddr, skb->len - sizeof(*ip));
}

/**
 * coll_udp_push_ipv6() - push the headers of a packet for IPv6
 * @skb: the packet
 * @hops: its hop limit
 * @self: its source
 * @to: its destination
 */
void coll_udp_push_ipv6(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			const struct collsock_member *to)
{
	struct ipv6hdr *ip = coll_udp_push_headers(skb, sizeof(*ip), self, to);

	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	ip6_flow_hdr(ip, INET_ECN_ECT_0, 0);
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = hops;
	ip->saddr = *coll_udp_ipv6(self);
	ip->daddr = *coll_udp_ipv6(to);
	udp_checksum6(skb, ip);
	/* Only the sender fragments IPv6 packets, so use the MTU that every path has. */
	if (unlikely(skb->ignore_df))
		IP6CB(skb)->frag_max_size = IPV6_MIN_MTU;
}

static int udp_output6(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return ip6_local_out(net, sk, skb);
}
#else
void coll_udp_push_ipv6(struct sk_buff *skb, u8 hops, const struct collsock_member *self,
			const struct collsock_member *to)
{
}

static int udp_output6(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	kfree_skb(skb);
	return 0;
}
#endif

/**
 * coll_udp_transmit() - coll_bearer_transmit() of UDP
 * @udp: the port
 * @skb: the packet, with its headers
 *
 * Return: see coll_bearer_transmit(). Context: likewise.
 */
int coll_udp_transmit(struct coll_udp *udp, struct sk_buff *skb)
{
	if (likely(skb->protocol == htons(ETH_P_IP)))
		return ip_local_out(udp->net, skb->sk, skb);
	return udp_output6(udp->net, skb->sk, skb);
}

/* ---- receiving ---- */

static void udp_set_address(struct collsock_member *m, const struct sk_buff *skb,
			    const struct in6_addr *ipv6)
{
	m->family = AF_INET6;
	memcpy(m->address, ipv6, sizeof(*ipv6));
	if (ipv6_addr_type(ipv6) & IPV6_ADDR_LINKLOCAL)
		m->scope_id = inet6_iif(skb);
}

/**
 * coll_udp_source() - coll_bearer_source() of UDP
 * @skb: received
 * @from: out
 *
 * Context: the receive hook.
 */
void coll_udp_source(const struct sk_buff *skb, struct collsock_member *from)
{
	memset(from, 0, sizeof(*from));
	from->port = ntohs(udp_hdr(skb)->source);
	if (skb->protocol == htons(ETH_P_IP)) {
		from->family = AF_INET;
		memcpy(from->address, &ip_hdr(skb)->saddr, sizeof(__be32));
	} else {
		udp_set_address(from, skb, &ipv6_hdr(skb)->saddr);
	}
}

/**
 * coll_udp_came_by() - did a packet come by this device, or in this VRF?
 * @skb: received
 * @device: index of the device, or of the master of the VRF
 *
 * The rule is that for other sockets that are bound to the device.
 *
 * Context: the receive hook.
 */
bool coll_udp_came_by(const struct sk_buff *skb, int device)
{
	if (skb->protocol == htons(ETH_P_IP))
		return device == inet_iif(skb) || device == inet_sdif(skb);
	return device == inet6_iif(skb) || device == inet6_sdif(skb);
}

/* ---- sockets ---- */

static int udp_set_option(struct socket *sock, int level, int option, int value)
{
	return sock->ops->setsockopt(sock, level, option, KERNEL_SOCKPTR(&value), sizeof(value));
}

/*
 * ICMP reports of path MTUs are ignored: ports are fixed and nothing in the quoted packet is hard
 * to guess, so any stranger can forge such a report. The socket neither creates nor uses
 * exceptions of routes.
 */
static int udp_ignore_icmp(struct socket *sock)
{
	if (sock->sk->sk_family == AF_INET)
		return udp_set_option(sock, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_INTERFACE);
	return udp_set_option(sock, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_INTERFACE);
}

/**
 * coll_udp_socket() - coll_bearer_socket() of UDP
 * @net: the namespace
 * @family: of the members
 * @sock: out
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_udp_socket(struct net *net, u16 family, struct socket **sock)
{
	int err = sock_create_kern(net, family, SOCK_DGRAM, IPPROTO_UDP, sock);

	if (err)
		return err;
	err = udp_ignore_icmp(*sock);
	if (err)
		sock_release(*sock);
	return err;
}

/* ---- the port ---- */

/**
 * coll_udp_init() - initialise the port of a namespace, closed
 * @udp: zeroed
 * @net: the namespace
 * @tunables: of the namespace
 * @hook: receives the port's packets
 * @owner: user data of the sockets, for @hook
 *
 * Context: process.
 */
void coll_udp_init(struct coll_udp *udp, struct net *net, const struct coll_tunables *tunables,
		   coll_udp_hook hook, void *owner)
{
	udp->net = net;
	udp->tunables = tunables;
	udp->hook = hook;
	udp->owner = owner;
}

/**
 * coll_udp_port() - number of the port
 * @udp: the port
 *
 * Return: number of the open port, or of the one that would be opened next; in host byte
 * order. Context: any.
 */
u16 coll_udp_port(const struct coll_udp *udp)
{
	u16 number = READ_ONCE(udp->number);

	return number ? number : coll_tunable(udp->tunables, COLL_TUNABLE_PORT);
}

/**
 * coll_udp_is_open() - is the port open?
 * @udp: the port; the namespace's mutex is held
 *
 * Context: process.
 */
bool coll_udp_is_open(const struct coll_udp *udp)
{
	return udp->number;
}

/**
 * struct udp_sockets - a port that is being opened
 * @work: opens it
 * @udp: the port of the namespace
 * @number: its number
 * @sk4: out: its IPv4 socket
 * @sk6: out: its IPv6 socket, NULL if this machine has no IPv6
 * @err: out
 */
struct udp_sockets {
	struct work_struct	work;
	struct coll_udp		*udp;
	u16			number;
	struct sock		*sk4;
	struct sock		*sk6;
	int			err;
};

/*
 * The port sends only answers: a small one for each packet that a member sent. The queues of
 * devices limit how many wait, and drop the excess. A smaller buffer, which all would share, would
 * let one stuck device hold back answers by other devices and to other hosts.
 */
#define UDP_ANSWERS_BYTES	(INT_MAX / 2)

static int udp_sock_open(struct coll_udp *udp, u16 family, u16 number, struct sock **sk)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data	= udp->owner,
		.encap_type	= 1,
		.encap_rcv	= udp->hook,
	};
	struct udp_port_cfg port = {
		.family			= family,
		.local_udp_port		= htons(number),
		.ipv6_v6only		= true,
		.use_udp6_tx_checksums	= true,
		.use_udp6_rx_checksums	= true,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(udp->net, &port, &sock);
	if (err)
		return err;
	err = udp_ignore_icmp(sock);
	if (err) {
		udp_tunnel_sock_release(coll_tunnel_sock(sock->sk));
		return err;
	}
	sock->sk->sk_sndbuf = UDP_ANSWERS_BYTES;
	*sk = sock->sk;
	setup_udp_tunnel_sock(udp->net, coll_tunnel_sock(sock->sk), &tunnel);
	return 0;
}

static void udp_sock_close(struct sock *sk)
{
	/* This waits for packets in flight, in either direction. */
	if (sk)
		udp_tunnel_sock_release(coll_tunnel_sock(sk));
}

/* Both or none: a program that has the other one would receive part of the packets. */
static void udp_sockets_open(struct work_struct *work)
{
	struct udp_sockets *s = container_of(work, struct udp_sockets, work);

	s->err = udp_sock_open(s->udp, AF_INET, s->number, &s->sk4);
	if (s->err || !ipv6_mod_enabled())
		return;
	s->err = udp_sock_open(s->udp, AF_INET6, s->number, &s->sk6);
	if (s->err)
		udp_sock_close(s->sk4);
}

/* Use these sockets from now on, and close the former ones. */
static void udp_replace(struct coll_udp *udp, struct sock *sk4, struct sock *sk6, u16 number)
{
	sk4 = rcu_replace_pointer(udp->sk4, sk4, true);
	sk6 = rcu_replace_pointer(udp->sk6, sk6, true);
	WRITE_ONCE(udp->number, number);
	udp_sock_close(sk4);
	udp_sock_close(sk6);
}

/**
 * coll_udp_open() - open the port, instead of the one that may be open
 * @udp: the port; the namespace's mutex is held
 * @number: of the port
 *
 * A kernel thread opens it: with the module's credentials instead of the caller's, and outside
 * the caller's cgroups, whose rules are not for everybody's packets.
 *
 * Return: 0, also if it is open already; -EADDRINUSE if another socket has it, or another
 * -errno: then nothing has changed. Context: process.
 */
int coll_udp_open(struct coll_udp *udp, u16 number)
{
	struct udp_sockets s = { .udp = udp, .number = number };

	if (udp->number == number)
		return 0;
	INIT_WORK_ONSTACK(&s.work, udp_sockets_open);
	queue_work(coll_unbound_queue, &s.work);
	flush_work(&s.work);
	destroy_work_on_stack(&s.work);
	if (!s.err)
		udp_replace(udp, s.sk4, s.sk6, number);
	return s.err;
}

/**
 * coll_udp_close() - close the port, if it is open
 * @udp: the port; the namespace's mutex is held
 *
 * Context: process.
 */
void coll_udp_close(struct coll_udp *udp)
{
	udp_replace(udp, NULL, NULL, 0);
}

static void udp_sock_stop(struct sock *sk)
{
	if (sk)
		rcu_assign_sk_user_data(sk, NULL);
}

/**
 * coll_udp_stop() - the port receives no more packets
 * @udp: the port; the namespace's mutex is held
 *
 * Waits for nothing: packets in flight may still be received, and answered, for a grace period.
 *
 * Context: process.
 */
void coll_udp_stop(struct coll_udp *udp)
{
	udp_sock_stop(rcu_dereference_protected(udp->sk4, true));
	udp_sock_stop(rcu_dereference_protected(udp->sk6, true));
}

/*
 * Like udp_tunnel_sock_release(), but without its grace period, which has passed, and without a
 * shutdown: nobody sleeps on the socket.
 */
static void udp_sock_end(struct sock *sk)
{
	if (sk)
		sock_release(sk->sk_socket);
}

/**
 * coll_udp_end() - close the port for good
 * @udp: the port, stopped a grace period ago; nothing is sent any more
 *
 * Waits for nothing. Packets in queues of this host keep the memory of the sockets.
 *
 * Context: process.
 */
void coll_udp_end(struct coll_udp *udp)
{
	udp_sock_end(rcu_replace_pointer(udp->sk4, NULL, true));
	udp_sock_end(rcu_replace_pointer(udp->sk6, NULL, true));
}

/* ---- checks when a group is joined ---- */

/*
 * A device in a VRF has routing tables and sockets of its own, which are not consulted here. The
 * stack finds its addresses only if it is asked for the device.
 */
static bool udp_is_in_vrf(const struct net_device *dev)
{
	return netif_is_l3_slave(dev) || netif_is_l3_master(dev);
}

static int udp_check_vrf4(struct net *net, const struct collsock_member *self)
{
	struct net_device *dev;
	bool in_vrf;

	rcu_read_lock();
	dev = __ip_dev_find(net, coll_udp_ipv4(self), false);
	in_vrf = dev && udp_is_in_vrf(dev);
	rcu_read_unlock();
	return in_vrf ? -EXDEV : -EADDRNOTAVAIL;
}

static int udp_check_self4(struct net *net, const struct collsock_member *self)
{
	if (inet_addr_type(net, coll_udp_ipv4(self)) == RTN_LOCAL)
		return 0;
	return udp_check_vrf4(net, self);
}

#if IS_ENABLED(CONFIG_IPV6)
/* Is the address one of this device, outside of VRFs? Returns 0, or why not. RCU read side. */
static int udp_check_device6(struct net *net, const struct in6_addr *address,
			     struct net_device *dev)
{
	if (!dev || !ipv6_chk_addr(net, address, dev, 1))
		return -EADDRNOTAVAIL;
	return udp_is_in_vrf(dev) ? -EXDEV : 0;
}

static int udp_check_vrf6(struct net *net, const struct in6_addr *address)
{
	int err = -EADDRNOTAVAIL;
	struct net_device *dev;

	for_each_netdev_rcu(net, dev) {
		err = udp_check_device6(net, address, dev);
		if (err != -EADDRNOTAVAIL)
			break;
	}
	return err;
}

static int udp_check_self6(struct net *net, const struct collsock_member *self)
{
	const struct in6_addr *address = coll_udp_ipv6(self);
	int err = 0;

	rcu_read_lock();
	if (ipv6_addr_type(address) & IPV6_ADDR_LINKLOCAL)
		err = udp_check_device6(net, address, dev_get_by_index_rcu(net, self->scope_id));
	else if (!ipv6_chk_addr(net, address, NULL, 0))
		err = udp_check_vrf6(net, address);
	rcu_read_unlock();
	return err;
}
#else
static int udp_check_self6(struct net *net, const struct collsock_member *self)
{
	return -EADDRNOTAVAIL;
}
#endif

/**
 * coll_udp_check_self() - can this host be that member?
 * @udp: the port
 * @self: the member
 *
 * Return: 0; -EAFNOSUPPORT; -EADDRNOTAVAIL if it is not an address of this namespace or
 * not its port; -EXDEV if it is one in a VRF. Context: process.
 */
int coll_udp_check_self(const struct coll_udp *udp, const struct collsock_member *self)
{
	if (self->family == AF_INET6 && !ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	if (self->port != coll_udp_port(udp))
		return -EADDRNOTAVAIL;
	return self->family == AF_INET ? udp_check_self4(udp->net, self) :
					 udp_check_self6(udp->net, self);
}

static bool udp_is_by_device(const struct sock *owner, const struct collsock_member *m)
{
	return !owner->sk_bound_dev_if || !m->scope_id || owner->sk_bound_dev_if == m->scope_id;
}

/* Like bind(): any device of the same VRF may have it, or any outside of VRFs. RCU read side. */
static bool udp_is_address_beside(struct net *net, const struct collsock_member *m,
				  const struct net_device *dev)
{
	if (m->family == AF_INET)
		return inet_addr_type_dev_table(net, dev, coll_udp_ipv4(m)) == RTN_LOCAL;
#if IS_ENABLED(CONFIG_IPV6)
	return ipv6_chk_addr(net, coll_udp_ipv6(m), dev, 0);
#else
	return false;
#endif
}

/**
 * coll_udp_check_owner() - can this owner send that member's packets?
 * @udp: the port
 * @owner: of the packets
 * @self: the member
 *
 * Return: 0, or -EADDRNOTAVAIL if @owner is bound to a device where the address of @self is not
 * available. Context: process.
 */
int coll_udp_check_owner(const struct coll_udp *udp, const struct sock *owner,
			 const struct collsock_member *self)
{
	const struct net_device *dev;
	bool available;

	if (!owner->sk_bound_dev_if)
		return 0;
	rcu_read_lock();
	dev = dev_get_by_index_rcu(udp->net, owner->sk_bound_dev_if);
	available = dev && udp_is_by_device(owner, self) &&
		    udp_is_address_beside(udp->net, self, dev);
	rcu_read_unlock();
	return available ? 0 : -EADDRNOTAVAIL;
}

static bool udp_is_loopback(const struct collsock_member *m)
{
	return m->family == AF_INET ? ipv4_is_loopback(coll_udp_ipv4(m)) :
				      ipv6_addr_loopback(coll_udp_ipv6(m));
}

static bool udp_is_local(struct net *net, const struct collsock_member *m)
{
	return m->family == AF_INET ? inet_addr_type(net, coll_udp_ipv4(m)) == RTN_LOCAL :
				      !udp_check_self6(net, m);
}

/* The MTU configured on the route, or 0; path MTUs learned from ICMP are not used. */
static u32 udp_route_mtu(const struct dst_entry *dst, u16 family)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct fib6_info *from;
	u32 mtu = 0;

	if (family == AF_INET6) {
		rcu_read_lock();
		from = rcu_dereference(((const struct rt6_info *)dst)->from);
		if (from)
			mtu = from->fib6_pmtu;
		rcu_read_unlock();
		return mtu;
	}
#endif
	return dst_metric_raw(dst, RTAX_MTU);
}

/* The largest IP packet that leaves unfragmented; see udp_ignore_icmp() */
static u32 udp_mtu(const struct dst_entry *dst, u16 family)
{
	u32 mtu = READ_ONCE(dst->dev->mtu), route = udp_route_mtu(dst, family);

	mtu -= lwtunnel_headroom(dst->lwtstate, mtu);
	return route ? min(mtu, route) : mtu;
}

/**
 * coll_udp_check_path() - can packets of this size reach a member?
 * @udp: the port
 * @owner: of the packets
 * @self: this host
 * @to: the member
 * @bytes: length of the largest packet, without the headers of UDP and IP
 *
 * On each host a loopback address means that host itself. So if either address is one, @to must be
 * this host.
 *
 * Return: 0; -EMSGSIZE; -EADDRNOTAVAIL if @to is the broadcast address of a network, is at another
 * device than that of @owner, or is another host while one of the two has a loopback address.
 * Context: process.
 */
int coll_udp_check_path(const struct coll_udp *udp, struct sock *owner,
			const struct collsock_member *self, const struct collsock_member *to,
			u32 bytes)
{
	struct dst_entry *dst;
	bool fits;

	if ((udp_is_loopback(self) || udp_is_loopback(to)) && !udp_is_local(udp->net, to))
		return -EADDRNOTAVAIL;
	if (!udp_is_by_device(owner, to))
		return -EADDRNOTAVAIL;
	dst = udp_lookup(udp, owner, self, to);
	if (IS_ERR(dst))
		return PTR_ERR(dst) == -EACCES ? -EADDRNOTAVAIL : 0;
	bytes += sizeof(struct udphdr);
	bytes += to->family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	fits = bytes <= udp_mtu(dst, to->family);
	dst_release(dst);
	return fits ? 0 : -EMSGSIZE;
}
