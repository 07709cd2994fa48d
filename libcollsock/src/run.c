// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Post and wait in one call. The kernel expects one buffer: the structures, then the data.
 * It is on the stack unless the data is large.
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
#include "run.h"

/* No extensible structure will be longer. */
#define MAX_STRUCT 4096

#define USUAL_HEAD (sizeof(struct collsock_run) + sizeof(struct collsock_post) + \
		    sizeof(struct collsock_completion))

/**
 * struct flat - the buffer of one call
 * @bytes: the buffer
 * @room: size of the part for data
 * @usual: the buffer unless the data is large
 */
struct flat {
	__u8	*bytes;
	__u32	room;
	__u8	usual[USUAL_HEAD + COLLSOCK_DEFAULT_SEGMENT];
};

/* @head: total size of the structures */
static int flat_init(struct flat *flat, size_t head, size_t room)
{
	flat->bytes = flat->usual;
	flat->room = room;
	if (room > INT_MAX)
		return -EMSGSIZE;
	if (head + room <= sizeof(flat->usual))
		return 0;
	flat->bytes = malloc(head + room);
	return flat->bytes ? 0 : -ENOMEM;
}

static void flat_free(struct flat *flat)
{
	if (flat->bytes != flat->usual)
		free(flat->bytes);
}

/* Read the completion and its result, which the kernel has put at @at. */
static int flat_take(const struct flat *flat, const __u8 *at,
		     struct collsock_completion *completion, void *result)
{
	memcpy(completion, at, sizeof(*completion));
	if (completion->bytes > flat->room)
		return -EBADMSG;
	if (completion->bytes)
		memcpy(result, at + sizeof(*completion), completion->bytes);
	return 0;
}

/* One WAIT: stores the completion in @completion, the result in @result. */
static int wait_once(struct collsock *s, struct flat *flat, __u64 cookie,
		     struct collsock_completion *completion, void *result)
{
	const struct collsock_wait wait = {
		.size			= sizeof(wait),
		.completion_bytes	= sizeof(*completion),
		.buffer_bytes		= flat->room,
		.spin_us		= s->spin_us,
		.cookie			= cookie,
	};

	memcpy(flat->bytes, &wait, sizeof(wait));
	if (ioctl(s->fd, COLLSOCK_WAIT, flat->bytes))
		return -errno;
	return flat_take(flat, flat->bytes + sizeof(wait), completion, result);
}

COLLSOCK_PUBLIC int collsock_wait(struct collsock *s, __u64 cookie,
				  struct collsock_completion *completion, void *result,
				  size_t result_bytes)
{
	struct flat flat;
	int err;

	err = flat_init(&flat, USUAL_HEAD, result_bytes);
	if (err)
		return err;
	err = wait_once(s, &flat, cookie, completion, result);
	flat_free(&flat);
	return err;
}

/**
 * struct outgoing - what RUN posts
 * @post: its head
 * @payload: after the head
 * @bytes: length of @payload, at most the room for data
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
	const struct collsock_run run = {
		.size			= sizeof(run),
		.post_bytes		= out->post->size,
		.completion_bytes	= sizeof(*completion),
		.buffer_bytes		= flat->room,
		.spin_us		= s->spin_us,
	};
	__u8 *post = flat->bytes + sizeof(run), *at = post + out->post->size;

	memcpy(flat->bytes, &run, sizeof(run));
	memcpy(post, out->post, out->post->size);
	if (out->bytes)
		memcpy(at + sizeof(*completion), out->payload, out->bytes);
	if (ioctl(s->fd, COLLSOCK_RUN, flat->bytes))
		return -errno;
	return flat_take(flat, at, completion, result);
}

/* Has the caller asked that posting does not wait, or only for a limited time? */
static int may_give_up_posting(const struct collsock *s)
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
	/* It has been posted, but EAGAIN would mean that it has not. */
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

	if (post->size > MAX_STRUCT)
		return -E2BIG;
	err = flat_init(&flat, USUAL_HEAD - sizeof(*post) + post->size,
			payload_bytes > result_bytes ? payload_bytes : result_bytes);
	if (err)
		return err;
	err = run_to_end(s, &flat, &out, completion, result);
	flat_free(&flat);
	return err;
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
