// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Queries. The kernel fills as many bytes as both sides know. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "internal.h"
#include "user.h"

static int stats_get(const struct collsock *s, int option, void *answer, size_t bytes)
{
	socklen_t length = bytes;

	if (bytes < sizeof(__u32) || bytes > INT_MAX)
		return -EINVAL;
	memset(answer, 0, bytes);
	if (s->user)
		return user_query(s->user, option, answer, bytes);
	return getsockopt(s->fd, SOL_COLLSOCK, option, answer, &length) ? -errno : 0;
}

COLLSOCK_PUBLIC int collsock_stats(const struct collsock *s, struct collsock_stats *stats,
				   size_t bytes)
{
	return stats_get(s, COLLSOCK_STATS, stats, bytes);
}

COLLSOCK_PUBLIC int collsock_net_stats(const struct collsock *s,
				       struct collsock_net_stats *stats, size_t bytes)
{
	return stats_get(s, COLLSOCK_NET_STATS, stats, bytes);
}

COLLSOCK_PUBLIC int collsock_report(void)
{
	return user_report();
}

COLLSOCK_PUBLIC int collsock_self(const struct collsock *s, struct collsock_self *self,
				  size_t bytes)
{
	return stats_get(s, COLLSOCK_SELF, self, bytes);
}

COLLSOCK_PUBLIC int collsock_features(const struct collsock *s,
				      struct collsock_features *features, size_t bytes)
{
	return stats_get(s, COLLSOCK_FEATURES, features, bytes);
}
