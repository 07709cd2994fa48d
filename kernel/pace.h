/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Anybody may look at groups, which takes locks that groups need. Without CAP_NET_ADMIN in the
 * namespace a user does so for a tenth of the time, in all namespaces together: one thread at a
 * time looks, briefly, and then rests. Other users do not wait for that.
 */
#ifndef COLL_PACE_H
#define COLL_PACE_H

#include <linux/types.h>

struct net;
struct pace_user;

/**
 * struct coll_pace - a look at groups
 * @user: who looks; NULL with privilege
 * @begin: when it began, in ns
 */
struct coll_pace {
	struct pace_user	*user;
	u64			begin;
};

void coll_pace_init(void);
int coll_pace_begin(struct coll_pace *pace, const struct net *net);
bool coll_pace_over(const struct coll_pace *pace);
void coll_pace_end(struct coll_pace *pace);

#endif
