// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "members.h"

static const struct rhashtable_params members_params = {
	.head_offset		= offsetof(struct coll_members, node),
	.key_offset		= offsetof(struct coll_members, hash),
	.key_len		= sizeof_field(struct coll_members, hash),
	.automatic_shrinking	= true,
};

/**
 * coll_members_init() - the namespace has no tables
 * @tables: out; @tables->table ends with rhashtable_destroy()
 *
 * Return: 0 or -ENOMEM. Context: process.
 */
int coll_members_init(struct coll_members_table *tables)
{
	get_random_bytes(&tables->seed, sizeof(tables->seed));
	return rhashtable_init(&tables->table, &members_params);
}

/* The lowest rank of each host. */
static void members_find_lowest(struct coll_members *m)
{
	u32 host, rank;

	/* Hosts are in the order of their lowest ranks. */
	for (host = 0, rank = 0; host < m->hosts; rank++)
		if (m->host_of_rank[rank] == host)
			m->lowest[host++] = rank;
}

/**
 * coll_members_new() - the table of a request
 * @tables: of the namespace
 * @hosts: number of hosts
 * @ranks: number of ranks
 * @member: the hosts; NULL afterwards
 * @host_of_rank: the host of each rank; NULL afterwards
 *
 * Return: the table, which is not shared yet, or NULL if there is no memory.
 * Context: process; may take long for large tables, so no lock.
 */
struct coll_members *coll_members_new(const struct coll_members_table *tables, u32 hosts,
				      u32 ranks, struct collsock_member **member,
				      u32 **host_of_rank)
{
	struct coll_members *m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	siphash_key_t seed = tables->seed;

	if (!m)
		return NULL;
	m->lowest = kvmalloc_array(hosts, sizeof(*m->lowest), GFP_KERNEL_ACCOUNT);
	if (!m->lowest) {
		kfree(m);
		return NULL;
	}
	m->references = 1;
	m->hosts = hosts;
	m->ranks = ranks;
	m->member = *member;
	m->host_of_rank = *host_of_rank;
	*member = NULL;
	*host_of_rank = NULL;
	members_find_lowest(m);
	seed.key[0] ^= siphash(m->member, hosts * sizeof(*m->member), &seed);
	m->hash = siphash(m->host_of_rank, ranks * sizeof(*m->host_of_rank), &seed);
	return m;
}

/**
 * coll_members_equal() - are two tables equal?
 * @a: a table
 * @b: another
 *
 * Return: are they? Context: process; may take long for large tables, so no lock.
 */
bool coll_members_equal(const struct coll_members *a, const struct coll_members *b)
{
	return a->hosts == b->hosts && a->ranks == b->ranks &&
	       !memcmp(a->member, b->member, a->hosts * sizeof(*a->member)) &&
	       !memcmp(a->host_of_rank, b->host_of_rank, a->ranks * sizeof(*a->host_of_rank));
}

/**
 * coll_members_find() - find a table that is probably equal, to use it instead
 * @tables: of the namespace; its mutex is held
 * @own: from coll_members_new()
 *
 * Return: a table with the same hash, with a reference; or NULL: then others find @own from now
 * on. Context: process.
 */
struct coll_members *coll_members_find(struct coll_members_table *tables,
				       struct coll_members *own)
{
	struct coll_members *other;

	other = rhashtable_lookup_fast(&tables->table, &own->hash, members_params);
	if (other) {
		other->references++;
		return other;
	}
	/* If it cannot be added, other groups do not find it, and have tables of their own. */
	if (!rhashtable_lookup_insert_fast(&tables->table, &own->node, members_params))
		own->shared = tables;
	return NULL;
}

/**
 * coll_members_free() - free a table
 * @members: not shared
 *
 * Context: any.
 */
void coll_members_free(struct coll_members *members)
{
	kvfree(members->member);
	kvfree(members->host_of_rank);
	kvfree(members->lowest);
	kfree(members);
}

static void members_free_rcu(struct rcu_head *rcu)
{
	coll_members_free(container_of(rcu, struct coll_members, rcu));
}

/**
 * coll_members_put() - drop a reference on a table
 * @members: the table; the namespace's mutex is held, and no packet reads it for the group that
 *	had the reference
 *
 * Context: process.
 */
void coll_members_put(struct coll_members *members)
{
	if (--members->references)
		return;
	if (members->shared)
		rhashtable_remove_fast(&members->shared->table, &members->node, members_params);
	call_rcu(&members->rcu, members_free_rcu);
}
