/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for results that are too long for the buffer of a completion slot. A post reserves it,
 * and it is charged to the group's user until the last rank of this host has read it.
 */
#ifndef COLL_SHARED_RESULT_H
#define COLL_SHARED_RESULT_H

#include <linux/atomic.h>
#include <linux/refcount.h>

#include "core/env.h"

struct coll_net;
struct coll_user;

/**
 * struct coll_shared_result - a result that ranks of this host share
 * @core: the core's part
 * @cn: the namespace
 * @user: the user who is charged for it; the instance holds it, and lives longer
 * @charged: coll_instance.results
 * @references: one of the operation, one of each slot that has it
 * @bytes: length of the result
 */
struct coll_shared_result {
	struct coll_result	core;
	struct coll_net		*cn;
	struct coll_user	*user;
	atomic64_t		*charged;
	refcount_t		references;
	u32			bytes;
};

struct coll_shared_result *coll_shared_result_new(struct coll_net *cn, struct coll_user *user,
						  atomic64_t *charged, u32 bytes);
void coll_shared_result_get(struct coll_shared_result *result);
void coll_shared_result_put(struct coll_shared_result *result);

#endif
