// SPDX-License-Identifier: GPL-2.0
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "family.h"
#include "instance.h"
#include "io.h"
#include "netns.h"
#include "page.h"
#include "socket.h"
#include "sockopt.h"

static int family __ro_after_init = AF_COLLSOCK;
module_param(family, int, 0444);
MODULE_PARM_DESC(family, "Number of the socket family");

/* ---- poll ---- */

static __poll_t family_poll_joined(struct coll_sock *csk, struct coll_instance *gi)
{
	__poll_t mask = 0;

	coll_instance_lock(gi);
	if (!list_empty(&csk->slots->ready))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (coll_sock_at_eof(csk))
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if ((coll_instance_writable(gi, csk->local) && coll_completions_room(csk->slots)) ||
	    csk->sk.sk_shutdown & SEND_SHUTDOWN)
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (csk->sk.sk_shutdown == SHUTDOWN_MASK)
		mask |= EPOLLHUP;
	coll_instance_unlock(gi);
	return mask;
}

static __poll_t family_poll(struct file *file, struct socket *sock, poll_table *wait)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi;

	sock_poll_wait(file, sock, wait);
	gi = coll_sock_instance(csk);
	return gi ? family_poll_joined(csk, gi) : EPOLLHUP;
}

/* ---- names, commands, leaving ---- */

static int family_getname(struct socket *sock, struct sockaddr *address, int peer)
{
	struct sockaddr_collsock *name = (struct sockaddr_collsock *)address;
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi;

	if (peer)
		return -EOPNOTSUPP;
	*name = (struct sockaddr_collsock) {
		.family	= family,
		.port	= coll_bearer_port(&coll_net_of(sock_net(&csk->sk))->bearers),
		.rank	= COLLSOCK_NO_RANK,
	};
	gi = coll_sock_instance(csk);
	if (gi) {
		name->rank = gi->group.ranks.local[csk->local].rank;
		name->id = gi->request.id;
	}
	return sizeof(*name);
}

/* SHUT_WR: the rank leaves; what it has posted completes. SHUT_RD: recv no longer sleeps. */
static int family_shutdown(struct socket *sock, int how)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi = coll_sock_instance(csk);
	struct sock *sk = &csk->sk;
	u64 now;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (!gi)
		return -ENOTCONN;
	/* SHUT_RD, SHUT_WR and SHUT_RDWR as bits: RCV_SHUTDOWN, SEND_SHUTDOWN */
	how++;
	now = coll_instance_enter(gi);
	how &= ~sk->sk_shutdown;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | how);
	if (how & SEND_SHUTDOWN)
		coll_group_leave(&gi->group, csk->local, now);
	coll_instance_leave(gi);
	coll_io_shut_down(csk);
	return 0;
}

static int family_ioctl(struct socket *sock, unsigned int command, unsigned long arg)
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
/* Structures are the same for 32-bit programs: addresses in them have 64 bits. */
static int family_compat_ioctl(struct socket *sock, unsigned int command, unsigned long arg)
{
	return family_ioctl(sock, command, (unsigned long)compat_ptr(arg));
}
#endif

static int family_mmap(struct file *file, struct socket *sock, struct vm_area_struct *area)
{
	return coll_page_map(coll_sock_of(sock), area);
}

/* ---- creating and releasing a socket ---- */

static struct proto coll_proto = {
	.name		= "COLLSOCK",
	.owner		= THIS_MODULE,
	.obj_size	= sizeof(struct coll_sock),
};

static void family_destruct(struct sock *sk)
{
	struct coll_sock *csk = container_of(sk, struct coll_sock, sk);

	coll_completions_free(csk->slots);
	put_pid(csk->pid);
}

/*
 * Nothing else uses the socket any more, except events that took a reference before the
 * instance was abandoned.
 */
static int family_release(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct coll_sock *csk;

	if (!sk)
		return 0;
	csk = coll_sock_of(sock);
	sock_orphan(sk);
	sock->sk = NULL;
	if (csk->instance) {
		coll_page_free(csk);
		coll_instance_abandon(csk->instance, csk->local);
	}
	sock_put(sk);
	return 0;
}

static const struct proto_ops family_operations = {
	.family		= AF_COLLSOCK,
	.owner		= THIS_MODULE,
	.release	= family_release,
	.bind		= sock_no_bind,
	.connect	= sock_no_connect,
	.socketpair	= sock_no_socketpair,
	.accept		= sock_no_accept,
	.getname	= family_getname,
	.poll		= family_poll,
	.ioctl		= family_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= family_compat_ioctl,
#endif
	.listen		= sock_no_listen,
	.shutdown	= family_shutdown,
	.setsockopt	= coll_sockopt_set,
	.getsockopt	= coll_sockopt_get,
	.sendmsg	= coll_io_send,
	.recvmsg	= coll_io_recv,
	.mmap		= family_mmap,
};

static int family_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	struct sock *sk;

	if (sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	if (protocol)
		return -EPROTONOSUPPORT;
	sk = sk_alloc(net, family, GFP_KERNEL, &coll_proto, kern);
	if (!sk)
		return -ENOMEM;
	sock->ops = &family_operations;
	sock_init_data(sock, sk);
	sk->sk_destruct = family_destruct;
	coll_sock_of(sock)->completion_bytes = COLLSOCK_COMPLETION_VER0;
	return 0;
}

static struct net_proto_family family_proto __ro_after_init = {
	.create	= family_create,
	.owner	= THIS_MODULE,
};

/**
 * coll_family_number() - the number of the socket family
 *
 * Context: any.
 */
u32 coll_family_number(void)
{
	return family;
}

/**
 * coll_family_init() - register the socket family
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_family_init(void)
{
	int err;

	if (family <= AF_UNSPEC || family >= AF_MAX)
		return -EINVAL;
	family_proto.family = family;
	err = proto_register(&coll_proto, 1);
	if (err)
		return err;
	err = sock_register(&family_proto);
	if (err)
		proto_unregister(&coll_proto);
	return err;
}

/**
 * coll_family_uninit() - undo coll_family_init()
 *
 * Context: process; no socket exists, as each holds a reference on the module.
 */
void coll_family_uninit(void)
{
	sock_unregister(family);
	proto_unregister(&coll_proto);
}
