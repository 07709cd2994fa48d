/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Folding the messages of an operation. A message is kept until its round, or stays in its packet
 * if the event that received it folds it at once. Then the fold list of the round is applied.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_FOLD_H
#define COLL_CORE_FOLD_H

#include "state.h"

void coll_fold_receive(struct coll_op *op, u32 edge, const struct coll_body *body);
void coll_fold_keep(struct coll_op *op);
bool coll_fold_round(struct coll_op *op, u32 index);

#endif
