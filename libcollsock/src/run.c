// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Post and wait in one call. The kernel wants one flat buffer: a structure with
 * the data behind it. It is on the stack as long as the data is of usual size.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "internal.h"
#include "post.h"

/**
 * struct flat - the buffer of one call
 * @bytes: where it is
 * @room: for data, behind the larger of the two structures
 * @usual: it, unless there is more data
 */
struct flat {
	__u8		*bytes;
	__u32	room;
	union {
		struct collsock_run	run;
		struct collsock_wait	wait;
		__u8			bytes[sizeof(struct collsock_run) +
					      COLLSOCK_DEFAULT_SEGMENT];
	} usual;
};

static int flat_init(struct flat *flat, size_t room)
{
	flat->bytes = flat->usual.bytes;
	flat->room = room;
	if (room > INT_MAX)
		return -EMSGSIZE;
	if (room <= COLLSOCK_DEFAULT_SEGMENT)
		return 0;
	flat->bytes = malloc(sizeof(struct collsock_run) + room);
	return flat->bytes ? 0 : -ENOMEM;
}

static void flat_free(struct flat *flat)
{
	if (flat->bytes != flat->usual.bytes)
		free(flat->bytes);
}

/* One WAIT: the completion goes to @completion, the result to @result. */
static int wait_once(struct collsock *s, struct flat *flat, __u64 cookie,
		     struct collsock_completion *completion, void *result)
{
	struct collsock_wait wait = {
		.size		= sizeof(wait),
		.buffer_bytes	= flat->room,
		.spin_us	= s->spin_us,
		.cookie		= cookie,
	};

	memcpy(flat->bytes, &wait, sizeof(wait));
	if (ioctl(s->fd, COLLSOCK_WAIT, flat->bytes))
		return -errno;
	memcpy(&wait, flat->bytes, sizeof(wait));
	*completion = wait.completion;
	if (completion->bytes > flat->room)
		return -EBADMSG;
	if (completion->bytes)
		memcpy(result, flat->bytes + sizeof(wait), completion->bytes);
	return 0;
}

COLLSOCK_PUBLIC int collsock_wait(struct collsock *s, __u64 cookie,
				  struct collsock_completion *completion, void *result,
				  size_t result_bytes)
{
	struct flat flat;
	int err;

	err = flat_init(&flat, result_bytes);
	if (err)
		return err;
	err = wait_once(s, &flat, cookie, completion, result);
	flat_free(&flat);
	return err;
}

/**
 * struct outgoing - what RUN posts
 * @post: its head
 * @payload: behind it
 * @bytes: of @payload, not more than there is room
 */
struct outgoing {
	const struct collsock_post	*post;
	const void			*payload;
	size_t				bytes;
};

/* One RUN: as wait_once(). */
static int run_once(struct collsock *s, struct flat *flat, const struct outgoing *out,
		    struct collsock_completion *completion, void *result)
{
	struct collsock_run run = {
		.size		= sizeof(run),
		.buffer_bytes	= flat->room,
		.spin_us	= s->spin_us,
		.post		= *out->post,
	};

	memcpy(flat->bytes, &run, sizeof(run));
	if (out->bytes)
		memcpy(flat->bytes + sizeof(run), out->payload, out->bytes);
	if (ioctl(s->fd, COLLSOCK_RUN, flat->bytes))
		return -errno;
	memcpy(&run, flat->bytes, sizeof(run));
	*completion = run.completion;
	if (completion->bytes > flat->room)
		return -EBADMSG;
	if (completion->bytes)
		memcpy(result, flat->bytes + sizeof(run), completion->bytes);
	return 0;
}

/* Was it the caller's wish that posting does not wait, or not so long? */
static int may_give_up_posting(const struct collsock *s)
{
	struct timeval timeout = { };
	socklen_t bytes = sizeof(timeout);

	return fcntl(s->fd, F_GETFL) & O_NONBLOCK ||
	       getsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &bytes) ||
	       timeout.tv_sec || timeout.tv_usec;
}

/*
 * A signal ends RUN: before it has posted with EAGAIN, and it must be repeated;
 * afterwards with EINTR, and it must not: what is left to do is to wait. A
 * handler of the signal has run by then.
 */
static int run_to_end(struct collsock *s, struct flat *flat, const struct outgoing *out,
		      struct collsock_completion *completion, void *result)
{
	int err;

	do {
		err = run_once(s, flat, out, completion, result);
	} while (err == -EAGAIN && !may_give_up_posting(s));
	if (err != -EINTR)
		return err;
	do {
		err = wait_once(s, flat, out->post->cookie, completion, result);
	} while (err == -EINTR);
	/* It has been posted, and EAGAIN would deny that. */
	return err == -EAGAIN ? -EINPROGRESS : err;
}

COLLSOCK_PUBLIC int collsock_run(struct collsock *s, const struct collsock_post *post,
				 const void *payload, size_t payload_bytes,
				 struct collsock_completion *completion, void *result,
				 size_t result_bytes)
{
	const struct outgoing out = { post, payload, payload_bytes };
	struct flat flat;
	int err;

	err = flat_init(&flat, payload_bytes > result_bytes ? payload_bytes : result_bytes);
	if (err)
		return err;
	err = run_to_end(s, &flat, &out, completion, result);
	flat_free(&flat);
	return err;
}

/* @wanted is filled in whatever happens; negative @bytes are an error already. */
static int run(struct collsock *s, struct collsock_post *post, const void *data, int bytes,
	       struct collsock_completion *wanted, void *result)
{
	struct collsock_completion completion = { .failed_rank = COLLSOCK_NO_RANK };
	int err;

	post->size = sizeof(*post);
	post->cookie = atomic_fetch_add(&s->next_cookie, 1) | COLLSOCK_LIBRARY_COOKIES;
	completion.cookie = post->cookie;
	err = bytes < 0 ? bytes : collsock_run(s, post, data, bytes, &completion, result, bytes);
	if (wanted)
		*wanted = completion;
	return err ? err : -(int)completion.error;
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

/* The kernel reads the buffer of the root alone, and fills that of all others. */
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
