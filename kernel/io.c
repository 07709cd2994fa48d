// SPDX-License-Identifier: GPL-2.0
#include <linux/sched/signal.h>
#include <linux/socket.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "core/reduce.h"
#include "instance.h"
#include "io.h"
#include "netns.h"
#include "socket.h"
#include "trace.h"

/* ---- sleeping ---- */

static bool io_writable(struct coll_sock *csk)
{
	struct coll_instance *gi = csk->instance;
	bool writable;

	spin_lock_bh(&gi->lock);
	writable = coll_group_writable(&gi->group, csk->local);
	spin_unlock_bh(&gi->lock);
	return writable;
}

static bool io_readable(struct coll_sock *csk)
{
	return !list_empty_careful(&csk->slots->ready);
}

/*
 * Sleep until @ready. Returns 0, -EAGAIN when the time is up, or -EINTR; what is
 * left of the time is in @timeout.
 */
static int io_sleep(struct coll_sock *csk, bool (*ready)(struct coll_sock *csk), long *timeout)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	struct sock *sk = &csk->sk;
	int err = 0;

	add_wait_queue(sk_sleep(sk), &wait);
	/* Who makes it ready sees us sleep, or we see that it is: coll_sock_sleeps(). */
	smp_mb();
	while (!ready(csk)) {
		err = !*timeout ? -EAGAIN : signal_pending(current) ? -EINTR : 0;
		if (err)
			break;
		*timeout = wait_woken(&wait, TASK_INTERRUPTIBLE, *timeout);
	}
	remove_wait_queue(sk_sleep(sk), &wait);
	return err;
}

/* A call that has changed nothing may be restarted. */
static int io_restartable(int err, long timeout)
{
	return err == -EINTR ? sock_intr_errno(timeout) : err;
}

/* ---- posting ---- */

/* A slot for a post. If the window is full, there is no use for one yet. */
static struct coll_completion *io_take_slot(struct coll_sock *csk, long *timeout)
{
	struct coll_completion *slot;
	int err;

	for (;;) {
		slot = coll_completion_take(csk->slots);
		if (likely(slot))
			return slot;
		if (io_writable(csk))
			return ERR_PTR(-ENOBUFS);
		err = io_sleep(csk, io_writable, timeout);
		if (err)
			return ERR_PTR(err);
	}
}

static void io_release_slot(struct coll_sock *csk, struct coll_completion *slot)
{
	coll_completion_release(csk->slots, slot);
	/* Whether there was room before is no matter: another may just have taken it. */
	if (likely(!coll_sock_sleeps(csk)))
		return;
	csk->sk.sk_write_space(&csk->sk);
}

static int io_try_post(struct coll_sock *csk, struct coll_completion *slot,
		       const struct coll_signature *sig, u64 cookie, u32 how)
{
	struct coll_instance *gi = csk->instance;
	u64 now = coll_instance_enter(gi);
	int err;

	if (trace_coll_post_enabled() && coll_group_writable(&gi->group, csk->local))
		trace_coll_post(&gi->group, csk->local, sig);
	coll_completion_post(csk->slots, slot, cookie, how, now);
	err = coll_group_post(&gi->group, csk->local, sig, slot->buffer, slot, now);
	if (err)
		coll_completion_unpost(slot);
	coll_instance_leave(gi);
	return err;
}

/*
 * Post what stands in the slot, and sleep until the window has room for it.
 * After an error the slot is free again.
 */
static int io_post(struct coll_sock *csk, struct coll_completion *slot,
		   const struct coll_signature *sig, u64 cookie, u32 how, long *timeout)
{
	int err;

	for (;;) {
		err = io_try_post(csk, slot, sig, cookie, how);
		if (likely(err != -EAGAIN))
			break;
		err = io_sleep(csk, io_writable, timeout);
		if (err)
			break;
	}
	if (err)
		io_release_slot(csk, slot);
	return err;
}

/**
 * coll_io_send() - post an operation
 * @sock: the socket
 * @msg: struct collsock_post and the payload
 * @bytes: of both
 *
 * With COLLSOCK_QUIET success has no completion.
 *
 * Return: @bytes or -errno. Context: process.
 */
int coll_io_send(struct socket *sock, struct msghdr *msg, size_t bytes)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi = coll_sock_instance(csk);
	struct coll_signature sig;
	struct collsock_post post;
	struct coll_completion *slot;
	long timeout;
	int err;

	if (msg->msg_flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT))
		return -EINVAL;
	if (!gi)
		return -ENOTCONN;
	if (msg->msg_namelen)
		return -EISCONN;
	if (bytes < sizeof(post))
		return -EINVAL;
	if (!copy_from_iter_full(&post, sizeof(post), &msg->msg_iter))
		return -EFAULT;
	bytes -= sizeof(post);
	err = coll_signature_of_post(&gi->group, csk->local, &post, &sig);
	if (err < 0)
		return err;
	if (bytes != err)
		return -EINVAL;

	timeout = sock_sndtimeo(&csk->sk, msg->msg_flags & MSG_DONTWAIT);
	slot = io_take_slot(csk, &timeout);
	if (IS_ERR(slot))
		return io_restartable(PTR_ERR(slot), timeout);
	if (!copy_from_iter_full(slot->buffer, bytes, &msg->msg_iter)) {
		io_release_slot(csk, slot);
		return -EFAULT;
	}
	err = io_post(csk, slot, &sig, post.cookie,
		      post.flags & COLLSOCK_QUIET ? COLL_COMPLETION_QUIET : 0, &timeout);
	return err ? io_restartable(err, timeout) : sizeof(post) + bytes;
}

/* ---- completing ---- */

/* The call gives up: the completion, if it is there already, is for another. */
static void io_unclaim(struct coll_sock *csk, struct coll_completion *slot)
{
	struct coll_instance *gi = csk->instance;
	bool ready;

	spin_lock_bh(&gi->lock);
	ready = coll_completion_unclaim(csk->slots, slot);
	spin_unlock_bh(&gi->lock);
	if (ready)
		csk->sk.sk_data_ready(&csk->sk);
}

/* Sleep until a completion waits that nobody has claimed, and claim it. */
static struct coll_completion *io_claim_oldest(struct coll_sock *csk, size_t room, long *timeout)
{
	struct coll_instance *gi = csk->instance;
	struct coll_completion *slot;
	int err;

	for (;;) {
		spin_lock_bh(&gi->lock);
		slot = coll_completion_claim_oldest(csk->slots, room, &err);
		spin_unlock_bh(&gi->lock);
		if (slot)
			return slot;
		if (err == -EAGAIN)
			err = io_sleep(csk, io_readable, timeout);
		if (err)
			return ERR_PTR(err);
	}
}

/**
 * coll_io_recv() - take the oldest completion
 * @sock: the socket
 * @msg: where struct collsock_completion and the result go
 * @room: bytes there
 * @flags: MSG_DONTWAIT, MSG_PEEK
 *
 * While it is copied it is claimed; if that fails, or was but a peek, it goes
 * back to where it was.
 *
 * Return: bytes of the completion or -errno. Context: process.
 */
int coll_io_recv(struct socket *sock, struct msghdr *msg, size_t room, int flags)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_completion *slot;
	bool copied;
	long timeout;
	size_t bytes;

	if (flags & ~(MSG_DONTWAIT | MSG_PEEK | MSG_NOSIGNAL | MSG_CMSG_COMPAT | MSG_CMSG_CLOEXEC))
		return -EINVAL;
	if (!coll_sock_instance(csk))
		return -ENOTCONN;

	timeout = sock_rcvtimeo(&csk->sk, flags & MSG_DONTWAIT);
	slot = io_claim_oldest(csk, room, &timeout);
	if (IS_ERR(slot))
		return io_restartable(PTR_ERR(slot), timeout);
	bytes = slot->completion.bytes;
	copied = copy_to_iter(&slot->completion, sizeof(slot->completion), &msg->msg_iter) ==
			 sizeof(slot->completion) &&
		 copy_to_iter(slot->buffer, bytes, &msg->msg_iter) == bytes;
	if (!copied || flags & MSG_PEEK)
		io_unclaim(csk, slot);
	else
		io_release_slot(csk, slot);
	return copied ? sizeof(slot->completion) + bytes : -EFAULT;
}

/*
 * Wait for the claimed operation and give its completion to user space: it goes
 * to @completion, its result to @result, where there are @room bytes. If that
 * fails the operation is not claimed any more.
 */
static int io_finish(struct coll_sock *csk, struct coll_completion *slot, u32 spin_us, long timeout,
		     struct collsock_completion __user *completion, void __user *result,
		     u32 room)
{
	int err = coll_completion_await(slot, spin_us, timeout);

	if (!err && slot->completion.bytes > room)
		err = -EMSGSIZE;
	if (!err && (copy_to_user(completion, &slot->completion, sizeof(*completion)) ||
		     (slot->completion.bytes &&
		      copy_to_user(result, slot->buffer, slot->completion.bytes))))
		err = -EFAULT;
	if (err)
		io_unclaim(csk, slot);
	else
		io_release_slot(csk, slot);
	return err;
}

/* How long to spin before sleeping: as the caller says, else as the namespace does. */
static u32 io_spin_us(const struct coll_sock *csk, u32 spin_us, long timeout)
{
	if (spin_us || !timeout)
		return spin_us;
	return coll_tunable(&coll_net_of(sock_net(&csk->sk))->tunables, COLL_TUNABLE_BUSY_POLL);
}

static bool io_nonblocking(const struct socket *sock)
{
	return sock->file && sock->file->f_flags & O_NONBLOCK;
}

/* Post for RUN; the slot is claimed. A signal before that is no reason to say EINTR. */
static struct coll_completion *io_run_post(struct coll_sock *csk, const struct collsock_post *post,
					   const struct coll_signature *sig,
				      const void __user *payload, u32 bytes, bool nonblocking)
{
	long timeout = sock_sndtimeo(&csk->sk, nonblocking);
	struct coll_completion *slot;
	int err = -EFAULT;

	slot = io_take_slot(csk, &timeout);
	if (IS_ERR(slot))
		err = PTR_ERR(slot);
	else if (bytes && copy_from_user(slot->buffer, payload, bytes))
		io_release_slot(csk, slot);
	else
		err = io_post(csk, slot, sig, post->cookie, COLL_COMPLETION_CLAIMED, &timeout);
	if (err)
		return ERR_PTR(err == -EINTR ? -EAGAIN : err);
	return slot;
}

/**
 * coll_io_run() - post an operation and wait for it
 * @sock: the socket
 * @arg: struct collsock_run and its buffer
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_io_run(struct socket *sock, void __user *arg)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi = coll_sock_instance(csk);
	bool nonblocking = io_nonblocking(sock);
	struct collsock_run __user *user = arg;
	struct coll_signature sig;
	struct coll_completion *slot;
	struct collsock_run run;
	long timeout;
	int err, bytes;

	if (!gi)
		return -ENOTCONN;
	if (copy_from_user(&run, user, offsetof(struct collsock_run, completion)))
		return -EFAULT;
	if (run.size != sizeof(run) || run.reserved || run.spin_us > COLLSOCK_MAX_SPIN_US ||
	    run.post.flags)
		return -EINVAL;
	bytes = coll_signature_of_post(&gi->group, csk->local, &run.post, &sig);
	if (bytes < 0)
		return bytes;
	/* The payload, if there is one, is as long as the result. */
	if (sig.count && (u64)sig.count * coll_type_bytes(sig.type) > run.buffer_bytes)
		return -EMSGSIZE;

	slot = io_run_post(csk, &run.post, &sig, user + 1, bytes, nonblocking);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	timeout = sock_rcvtimeo(&csk->sk, nonblocking);
	err = io_finish(csk, slot, io_spin_us(csk, run.spin_us, timeout), timeout,
			&user->completion, user + 1, run.buffer_bytes);
	return err == -EAGAIN ? -EINPROGRESS : err;
}

/**
 * coll_io_wait() - wait for the operation with a given cookie
 * @sock: the socket
 * @arg: struct collsock_wait and its buffer
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_io_wait(struct socket *sock, void __user *arg)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi = coll_sock_instance(csk);
	struct collsock_wait __user *user = arg;
	struct collsock_wait wait;
	struct coll_completion *slot;
	long timeout;
	int err;

	if (!gi)
		return -ENOTCONN;
	if (copy_from_user(&wait, user, offsetof(struct collsock_wait, completion)))
		return -EFAULT;
	if (wait.size != sizeof(wait) || wait.reserved || wait.spin_us > COLLSOCK_MAX_SPIN_US)
		return -EINVAL;

	spin_lock_bh(&gi->lock);
	slot = coll_completion_claim_cookie(csk->slots, wait.cookie);
	spin_unlock_bh(&gi->lock);
	if (!slot)
		return -ENOENT;
	timeout = sock_rcvtimeo(&csk->sk, io_nonblocking(sock));
	err = io_finish(csk, slot, io_spin_us(csk, wait.spin_us, timeout), timeout,
			&user->completion, user + 1, wait.buffer_bytes);
	return io_restartable(err, timeout);
}
