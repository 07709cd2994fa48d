/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef COLLSOCK_RUN_H
#define COLLSOCK_RUN_H

#include "collsock.h"

/* Buffers of a function that posts and waits */
struct collsock_buffers {
	const void	*data;
	int		bytes;		/* negative: an error */
	void		*result;
	int		result_bytes;
};

/* Give the post a cookie and run it. @wanted may be NULL, else it is always filled in. */
int collsock_run_buffers(struct collsock *s, struct collsock_post *post,
			 const struct collsock_buffers *buffers,
			 struct collsock_completion *wanted);

#endif
