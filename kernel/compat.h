/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that the module supports, 6.1 and later. No other file
 * checks the kernel version.
 */
#ifndef COLL_COMPAT_H
#define COLL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/ip6_route.h>
#include <net/udp_tunnel.h>
#if KERNEL_VERSION(7, 1, 0) > LINUX_VERSION_CODE
#include <net/ipv6_stubs.h>
#endif

#ifndef CONFIG_64BIT
#error "collsock needs a 64-bit kernel: its MAC and its sums are integers of 128 bits"
#endif

/* 6.5: with this flag splice() hands over pages, which may be copied. */
#ifndef MSG_SPLICE_PAGES
#define MSG_SPLICE_PAGES	0
#endif

/* 6.6: the attributes of a dump request are in a struct genl_info. */
static inline struct nlattr **coll_genl_dump_attrs(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/* 6.6: the family of a dump is there as well. */
static inline const struct genl_family *coll_genl_dump_family(struct netlink_callback *cb)
{
#if KERNEL_VERSION(6, 6, 0) <= LINUX_VERSION_CODE
	return genl_info_dump(cb)->family;
#else
	return genl_dumpit_info(cb)->family;
#endif
}

/* 6.3: flags of a memory area are changed by functions. */
static inline void coll_area_flags(struct vm_area_struct *area, unsigned long set,
				   unsigned long clear)
{
#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
	vm_flags_mod(area, set, clear);
#else
	area->vm_flags = (area->vm_flags | set) & ~clear;
#endif
}

/* 6.13: a timer's function is an argument of its set-up. */
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

/* 6.18: work queues were renamed by where they run; using the old names warns. */
#if KERNEL_VERSION(6, 18, 0) <= LINUX_VERSION_CODE
#define coll_unbound_queue	system_dfl_wq
#else
#define coll_unbound_queue	system_unbound_wq
#endif

/* 7.1: IPv6 is no longer a module, so its functions can be called directly. */
static inline struct dst_entry *coll_ip6_route(struct net *net, struct sock *sk,
					       struct flowi6 *flow)
{
#if KERNEL_VERSION(7, 1, 0) <= LINUX_VERSION_CODE
	return ip6_dst_lookup_flow(net, sk, flow, NULL);
#else
	return ipv6_stub->ipv6_dst_lookup_flow(net, sk, flow, NULL);
#endif
}

/*
 * 7.2: the functions of UDP tunnels take a struct sock instead of its struct socket. Stable
 * kernels have backported this, so the version does not decide; the functions' type does.
 */
#define COLL_TUNNEL_TAKES_SOCK \
	__builtin_types_compatible_p(typeof(udp_tunnel_sock_release), void (struct sock *))

static inline void *coll_tunnel_sock(struct sock *sk)
{
	return COLL_TUNNEL_TAKES_SOCK ? (void *)sk : (void *)sk->sk_socket;
}

#endif
