/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The results of a scan: each rank receives a prefix of its own. The ranks of a host that is not
 * the last one of its ranks receive what is folded of the hosts below, and of the local ranks up to
 * theirs. Both are there when the messages have come: the messages as they were received, and
 * the prefixes of the local ranks in their buffers (locals.c). The last round folds the messages,
 * the last one on the left, and then the outcome with each buffer, in place.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PREFIX_H
#define COLL_CORE_PREFIX_H

#include "state.h"

bool coll_prefix_fold(struct coll_op *op, u32 index);
const u8 *coll_prefix_result(const struct coll_op *op, u32 local);

#endif
