/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A socket of the family: one rank of a group.
 *
 * It is made without a group. A JOIN that succeeds gives it its instance and
 * its completion slots, once and until its release; so a caller that has a
 * reference on the socket and has seen the instance needs no lock to use it.
 * lock_sock serialises JOINs and nothing else.
 *
 * When the group has failed for the rank, that is reported once: by the operations that
 * fail, or if none was under way by a completion of its own. When the rank has received all
 * completions the socket is at its end, as it is after SHUT_WR: recv gives 0.
 *
 * An event that has something to wake takes a reference while it holds the
 * instance's lock: release takes the socket out of the instance under that
 * lock before it drops its own.
 */
#ifndef COLL_SOCKET_H
#define COLL_SOCKET_H

#include <net/sock.h>

#include "completion.h"

struct coll_instance;

/**
 * struct coll_sock - see above
 * @sk: must be the first
 * @instance: NULL until joined; read by coll_sock_instance()
 * @slots: completion slots; set before @instance, like the next
 * @local: its rank's number among those of this host
 * @pid: the process that joined; NULL before
 * @completion_bytes: length of a completion's structure in recv
 * @failed: the failure of the group has been reported; under the instance's lock, as the
 *	socket's sk_shutdown is
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
	/* Pairs with the release in sock_join_group(): the rest is there too. */
	return smp_load_acquire(&csk->instance);
}

/* Does a thread sleep on the socket? It is in use, or a local member of the locked instance. */
static inline bool coll_sock_sleeps(struct coll_sock *csk)
{
	/* The barrier in it pairs with those of sock_poll_wait() and io_sleep(). */
	return skwq_has_sleeper(rcu_dereference_raw(csk->sk.sk_wq)) ||
	       sock_flag(&csk->sk, SOCK_FASYNC);
}

/* Is no completion there, and will there be none unless RUN posts? Lock held. */
static inline bool coll_sock_at_end(const struct coll_sock *csk)
{
	return (csk->failed || csk->sk.sk_shutdown & SEND_SHUTDOWN) &&
	       !coll_completions_have(csk->slots, COLL_COMPLETION_POSTED, COLL_COMPLETION_DONE);
}

/* Does recv give 0 rather than to sleep, if no completion is there? Lock held. */
static inline bool coll_sock_at_eof(const struct coll_sock *csk)
{
	return csk->sk.sk_shutdown & RCV_SHUTDOWN || coll_sock_at_end(csk);
}

#endif
