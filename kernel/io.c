// SPDX-License-Identifier: GPL-2.0
#include <linux/nsproxy.h>
#include <linux/sched/signal.h>
#include <linux/socket.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "compat.h"
#include "extensible.h"
#include "instance.h"
#include "io.h"
#include "netns.h"
#include "socket.h"
#include "spin.h"
#include "trace.h"
#include "words.h"

/* The network core itself adds the last two: for sendmmsg() and, since 6.5, for splice(). */
#define IO_SEND_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR | MSG_CMSG_COMPAT | MSG_BATCH | \
			 MSG_SPLICE_PAGES)

/* ---- sleeping ---- */

static bool io_writable(struct coll_sock *csk)
{
	struct coll_instance *gi = csk->instance;
	bool writable;

	coll_instance_lock(gi);
	writable = coll_instance_writable(gi, csk->local) ||
		   csk->sk.sk_shutdown & SEND_SHUTDOWN;
	coll_instance_unlock(gi);
	return writable;
}

static bool io_at_eof(struct coll_sock *csk)
{
	struct coll_instance *gi = csk->instance;
	bool at_eof;

	coll_instance_lock(gi);
	at_eof = coll_sock_at_eof(csk);
	coll_instance_unlock(gi);
	return at_eof;
}

static bool io_readable(struct coll_sock *csk)
{
	return !list_empty_careful(&csk->slots->ready) || io_at_eof(csk);
}

static int io_wake_reader(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	if (key && !(key_to_poll(key) & (EPOLLIN | EPOLLERR)))
		return 0;
	return woken_wake_function(wait, mode, sync, key);
}

static int io_wake_writer(struct wait_queue_entry *wait, unsigned int mode, int sync, void *key)
{
	if (key && !(key_to_poll(key) & (EPOLLOUT | EPOLLERR)))
		return 0;
	return woken_wake_function(wait, mode, sync, key);
}

/**
 * struct io_wait - what a thread sleeps for
 * @ready: is it there?
 * @wake: function of the wait queue
 * @event: to wake others that sleep for the same
 */
struct io_wait {
	bool		(*ready)(struct coll_sock *csk);
	wait_queue_func_t	wake;
	__poll_t	event;
};

static const struct io_wait io_for_completion = {
	.ready	= io_readable,
	.wake	= io_wake_reader,
	.event	= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP,
};

static const struct io_wait io_for_room = {
	.ready	= io_writable,
	.wake	= io_wake_writer,
	.event	= EPOLLOUT | EPOLLWRNORM,
};

/*
 * An event wakes only one of the threads that sleep for the same, so that it does not take long.
 * A thread that has slept wakes the next one if there is something left for it.
 */
static void io_pass_on(struct coll_sock *csk, const struct io_wait *what)
{
	if (coll_sock_sleeps(csk) && what->ready(csk))
		wake_up_interruptible_poll(sk_sleep(&csk->sk), what->event);
}

/*
 * Sleep for @what. Returns 0, -EAGAIN on time-out, or -EINTR; @timeout is updated to the time
 * left. The caller has to call io_pass_on(), before or after it has used what is there.
 */
static int io_sleep(struct coll_sock *csk, const struct io_wait *what, long *timeout)
{
	DEFINE_WAIT_FUNC(wait, what->wake);
	struct sock *sk = &csk->sk;
	int err = 0;

	add_wait_queue_exclusive(sk_sleep(sk), &wait);
	/* Either the waker sees us sleep, or we see that it is ready: coll_sock_sleeps(). */
	smp_mb();
	while (!what->ready(csk)) {
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

/**
 * coll_io_shut_down() - the socket was shut down: wake those who sleep on it
 * @csk: the socket
 *
 * Context: process.
 */
void coll_io_shut_down(struct coll_sock *csk)
{
	wait_queue_head_t *sleepers = sk_sleep(&csk->sk);

	wake_up_interruptible_poll(sleepers, io_for_completion.event);
	wake_up_interruptible_poll(sleepers, io_for_room.event);
}

/* ---- posting ---- */

/* Allocate a slot for a post when none is free: wait until the window has room for another post. */
static noinline struct coll_completion *io_await_slot(struct coll_sock *csk, long *timeout)
{
	struct coll_completion *slot;
	int err;

	for (;;) {
		slot = coll_completion_take(csk->slots);
		if (slot)
			return slot;
		if (io_writable(csk))
			return ERR_PTR(READ_ONCE(csk->sk.sk_shutdown) & SEND_SHUTDOWN ?
				       -EPIPE : -ENOBUFS);
		err = io_sleep(csk, &io_for_room, timeout);
		io_pass_on(csk, &io_for_room);
		if (err)
			return ERR_PTR(err);
	}
}

/*
 * Copy a whole vector into host order. A copy that sleeps may take as long as it likes: the
 * slot is the caller's.
 */
static noinline bool io_copy_blocks_from_iter(const struct coll_order *order, u8 *to, u32 block,
					      struct iov_iter *from)
{
	u32 rank, run, position;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		if (!copy_from_iter_full(to + position * block, run * block, from))
			return false;
		cond_resched();
	}
	return true;
}

static noinline bool io_copy_blocks_from_user(const struct coll_order *order, u8 *to, u32 block,
					      const void __user *from)
{
	u32 rank, run, position;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		if (copy_from_user(to + position * block, from + rank * block, run * block))
			return false;
		cond_resched();
	}
	return true;
}

/* Bytes of a block if a payload of @bytes is a whole vector, to be put into host order; else 0 */
static inline u32 io_payload_block(const struct coll_sock *csk, const struct coll_signature *sig,
				   u32 bytes)
{
	if (likely(!bytes || coll_operations[sig->operation].own_in))
		return 0;
	return coll_signature_reordered(&csk->instance->group, sig);
}

/* Bytes of a block if the result is a whole vector in host order; else 0 */
static inline u32 io_result_block(const struct coll_sock *csk, const struct coll_signature *sig)
{
	if (unlikely(coll_operations[sig->operation].own_out))
		return 0;
	return coll_signature_reordered(&csk->instance->group, sig);
}

/* Copy a payload of @bytes. True if all was copied. */
static bool io_copy_from_iter(const struct coll_sock *csk, u8 *to,
			      const struct coll_signature *sig, u32 bytes, struct iov_iter *from)
{
	u32 block = io_payload_block(csk, sig, bytes);

	if (unlikely(block))
		return io_copy_blocks_from_iter(&csk->instance->group.ranks.order, to, block,
						from);
	return copy_from_iter_full(to, bytes, from);
}

static bool io_copy_from_user(const struct coll_sock *csk, u8 *to,
			      const struct coll_signature *sig, u32 bytes, const void __user *from)
{
	u32 block = io_payload_block(csk, sig, bytes);

	if (unlikely(block))
		return io_copy_blocks_from_user(&csk->instance->group.ranks.order, to, block,
						from);
	return !copy_from_user(to, from, bytes);
}

/* Where to copy the payload of a post, or an error pointer. A long one has no room in the slot. */
static inline u8 *io_reserve(const struct coll_sock *csk, struct coll_completion *slot, u32 bytes)
{
	if (likely(bytes <= csk->instance->group.payload.max_bytes))
		return slot->buffer;
	return kvmalloc(bytes, GFP_KERNEL_ACCOUNT) ?: ERR_PTR(-ENOMEM);
}

/* Free a long payload; not the slot's buffer, which the group may have exchanged by now. */
static inline void io_unreserve(const struct coll_sock *csk, u8 *payload, u32 bytes)
{
	if (unlikely(bytes > csk->instance->group.payload.max_bytes))
		kvfree(payload);
}

/* Allocate a slot for a post. */
static inline struct coll_completion *io_take_slot(struct coll_sock *csk, long *timeout)
{
	struct coll_completion *slot = coll_completion_take(csk->slots);

	return likely(slot) ? slot : io_await_slot(csk, timeout);
}

static inline void io_release_slot(struct coll_sock *csk, struct coll_completion *slot)
{
	coll_completion_release(csk->slots, slot);
	/* Wake even if there was room before: another thread may just have used it. */
	if (likely(!coll_sock_sleeps(csk)))
		return;
	csk->sk.sk_write_space(&csk->sk);
	/* If it was the last one, threads that wait for a completion must see the end. */
	if (unlikely(READ_ONCE(csk->failed) || READ_ONCE(csk->sk.sk_shutdown)))
		io_pass_on(csk, &io_for_completion);
}

/* Unlike send, RUN reports the failure of the group every time. Lock held. */
static int io_check_end(const struct coll_sock *csk, u32 how)
{
	if (csk->sk.sk_shutdown & SEND_SHUTDOWN)
		return -EPIPE;
	return !(how & COLL_COMPLETION_CLAIMED) && coll_sock_at_end(csk) ? -EPIPE : 0;
}

/*
 * Fold pairs of large contributions of this host that the post has completed, preemptibly. No
 * signal interrupts that: other ranks wait for the value.
 */
static noinline void io_fold(struct coll_instance *gi)
	__must_hold(&gi->lock)
{
	struct coll_fold fold;

	while (coll_group_take_fold(&gi->group, &fold)) {
		coll_instance_leave(gi);
		coll_locals_fold(&fold);
		cond_resched();
		coll_group_folded(&gi->group, &fold, coll_instance_enter(gi));
	}
}

static noinline void io_trace_post(struct coll_sock *csk, const struct coll_signature *sig)
{
	struct coll_group *g = &csk->instance->group;

	if (coll_group_writable(g, csk->local))
		trace_coll_post(g, csk->local, sig);
}

/* COLL_COMPLETION_SHARED if a post with this signature has a shared result, else 0 */
static inline u32 io_shares(const struct coll_sock *csk, const struct coll_signature *sig)
{
	const struct coll_group *g = &csk->instance->group;

	if (likely(!coll_operations[sig->operation].blocks) || !coll_signature_shared(g, sig))
		return 0;
	return coll_signature_receives(sig, g->ranks.local[csk->local].rank) ?
	       COLL_COMPLETION_SHARED : 0;
}

/* Memory for a shared result, which the slot has until an operation takes it */
static int io_reserve_result(struct coll_sock *csk, struct coll_completion *slot,
			     const struct coll_signature *sig)
{
	struct coll_instance *gi = csk->instance;
	struct coll_shared_result *result;

	result = coll_shared_result_new(gi->cn, gi->user, &gi->results,
					coll_signature_shared(&gi->group, sig));
	if (IS_ERR(result))
		return PTR_ERR(result);
	coll_completion_share(slot, result);
	return 0;
}

/* Try to post. Returns -ENODATA if the slot needs memory for the result. */
static __always_inline int io_try_post(struct coll_sock *csk, struct coll_completion *slot,
				       const struct coll_signature *sig, const u8 *payload,
				       u64 cookie, u32 how)
{
	struct coll_instance *gi = csk->instance;
	u64 now = coll_instance_enter(gi);
	int err = 0;

	if (unlikely(csk->failed || csk->sk.sk_shutdown))
		err = io_check_end(csk, how);
	/* Only now is it known which operation the post becomes, and whether that has memory. */
	if (!err && unlikely(how & COLL_COMPLETION_SHARED) && !slot->shared &&
	    coll_group_wants_result(&gi->group, csk->local))
		err = -ENODATA;
	if (unlikely(err)) {
		coll_instance_leave(gi);
		return err;
	}
	if (trace_coll_post_enabled())
		io_trace_post(csk, sig);
	coll_completion_post(csk->slots, slot, cookie, how, now);
	slot->block = io_result_block(csk, sig);
	err = coll_group_post(&gi->group, csk->local, sig, payload, slot, now);
	if (unlikely(err)) {
		coll_completion_unpost(csk->slots, slot);
	} else {
		coll_completion_posted(csk->slots);
		if (unlikely(gi->group.work.fold.op))
			io_fold(gi);
	}
	coll_instance_leave(gi);
	return err;
}

/* Post the slot's operation after all: a first attempt has returned @err. */
static noinline int io_post_again(struct coll_sock *csk, struct coll_completion *slot,
				  const struct coll_signature *sig, const u8 *payload, u64 cookie,
				  u32 how, long timeout, int err)
{
	bool slept = false;

	for (;;) {
		if (err == -EAGAIN) {
			slept = true;
			err = io_sleep(csk, &io_for_room, &timeout);
		} else if (err == -ENODATA) {
			err = io_reserve_result(csk, slot, sig);
		} else {
			break;
		}
		if (err)
			break;
		err = io_try_post(csk, slot, sig, payload, cookie, how);
	}
	if (unlikely(slept))
		io_pass_on(csk, &io_for_room);
	if (err)
		io_release_slot(csk, slot);
	return err;
}

/*
 * Post the slot's operation, sleeping until the window has room for it. After an error the
 * slot is free again.
 */
static __always_inline int io_post(struct coll_sock *csk, struct coll_completion *slot,
				   const struct coll_signature *sig, const u8 *payload, u64 cookie,
				   u32 how, long timeout)
{
	int err = io_try_post(csk, slot, sig, payload, cookie, how);

	return likely(!err) ? 0 : io_post_again(csk, slot, sig, payload, cookie, how, timeout, err);
}

/*
 * The signature of a post. Returns the bytes of payload that the rank contributes, or
 * -errno.
 */
static int io_signature(const struct coll_sock *csk, const struct collsock_post *post,
			struct coll_signature *sig)
{
	if (post->cookie == COLLSOCK_COOKIE_GROUP)
		return -EINVAL;
	return coll_signature_of_post(&csk->instance->group, csk->local, post, sig);
}

static int io_send(struct coll_sock *csk, struct msghdr *msg)
{
	struct coll_completion *slot;
	struct coll_signature sig;
	struct collsock_post post;
	int bytes, err;
	long timeout;
	u8 *payload;
	u32 how;

	err = coll_extensible_from_iter(&post, sizeof(post), COLLSOCK_POST_VER0, &msg->msg_iter);
	if (err < 0)
		return err;
	bytes = io_signature(csk, &post, &sig);
	if (bytes < 0)
		return bytes;
	if (iov_iter_count(&msg->msg_iter) != bytes)
		return -EINVAL;

	timeout = sock_sndtimeo(&csk->sk, msg->msg_flags & MSG_DONTWAIT);
	slot = io_take_slot(csk, &timeout);
	if (IS_ERR(slot))
		return io_restartable(PTR_ERR(slot), timeout);
	payload = io_reserve(csk, slot, bytes);
	if (IS_ERR(payload)) {
		io_release_slot(csk, slot);
		return PTR_ERR(payload);
	}
	if (io_copy_from_iter(csk, payload, &sig, bytes, &msg->msg_iter)) {
		how = post.flags & COLLSOCK_QUIET ? COLL_COMPLETION_QUIET : io_shares(csk, &sig);
		err = io_post(csk, slot, &sig, payload, post.cookie, how, timeout);
	} else {
		io_release_slot(csk, slot);
		err = -EFAULT;
	}
	io_unreserve(csk, payload, bytes);
	return io_restartable(err, timeout);
}

/**
 * coll_io_send() - post an operation
 * @sock: the socket
 * @msg: struct collsock_post and the payload
 * @bytes: length of both
 *
 * With COLLSOCK_QUIET success has no completion.
 *
 * Return: @bytes or -errno. Context: process.
 */
int coll_io_send(struct socket *sock, struct msghdr *msg, size_t bytes)
{
	struct coll_sock *csk = coll_sock_of(sock);
	size_t before = iov_iter_count(&msg->msg_iter);
	int err;

	if (msg->msg_flags & ~IO_SEND_FLAGS)
		return -EINVAL;
	if (!coll_sock_instance(csk))
		return -ENOTCONN;
	if (msg->msg_namelen)
		return -EISCONN;
	err = io_send(csk, msg);
	/* io_uring calls again when there is room, with the same iterator. */
	if (unlikely(err))
		iov_iter_revert(&msg->msg_iter, before - iov_iter_count(&msg->msg_iter));
	if (unlikely(err == -EPIPE) && !(msg->msg_flags & MSG_NOSIGNAL))
		send_sig(SIGPIPE, current, 0);
	return err ?: bytes;
}

/* ---- completing ---- */

/* Give up a claim: a completion that has arrived goes to another call. */
static void io_unclaim(struct coll_sock *csk, struct coll_completion *slot)
{
	struct coll_instance *gi = csk->instance;
	bool ready;

	coll_instance_lock(gi);
	ready = coll_completion_unclaim(csk->slots, slot);
	coll_instance_unlock(gi);
	if (ready)
		csk->sk.sk_data_ready(&csk->sk);
}

/* Sleep until there is an unclaimed completion, and claim it. NULL if none will come. */
static struct coll_completion *io_claim_oldest(struct coll_sock *csk, size_t room, u32 head,
					       long *timeout)
{
	struct coll_instance *gi = csk->instance;
	bool slept = false, at_eof;
	struct coll_completion *slot;
	int err;

	for (;;) {
		coll_instance_lock(gi);
		slot = coll_completion_claim_oldest(csk->slots, room, head, &err);
		at_eof = !slot && err == -EAGAIN && coll_sock_at_eof(csk);
		coll_instance_unlock(gi);
		if (slot || at_eof)
			break;
		if (err == -EAGAIN) {
			slept = true;
			err = io_sleep(csk, &io_for_completion, timeout);
		}
		if (err) {
			slot = ERR_PTR(err);
			break;
		}
	}
	if (slept)
		io_pass_on(csk, &io_for_completion);
	return slot;
}

/* By how many ns CLOCK_MONOTONIC of the calling process is ahead of the kernel's. */
static u64 io_clock_ahead(void)
{
	const struct timespec64 *ahead;

	if (!IS_ENABLED(CONFIG_TIME_NS))
		return 0;
	ahead = &current->nsproxy->time_ns->offsets.monotonic;
	return ahead->tv_sec * NSEC_PER_SEC + ahead->tv_nsec;
}

/* Fill in a completion as the calling process gets it, with times of that process's clock. */
static void io_fill_completion(struct collsock_completion *c, const struct coll_completion *slot,
			       u32 head)
{
	u64 ahead = io_clock_ahead();

	*c = slot->completion;
	c->size = head;
	c->posted_ns += ahead;
	c->completed_ns += ahead;
}

/* Copy a completion structure of another length than this kernel's. True if all was copied. */
static noinline bool io_copy_head_to_iter(const struct collsock_completion *c, struct iov_iter *to)
{
	u32 known = min_t(u32, c->size, sizeof(*c));

	return copy_to_iter(c, known, to) == known &&
	       iov_iter_zero(c->size - known, to) == c->size - known;
}

/* Copy a vector from host order to the order of ranks. True if all was copied. */
static noinline bool io_copy_blocks_to_iter(const struct coll_order *order,
					    const struct coll_completion *slot, struct iov_iter *to)
{
	const u8 *from = coll_completion_result(slot);
	u32 rank, run, position, bytes;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		bytes = run * slot->block;
		if (copy_to_iter(from + position * slot->block, bytes, to) != bytes)
			return false;
		cond_resched();
	}
	return true;
}

static noinline bool io_copy_blocks_to_user(const struct coll_order *order,
					    const struct coll_completion *slot, void __user *to)
{
	const u8 *from = coll_completion_result(slot);
	u32 rank, run, position;

	for (rank = 0; rank < order->ranks; rank += run) {
		run = coll_order_run(order, rank, &position);
		if (copy_to_user(to + rank * slot->block, from + position * slot->block,
				 run * slot->block))
			return false;
		cond_resched();
	}
	return true;
}

/* Copy the claimed completion, with a structure of @head bytes. True if all was copied. */
static bool io_copy_to_iter(const struct coll_sock *csk, struct coll_completion *slot, u32 head,
			    struct iov_iter *to)
{
	struct collsock_completion c;
	bool copied;

	io_fill_completion(&c, slot, head);
	/* A constant length needs no check at run time. */
	copied = likely(head == sizeof(c)) ? copy_to_iter(&c, sizeof(c), to) == sizeof(c) :
					     io_copy_head_to_iter(&c, to);
	if (unlikely(c.bytes && slot->block))
		return copied && io_copy_blocks_to_iter(&csk->instance->group.ranks.order, slot,
							to);
	return copied && copy_to_iter(coll_completion_result(slot), c.bytes, to) == c.bytes;
}

/**
 * coll_io_recv() - receive the oldest completion
 * @sock: the socket
 * @msg: where struct collsock_completion and the result go
 * @room: bytes there
 * @flags: MSG_DONTWAIT, MSG_PEEK
 *
 * The completion is claimed while it is copied; if that fails, or on MSG_PEEK, it is put back in
 * its former position.
 *
 * Return: bytes of the completion, 0 if none will come, or -errno. Context: process.
 */
int coll_io_recv(struct socket *sock, struct msghdr *msg, size_t room, int flags)
{
	struct coll_sock *csk = coll_sock_of(sock);
	u32 bytes, head = READ_ONCE(csk->completion_bytes);
	struct coll_completion *slot;
	bool copied;
	long timeout;

	if (flags & ~(MSG_DONTWAIT | MSG_PEEK | MSG_NOSIGNAL | MSG_CMSG_COMPAT | MSG_CMSG_CLOEXEC))
		return -EINVAL;
	if (!coll_sock_instance(csk))
		return -ENOTCONN;

	timeout = sock_rcvtimeo(&csk->sk, flags & MSG_DONTWAIT);
	slot = io_claim_oldest(csk, room, head, &timeout);
	if (!slot)
		return 0;
	if (IS_ERR(slot))
		return io_restartable(PTR_ERR(slot), timeout);
	bytes = head + slot->completion.bytes;
	copied = io_copy_to_iter(csk, slot, head, &msg->msg_iter);
	if (!copied || flags & MSG_PEEK)
		io_unclaim(csk, slot);
	else
		io_release_slot(csk, slot);
	return copied ? bytes : -EFAULT;
}

/**
 * struct io_room - where the completion of RUN or WAIT goes
 * @completion: where its structure goes
 * @head: length of that structure
 * @result: where the result goes
 * @bytes: bytes there
 */
struct io_room {
	void __user	*completion;
	u32		head;
	void __user	*result;
	u32		bytes;
};

/* Copy a completion structure of another length than this kernel's. True if all was copied. */
static noinline bool io_copy_head_to_user(const struct collsock_completion *c, void __user *to)
{
	u32 known = min_t(u32, c->size, sizeof(*c));

	return !copy_to_user(to, c, known) && !clear_user(to + known, c->size - known);
}

/* Copy the result of a claimed completion. True if all was copied. */
static bool io_copy_result(const struct coll_sock *csk, const struct coll_completion *slot,
			   void __user *to)
{
	if (unlikely(slot->block))
		return io_copy_blocks_to_user(&csk->instance->group.ranks.order, slot, to);
	return !copy_to_user(to, coll_completion_result(slot), slot->completion.bytes);
}

static __always_inline int io_copy_to_user(const struct coll_sock *csk,
					   struct coll_completion *slot, const struct io_room *to)
{
	struct collsock_completion c COLL_UNINITIALIZED;
	bool copied;

	if (slot->completion.bytes > to->bytes)
		return -EMSGSIZE;
	io_fill_completion(&c, slot, to->head);
	copied = likely(to->head == sizeof(c)) ?
		 coll_words_to_user(to->completion, (u64 *)&c, sizeof(c)) :
		 io_copy_head_to_user(&c, to->completion);
	if (!copied || (c.bytes && !io_copy_result(csk, slot, to->result)))
		return -EFAULT;
	return 0;
}

/*
 * Wait for the claimed operation and copy its completion to user space. If that fails the
 * operation is no longer claimed.
 */
static __always_inline int io_finish(struct coll_sock *csk, struct coll_completion *slot,
				     u32 spin_us, long timeout, const struct io_room *to)
{
	int err = coll_spin_or_sleep(csk, slot, spin_us, timeout) ?: io_copy_to_user(csk, slot, to);

	if (err)
		io_unclaim(csk, slot);
	else
		io_release_slot(csk, slot);
	return err;
}

/* How long to spin before sleeping: the caller's value, or the namespace's default. */
static u32 io_spin_us(const struct coll_sock *csk, u32 spin_us, long timeout)
{
	if (spin_us || !timeout)
		return spin_us;
	return coll_tunable(&csk->instance->cn->tunables, COLL_TUNABLE_BUSY_POLL);
}

static bool io_nonblocking(const struct socket *sock)
{
	return sock->file && sock->file->f_flags & O_NONBLOCK;
}

/**
 * struct io_run - arguments of RUN
 * @head: head of its buffer
 * @post: the post after it
 */
struct io_run {
	struct collsock_run	head;
	struct collsock_post	post;
};

/* Post for RUN, with the slot claimed. A signal before that must not cause EINTR. */
static struct coll_completion *io_run_post(struct coll_sock *csk, const struct io_run *run,
					   const struct coll_signature *sig, u32 bytes,
					   bool nonblocking)
{
	const void __user *from = u64_to_user_ptr(run->head.payload);
	long timeout = sock_sndtimeo(&csk->sk, nonblocking);
	struct coll_completion *slot;
	u8 *payload;
	int err;

	slot = io_take_slot(csk, &timeout);
	if (IS_ERR(slot))
		return PTR_ERR(slot) == -EINTR ? ERR_PTR(-EAGAIN) : slot;
	payload = io_reserve(csk, slot, bytes);
	if (IS_ERR(payload)) {
		io_release_slot(csk, slot);
		return ERR_CAST(payload);
	}
	if (!bytes || io_copy_from_user(csk, payload, sig, bytes, from)) {
		err = io_post(csk, slot, sig, payload, run->post.cookie,
			      COLL_COMPLETION_CLAIMED | io_shares(csk, sig), timeout);
	} else {
		io_release_slot(csk, slot);
		err = -EFAULT;
	}
	io_unreserve(csk, payload, bytes);
	if (err)
		return ERR_PTR(err == -EINTR ? -EAGAIN : err);
	return slot;
}

/* Returns -errno, or the offset of what follows. */
static int io_copy_run(struct io_run *r, const void __user *arg)
{
	const u32 first = COLLSOCK_RUN_VER0 + COLLSOCK_POST_VER0;
	int size, post_bytes;

	/* Every caller has at least this, and most have exactly this. */
	if (sizeof(*r) == first) {
		if (!coll_words_from_user((u64 *)r, arg, sizeof(*r)))
			return -EFAULT;
		if (likely(r->head.size == COLLSOCK_RUN_VER0 &&
			   r->post.size == COLLSOCK_POST_VER0))
			return r->head.post_bytes == COLLSOCK_POST_VER0 ? first : -EINVAL;
	}
	size = coll_extensible_from_user(&r->head, sizeof(r->head), COLLSOCK_RUN_VER0, arg);
	if (size < 0)
		return size;
	post_bytes = coll_extensible_from_user(&r->post, sizeof(r->post), COLLSOCK_POST_VER0,
					       arg + size);
	if (post_bytes < 0)
		return post_bytes;
	return r->head.post_bytes == post_bytes ? size + post_bytes : -EINVAL;
}

/* Does the caller have a payload of @bytes, and room for the result? */
static bool io_fits(const struct coll_sock *csk, const struct collsock_run *head,
		    const struct coll_signature *sig, u32 bytes)
{
	return bytes <= head->payload_bytes &&
	       coll_signature_result_bytes(&csk->instance->group, csk->local, sig) <=
	       head->result_bytes;
}

/**
 * coll_io_run() - post an operation and wait for it
 * @sock: the socket
 * @arg: struct collsock_run, the post, and room for the completion
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_io_run(struct socket *sock, void __user *arg)
{
	struct coll_sock *csk = coll_sock_of(sock);
	bool nonblocking = io_nonblocking(sock);
	struct coll_completion *slot;
	struct coll_signature sig COLL_UNINITIALIZED;
	struct io_run run COLL_UNINITIALIZED;
	struct io_room room COLL_UNINITIALIZED;
	int err, bytes;
	long timeout;

	if (!coll_sock_instance(csk))
		return -ENOTCONN;
	err = io_copy_run(&run, arg);
	if (err < 0)
		return err;
	room = (struct io_room) {
		.completion	= arg + err,
		.head		= run.head.completion_bytes,
		.result		= u64_to_user_ptr(run.head.result),
		.bytes		= run.head.result_bytes,
	};
	if (run.head.flags || run.head.spin_us > COLLSOCK_MAX_SPIN_US || run.post.flags ||
	    !coll_completion_bytes_valid(room.head))
		return -EINVAL;
	bytes = io_signature(csk, &run.post, &sig);
	if (bytes < 0)
		return bytes;
	if (sig.count && !io_fits(csk, &run.head, &sig, bytes))
		return -EMSGSIZE;

	slot = io_run_post(csk, &run, &sig, bytes, nonblocking);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	timeout = sock_rcvtimeo(&csk->sk, nonblocking);
	err = io_finish(csk, slot, io_spin_us(csk, run.head.spin_us, timeout), timeout, &room);
	return err == -EAGAIN ? -EINPROGRESS : err;
}

/**
 * coll_io_wait() - wait for the operation with a given cookie
 * @sock: the socket
 * @arg: struct collsock_wait, and room for the completion
 *
 * Return: 0 or -errno. Context: process.
 */
int coll_io_wait(struct socket *sock, void __user *arg)
{
	struct coll_sock *csk = coll_sock_of(sock);
	struct coll_instance *gi = coll_sock_instance(csk);
	struct coll_completion *slot;
	struct collsock_wait wait;
	struct io_room room COLL_UNINITIALIZED;
	long timeout;
	int err;

	if (!gi)
		return -ENOTCONN;
	err = coll_extensible_from_user(&wait, sizeof(wait), COLLSOCK_WAIT_VER0, arg);
	if (err < 0)
		return err;
	room = (struct io_room) {
		.completion	= arg + err,
		.head		= wait.completion_bytes,
		.result		= u64_to_user_ptr(wait.result),
		.bytes		= wait.result_bytes,
	};
	if (wait.flags || wait.spin_us > COLLSOCK_MAX_SPIN_US ||
	    !coll_completion_bytes_valid(room.head))
		return -EINVAL;

	coll_instance_lock(gi);
	slot = coll_completion_claim_cookie(csk->slots, wait.cookie);
	coll_instance_unlock(gi);
	if (!slot)
		return -ENOENT;
	timeout = sock_rcvtimeo(&csk->sk, io_nonblocking(sock));
	err = io_finish(csk, slot, io_spin_us(csk, wait.spin_us, timeout), timeout, &room);
	return io_restartable(err, timeout);
}
