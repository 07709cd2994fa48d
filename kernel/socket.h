/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket of the family: one rank of a group.
 *
 * It is created without a group. A successful JOIN gives it its instance and its completion
 * slots, once and until its release; so a caller that has a reference on the socket and has
 * seen the instance needs no lock to use it. lock_sock serialises JOINs and nothing else.
 *
 * When the group has failed for the rank, this is reported once: by the operations that
 * fail, or by a separate completion if none was under way. When the rank has received all
 * completions the socket is at end of file, as after SHUT_WR: recv returns 0.
 *
 * An event that must wake a thread takes a reference on the socket while it holds the
 * instance's lock: release removes the socket from the instance under that lock before it
 * drops its own reference.
 */
#ifndef COLL_SOCKET_H
#define COLL_SOCKET_H

#include <net/sock.h>

#include "completion.h"

struct coll_instance;

/**
 * struct coll_sock - a socket of the family
 * @sk: must be the first
 * @instance: NULL until joined; read by coll_sock_instance()
 * @slots: completion slots; set before @instance, like the next
 * @local: number of its rank among those of this host
 * @pid: the process that joined; NULL before
 * @completion_bytes: length of the completion structure in recv
 * @failed: the failure of the group has been reported; under the instance's lock, like
 *	sk_shutdown
 */
struct coll_sock {
	struct sock		sk;
	struct coll_instance	*instance;
	struct coll_completions	*slots;
	u32			local;
	struct pid		*pid;
	u32			completion_bytes;
	bool			failed;
};

static inline struct coll_sock *coll_sock_of(const struct socket *sock)
{
	return container_of(sock->sk, struct coll_sock, sk);
}

/* The instance, or NULL if the socket has not joined. */
static inline struct coll_instance *coll_sock_instance(const struct coll_sock *csk)
{
	/*
	 * Pairs with the release in sockopt_join_group(), after which @slots and @local are
	 * set.
	 */
	return smp_load_acquire(&csk->instance);
}

/*
 * Does a thread sleep on the socket? The caller uses the socket, or holds the lock of its
 * instance.
 */
static inline bool coll_sock_sleeps(struct coll_sock *csk)
{
	/* Its barrier pairs with those of sock_poll_wait() and io_sleep(). */
	return skwq_has_sleeper(rcu_dereference_raw(csk->sk.sk_wq)) ||
	       sock_flag(&csk->sk, SOCK_FASYNC);
}

/* Is there no completion, and will there be none unless RUN posts? Lock held. */
static inline bool coll_sock_at_end(const struct coll_sock *csk)
{
	return (csk->failed || csk->sk.sk_shutdown & SEND_SHUTDOWN) &&
	       !coll_completions_have(csk->slots, COLL_COMPLETION_POSTED, COLL_COMPLETION_DONE);
}

/* Does recv return 0 instead of sleeping if there is no completion? Lock held. */
static inline bool coll_sock_at_eof(const struct coll_sock *csk)
{
	return csk->sk.sk_shutdown & RCV_SHUTDOWN || coll_sock_at_end(csk);
}

#endif
