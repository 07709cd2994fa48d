/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that the module is built for, from 6.1 on.
 * Nothing outside this file asks for the version of the kernel.
 */
#ifndef COLL_COMPAT_H
#define COLL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/sysctl.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/ip6_route.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#if KERNEL_VERSION(7, 1, 0) > LINUX_VERSION_CODE
#include <net/ipv6_stubs.h>
#endif

/* 6.11: handlers of sysctls get a constant table. */
#if KERNEL_VERSION(6, 11, 0) <= LINUX_VERSION_CODE
#define COLL_CTL_TABLE	const struct ctl_table
#else
#define COLL_CTL_TABLE	struct ctl_table
#endif

/* 6.6: tables are counted, and need no empty entry at their end any more. */
static inline struct ctl_table_header *
coll_register_net_sysctl(struct net *net, const char *path, struct ctl_table *table,
			 size_t entries)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return register_net_sysctl_sz(net, path, table, entries);
#else
	return register_net_sysctl(net, path, table);
#endif
}

/* 6.13: the function of a timer is given when it is set up. */
static inline void coll_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* 6.18: the work queue for the CPU at hand has a name of its own, and the old one complains. */
#if KERNEL_VERSION(6, 18, 0) <= LINUX_VERSION_CODE
#define coll_work_queue	system_percpu_wq
#else
#define coll_work_queue	system_wq
#endif

/* 7.1: IPv6 is no module any more, so its functions are called without a detour. */
static inline struct dst_entry *coll_ip6_route(struct net *net, struct flowi6 *flow)
{
#if KERNEL_VERSION(7, 1, 0) <= LINUX_VERSION_CODE
	return ip6_dst_lookup_flow(net, NULL, flow, NULL);
#else
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, flow, NULL);
#endif
}

/*
 * 7.2: the functions of UDP tunnels take a struct sock instead of its struct socket. It
 * came to stable kernels before that, too: their type tells, the version does not.
 */
#define COLL_TUNNEL_TAKES_SOCK \
	__builtin_types_compatible_p(typeof(udp_tunnel_sock_release), void (struct sock *))

static inline void *coll_tunnel_sock(struct sock *sk)
{
	return COLL_TUNNEL_TAKES_SOCK ? (void *)sk : (void *)sk->sk_socket;
}

#endif
