// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <net/net_namespace.h>

#include "pace.h"
#include "user.h"

/* How long a look is to last */
#define PACE_LOOK_NS	NSEC_PER_MSEC

/* A rest is this many times as long as the look, up to a limit: it may have waited for locks. */
#define PACE_REST	9
#define PACE_REST_NS	(PACE_REST * PACE_LOOK_NS + NSEC_PER_MSEC)

/* Requests of a user that wait. New families of generic netlink wait for them, too. */
#define PACE_WAITING	64

/* Users whose numbers have the same hash take turns. */
#define PACE_USER_BITS	6

/**
 * struct pace_user - a user who looks
 * @mutex: held while one thread looks and rests
 * @waiting: number of threads that do, or wait for it
 */
struct pace_user {
	struct mutex	mutex;	/* a look and its rest */
	atomic_t	waiting;
};

static struct pace_user pace_users[BIT(PACE_USER_BITS)];

/**
 * coll_pace_init() - nobody looks yet
 *
 * Context: module init.
 */
void __init coll_pace_init(void)
{
	struct pace_user *user;

	for (user = pace_users; user < pace_users + ARRAY_SIZE(pace_users); user++)
		mutex_init(&user->mutex);
}

/**
 * coll_pace_begin() - wait until the calling user may look
 * @pace: out, until coll_pace_end()
 * @net: the namespace
 *
 * Return: 0; -EBUSY if too many threads of the user wait, -EINTR. Context: process.
 */
int coll_pace_begin(struct coll_pace *pace, const struct net *net)
{
	struct pace_user *user = NULL;
	int err = 0;

	if (!ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN)) {
		user = &pace_users[hash_32(__kuid_val(coll_user_current()), PACE_USER_BITS)];
		if (atomic_inc_return(&user->waiting) > PACE_WAITING)
			err = -EBUSY;
		else if (mutex_lock_killable(&user->mutex))
			err = -EINTR;
		if (err)
			atomic_dec(&user->waiting);
	}
	pace->user = user;
	pace->begin = ktime_get_ns();
	return err;
}

/**
 * coll_pace_over() - has the look lasted long enough?
 * @pace: from coll_pace_begin()
 *
 * Context: process.
 */
bool coll_pace_over(const struct coll_pace *pace)
{
	return pace->user && ktime_get_ns() - pace->begin >= PACE_LOOK_NS;
}

/**
 * coll_pace_end() - a look has ended: rest
 * @pace: from coll_pace_begin()
 *
 * Context: process; no lock held.
 */
void coll_pace_end(struct coll_pace *pace)
{
	struct pace_user *user = pace->user;
	u64 rest_us;

	if (!user)
		return;
	rest_us = div_u64(min(PACE_REST * (ktime_get_ns() - pace->begin), (u64)PACE_REST_NS),
			  NSEC_PER_USEC);
	usleep_range(rest_us + 1, rest_us + 50);
	mutex_unlock(&user->mutex);
	atomic_dec(&user->waiting);
}
