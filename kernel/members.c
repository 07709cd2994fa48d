// SPDX-License-Identifier: GPL-2.0
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "members.h"

/**
 * coll_members_get() - the shared table that equals this one
 * @tables: of the namespace; its mutex is held
 * @member: the table, from kvmalloc(); if it becomes the shared one, the
 *	caller's pointer is set to NULL
 * @hosts: entries of it
 *
 * Return: the table with a reference for the caller, NULL if there is no memory.
 * Context: process.
 */
struct coll_members *coll_members_get(struct hlist_head *tables, struct collsock_member **member,
				      u32 hosts)
{
	size_t bytes = hosts * sizeof(**member);
	u32 hash = jhash2((u32 *)*member, bytes / sizeof(u32), hosts);
	struct coll_members *m;

	static_assert(sizeof(**member) % sizeof(u32) == 0);

	hlist_for_each_entry(m, tables, node) {
		if (m->hash == hash && m->hosts == hosts && !memcmp(m->member, *member, bytes)) {
			m->references++;
			return m;
		}
	}
	m = kmalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return NULL;
	m->references = 1;
	m->hosts = hosts;
	m->hash = hash;
	m->member = *member;
	*member = NULL;
	hlist_add_head(&m->node, tables);
	return m;
}

static void members_free(struct rcu_head *rcu)
{
	struct coll_members *members = container_of(rcu, struct coll_members, rcu);

	kvfree(members->member);
	kfree(members);
}

/**
 * coll_members_put() - a group does not need the table any more
 * @members: the namespace's mutex is held, and no packet reads it for this group
 *
 * Context: process.
 */
void coll_members_put(struct coll_members *members)
{
	if (--members->references)
		return;
	hlist_del(&members->node);
	call_rcu(&members->rcu, members_free);
}
