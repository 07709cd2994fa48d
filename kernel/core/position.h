/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A position (struct coll_position): which segments of an operation came along an edge of a
 * downward phase. Copies have no packet number of the connection that an acknowledgment could name,
 * so it names the position instead. Only the latest operation is remembered; what is not remembered
 * is sent once more than needed. Pure; any context.
 */
#ifndef COLL_CORE_POSITION_H
#define COLL_CORE_POSITION_H

#include "wire.h"

#define COLL_POSITION_BITS	64

void coll_position_mark(struct coll_position *p, u64 operation, u8 round, u16 segment);
bool coll_position_has(const struct coll_position *p, u64 operation, u8 round, u16 segment);

#endif
