// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Operations in which each rank receives the reduction over the ranks up to it, or below it */
#include "internal.h"
#include "post.h"
#include "run.h"

COLLSOCK_PUBLIC int collsock_post_scan(struct collsock *s, const void *data, __u32 count,
				       enum collsock_type type, enum collsock_operator op,
				       __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_SCAN,
		.type		= type,
		.op		= op,
		.count		= count,
		.cookie		= cookie,
	};
	int bytes = collsock_payload_bytes(type, count);

	return bytes < 0 ? bytes : collsock_post(s, &post, data, bytes);
}

COLLSOCK_PUBLIC int collsock_post_exscan(struct collsock *s, const void *data, __u32 count,
					 enum collsock_type type, enum collsock_operator op,
					 __u64 cookie)
{
	struct collsock_post post = {
		.size		= sizeof(post),
		.operation	= COLLSOCK_EXSCAN,
		.type		= type,
		.op		= op,
		.count		= count,
		.cookie		= cookie,
	};
	int bytes = collsock_payload_bytes(type, count);

	return bytes < 0 ? bytes : collsock_post(s, &post, data, bytes);
}

/* The result is as long as the data. */
static int scan_run(struct collsock *s, struct collsock_post *post, const void *data, int bytes,
		    void *result, struct collsock_completion *completion)
{
	const struct collsock_buffers buffers = { data, bytes, result, bytes };

	return collsock_run_buffers(s, post, &buffers, completion);
}

COLLSOCK_PUBLIC int collsock_scan(struct collsock *s, const void *data, void *result, __u32 count,
				  enum collsock_type type, enum collsock_operator op,
				  struct collsock_completion *completion)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_SCAN,
		.type		= type,
		.op		= op,
		.count		= count,
	};

	return scan_run(s, &post, data, collsock_payload_bytes(type, count), result, completion);
}

/* The result of rank 0 has no bytes, so nothing is written there. */
COLLSOCK_PUBLIC int collsock_exscan(struct collsock *s, const void *data, void *result,
				    __u32 count, enum collsock_type type,
				    enum collsock_operator op,
				    struct collsock_completion *completion)
{
	struct collsock_post post = {
		.operation	= COLLSOCK_EXSCAN,
		.type		= type,
		.op		= op,
		.count		= count,
	};

	return scan_run(s, &post, data, collsock_payload_bytes(type, count), result, completion);
}
