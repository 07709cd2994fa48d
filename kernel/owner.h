/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner of a group's packets: a kernel socket, made by the first rank of this host in
 * the context of its process. Everything that judges packets by their socket sees that
 * process: filters of its control group, firewall rules about users and control groups,
 * security modules. Mark, priority and device are those of the rank's socket, unless a program of
 * the control group sets them. An owner with a device sends and receives by that one alone.
 *
 * It is neither bound nor connected: it sends nothing by itself, and no packet finds it.
 * It holds no reference on its namespace, so it ends before that does. Packets that wait in
 * queues of this host count against its send buffer.
 *
 * Ranks of this host that join later share it, if an owner that their process makes would be
 * alike: coll_owner_alike().
 */
#ifndef COLL_OWNER_H
#define COLL_OWNER_H

#include <linux/bpf-cgroup.h>
#include <linux/security.h>
#include <linux/skbuff.h>
#include <net/sock.h>

struct sock *coll_owner_new(const struct sock *joiner, struct socket *sock, u32 send_buffer);
void coll_owner_free(struct sock *owner);
bool coll_owner_alike(struct sock *a, struct sock *b);

/* May the owner have another packet under way? */
static inline bool coll_owner_has_room(const struct sock *owner)
{
	return sk_wmem_alloc_get(owner) < READ_ONCE(owner->sk_sndbuf);
}

/*
 * Give the packet, which has no owner yet, to this one. Like skb_set_owner_w(), without the steps
 * that only other kinds of sockets need.
 */
static inline void coll_owner_take(struct sock *owner, struct sk_buff *skb)
{
	skb->mark = owner->sk_mark;
	skb->priority = owner->sk_priority;
	skb->sk = owner;
	skb->destructor = sock_wfree;
	refcount_add(skb->truesize, &owner->sk_wmem_alloc);
}

/*
 * Do the filters of the owner accept a received packet? Like sk_filter_trim_cap(), without a
 * filter of the socket itself: nobody can reach it to attach one.
 */
static inline bool coll_owner_accepts(struct sock *owner, struct sk_buff *skb)
{
	return !BPF_CGROUP_RUN_PROG_INET_INGRESS(owner, skb) &&
	       !security_sock_rcv_skb(owner, skb);
}

#endif
