// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "user.h"

/* Time-wait entries have at most a user's memory divided by this. */
#define TIMEWAIT_SHARE	4

/* All users that have groups or time-wait entries. Nothing is allocated under the mutex. */
static struct rb_root users = RB_ROOT;
static DEFINE_MUTEX(users_mutex);

/* The outermost user namespace of the calling process below the initial one, NULL in that one */
static const struct user_namespace *user_namespace_current(void)
{
	const struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return NULL;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns;
}

static bool user_namespace_is_roots(const struct user_namespace *ns)
{
	return ns && uid_eq(ns->owner, GLOBAL_ROOT_UID);
}

/**
 * coll_user_current() - the user who is charged for the calling process
 *
 * Context: process.
 */
kuid_t coll_user_current(void)
{
	const struct user_namespace *ns = user_namespace_current();

	return !ns || user_namespace_is_roots(ns) ? current_uid() : ns->owner;
}

/**
 * coll_user_share() - which of the equal shares of users the calling process belongs to
 *
 * All processes of a user have one share. So have all processes in a user namespace that root has
 * made, since its root can have any of its ids.
 *
 * Return: a number, the same for those who share. Context: process.
 */
u64 coll_user_share(void)
{
	const struct user_namespace *ns = user_namespace_current();

	/* No user has such a number. */
	if (user_namespace_is_roots(ns))
		return BIT_ULL(32) | ns->ns.inum;
	return __kuid_val(coll_user_current());
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

/* Find the first user with at least this number, or NULL. */
static struct coll_user *user_from(u32 number)
{
	struct rb_node *node = users.rb_node;
	struct coll_user *user, *found = NULL;

	lockdep_assert_held(&users_mutex);
	while (node) {
		user = rb_entry(node, struct coll_user, node);
		if (__kuid_val(user->uid) >= number) {
			found = user;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

static bool user_is_before(struct rb_node *a, const struct rb_node *b)
{
	return __kuid_val(rb_entry(a, struct coll_user, node)->uid) <
	       __kuid_val(rb_entry(b, struct coll_user, node)->uid);
}

/* Count a group for its user, who is @new if there was no entry. */
static struct coll_user *user_add_group(struct coll_user *new, const struct coll_tunables *t)
{
	struct coll_user *user = user_from(__kuid_val(new->uid));
	struct coll_user_limits limits;

	if (!user || !uid_eq(user->uid, new->uid))
		user = new;
	if (coll_user_limits(t, user->uid, &limits) && user->groups >= limits.groups)
		return ERR_PTR(-EMFILE);
	if (user == new)
		rb_add(&user->node, &users, user_is_before);
	user->references++;
	user->groups++;
	return user;
}

static void user_drop(struct coll_user *user)
{
	lockdep_assert_held(&users_mutex);
	if (--user->references)
		return;
	rb_erase(&user->node, &users);
	kfree(user);
}

/**
 * coll_user_get() - count one more group for the user of the calling process
 * @t: of the namespace in which the process joins
 *
 * Return: the user, until coll_user_uncount() and coll_user_release(); or an error pointer:
 * -EMFILE if the user has too many groups, -ENOMEM. Context: process.
 */
struct coll_user *coll_user_get(const struct coll_tunables *t)
{
	struct coll_user *user, *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->uid = coll_user_current();
	mutex_lock(&users_mutex);
	user = user_add_group(new, t);
	mutex_unlock(&users_mutex);
	if (user != new)
		kfree(new);
	return user;
}

/**
 * coll_user_uncount() - count one group less for the user of coll_user_get()
 * @user: the user, who stays until coll_user_release()
 *
 * A group does not count any more once nobody can see it, although its memory may be in use for
 * a while before it is freed.
 *
 * Context: process.
 */
void coll_user_uncount(struct coll_user *user)
{
	mutex_lock(&users_mutex);
	user->groups--;
	mutex_unlock(&users_mutex);
}

/**
 * coll_user_hold() - keep the user, also without a group
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
 * coll_user_release() - undo coll_user_hold(), or what coll_user_uncount() has left
 * @user: the user; no more of the group's memory is charged than time-wait entries keep
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
 * coll_user_unremember() - undo coll_user_remember()
 * @user: of the group
 * @bytes: how much
 *
 * Context: any.
 */
void coll_user_unremember(struct coll_user *user, u64 bytes)
{
	atomic64_sub(bytes, &user->timewait);
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
	const struct coll_user *found;

	mutex_lock(&users_mutex);
	found = user_from(from);
	if (found) {
		use->uid = found->uid;
		use->groups = found->groups;
		use->memory = atomic64_read(&found->memory);
	}
	mutex_unlock(&users_mutex);
	return found;
}
