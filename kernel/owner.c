// SPDX-License-Identifier: GPL-2.0
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/net.h>

#include "owner.h"

/* ---- beginning and end ---- */

/* Copy all of @joiner that affects packets. */
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
 * @send_buffer: bytes that packets under way may take, unless @joiner limits them
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

/* ---- comparing ---- */

#ifdef CONFIG_CGROUP_BPF
/*
 * The programs to compare: those that filter packets, and those that run when the socket is made,
 * which may store something with it that a filter reads
 */
static const enum cgroup_bpf_attach_type owner_programs[] = {
	CGROUP_INET_SOCK_CREATE,
	CGROUP_INET_INGRESS,
	CGROUP_INET_EGRESS,
};

/* Is it the same program, with the same storage? Its decisions may depend on the storage. */
static bool owner_program_equal(const struct bpf_prog_array_item *a,
				const struct bpf_prog_array_item *b)
{
	return READ_ONCE(a->prog) == READ_ONCE(b->prog) &&
	       !memcmp(a->cgroup_storage, b->cgroup_storage, sizeof(a->cgroup_storage));
}

static bool owner_programs_equal(const struct cgroup *a, const struct cgroup *b,
				 enum cgroup_bpf_attach_type type)
{
	const struct bpf_prog_array_item *first = rcu_dereference(a->bpf.effective[type])->items;
	const struct bpf_prog_array_item *second = rcu_dereference(b->bpf.effective[type])->items;

	for (; READ_ONCE(first->prog); first++, second++)
		if (!owner_program_equal(first, second))
			return false;
	return !READ_ONCE(second->prog);
}

/* Jobs and containers may have a control group for each task, so their programs are compared. */
static bool owner_programs_alike(struct sock *a, struct sock *b)
{
	const struct cgroup *first = sock_cgroup_ptr(&a->sk_cgrp_data);
	const struct cgroup *second = sock_cgroup_ptr(&b->sk_cgrp_data);
	bool alike = true;
	u32 i;

	rcu_read_lock();
	for (i = 0; alike && i < ARRAY_SIZE(owner_programs); i++)
		alike = owner_programs_equal(first, second, owner_programs[i]);
	rcu_read_unlock();
	return alike;
}
#else
static bool owner_programs_alike(struct sock *a, struct sock *b)
{
	return true;
}
#endif

static bool owner_groups_equal(const struct group_info *a, const struct group_info *b)
{
	return a->ngroups == b->ngroups && !memcmp(a->gid, b->gid, a->ngroups * sizeof(*a->gid));
}

/* Compare the user and the groups that firewalls find in the files of the sockets. */
static bool owner_users_equal(const struct sock *a, const struct sock *b)
{
	const struct cred *first = a->sk_socket->file->f_cred;
	const struct cred *second = b->sk_socket->file->f_cred;

	return uid_eq(first->fsuid, second->fsuid) && gid_eq(first->fsgid, second->fsgid) &&
	       owner_groups_equal(first->group_info, second->group_info);
}

/* Compare settings of control groups v1: a class, and the index of a priority for each device. */
static bool owner_classes_equal(const struct sock *a, const struct sock *b)
{
#ifdef CONFIG_SOCK_CGROUP_DATA
	return sock_cgroup_classid(&a->sk_cgrp_data) == sock_cgroup_classid(&b->sk_cgrp_data) &&
	       sock_cgroup_prioidx(&a->sk_cgrp_data) == sock_cgroup_prioidx(&b->sk_cgrp_data);
#else
	return true;
#endif
}

static bool owner_routes_equal(const struct sock *a, const struct sock *b)
{
	return a->sk_mark == b->sk_mark && a->sk_priority == b->sk_priority &&
	       a->sk_bound_dev_if == b->sk_bound_dev_if;
}

/**
 * coll_owner_alike() - is the policy for the packets of two owners the same?
 * @a: an owner
 * @b: another, made by another process, perhaps
 *
 * Compares the user and groups; mark, priority and device, which programs of the control group may
 * have chosen; the class and priorities of control groups v1; and the control group's programs for
 * sockets and packets. Programs that are attached or detached later are not seen. Labels of
 * security modules cannot be compared.
 *
 * Return: are they? Context: process.
 */
bool coll_owner_alike(struct sock *a, struct sock *b)
{
	return owner_users_equal(a, b) && owner_routes_equal(a, b) &&
	       owner_classes_equal(a, b) && owner_programs_alike(a, b);
}
