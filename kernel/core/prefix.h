/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The results of a scan: each rank receives a prefix of its own. In an inclusive scan the last rank
 * of a host has its result in the register. Every other rank receives the fold of what the hosts
 * below contribute and of a prefix of the local ranks: those up to the rank, or before it in an
 * exclusive scan. Both are there when the messages have come: the messages as they were received,
 * and the prefixes of the local ranks in their buffers (locals.c). The last round folds the
 * messages, the last one on the left, and then the outcome with each buffer, in place.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PREFIX_H
#define COLL_CORE_PREFIX_H

#include "state.h"

bool coll_prefix_fold(struct coll_op *op, u32 index);
const u8 *coll_prefix_result(const struct coll_op *op, u32 local);

#endif
