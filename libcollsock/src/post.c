// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Posting an operation, and receiving its completion later */
#include <errno.h>
#include <sys/uio.h>

#include "../../kernel/core/reduce.h"

#include "internal.h"
#include "post.h"
#include "user.h"

/* The kernel checks the group's own limits, which are far smaller. */
static int post_bytes(enum collsock_type type, __u32 count, __u32 most)
{
	__u32 bytes = (__u32)type <= UINT8_MAX ? coll_type_bytes(type) : 0;

	if (!bytes)
		return -EINVAL;
	return count > most ? -EMSGSIZE : (int)(count * bytes);
}

int collsock_payload_bytes(enum collsock_type type, __u32 count)
{
	return post_bytes(type, count, COLLSOCK_MAX_PAYLOAD);
}

int collsock_block_bytes(enum collsock_type type, __u32 count)
{
	return post_bytes(type, count, COLLSOCK_MAX_RESULT);
}

/* A message of two parts: head and data */
static struct msghdr post_message(struct iovec parts[2], void *head, size_t head_bytes, void *data,
				  size_t data_bytes)
{
	parts[0].iov_base = head;
	parts[0].iov_len = head_bytes;
	parts[1].iov_base = data;
	parts[1].iov_len = data_bytes;
	return (struct msghdr){ .msg_iov = parts, .msg_iovlen = data_bytes ? 2 : 1 };
}

COLLSOCK_PUBLIC int collsock_post(struct collsock *s, const struct collsock_post *post,
				  const void *payload, size_t payload_bytes)
{
	struct iovec parts[2];
	struct msghdr m = post_message(parts, (void *)post, post->size, (void *)payload,
				       payload_bytes);

	if (s->user)
		return user_send(s->user, post, payload, payload_bytes);
	return sendmsg(s->fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

COLLSOCK_PUBLIC int collsock_post_barrier(struct collsock *s, __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_BARRIER,
		.cookie		= cookie,
	};

	return collsock_post(s, &post, NULL, 0);
}

COLLSOCK_PUBLIC int collsock_post_allreduce(struct collsock *s, const void *data, __u32 count,
					    enum collsock_type type, enum collsock_operator op,
					    __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_ALLREDUCE,
		.type		= type,
		.op		= op,
		.count		= count,
		.cookie		= cookie,
	};
	int bytes = collsock_payload_bytes(type, count);

	if (bytes < 0)
		return bytes;
	return collsock_post(s, &post, data, bytes);
}

COLLSOCK_PUBLIC int collsock_post_reduce(struct collsock *s, const void *data, __u32 count,
					 enum collsock_type type, enum collsock_operator op,
					 __u32 root, unsigned int flags, __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_REDUCE,
		.type		= type,
		.op		= op,
		.flags		= flags,
		.root		= root,
		.count		= count,
		.cookie		= cookie,
	};
	int bytes = collsock_payload_bytes(type, count);

	if (bytes < 0)
		return bytes;
	return collsock_post(s, &post, data, bytes);
}

COLLSOCK_PUBLIC int collsock_post_broadcast(struct collsock *s, const void *data, __u32 count,
					    enum collsock_type type, __u32 root,
					    unsigned int flags, __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_BROADCAST,
		.type		= type,
		.flags		= flags,
		.root		= root,
		.count		= count,
		.cookie		= cookie,
	};
	int bytes = collsock_payload_bytes(type, count);

	if (bytes < 0)
		return bytes;
	return collsock_post(s, &post, data, data ? bytes : 0);
}

COLLSOCK_PUBLIC int collsock_complete(struct collsock *s, struct collsock_completion *completion,
				      void *result, size_t result_bytes)
{
	struct iovec parts[2];
	struct msghdr m = post_message(parts, completion, sizeof(*completion), result,
				       result_bytes);
	ssize_t bytes;

	if (s->user)
		return user_receive(s->user, completion, result, result_bytes);
	bytes = recvmsg(s->fd, &m, 0);
	if (bytes < 0)
		return -errno;
	if (!bytes)
		return -EPIPE;
	return (size_t)bytes < sizeof(*completion) ? -EBADMSG : 0;
}
