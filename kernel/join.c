// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core/descriptor.h"
#include "extensible.h"
#include "join.h"
#include "netns.h"

/* The tables begin at @offset. */
static int join_copy_tables(struct coll_join *join, sockptr_t from, size_t offset)
{
	size_t members_bytes = join->fixed.hosts * sizeof(*join->members);
	size_t ranks_bytes = join->fixed.ranks * sizeof(*join->host_of_rank);

	join->members = kvmalloc(members_bytes, GFP_KERNEL_ACCOUNT);
	join->host_of_rank = kvmalloc(ranks_bytes, GFP_KERNEL_ACCOUNT);
	if (!join->members || !join->host_of_rank)
		return -ENOMEM;
	if (copy_from_sockptr_offset(join->members, from, offset, members_bytes))
		return -EFAULT;
	offset += members_bytes;
	if (copy_from_sockptr_offset(join->host_of_rank, from, offset, ranks_bytes))
		return -EFAULT;
	return 0;
}

/* Is a group id of the process in the range that may join? */
static bool join_permitted(struct coll_net *cn)
{
	struct group_info *groups = get_current_groups();
	u32 low, high, gid = from_kgid(&init_user_ns, current_egid());
	bool found;
	int i;

	/* Both ends of the range must be from one setting. */
	mutex_lock(&cn->mutex);
	low = coll_tunable(&cn->tunables, COLL_TUNABLE_JOIN_GID_LOW);
	high = coll_tunable(&cn->tunables, COLL_TUNABLE_JOIN_GID_HIGH);
	mutex_unlock(&cn->mutex);
	found = low <= gid && gid <= high;
	for (i = 0; i < groups->ngroups && !found; i++) {
		gid = from_kgid(&init_user_ns, groups->gid[i]);
		found = low <= gid && gid <= high;
	}
	put_group_info(groups);
	return found;
}

static int join_copy(struct coll_join *join, struct coll_net *cn, sockptr_t from,
		     unsigned int bytes)
{
	struct collsock_join *fixed = &join->fixed;
	int err, size;

	size = coll_extensible_from_sockptr(fixed, sizeof(*fixed), COLLSOCK_JOIN_VER0, from, bytes);
	if (size < 0)
		return size;
	if (!fixed->window)
		fixed->window = coll_tunable(&cn->tunables, COLL_TUNABLE_WINDOW);
	err = coll_descriptor_normalise(fixed);
	if (err)
		return err;
	if (bytes != size + coll_descriptor_tables(fixed))
		return -EINVAL;
	if (!join_permitted(cn))
		return -EPERM;
	if (!memchr_inv(fixed->key, 0, sizeof(fixed->key)) &&
	    coll_tunable(&cn->tunables, COLL_TUNABLE_REQUIRE_KEYS))
		return -EACCES;
	err = join_copy_tables(join, from, size);
	if (err)
		return err;
	err = coll_descriptor_check(fixed, join->members, join->host_of_rank);
	if (err)
		return err;
	return coll_bearer_localise(&cn->bearers, join->members, fixed->hosts,
				    coll_join_self(join));
}

/**
 * coll_join_copy() - copy and check a request to join
 * @join: out
 * @cn: the namespace
 * @from: the request
 * @bytes: its length
 *
 * Return: 0, or -errno, and then coll_join_drop() is not needed. Context: process.
 */
int coll_join_copy(struct coll_join *join, struct coll_net *cn, sockptr_t from,
		   unsigned int bytes)
{
	int err;

	memset(join, 0, sizeof(*join));
	err = join_copy(join, cn, from, bytes);
	if (err)
		coll_join_drop(join);
	return err;
}

/**
 * coll_join_drop() - free a request
 * @join: from coll_join_copy()
 *
 * Context: process.
 */
void coll_join_drop(struct coll_join *join)
{
	kvfree(join->members);
	kvfree(join->host_of_rank);
	/* It holds a key. */
	memzero_explicit(join, sizeof(*join));
}
