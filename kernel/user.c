// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "user.h"

/* Those that have groups, by number. */
static DEFINE_XARRAY(users);
static DEFINE_MUTEX(users_mutex);

/**
 * coll_user_current() - who answers for what the calling process takes
 *
 * Context: process.
 */
kuid_t coll_user_current(void)
{
	const struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return current_uid();
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return uid_eq(ns->owner, GLOBAL_ROOT_UID) ? current_uid() : ns->owner;
}

/**
 * coll_user_limits() - what a user may have
 * @t: of the namespace in which the user joins
 * @uid: the user
 * @limits: out
 *
 * Return: false if nothing limits that user. Context: any.
 */
bool coll_user_limits(const struct coll_tunables *t, kuid_t uid, struct coll_user_limits *limits)
{
	u32 own = coll_tunable(t, COLL_TUNABLE_USER_MEMORY);

	limits->memory = coll_tunable_user_memory(t, own) * 1024ULL;
	limits->groups = coll_tunable(t, COLL_TUNABLE_USER_GROUPS);
	return !uid_eq(uid, GLOBAL_ROOT_UID);
}

/**
 * coll_user_memory() - bytes that groups of a user have reserved
 * @uid: the user
 *
 * Context: process.
 */
u64 coll_user_memory(kuid_t uid)
{
	const struct coll_user *user;
	u64 memory;

	mutex_lock(&users_mutex);
	user = xa_load(&users, __kuid_val(uid));
	memory = user ? user->memory : 0;
	mutex_unlock(&users_mutex);
	return memory;
}

/* It is there afterwards, perhaps without groups, or there is no memory for it. */
static struct coll_user *user_get(kuid_t uid)
{
	struct coll_user *user = xa_load(&users, __kuid_val(uid));

	lockdep_assert_held(&users_mutex);
	if (user)
		return user;
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	user->uid = uid;
	if (!xa_err(xa_store(&users, __kuid_val(uid), user, GFP_KERNEL_ACCOUNT)))
		return user;
	kfree(user);
	return NULL;
}

static void user_put(struct coll_user *user)
{
	lockdep_assert_held(&users_mutex);
	if (user->groups)
		return;
	xa_erase(&users, __kuid_val(user->uid));
	kfree(user);
}

static int user_add(struct coll_user *user, u64 bytes, const struct coll_tunables *t)
{
	struct coll_user_limits limits;

	if (coll_user_limits(t, user->uid, &limits)) {
		if (user->groups >= limits.groups)
			return -EMFILE;
		if (user->memory + bytes > limits.memory)
			return -EDQUOT;
	}
	user->groups++;
	user->memory += bytes;
	return 0;
}

/**
 * coll_user_charge() - a user has one more group
 * @uid: the user
 * @bytes: that the group has reserved
 * @t: of the namespace in which the user joins
 *
 * Return: 0, -EMFILE if the user has too many groups, -EDQUOT if they would have too much
 * memory, -ENOMEM. Context: process.
 */
int coll_user_charge(kuid_t uid, u64 bytes, const struct coll_tunables *t)
{
	struct coll_user *user;
	int err = -ENOMEM;

	mutex_lock(&users_mutex);
	user = user_get(uid);
	if (user) {
		err = user_add(user, bytes, t);
		user_put(user);
	}
	mutex_unlock(&users_mutex);
	return err;
}

/**
 * coll_user_uncharge() - undo coll_user_charge()
 * @uid: the user
 * @bytes: as they were charged
 *
 * Context: process.
 */
void coll_user_uncharge(kuid_t uid, u64 bytes)
{
	struct coll_user *user;

	mutex_lock(&users_mutex);
	user = xa_load(&users, __kuid_val(uid));
	user->groups--;
	user->memory -= bytes;
	user_put(user);
	mutex_unlock(&users_mutex);
}

/**
 * coll_user_next() - the first user from a number on who has groups
 * @from: the number
 * @user: out
 *
 * Return: is there one? Context: process.
 */
bool coll_user_next(u32 from, struct coll_user *user)
{
	unsigned long number = from;
	const struct coll_user *found;

	mutex_lock(&users_mutex);
	found = xa_find(&users, &number, U32_MAX, XA_PRESENT);
	if (found)
		*user = *found;
	mutex_unlock(&users_mutex);
	return found;
}
