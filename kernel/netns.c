// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <net/netns/generic.h>

#include "compat.h"
#include "netns.h"

unsigned int coll_net_id;

/**
 * coll_net_of() - collsock's part of a namespace
 * @net: the namespace
 *
 * Context: any, while the namespace has sockets of the family or groups.
 */
struct coll_net *coll_net_of(const struct net *net)
{
	return net_generic(net, coll_net_id);
}

/**
 * coll_net_add() - add a group to a namespace
 * @cn: the namespace; its mutex is held
 * @gi: the group
 * @handle: out: its handle
 *
 * Return: 0, -ENOMEM, or -ENFILE if there are too many groups. Context: process.
 */
int coll_net_add(struct coll_net *cn, struct coll_instance *gi, u32 *handle)
{
	int err;

	lockdep_assert_held(&cn->mutex);
	if (cn->groups >= coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_GROUPS))
		return -ENFILE;
	err = xa_alloc_cyclic(&cn->instances, handle, gi, XA_LIMIT(1, INT_MAX),
			      &cn->next_handle, GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	cn->groups++;
	cn->generation++;
	return 0;
}

/**
 * coll_net_remove() - undo coll_net_add()
 * @cn: the namespace; its mutex is held
 * @handle: of the group
 *
 * Context: process.
 */
void coll_net_remove(struct coll_net *cn, u32 handle)
{
	lockdep_assert_held(&cn->mutex);
	xa_erase(&cn->instances, handle);
	cn->groups--;
	cn->generation++;
}

/* Time-wait entries keep memory that groups have had. */
static bool net_try_charge(struct coll_net *cn, u64 bytes)
{
	u64 others = READ_ONCE(cn->timewait.bytes);

	if (atomic64_add_return(bytes, &cn->memory) + others <= coll_net_most_memory(cn))
		return true;
	atomic64_sub(bytes, &cn->memory);
	return false;
}

/**
 * coll_net_charge() - a group that is joined needs memory
 * @cn: the namespace
 * @bytes: how much
 *
 * It is charged before it is allocated, as many groups may be joined at the same time. Time-wait
 * entries of the caller's user make room.
 *
 * Return: false if the groups of the namespace would have too much. Context: process; takes
 * the namespace's mutex.
 */
bool coll_net_charge(struct coll_net *cn, u64 bytes)
{
	bool charged = net_try_charge(cn, bytes);

	if (likely(charged))
		return true;
	mutex_lock(&cn->mutex);
	coll_timewait_table_reclaim(&cn->timewait, current_uid(), bytes);
	charged = net_try_charge(cn, bytes);
	if (!charged)
		cn->over_memory++;
	mutex_unlock(&cn->mutex);
	return charged;
}

/**
 * coll_net_uncharge() - undo coll_net_charge()
 * @cn: the namespace
 * @bytes: how much
 *
 * Context: any.
 */
void coll_net_uncharge(struct coll_net *cn, u64 bytes)
{
	atomic64_sub(bytes, &cn->memory);
}

/**
 * coll_net_tidy_soon() - schedule the tidying
 * @cn: the namespace
 *
 * Context: any, before the namespace begins to end.
 */
void coll_net_tidy_soon(struct coll_net *cn)
{
	mod_delayed_work(coll_work_queue, &cn->tidy, 0);
}
