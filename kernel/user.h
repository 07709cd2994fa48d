/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The groups of each user of the machine, and their memory, in all namespaces together.
 * A group that lingers also counts, though its sockets are closed. Part of its memory stays
 * charged when a time-wait entry replaces it: all entries of a user have a quarter of what
 * the user may have, so that three quarters are left for groups.
 *
 * In the initial user namespace users answer for themselves. For all users of another one
 * the user who made it answers; otherwise new ids would bypass the limits. Root is not limited,
 * so in a namespace made by root each id has limits of its own, but all its ids have one share of
 * what is divided among users (turns.h, pace.h). The kernel's own counts of that kind (ucounts)
 * are not available to modules.
 */
#ifndef COLL_USER_H
#define COLL_USER_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/uidgid.h>

#include "tunables.h"

/**
 * struct coll_user_limits - what a user may have
 * @memory: bytes
 * @groups: number of groups
 */
struct coll_user_limits {
	u64	memory;
	u32	groups;
};

/**
 * struct coll_user - a user who has groups or time-wait entries
 * @node: in the tree of all users, by @uid
 * @uid: the user; constant
 * @references: one for each group that is not freed, and for each namespace with time-wait entries
 * @groups: number of groups
 * @memory: bytes that these have reserved, and that time-wait entries keep
 * @timewait: the latter
 */
struct coll_user {
	struct rb_node	node;
	kuid_t		uid;
	u32		references;
	u32		groups;
	atomic64_t	memory;
	atomic64_t	timewait;
};

/**
 * struct coll_user_use - what a user has at one moment
 * @uid: the user
 * @groups: number of groups
 * @memory: bytes
 */
struct coll_user_use {
	kuid_t	uid;
	u32	groups;
	u64	memory;
};

kuid_t coll_user_current(void);
u64 coll_user_share(void);
bool coll_user_limits(const struct coll_tunables *t, kuid_t uid, struct coll_user_limits *limits);
struct coll_user *coll_user_get(const struct coll_tunables *t);
void coll_user_uncount(struct coll_user *user);
void coll_user_hold(struct coll_user *user);
void coll_user_release(struct coll_user *user);
int coll_user_charge(struct coll_user *user, u64 bytes, const struct coll_tunables *t);
bool coll_user_remember(struct coll_user *user, u64 bytes, const struct coll_tunables *t);
void coll_user_unremember(struct coll_user *user, u64 bytes);
void coll_user_forget(struct coll_user *user, u64 bytes);
bool coll_user_next(u32 from, struct coll_user_use *use);

#endif
