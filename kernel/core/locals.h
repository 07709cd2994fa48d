/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The contributions of the ranks of this host to one operation: folded before its rounds begin,
 * small ones at once, large ones outside the group's lock.
 *
 * Everything but coll_locals_fold() is called under the group's lock.
 */
#ifndef COLL_CORE_LOCALS_H
#define COLL_CORE_LOCALS_H

#include "state.h"

void coll_locals_contribute(struct coll_op *op, u32 local, const void *payload);
void coll_locals_fold(const struct coll_fold *fold);
void coll_locals_folded(struct coll_op *op, const struct coll_fold *fold);

#endif
