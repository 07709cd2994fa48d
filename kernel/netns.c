// SPDX-License-Identifier: GPL-2.0
#include <linux/err.h>
#include <net/netns/generic.h>

#include "netns.h"
#include "user.h"
#include "work_queue.h"

unsigned int coll_net_id;

/**
 * coll_net_of() - collsock's part of a namespace
 * @net: the namespace
 *
 * Return: it; NULL if the namespace could not be made. Context: any, while the namespace has
 * sockets of the family, groups, or devices.
 */
struct coll_net *coll_net_of(const struct net *net)
{
	return net_generic(net, coll_net_id);
}

/**
 * coll_net_reserve() - a handle for a group that is being made
 * @cn: the namespace
 * @handle: out, until coll_net_release()
 *
 * Memory is allocated here, not in coll_net_add(), as a process at the limit of its control
 * group may wait long for it.
 *
 * Return: 0 or -ENOMEM. Context: process; no mutex held that others need.
 */
int coll_net_reserve(struct coll_net *cn, u32 *handle)
{
	u32 found;	/* set even on failure; another group may have this handle then */
	int err = xa_alloc_cyclic(&cn->instances, &found, NULL, XA_LIMIT(1, INT_MAX),
				  &cn->next_handle, GFP_KERNEL_ACCOUNT);

	if (err < 0)
		return err;
	*handle = found;
	return 0;
}

/**
 * coll_net_release() - undo coll_net_reserve()
 * @cn: the namespace
 * @handle: of a group that has not been added, or has been removed
 *
 * Context: process.
 */
void coll_net_release(struct coll_net *cn, u32 handle)
{
	xa_erase(&cn->instances, handle);
}

/**
 * coll_net_add() - add a group to a namespace
 * @cn: the namespace; its mutex is held
 * @gi: the group
 * @handle: reserved for it
 *
 * Return: 0, or -ENFILE if there are too many groups. Context: process.
 */
int coll_net_add(struct coll_net *cn, struct coll_instance *gi, u32 handle)
{
	lockdep_assert_held(&cn->mutex);
	if (cn->groups >= coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_GROUPS))
		return -ENFILE;
	/* A reserved handle needs no memory. */
	if (WARN_ON_ONCE(xa_is_err(xa_store(&cn->instances, handle, gi, 0))))
		return -ENOMEM;
	cn->groups++;
	cn->generation++;
	return 0;
}

/**
 * coll_net_remove() - undo coll_net_add()
 * @cn: the namespace; its mutex is held
 * @handle: of the group; it stays reserved
 *
 * Context: process.
 */
void coll_net_remove(struct coll_net *cn, u32 handle)
{
	lockdep_assert_held(&cn->mutex);
	xa_store(&cn->instances, handle, NULL, 0);
	cn->groups--;
	cn->generation++;
}

/* Count a group that a limit has refused. Returns the error, which depends on the limit. */
static int net_refuse(struct coll_net *cn, int err)
{
	lockdep_assert_held(&cn->mutex);
	if (err == -ENOMEM)
		cn->over_memory++;
	else
		cn->over_user++;
	return err;
}

/**
 * coll_net_get_user() - the calling process makes a group
 * @cn: the namespace
 *
 * Return: who is charged for it, see coll_user_get(); an error pointer with -EMFILE if that
 * user has too many groups, or -ENOMEM. Context: process; takes the namespace's mutex.
 */
struct coll_user *coll_net_get_user(struct coll_net *cn)
{
	struct coll_user *user = coll_user_get(&cn->tunables);

	if (user == ERR_PTR(-EMFILE)) {
		mutex_lock(&cn->mutex);
		net_refuse(cn, -EMFILE);
		mutex_unlock(&cn->mutex);
	}
	return user;
}

static bool net_has_room(const struct coll_net *cn, u64 had, u64 bytes)
{
	u64 most = coll_net_most_memory(cn);

	return bytes <= most && had <= most - bytes;
}

/**
 * coll_net_try_charge() - coll_net_charge() without making room
 * @cn: the namespace
 * @user: of the group
 * @bytes: how much
 *
 * Memory that is refused never counts against others: the user is charged first, then the
 * namespace, and only if it has room.
 *
 * Return: 0, -ENOMEM or -EDQUOT. Context: any.
 */
int coll_net_try_charge(struct coll_net *cn, struct coll_user *user, u64 bytes)
{
	s64 had = atomic64_read(&cn->memory);
	int err = -ENOMEM;

	if (net_has_room(cn, had, bytes))
		err = coll_user_charge(user, bytes, &cn->tunables);
	if (err)
		return err;
	while (!atomic64_try_cmpxchg(&cn->memory, &had, had + bytes)) {
		if (!net_has_room(cn, had, bytes)) {
			atomic64_sub(bytes, &user->memory);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * coll_net_charge() - a group that is joined needs memory
 * @cn: the namespace
 * @user: of the group
 * @bytes: how much
 *
 * Memory is charged before it is allocated, since many groups may be joined at the same time. The
 * tables and completion slots of the request are the exception: a call holds them uncharged only
 * while it runs. If there is too little, time-wait entries that the user has in the namespace make
 * room.
 *
 * Return: 0; -ENOMEM if the groups of the namespace would have too much, -EDQUOT if those of
 * the user would. Context: process; takes the namespace's mutex.
 */
int coll_net_charge(struct coll_net *cn, struct coll_user *user, u64 bytes)
{
	u64 missing = bytes, freed;
	int err;

	if (likely(!coll_net_try_charge(cn, user, bytes)))
		return 0;
	do {
		mutex_lock(&cn->mutex);
		freed = coll_timewait_table_reclaim(&cn->timewait, user, missing);
		missing -= min(missing, freed);
		err = coll_net_try_charge(cn, user, bytes);
		if (err && !freed)
			net_refuse(cn, err);
		mutex_unlock(&cn->mutex);
		cond_resched();
	} while (err && freed);
	return err;
}

/**
 * coll_net_uncharge() - undo coll_net_charge()
 * @cn: the namespace
 * @user: of the group
 * @bytes: how much
 *
 * Context: any.
 */
void coll_net_uncharge(struct coll_net *cn, struct coll_user *user, u64 bytes)
{
	atomic64_sub(bytes, &user->memory);
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
