// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Post and wait in one call: the kernel reads the payload from where the caller has it */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "internal.h"
#include "post.h"
#include "run.h"
#include "user.h"

/* No extensible structure will be longer. */
#define MAX_STRUCT 4096

static __u64 run_address(const void *at)
{
	return (uintptr_t)at;
}

static __u32 run_limited(size_t bytes)
{
	return bytes < UINT32_MAX ? bytes : UINT32_MAX;
}

COLLSOCK_PUBLIC int collsock_wait(struct collsock *s, __u64 cookie,
				  struct collsock_completion *completion, void *result,
				  size_t result_bytes)
{
	struct {
		struct collsock_wait		wait;
		struct collsock_completion	completion;
	} call = {
		.wait = {
			.size			= sizeof(call.wait),
			.completion_bytes	= sizeof(call.completion),
			.spin_us		= s->spin_us,
			.result_bytes		= run_limited(result_bytes),
			.result			= run_address(result),
			.cookie			= cookie,
		},
	};

	const struct user_run run = {
		.spin_us = s->spin_us, .result = result, .result_bytes = result_bytes,
	};

	if (s->user)
		return user_wait_for(s->user, cookie, &run, completion);
	if (ioctl(s->fd, COLLSOCK_WAIT, &call))
		return -errno;
	*completion = call.completion;
	return 0;
}

/**
 * struct call - arguments of a call that posts and waits
 * @post: what to post
 * @payload: its payload
 * @payload_bytes: bytes there
 * @result: where the result goes
 * @result_bytes: bytes there
 */
struct call {
	const struct collsock_post	*post;
	const void			*payload;
	size_t				payload_bytes;
	void				*result;
	size_t				result_bytes;
};

/* Another thread may close the socket meanwhile, so it is not used after that. */
static int run_in_user_space(struct collsock *s, const struct call *c,
			     struct collsock_completion *completion)
{
	const struct user_run run = {
		s->spin_us, c->payload, c->payload_bytes, c->result, c->result_bytes,
	};

	return user_run(s->user, c->post, &run, completion);
}

static struct collsock_run run_head(const struct collsock *s, const struct call *c)
{
	return (struct collsock_run){
		.size			= sizeof(struct collsock_run),
		.post_bytes		= c->post->size,
		.completion_bytes	= sizeof(struct collsock_completion),
		.spin_us		= s->spin_us,
		.payload		= run_address(c->payload),
		.result			= run_address(c->result),
		.payload_bytes		= run_limited(c->payload_bytes),
		.result_bytes		= run_limited(c->result_bytes),
	};
}

/* RUN with a post whose structure has a length that this library does not know. */
static int run_other_length(struct collsock *s, const struct call *c,
			    struct collsock_completion *completion)
{
	const struct collsock_run run = run_head(s, c);
	__u8 buffer[sizeof(run) + MAX_STRUCT + sizeof(*completion)];

	memcpy(buffer, &run, sizeof(run));
	memcpy(buffer + sizeof(run), c->post, c->post->size);
	if (ioctl(s->fd, COLLSOCK_RUN, buffer))
		return -errno;
	memcpy(completion, buffer + sizeof(run) + c->post->size, sizeof(*completion));
	return 0;
}

/* One RUN: stores the completion in @completion. */
static int run_once(struct collsock *s, const struct call *c,
		    struct collsock_completion *completion)
{
	struct {
		struct collsock_run		run;
		struct collsock_post		post;
		struct collsock_completion	completion;
	} call;

	if (s->user)
		return run_in_user_space(s, c, completion);
	if (c->post->size != sizeof(call.post))
		return run_other_length(s, c, completion);
	call.run = run_head(s, c);
	call.post = *c->post;
	if (ioctl(s->fd, COLLSOCK_RUN, &call))
		return -errno;
	*completion = call.completion;
	return 0;
}

/* Has the caller asked that posting does not wait, or only for a limited time? */
static int run_may_give_up_posting(const struct collsock *s)
{
	struct timeval timeout = { };
	socklen_t bytes = sizeof(timeout);

	return fcntl(s->fd, F_GETFL) & O_NONBLOCK ||
	       getsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &bytes) ||
	       timeout.tv_sec || timeout.tv_usec;
}

/*
 * A signal ends RUN: with EAGAIN before it has posted, and then it must be repeated; with
 * EINTR afterwards, and then it must not: only WAIT remains. The signal handler has run by
 * then.
 */
static int run_to_end(struct collsock *s, const struct call *c,
		      struct collsock_completion *completion)
{
	int err;

	do {
		err = run_once(s, c, completion);
	} while (err == -EAGAIN && !run_may_give_up_posting(s));
	if (err != -EINTR)
		return err;
	do {
		err = collsock_wait(s, c->post->cookie, completion, c->result, c->result_bytes);
	} while (err == -EINTR);
	/* It has been posted, but EAGAIN would mean that it has not. */
	return err == -EAGAIN ? -EINPROGRESS : err;
}

COLLSOCK_PUBLIC int collsock_run(struct collsock *s, const struct collsock_post *post,
				 const void *payload, size_t payload_bytes,
				 struct collsock_completion *completion, void *result,
				 size_t result_bytes)
{
	const struct call call = { post, payload, payload_bytes, result, result_bytes };

	if (post->size > MAX_STRUCT)
		return -E2BIG;
	return s->user ? run_in_user_space(s, &call, completion) :
			 run_to_end(s, &call, completion);
}

int collsock_run_buffers(struct collsock *s, struct collsock_post *post,
			 const struct collsock_buffers *b, struct collsock_completion *wanted)
{
	struct collsock_completion completion = { .failed_rank = COLLSOCK_NO_RANK };
	int err;

	post->size = sizeof(*post);
	post->cookie = atomic_fetch_add(&s->next_cookie, 1) | COLLSOCK_LIBRARY_COOKIES;
	completion.cookie = post->cookie;
	err = b->bytes < 0 ? b->bytes : collsock_run(s, post, b->data, b->bytes, &completion,
						     b->result, b->result_bytes);
	if (wanted)
		*wanted = completion;
	return err ? err : -(int)completion.error;
}

/* The result is as long as the data. */
static int run(struct collsock *s, struct collsock_post *post, const void *data, int bytes,
	       struct collsock_completion *wanted, void *result)
{
	const struct collsock_buffers buffers = { data, bytes, result, bytes };

	return collsock_run_buffers(s, post, &buffers, wanted);
}

COLLSOCK_PUBLIC int collsock_barrier(struct collsock *s, struct collsock_completion *completion)
{
	struct collsock_post post = { .operation = COLLSOCK_BARRIER };

	return run(s, &post, NULL, 0, completion, NULL);
}

COLLSOCK_PUBLIC int collsock_allreduce(struct collsock *s, const void *data, void *result,
				       __u32 count, enum collsock_type type,
				       enum collsock_operator op,
				       struct collsock_completion *completion)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_ALLREDUCE,
		.type		= type,
		.op		= op,
		.count		= count,
	};

	return run(s, &post, data, collsock_payload_bytes(type, count), completion, result);
}

COLLSOCK_PUBLIC int collsock_reduce(struct collsock *s, const void *data, void *result,
				    __u32 count, enum collsock_type type,
				    enum collsock_operator op, __u32 root,
				    struct collsock_completion *completion)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_REDUCE,
		.type		= type,
		.op		= op,
		.root		= root,
		.count		= count,
	};

	return run(s, &post, data, collsock_payload_bytes(type, count), completion, result);
}

/* The kernel reads only the root's buffer, and fills those of all others. */
COLLSOCK_PUBLIC int collsock_broadcast(struct collsock *s, void *data, __u32 count,
				       enum collsock_type type, __u32 root,
				       struct collsock_completion *completion)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_BROADCAST,
		.type		= type,
		.root		= root,
		.count		= count,
	};

	return run(s, &post, data, collsock_payload_bytes(type, count), completion, data);
}
