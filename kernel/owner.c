// SPDX-License-Identifier: GPL-2.0
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/net.h>

#include "owner.h"

/* ---- beginning and end ---- */

/* As @joiner is, as far as packets are concerned. */
static void owner_copy(struct sock *owner, const struct sock *joiner, u32 send_buffer)
{
	security_sk_clone(joiner, owner);
	owner->sk_mark = READ_ONCE(joiner->sk_mark);
	owner->sk_priority = READ_ONCE(joiner->sk_priority);
	owner->sk_bound_dev_if = READ_ONCE(joiner->sk_bound_dev_if);
	owner->sk_sndbuf = joiner->sk_userlocks & SOCK_SNDBUF_LOCK ?
			   READ_ONCE(joiner->sk_sndbuf) : send_buffer;
	/* Nobody sleeps until there is room. */
	sock_set_flag(owner, SOCK_USE_WRITE_QUEUE);
	sock_set_flag(owner, SOCK_RCU_FREE);
}

/**
 * coll_owner_new() - an owner for packets, made by the calling process
 * @joiner: the socket with which it joins
 * @sock: from coll_bearer_socket(), of the same namespace; it is the owner's from now on
 * @send_buffer: bytes that packets under way may take, unless @joiner says so
 *
 * Firewalls find the user in the file that a socket belongs to, so it gets one.
 *
 * Return: the owner or an error pointer; -EPERM if the control group of the process may
 * have no such socket. Context: process.
 */
struct sock *coll_owner_new(const struct sock *joiner, struct socket *sock, u32 send_buffer)
{
	struct file *file;
	int err;

	/* It releases the socket if it fails. */
	file = sock_alloc_file(sock, 0, NULL);
	if (IS_ERR(file))
		return ERR_CAST(file);
	owner_copy(sock->sk, joiner, send_buffer);
	err = BPF_CGROUP_RUN_PROG_INET_SOCK(sock->sk);
	if (err) {
		coll_owner_free(sock->sk);
		return ERR_PTR(err);
	}
	return sock->sk;
}

/**
 * coll_owner_free() - the owner sends and receives no more packets
 * @owner: nobody else can find it
 *
 * The file may end only when this process returns to user space or a worker runs, and by
 * then the namespace may have ended; so the socket is released here. The file finds it
 * released. Packets under way keep the memory of @owner.
 *
 * Context: process.
 */
void coll_owner_free(struct sock *owner)
{
	struct socket *sock = owner->sk_socket;

	sock->ops->release(sock);
	fput(sock->file);
}

/* ---- sharing ---- */

#ifdef CONFIG_CGROUP_BPF
static bool owner_filters_equal(const struct cgroup *a, const struct cgroup *b,
				enum cgroup_bpf_attach_type type)
{
	const struct bpf_prog_array_item *first = rcu_dereference(a->bpf.effective[type])->items;
	const struct bpf_prog_array_item *second = rcu_dereference(b->bpf.effective[type])->items;

	while (READ_ONCE(first->prog) && READ_ONCE(first->prog) == READ_ONCE(second->prog)) {
		first++;
		second++;
	}
	return READ_ONCE(first->prog) == READ_ONCE(second->prog);
}

/* Jobs and containers put each task into a control group of its own: what it runs counts. */
static bool owner_filters_shared(struct sock *owner)
{
	const struct cgroup *theirs = sock_cgroup_ptr(&owner->sk_cgrp_data), *ours;
	bool shared;

	rcu_read_lock();
	ours = task_dfl_cgroup(current);
	shared = ours == theirs ||
		 (owner_filters_equal(ours, theirs, CGROUP_INET_INGRESS) &&
		  owner_filters_equal(ours, theirs, CGROUP_INET_EGRESS));
	rcu_read_unlock();
	return shared;
}
#else
static bool owner_filters_shared(struct sock *owner)
{
	return true;
}
#endif

/**
 * coll_owner_shared() - is the policy for the calling process that of the owner?
 * @owner: made by another process, perhaps
 *
 * The same user, and the same programs that filter packets of the control group.
 * Programs that are attached or detached later are not seen.
 *
 * Context: process.
 */
bool coll_owner_shared(struct sock *owner)
{
	return uid_eq(owner->sk_uid, current_fsuid()) && owner_filters_shared(owner);
}
