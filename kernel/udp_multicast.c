// SPDX-License-Identifier: GPL-2.0
/*
 * The multicast address of a group over UDP. It is joined with the group's own socket: that needs
 * RTNL, which others take before the namespace's mutex, and the number of addresses of one
 * socket is limited.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/sock.h>

#include "udp.h"

/* ---- the device ---- */

static const struct net_device *udp_multicast_device4(struct net *net,
						      const struct collsock_member *self)
{
	return __ip_dev_find(net, coll_udp_ipv4(self), false);
}

#if IS_ENABLED(CONFIG_IPV6)
static const struct net_device *udp_multicast_device6(struct net *net,
						      const struct collsock_member *self)
{
	struct net_device *dev;

	for_each_netdev_rcu(net, dev)
		if ((!self->scope_id || dev->ifindex == self->scope_id) &&
		    ipv6_chk_addr(net, coll_udp_ipv6(self), dev, 1))
			return dev;
	return NULL;
}
#else
static const struct net_device *udp_multicast_device6(struct net *net,
						      const struct collsock_member *self)
{
	return NULL;
}
#endif

/* Can the device be used for the packets? Returns 0, or why not. */
static int udp_multicast_check_device(const struct net_device *dev, const struct sock *owner,
				      u32 bytes)
{
	if (!dev || !(dev->flags & IFF_MULTICAST) || dev->flags & IFF_LOOPBACK)
		return -EADDRNOTAVAIL;
	if (owner->sk_bound_dev_if && owner->sk_bound_dev_if != dev->ifindex)
		return -EADDRNOTAVAIL;
	return bytes <= READ_ONCE(dev->mtu) ? 0 : -EMSGSIZE;
}

/* Index of the device that has the address of this host, or why there is none. */
static int udp_multicast_device(struct net *net, const struct sock *owner,
				const struct collsock_member *self, u32 bytes)
{
	const struct net_device *dev;
	int err;

	bytes += sizeof(struct udphdr);
	bytes += self->family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	rcu_read_lock();
	dev = self->family == AF_INET ? udp_multicast_device4(net, self) :
					udp_multicast_device6(net, self);
	err = udp_multicast_check_device(dev, owner, bytes);
	if (!err)
		err = dev->ifindex;
	rcu_read_unlock();
	return err;
}

/* ---- the address ---- */

static int udp_multicast_set(struct socket *sock, int level, int option, void *value, u32 bytes)
{
	return sock->ops->setsockopt(sock, level, option, KERNEL_SOCKPTR(value), bytes);
}

/* Packets of this host itself do not come back to it. */
static int udp_multicast_join4(struct socket *sock, const struct collsock_member *everyone)
{
	struct ip_mreqn request = {
		.imr_multiaddr.s_addr	= coll_udp_ipv4(everyone),
		.imr_ifindex		= everyone->scope_id,
	};
	int loop = 0;

	return udp_multicast_set(sock, SOL_IP, IP_MULTICAST_LOOP, &loop, sizeof(loop)) ?:
	       udp_multicast_set(sock, SOL_IP, IP_ADD_MEMBERSHIP, &request, sizeof(request));
}

static int udp_multicast_join6(struct socket *sock, const struct collsock_member *everyone)
{
	struct ipv6_mreq request = {
		.ipv6mr_multiaddr	= *coll_udp_ipv6(everyone),
		.ipv6mr_ifindex		= everyone->scope_id,
	};
	int loop = 0;

	return udp_multicast_set(sock, SOL_IPV6, IPV6_MULTICAST_LOOP, &loop, sizeof(loop)) ?:
	       udp_multicast_set(sock, SOL_IPV6, IPV6_ADD_MEMBERSHIP, &request, sizeof(request));
}

/**
 * coll_udp_multicast() - coll_bearer_multicast_join() of UDP
 * @udp: the port
 * @owner: of the packets of the group: it has the address until coll_owner_free()
 * @self: this host
 * @bytes: length of the largest packet, without the headers of UDP and IP
 * @everyone: with the address; out: and the device
 *
 * Return: 0; -EADDRNOTAVAIL if the device with the address of this host has no multicast, or
 * @owner is bound to another one; -EMSGSIZE; or another -errno. Context: process; takes RTNL.
 */
int coll_udp_multicast(const struct coll_udp *udp, struct sock *owner,
		       const struct collsock_member *self, u32 bytes,
		       struct collsock_member *everyone)
{
	int err = udp_multicast_device(udp->net, owner, self, bytes);

	if (err < 0)
		return err;
	everyone->scope_id = err;
	err = self->family == AF_INET ? udp_multicast_join4(owner->sk_socket, everyone) :
					udp_multicast_join6(owner->sk_socket, everyone);
	/* The device has just left. */
	return err == -ENODEV ? -EADDRNOTAVAIL : err;
}

/* ---- packets ---- */

/**
 * coll_udp_multicast_clear_ecn() - have routers drop the packet rather than mark it
 * @skb: addressed
 *
 * No host answers a multicast packet, so its sender would not learn of a mark.
 *
 * Context: any.
 */
void coll_udp_multicast_clear_ecn(struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		ip_hdr(skb)->tos &= ~INET_ECN_MASK;
	else
		ipv6_change_dsfield(ipv6_hdr(skb), (u8)~INET_ECN_MASK, 0);
}
