// SPDX-License-Identifier: GPL-2.0
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "family.h"
#include "instance.h"
#include "instance_join.h"
#include "io.h"
#include "join.h"
#include "netns.h"
#include "pernet.h"
#include "socket.h"

static int family __ro_after_init = AF_COLLSOCK;
module_param(family, int, 0444);
MODULE_PARM_DESC(family, "Number of the socket family");

/* ---- waiting ---- */

static __poll_t sock_poll_joined(struct coll_sock *csk, struct coll_instance *gi)
{
	const struct coll_group *g = &gi->group;
	__poll_t mask = 0;

	spin_lock_bh(&gi->lock);
	if (!list_empty(&csk->slots->ready))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (coll_group_writable(g, csk->local) && coll_completions_room(csk->slots))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (g->failure.known && !coll_group_settling(g))
		mask |= EPOLLERR;
	spin_unlock_bh(&gi->lock);
	return mask;
}

static __poll_t sock_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi;

	sock_poll_wait(file, sock, wait);
	gi = coll_sock_instance(csk);
	return gi ? sock_poll_joined(csk, gi) : EPOLLHUP;
}

/* ---- options ---- */

static int sock_join_group(struct coll_sock *csk, struct coll_join *join)
{
	struct coll_net *cn = coll_net_of(sock_net(&csk->sk));
	struct coll_instance *gi;

	csk->slots = coll_completions_new(join->fixed.window, join->fixed.max_bytes);
	if (!csk->slots)
		return -ENOMEM;
	/* A descriptor may be handed on, and joined with by another process. */
	put_pid(csk->pid);
	csk->pid = get_pid(task_tgid(current));
	gi = coll_instance_join(cn, join, csk);
	if (IS_ERR(gi)) {
		coll_completions_free(csk->slots);
		csk->slots = NULL;
		return PTR_ERR(gi);
	}
	/* Who sees the instance sees the slots too. */
	smp_store_release(&csk->instance, gi);
	csk->sk.sk_write_space(&csk->sk);
	return 0;
}

static int sock_join(struct coll_sock *csk, sockptr_t request, unsigned int bytes)
{
	struct coll_net *cn = coll_net_of(sock_net(&csk->sk));
	struct coll_join join;
	int err;

	if (csk->instance)
		return -EISCONN;
	err = coll_join_copy(&join, cn, request, bytes);
	if (err)
		return err;
	err = sock_join_group(csk, &join);
	coll_join_drop(&join);
	return err;
}

static int sock_setsockopt_coll(struct socket *sock, int level, int option,
				sockptr_t value, unsigned int bytes)
{
	struct coll_sock *csk = coll_sock_of(sock);
	int err;

	if (level != SOL_COLLSOCK || option != COLLSOCK_JOIN)
		return -ENOPROTOOPT;
	lock_sock(&csk->sk);
	err = sock_join(csk, value, bytes);
	release_sock(&csk->sk);
	return err;
}

static int sock_getsockopt_coll(struct socket *sock, int level, int option,
				char __user *value, int __user *length)
{
	union {
		u32				size;
		struct collsock_stats		group;
		struct collsock_net_stats	net;
	} stats;
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi;
	int room, bytes;

	if (level != SOL_COLLSOCK)
		return -ENOPROTOOPT;
	if (get_user(room, length))
		return -EFAULT;
	if (room < (int)sizeof(stats.size))
		return -EINVAL;
	memset(&stats, 0, sizeof(stats));
	switch (option) {
	case COLLSOCK_STATS:
		gi = coll_sock_instance(csk);
		if (!gi)
			return -ENOTCONN;
		coll_instance_stats(gi, &stats.group);
		bytes = sizeof(stats.group);
		break;
	case COLLSOCK_NET_STATS:
		coll_pernet_stats(coll_net_of(sock_net(&csk->sk)), &stats.net);
		bytes = sizeof(stats.net);
		break;
	default:
		return -ENOPROTOOPT;
	}
	bytes = min(room, bytes);
	stats.size = bytes;
	if (put_user(bytes, length) || copy_to_user(value, &stats, bytes))
		return -EFAULT;
	return 0;
}

static int sock_ioctl_coll(struct socket *sock, unsigned int command, unsigned long arg)
{
	switch (command) {
	case COLLSOCK_RUN:
		return coll_io_run(sock, (void __user *)arg);
	case COLLSOCK_WAIT:
		return coll_io_wait(sock, (void __user *)arg);
	default:
		return -ENOIOCTLCMD;
	}
}

#ifdef CONFIG_COMPAT
/* The structures are the same for 32-bit programs; they hold no pointer. */
static int sock_compat_ioctl_coll(struct socket *sock, unsigned int command, unsigned long arg)
{
	return sock_ioctl_coll(sock, command, (unsigned long)compat_ptr(arg));
}
#endif

/* ---- beginning and end of a socket ---- */

static struct proto coll_proto = {
	.name		= "COLLSOCK",
	.owner		= THIS_MODULE,
	.obj_size	= sizeof(struct coll_sock),
};

static void sock_destruct(struct sock *sk)
{
	struct coll_sock *csk = container_of(sk, struct coll_sock, sk);

	coll_completions_free(csk->slots);
	put_pid(csk->pid);
}

/*
 * Nobody else has the socket any more, but for events that took a reference
 * before the instance was abandoned.
 */
static int sock_release_coll(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct coll_sock *csk;

	if (!sk)
		return 0;
	csk = coll_sock_of(sock);
	sock_orphan(sk);
	sock->sk = NULL;
	if (csk->instance)
		coll_instance_abandon(csk->instance, csk->local);
	sock_put(sk);
	return 0;
}

static const struct proto_ops sock_operations = {
	.family		= AF_COLLSOCK,
	.owner		= THIS_MODULE,
	.release	= sock_release_coll,
	.bind		= sock_no_bind,
	.connect	= sock_no_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= sock_no_getname,
	.poll		= sock_poll,
	.ioctl		= sock_ioctl_coll,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= sock_compat_ioctl_coll,
#endif
	.listen		= sock_no_listen,
	.shutdown	= sock_no_shutdown,
	.setsockopt	= sock_setsockopt_coll,
	.getsockopt	= sock_getsockopt_coll,
	.sendmsg	= coll_io_send,
	.recvmsg	= coll_io_recv,
	.mmap		= sock_no_mmap,
};

static int sock_create_coll(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct sock *sk;

	if (sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (protocol)
		return -EPROTONOSUPPORT;
	sk = sk_alloc(net, family, GFP_KERNEL, &coll_proto, kern);
	if (!sk)
		return -ENOMEM;
	sock->ops = &sock_operations;
	sock_init_data(sock, sk);
	sk->sk_destruct = sock_destruct;
	return 0;
}

static struct net_proto_family sock_family __ro_after_init = {
	.create	= sock_create_coll,
	.owner	= THIS_MODULE,
};

/**
 * coll_family_number() - the number that the socket family has
 *
 * Context: any.
 */
u32 coll_family_number(void)
{
	return family;
}

/**
 * coll_family_init() - sockets of the family can be made
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_family_init(void)
{
	int err;

	if (family <= AF_UNSPEC || family >= AF_MAX)
		return -EINVAL;
	sock_family.family = family;
	err = proto_register(&coll_proto, 1);
	if (err)
		return err;
	err = sock_register(&sock_family);
	if (err)
		proto_unregister(&coll_proto);
	return err;
}

/**
 * coll_family_uninit() - undo coll_family_init()
 *
 * Context: process; no socket exists, for each holds the module.
 */
void coll_family_uninit(void)
{
	sock_unregister(family);
	proto_unregister(&coll_proto);
}
