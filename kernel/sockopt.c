// SPDX-License-Identifier: GPL-2.0
#include <linux/uaccess.h>

#include "core/descriptor.h"
#include "instance.h"
#include "instance_join.h"
#include "join.h"
#include "netns.h"
#include "pernet.h"
#include "socket.h"
#include "sockopt.h"

/* ---- set ---- */

static int sockopt_join_group(struct coll_sock *csk, struct coll_join *join)
{
	struct coll_net *cn = coll_net_of(sock_net(&csk->sk));
	struct coll_instance *gi;

	csk->slots = coll_completions_new(join->fixed.window, join->fixed.max_bytes);
	if (!csk->slots)
		return -ENOMEM;
	/* A file descriptor may have been passed to this process by another one. */
	put_pid(csk->pid);
	csk->pid = get_pid(task_tgid(current));
	gi = coll_instance_join(cn, join, csk);
	if (IS_ERR(gi)) {
		coll_completions_free(csk->slots);
		csk->slots = NULL;
		/* A failure noted until now is of this group, not of one that is joined later. */
		csk->failed = false;
		csk->sk.sk_err = 0;
		return PTR_ERR(gi);
	}
	/* A reader that sees the instance must also see the slots. */
	smp_store_release(&csk->instance, gi);
	csk->sk.sk_write_space(&csk->sk);
	/* Another rank of this host may have left already. */
	coll_instance_enter(gi);
	coll_instance_report_failure(gi, &gi->local_members[csk->local]);
	coll_instance_leave(gi);
	return 0;
}

static int sockopt_join(struct coll_sock *csk, sockptr_t request, unsigned int bytes)
{
	struct coll_net *cn = coll_net_of(sock_net(&csk->sk));
	struct coll_join join;
	int err;

	if (csk->instance)
		return -EISCONN;
	err = coll_join_copy(&join, cn, request, bytes);
	if (err)
		return err;
	err = sockopt_join_group(csk, &join);
	coll_join_drop(&join);
	return err;
}

static int sockopt_set_completion_bytes(struct coll_sock *csk, sockptr_t value,
					unsigned int bytes)
{
	u32 wanted;

	if (bytes != sizeof(wanted))
		return -EINVAL;
	if (copy_from_sockptr(&wanted, value, sizeof(wanted)))
		return -EFAULT;
	if (!coll_completion_bytes_valid(wanted))
		return -EINVAL;
	WRITE_ONCE(csk->completion_bytes, wanted);
	return 0;
}

/**
 * coll_sockopt_set() - setsockopt
 * @sock: the socket
 * @level: of the option
 * @option: number of the option
 * @value: value of the option
 * @bytes: length of the value
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_sockopt_set(struct socket *sock, int level, int option, sockptr_t value,
		     unsigned int bytes)
{
	struct coll_sock *csk = coll_sock_of(sock);
	int err;

	if (level != SOL_COLLSOCK)
		return -ENOPROTOOPT;
	lock_sock(&csk->sk);
	switch (option) {
	case COLLSOCK_JOIN:
		err = sockopt_join(csk, value, bytes);
		break;
	case COLLSOCK_COMPLETION_BYTES:
		err = sockopt_set_completion_bytes(csk, value, bytes);
		break;
	default:
		err = -ENOPROTOOPT;
	}
	release_sock(&csk->sk);
	return err;
}

/* ---- get ---- */

/* All answers begin with the number of bytes filled. */
union sockopt_answer {
	u32				size;
	struct collsock_stats		stats;
	struct collsock_net_stats	net_stats;
	struct collsock_self		self;
	struct collsock_features	features;
	struct collsock_devices		devices;
};

static void sockopt_self(struct coll_sock *csk, struct coll_instance *gi, struct collsock_self *s)
{
	s->completion_bytes = READ_ONCE(csk->completion_bytes);
	s->id = gi->request.id;
	s->nonce = gi->request.nonce;
	coll_instance_lock(gi);
	coll_group_self(&gi->group, csk->local, s);
	coll_instance_unlock(gi);
}

/* Options about the rank's group */
static int sockopt_get_joined(struct coll_sock *csk, int option, union sockopt_answer *a)
{
	struct coll_instance *gi = coll_sock_instance(csk);

	if (!gi)
		return -ENOTCONN;
	if (option == COLLSOCK_STATS) {
		coll_instance_stats(gi, &a->stats);
		return sizeof(a->stats);
	}
	sockopt_self(csk, gi, &a->self);
	return sizeof(a->self);
}

static int sockopt_devices(struct coll_net *cn, struct collsock_devices *d)
{
	u32 count = 0, next = 0;

	while (count < ARRAY_SIZE(d->ifindex) && coll_bearer_next_allowed(&cn->bearers, &next))
		d->ifindex[count++] = next++;
	return offsetof(struct collsock_devices, ifindex[count]);
}

/* Returns the length of the answer, or -errno. */
static int sockopt_answer(struct coll_sock *csk, int option, union sockopt_answer *a)
{
	memset(a, 0, sizeof(*a));
	switch (option) {
	case COLLSOCK_STATS:
	case COLLSOCK_SELF:
		return sockopt_get_joined(csk, option, a);
	case COLLSOCK_NET_STATS:
		coll_pernet_stats(coll_net_of(sock_net(&csk->sk)), &a->net_stats);
		return sizeof(a->net_stats);
	case COLLSOCK_FEATURES:
		coll_descriptor_features(&a->features);
		return sizeof(a->features);
	case COLLSOCK_DEVICES:
		return sockopt_devices(coll_net_of(sock_net(&csk->sk)), &a->devices);
	default:
		return -ENOPROTOOPT;
	}
}

/**
 * coll_sockopt_get() - getsockopt
 * @sock: the socket
 * @level: of the option
 * @option: number of the option
 * @value: buffer for its value
 * @length: size of the buffer; out: the number of bytes filled
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_sockopt_get(struct socket *sock, int level, int option, char __user *value,
		     int __user *length)
{
	struct coll_sock *csk = coll_sock_of(sock);
	union sockopt_answer answer;
	int room, bytes;

	if (level != SOL_COLLSOCK)
		return -ENOPROTOOPT;
	if (get_user(room, length))
		return -EFAULT;
	if (room < (int)sizeof(answer.size))
		return -EINVAL;
	if (option == COLLSOCK_COMPLETION_BYTES) {
		answer.size = READ_ONCE(csk->completion_bytes);
		bytes = sizeof(answer.size);
	} else {
		bytes = sockopt_answer(csk, option, &answer);
		if (bytes < 0)
			return bytes;
		bytes = min(room, bytes);
		answer.size = bytes;
	}
	if (put_user(bytes, length) || copy_to_user(value, &answer, bytes))
		return -EFAULT;
	return 0;
}
