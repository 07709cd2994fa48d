/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Any user may look at groups, which takes locks that groups need. Without CAP_NET_ADMIN in the
 * namespace a user can do so for a tenth of the time, in all namespaces together: each user has a
 * budget (a GCRA), to which a look is charged at ten times its duration, and which allows bursts
 * of 10 ms of looking. All users of a container that root has made share one (user.h). A request
 * is refused while the budget is used up, since it holds a lock of generic netlink that others
 * need. A dump holds only a mutex of its reader's socket, but a second request by that socket
 * waits for the mutex: so the dump waits only for a moment, and then goes on without content.
 * Other users do not wait for it.
 */
#ifndef COLL_PACE_H
#define COLL_PACE_H

#include <linux/types.h>

struct net;
struct pace_set;
struct pace_user;

/* Text of the extended acknowledgment with EBUSY */
#define COLL_PACE_BUSY	"this user looks too often: try again later"

/**
 * struct coll_pace - a look at groups
 * @set: with the budget
 * @user: the budget that pays for it; NULL with privilege
 * @begin: when it began, in ns
 */
struct coll_pace {
	struct pace_set		*set;
	struct pace_user	*user;
	u64			begin;
};

void coll_pace_init(void);
int coll_pace_try(struct coll_pace *pace, const struct net *net);
int coll_pace_wait(struct coll_pace *pace, const struct net *net);
bool coll_pace_over(const struct coll_pace *pace);
void coll_pace_end(struct coll_pace *pace);

#endif
