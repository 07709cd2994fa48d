// SPDX-License-Identifier: GPL-2.0
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "members.h"

/* The lowest rank of each host, or NULL if there is no memory */
static u32 *members_lowest(u32 hosts, const u32 *host_of_rank)
{
	u32 *lowest = kvmalloc_array(hosts, sizeof(*lowest), GFP_KERNEL_ACCOUNT);
	u32 host, rank;

	/* Hosts are in the order of their lowest ranks. */
	for (host = 0, rank = 0; lowest && host < hosts; rank++)
		if (host_of_rank[rank] == host)
			lowest[host++] = rank;
	return lowest;
}

/**
 * coll_members_get() - get the shared table that equals that of a request
 * @tables: of the namespace; its mutex is held
 * @hosts: number of hosts
 * @ranks: number of ranks
 * @member: the hosts; set to NULL if they have become the shared table
 * @host_of_rank: the host of each rank, likewise
 *
 * Return: the table, with a reference for the caller, or NULL if there is no memory.
 * Context: process.
 */
struct coll_members *coll_members_get(struct hlist_head *tables, u32 hosts, u32 ranks,
				      struct collsock_member **member, u32 **host_of_rank)
{
	size_t member_bytes = hosts * sizeof(**member);
	u32 hash = jhash2((u32 *)*member, member_bytes / sizeof(u32), ranks);
	struct coll_members *m;

	static_assert(sizeof(**member) % sizeof(u32) == 0);

	hash = jhash2(*host_of_rank, ranks, hash);
	hlist_for_each_entry(m, tables, node) {
		if (m->hash == hash && m->hosts == hosts && m->ranks == ranks &&
		    !memcmp(m->member, *member, member_bytes) &&
		    !memcmp(m->host_of_rank, *host_of_rank, ranks * sizeof(u32))) {
			m->references++;
			return m;
		}
	}
	m = kmalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return NULL;
	m->lowest = members_lowest(hosts, *host_of_rank);
	if (!m->lowest) {
		kfree(m);
		return NULL;
	}
	m->references = 1;
	m->hosts = hosts;
	m->ranks = ranks;
	m->hash = hash;
	m->member = *member;
	m->host_of_rank = *host_of_rank;
	*member = NULL;
	*host_of_rank = NULL;
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
 * coll_members_put() - drop a group's reference on a table
 * @members: the table; the namespace's mutex is held, and no packet reads it for this group
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
