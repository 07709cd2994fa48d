// SPDX-License-Identifier: GPL-2.0
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "join.h"
#include "members.h"

/**
 * coll_members_get() - the shared table that equals the one of a request
 * @tables: of the namespace; its mutex is held
 * @join: the request; if its tables become the shared one, they are no longer its
 *
 * Return: the table with a reference for the caller, NULL if there is no memory.
 * Context: process.
 */
struct coll_members *coll_members_get(struct hlist_head *tables, struct coll_join *join)
{
	u32 hosts = join->fixed.hosts, ranks = join->fixed.ranks, host, rank;
	size_t member_bytes = hosts * sizeof(*join->members);
	u32 hash = jhash2((u32 *)join->members, member_bytes / sizeof(u32), ranks);
	struct coll_members *m;

	static_assert(sizeof(*join->members) % sizeof(u32) == 0);

	hash = jhash2(join->host_of_rank, ranks, hash);
	hlist_for_each_entry(m, tables, node) {
		if (m->hash == hash && m->hosts == hosts && m->ranks == ranks &&
		    !memcmp(m->member, join->members, member_bytes) &&
		    !memcmp(m->host_of_rank, join->host_of_rank, ranks * sizeof(u32))) {
			m->references++;
			return m;
		}
	}
	m = kmalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return NULL;
	m->lowest = kvmalloc_array(hosts, sizeof(*m->lowest), GFP_KERNEL_ACCOUNT);
	if (!m->lowest) {
		kfree(m);
		return NULL;
	}
	/* Hosts stand in the order of their lowest ranks. */
	for (host = 0, rank = 0; host < hosts; rank++)
		if (join->host_of_rank[rank] == host)
			m->lowest[host++] = rank;
	m->references = 1;
	m->hosts = hosts;
	m->ranks = ranks;
	m->hash = hash;
	m->member = join->members;
	m->host_of_rank = join->host_of_rank;
	join->members = NULL;
	join->host_of_rank = NULL;
	hlist_add_head(&m->node, tables);
	return m;
}

static void members_free(struct rcu_head *rcu)
{
	struct coll_members *members = container_of(rcu, struct coll_members, rcu);

	kvfree(members->member);
	kvfree(members->host_of_rank);
	kvfree(members->lowest);
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
