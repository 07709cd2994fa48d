// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "world_buffers.h"

/* What a buffer has while nobody may look at it */
#define POISON	0xa5

/**
 * struct world_buffer - a buffer of a socket: of a post, or free
 * @link: in the member's buffers, oldest post first
 * @made: as long as the largest payload
 * @memory: that, or what it was exchanged for
 * @local: whose post it is
 * @token: of the post
 * @used: by a post
 */
struct world_buffer {
	struct list_head	link;
	u8			*made;
	u8			*memory;
	u32			local;
	void			*token;
	bool			used;
};

static struct world_buffer *buffer_find(struct world_member *m, u32 local, const void *token)
{
	struct world_buffer *b;

	list_for_each_entry(b, &m->buffers, link)
		if (b->used && b->local == local && b->token == token)
			return b;
	return NULL;
}

static struct world_buffer *buffer_new(struct world_member *m)
{
	struct world_buffer *b;

	list_for_each_entry(b, &m->buffers, link)
		if (!b->used)
			return b;
	b = calloc(1, sizeof(*b));
	b->made = malloc(m->group.payload.room);
	b->memory = b->made;
	memset(b->memory, POISON, m->group.payload.room);
	INIT_LIST_HEAD(&b->link);
	return b;
}

u8 *world_buffer_take(struct world_member *m, u32 local, void *token)
{
	struct world_buffer *b = buffer_new(m);

	b->local = local;
	b->token = token;
	b->used = true;
	list_del(&b->link);
	list_add_tail(&b->link, &m->buffers);
	return b->memory;
}

void world_buffer_release(struct world_member *m, u32 local, void *token)
{
	struct world_buffer *b = buffer_find(m, local, token);

	if (!b)
		return;
	memset(b->memory, POISON, m->group.payload.room);
	b->used = false;
}

u8 *coll_env_exchange(struct coll_group *g, u32 local, void *token, const void *payload,
		      u8 *buffer)
{
	struct world_member *m = container_of(g, struct world_member, group);
	struct world_buffer *b = buffer_find(m, local, token);
	u8 *memory;

	if (!b || (payload && payload != b->memory))
		return NULL;
	memory = b->memory;
	b->memory = buffer;
	return memory;
}

void world_buffers_free(struct world_member *m)
{
	struct world_buffer *b, *next;

	list_for_each_entry_safe(b, next, &m->buffers, link) {
		list_del(&b->link);
		free(b->made);
		free(b);
	}
}
