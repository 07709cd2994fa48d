/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IEEE 754 binary64 in integer code: the same bits as hardware that rounds to
 * nearest even, subnormals and infinities included. Operands and results are
 * bit patterns. NaN rule: see reduce.h.
 */
#ifndef COLL_CORE_SOFTFLOAT_H
#define COLL_CORE_SOFTFLOAT_H

#include "base.h"

#define COLL_DOUBLE_NAN	0x7ff8000000000000ULL

u64 coll_double_add(u64 left, u64 right);
u64 coll_double_min(u64 left, u64 right);
u64 coll_double_max(u64 left, u64 right);

#endif
