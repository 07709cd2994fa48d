// SPDX-License-Identifier: GPL-2.0
/* Memory of the core, which is accounted to members */
#include <stdlib.h>

#include "world_memory.h"
#include "world_state.h"

long world_memory;
long world_states_left;

/* Twice malloc's alignment, so that the memory after it is aligned likewise. */
struct allocation {
	struct list_head	link;
	size_t			bytes;
	size_t			unused;
};

/* The member that is joining, to which allocations are accounted */
static struct world_member *joining;

void world_memory_of(struct world_member *m)
{
	joining = m;
	if (m)
		m->charged = 0;
}

bool coll_env_charge(struct coll_group *g, size_t bytes)
{
	if (joining)
		joining->charged += bytes;
	return true;
}

void *coll_env_alloc(size_t bytes)
{
	struct allocation *a = calloc(1, sizeof(*a) + bytes);

	a->bytes = bytes;
	INIT_LIST_HEAD(&a->link);
	if (joining)
		list_add_tail(&a->link, &joining->memory);
	world_memory++;
	return a + 1;
}

void coll_env_free(void *memory)
{
	struct allocation *a;

	if (!memory)
		return;
	a = (struct allocation *)memory - 1;
	list_del(&a->link);
	world_memory--;
	free(a);
}

struct coll_peer *coll_env_peer_new(struct coll_group *g)
{
	return coll_env_alloc(sizeof(struct coll_peer));
}

static bool side_is_zero(const struct coll_wire_side *side)
{
	static const struct coll_wire_side zero;

	return !memcmp(side, &zero, sizeof(zero));
}

void coll_env_peer_free(struct coll_peer *peer)
{
	world_states_left += !side_is_zero(&peer->conn.tx) || !side_is_zero(&peer->conn.rx);
	coll_env_free(peer);
}

static u64 digest_bytes(u64 digest, const void *data, size_t bytes)
{
	const u8 *at = data;
	u64 word;

	for (; bytes >= 8; bytes -= 8, at += 8) {
		memcpy(&word, at, 8);
		digest = rol64(digest ^ word, 23) * 0x9e3779b97f4a7c15ULL;
	}
	for (; bytes; bytes--)
		digest = rol64(digest ^ *at++, 23) * 0x9e3779b97f4a7c15ULL;
	return digest;
}

u64 world_digest(const struct world_member *m)
{
	const struct allocation *a;
	u64 digest = m->deadline;
	struct coll_group g;

	memcpy(&g, &m->group, sizeof(g));
	g.work.left = 0;
	memset(&g.stats, 0, sizeof(g.stats));
	digest = digest_bytes(digest, &g, sizeof(g));
	list_for_each_entry(a, &m->memory, link)
		digest = digest_bytes(digest, a + 1, a->bytes);
	return digest;
}

u64 world_reserved(const struct world_member *m)
{
	const struct allocation *a;
	u64 bytes = 0;

	list_for_each_entry(a, &m->memory, link)
		bytes += a->bytes;
	return bytes;
}
