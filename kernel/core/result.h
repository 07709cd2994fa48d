/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Results that are longer than max_bytes. A rank has no room of its own for these: the ranks of a
 * host share one copy, and read it there. The platform reserves the memory for it when the first of
 * them posts. The operation holds the memory from then on until it is DONE, each rank until it has
 * read the result.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_RESULT_H
#define COLL_CORE_RESULT_H

#include "extent.h"
#include "state.h"

void coll_result_take(struct coll_op *op, u32 local, void *token);
bool coll_result_copy(struct coll_op *op);
void coll_result_drop(struct coll_op *op);
struct coll_extent coll_result_part(const struct coll_op *op, u32 local);

#endif
