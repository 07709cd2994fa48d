// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Operations whose vector has a block for each rank. Its length follows from the number of ranks,
 * which is read from the socket once.
 */
#include <errno.h>
#include <stddef.h>

#include "internal.h"
#include "post.h"
#include "rank.h"
#include "run.h"

/* Bytes of the blocks of all ranks, or an error */
static int blocks_bytes(struct collsock *s, enum collsock_type type, __u32 count)
{
	int block = collsock_block_bytes(type, count), err;
	__u64 bytes;

	if (block < 0)
		return block;
	err = collsock_ask_rank(s);
	if (err)
		return err;
	bytes = (__u64)block * atomic_load(&s->ranks);
	return bytes > COLLSOCK_MAX_RESULT ? -EMSGSIZE : (int)bytes;
}

/* ---- post, complete later ---- */

static int blocks_post(struct collsock *s, struct collsock_post *post, const void *data, int bytes)
{
	post->size = sizeof(*post);
	return bytes < 0 ? bytes : collsock_post(s, post, data, bytes);
}

COLLSOCK_PUBLIC int collsock_post_allgather(struct collsock *s, const void *data, __u32 count,
					    enum collsock_type type, __u64 cookie)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_ALLGATHER,
		.type		= type,
		.count		= count,
		.cookie		= cookie,
	};

	return blocks_post(s, &post, data, collsock_block_bytes(type, count));
}

COLLSOCK_PUBLIC int collsock_post_gather(struct collsock *s, const void *data, __u32 count,
					 enum collsock_type type, __u32 root, unsigned int flags,
					 __u64 cookie)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_GATHER,
		.type		= type,
		.flags		= flags,
		.root		= root,
		.count		= count,
		.cookie		= cookie,
	};

	return blocks_post(s, &post, data, collsock_block_bytes(type, count));
}

COLLSOCK_PUBLIC int collsock_post_scatter(struct collsock *s, const void *data, __u32 count,
					  enum collsock_type type, __u32 root, __u64 cookie)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_SCATTER,
		.type		= type,
		.root		= root,
		.count		= count,
		.cookie		= cookie,
	};

	return blocks_post(s, &post, data, data ? blocks_bytes(s, type, count) : 0);
}

COLLSOCK_PUBLIC int collsock_post_reduce_scatter_block(struct collsock *s, const void *data,
						       __u32 count, enum collsock_type type,
						       enum collsock_operator op, __u64 cookie)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_REDUCE_SCATTER_BLOCK,
		.type		= type,
		.op		= op,
		.count		= count,
		.cookie		= cookie,
	};

	return blocks_post(s, &post, data, blocks_bytes(s, type, count));
}

/* ---- post and wait ---- */

COLLSOCK_PUBLIC int collsock_allgather(struct collsock *s, const void *data, void *result,
				       __u32 count, enum collsock_type type,
				       struct collsock_completion *completion)
{
	int all = blocks_bytes(s, type, count);
	const struct collsock_buffers buffers = {
		.data		= data,
		.bytes		= all < 0 ? all : collsock_block_bytes(type, count),
		.result		= result,
		.result_bytes	= all,
	};
	struct collsock_post post = {
		.operation	= COLLSOCK_ALLGATHER,
		.type		= type,
		.count		= count,
	};

	return collsock_run_buffers(s, &post, &buffers, completion);
}

COLLSOCK_PUBLIC int collsock_gather(struct collsock *s, const void *data, void *result, __u32 count,
				    enum collsock_type type, __u32 root,
				    struct collsock_completion *completion)
{
	int all = blocks_bytes(s, type, count);
	const struct collsock_buffers buffers = {
		.data		= data,
		.bytes		= all < 0 ? all : collsock_block_bytes(type, count),
		.result		= result,
		.result_bytes	= atomic_load(&s->rank) == root ? all : 0,
	};
	struct collsock_post post = {
		.operation	= COLLSOCK_GATHER,
		.type		= type,
		.root		= root,
		.count		= count,
	};

	return collsock_run_buffers(s, &post, &buffers, completion);
}

/* Only the root's data is read. */
COLLSOCK_PUBLIC int collsock_scatter(struct collsock *s, const void *data, void *result,
				     __u32 count, enum collsock_type type, __u32 root,
				     struct collsock_completion *completion)
{
	int all = blocks_bytes(s, type, count);
	const struct collsock_buffers buffers = {
		.data		= data,
		.bytes		= all < 0 || atomic_load(&s->rank) == root ? all : 0,
		.result		= result,
		.result_bytes	= collsock_block_bytes(type, count),
	};
	struct collsock_post post = {
		.operation	= COLLSOCK_SCATTER,
		.type		= type,
		.root		= root,
		.count		= count,
	};

	return collsock_run_buffers(s, &post, &buffers, completion);
}

COLLSOCK_PUBLIC int collsock_reduce_scatter_block(struct collsock *s, const void *data,
						  void *result, __u32 count,
						  enum collsock_type type,
						  enum collsock_operator op,
						  struct collsock_completion *completion)
{
	const struct collsock_buffers buffers = {
		.data		= data,
		.bytes		= blocks_bytes(s, type, count),
		.result		= result,
		.result_bytes	= collsock_block_bytes(type, count),
	};
	struct collsock_post post = {
		.operation	= COLLSOCK_REDUCE_SCATTER_BLOCK,
		.type		= type,
		.op		= op,
		.count		= count,
	};

	return collsock_run_buffers(s, &post, &buffers, completion);
}
