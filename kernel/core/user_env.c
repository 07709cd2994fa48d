// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Default implementations of functions of env.h for platforms in user space: memory,
 * warnings, reports. Each is weak, so that a platform can replace it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "env.h"

/* An internal error of the core. It continues: this must not terminate a daemon. */
__weak void coll_env_warn(const char *file, int line, const char *condition)
{
	static bool warned;

	if (!warned)
		fprintf(stderr, "collsock: %s:%d: %s\n", file, line, condition);
	warned = true;
}

__weak bool coll_env_charge(struct coll_group *g, size_t bytes)
{
	return true;
}

__weak void *coll_env_alloc(size_t bytes)
{
	return calloc(1, bytes);
}

__weak void coll_env_free(void *memory)
{
	free(memory);
}

__weak u32 coll_env_queued(struct coll_group *g)
{
	return 0;
}

__weak bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round)
{
	return true;
}

__weak void coll_env_peer_open(struct coll_peer *peer)
{
}

__weak void coll_env_peer_idle(struct coll_peer *peer)
{
}

__weak void coll_env_drop(struct coll_group *g, u32 source, u32 destination,
			  const struct coll_body *body, enum coll_drop drop)
{
}

__weak void coll_env_send_again(const struct coll_message *m)
{
}

__weak void coll_env_failure(struct coll_group *g)
{
}
