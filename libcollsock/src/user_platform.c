// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The core's platform in user space: core/env.h. All functions are called in an event of a member,
 * with its lock held, except those about bearers and memory. core/user_env.c has the others.
 */
#include <stdlib.h>

#include "../../kernel/udp_bearer.h"
#include "user_state.h"

struct coll_peer *coll_env_peer_new(struct coll_group *g)
{
	return calloc(1, sizeof(struct coll_peer));
}

void coll_env_peer_free(struct coll_peer *peer)
{
	free(peer);
}

const struct coll_bearer *coll_env_bearer(u16 family)
{
	return coll_udp_bearer.carries(family) ? &coll_udp_bearer : NULL;
}

/* ---- packets ---- */

/* One is written at a time: the next one that waits to be sent. */
struct coll_blank coll_env_packet(struct coll_group *g, u32 bytes)
{
	u8 *data = user_udp_blank(&user_member_of(g)->udp, bytes);

	return (struct coll_blank){ .packet = (struct coll_packet *)data, .data = data };
}

void coll_env_transmit(struct coll_peer *peer, struct coll_packet *packet)
{
	struct user_member *m = user_member_of(peer->group);

	user_udp_send(&m->udp, peer->host, &m->request.members[peer->host]);
}

/* No group in user space has a multicast address (user_join.c). */
void coll_env_multicast(struct coll_group *g, struct coll_packet *packet)
{
}

u32 coll_env_queued(struct coll_group *g)
{
	return user_udp_queued(&user_member_of(g)->udp);
}

/* ---- time ---- */

void coll_env_deadline(struct coll_group *g, u64 at)
{
	user_member_of(g)->deadline = at;
}

void coll_env_run_soon(struct coll_group *g)
{
	user_member_of(g)->event.turn = true;
}

/* ---- results ---- */

struct coll_result *coll_env_result_take(struct coll_group *g, u32 local, void *token, u32 bytes)
{
	struct user_slot *slot = token;
	struct user_result *result = slot->shared;

	slot->shared = NULL;
	return &result->core;
}

void coll_env_result_share(struct coll_group *g, u32 local, void *token,
			   struct coll_result *result)
{
	struct user_result *shared = container_of(result, struct user_result, core);
	struct user_slot *slot = token;

	shared->references++;
	user_result_put(slot->shared);
	slot->shared = shared;
}

void coll_env_result_put(struct coll_group *g, struct coll_result *result)
{
	user_result_put(container_of(result, struct user_result, core));
}

void coll_env_complete(struct coll_group *g, u32 local, u64 number, void *token,
		       const void *result, u32 bytes, u32 error, u32 failed_rank)
{
	struct user_member *m = user_member_of(g);

	m->failed |= error != 0;
	user_slots_finish(&m->slots, token, result, bytes, error, failed_rank, m->event.now);
	m->event.woken = true;
}

void coll_env_writable(struct coll_group *g)
{
	user_member_of(g)->event.woken = true;
}
