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

__weak u8 *coll_env_exchange(struct coll_group *g, u32 local, void *token, const void *payload,
			     u8 *buffer)
{
	return NULL;
}

__weak u32 coll_env_queued(struct coll_group *g)
{
	return 0;
}

__weak bool coll_env_round(struct coll_group *g, u64 number, u32 lane, u32 round)
{
	return true;
}

/* Settings with which a program begins: nearest even, subnormals, no exceptions */
#define DEFAULT_SETTINGS	0x1f80

/* The floating-point settings that the thread had before it entered the section */
static __thread u32 own_settings;

/* Change the floating-point settings of this thread. Returns the former ones. */
static u32 user_change_settings(u32 settings)
{
	u32 former = 0;

#ifdef __x86_64__
	former = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(settings);
#endif
	return former;
}

__weak bool coll_env_vector_begin(void)
{
	own_settings = user_change_settings(DEFAULT_SETTINGS);
	return true;
}

__weak void coll_env_vector_end(void)
{
	user_change_settings(own_settings);
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
