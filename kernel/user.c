// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/xarray.h>

#include "user.h"

/* Time-wait entries have at most one of this number of parts of a user's memory. */
#define TIMEWAIT_SHARE	4

/* Those that have groups or time-wait entries, by number. */
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

static struct coll_user *user_new(kuid_t uid)
{
	struct coll_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (!user)
		return NULL;
	user->uid = uid;
	if (!xa_err(xa_store(&users, __kuid_val(uid), user, GFP_KERNEL_ACCOUNT)))
		return user;
	kfree(user);
	return NULL;
}

static struct coll_user *user_add_group(kuid_t uid, const struct coll_tunables *t)
{
	struct coll_user *user = xa_load(&users, __kuid_val(uid));
	struct coll_user_limits limits;

	lockdep_assert_held(&users_mutex);
	if (coll_user_limits(t, uid, &limits) && user && user->groups >= limits.groups)
		return ERR_PTR(-EMFILE);
	if (!user)
		user = user_new(uid);
	if (!user)
		return ERR_PTR(-ENOMEM);
	user->references++;
	user->groups++;
	return user;
}

static void user_drop(struct coll_user *user)
{
	lockdep_assert_held(&users_mutex);
	if (--user->references)
		return;
	xa_erase(&users, __kuid_val(user->uid));
	kfree(user);
}

/**
 * coll_user_get() - the user of the calling process has one more group
 * @t: of the namespace in which the process joins
 *
 * Return: the user, until coll_user_put(); or an error pointer: -EMFILE if the user has too
 * many groups, -ENOMEM. Context: process.
 */
struct coll_user *coll_user_get(const struct coll_tunables *t)
{
	struct coll_user *user;

	mutex_lock(&users_mutex);
	user = user_add_group(coll_user_current(), t);
	mutex_unlock(&users_mutex);
	return user;
}

/**
 * coll_user_put() - undo coll_user_get()
 * @user: the user; no more of the group's memory is charged than time-wait entries keep
 *
 * Context: process.
 */
void coll_user_put(struct coll_user *user)
{
	mutex_lock(&users_mutex);
	user->groups--;
	user_drop(user);
	mutex_unlock(&users_mutex);
}

/**
 * coll_user_hold() - the user stays, also without a group
 * @user: the user, who has a group
 *
 * Context: process.
 */
void coll_user_hold(struct coll_user *user)
{
	mutex_lock(&users_mutex);
	user->references++;
	mutex_unlock(&users_mutex);
}

/**
 * coll_user_release() - undo coll_user_hold()
 * @user: the user
 *
 * Context: process.
 */
void coll_user_release(struct coll_user *user)
{
	mutex_lock(&users_mutex);
	user_drop(user);
	mutex_unlock(&users_mutex);
}

/**
 * coll_user_charge() - groups of a user need memory
 * @user: the user
 * @bytes: how much
 * @t: of the namespace in which the user joins
 *
 * Return: 0, or -EDQUOT if they would have too much. Context: any.
 */
int coll_user_charge(struct coll_user *user, u64 bytes, const struct coll_tunables *t)
{
	struct coll_user_limits limits;
	bool limited = coll_user_limits(t, user->uid, &limits);

	if (atomic64_add_return(bytes, &user->memory) <= limits.memory || !limited)
		return 0;
	atomic64_sub(bytes, &user->memory);
	return -EDQUOT;
}

/**
 * coll_user_remember() - a time-wait entry keeps memory that is charged for its group
 * @user: of the group
 * @bytes: how much
 * @t: of the namespace
 *
 * Return: may it? False if the time-wait entries of the user, in all namespaces, would have
 * too much. Context: any.
 */
bool coll_user_remember(struct coll_user *user, u64 bytes, const struct coll_tunables *t)
{
	struct coll_user_limits limits;
	bool limited = coll_user_limits(t, user->uid, &limits);

	if (atomic64_add_return(bytes, &user->timewait) <= limits.memory / TIMEWAIT_SHARE ||
	    !limited)
		return true;
	atomic64_sub(bytes, &user->timewait);
	return false;
}

/**
 * coll_user_forget() - a time-wait entry ends
 * @user: of its group
 * @bytes: what it has kept, which is not charged any more
 *
 * Context: any.
 */
void coll_user_forget(struct coll_user *user, u64 bytes)
{
	atomic64_sub(bytes, &user->timewait);
	atomic64_sub(bytes, &user->memory);
}

/**
 * coll_user_next() - the first user from a number on who has groups or time-wait entries
 * @from: the number
 * @use: out
 *
 * Return: is there one? Context: process.
 */
bool coll_user_next(u32 from, struct coll_user_use *use)
{
	unsigned long number = from;
	const struct coll_user *found;

	mutex_lock(&users_mutex);
	found = xa_find(&users, &number, U32_MAX, XA_PRESENT);
	if (found) {
		use->uid = found->uid;
		use->groups = found->groups;
		use->memory = atomic64_read(&found->memory);
	}
	mutex_unlock(&users_mutex);
	return found;
}
