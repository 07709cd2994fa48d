/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * IEEE 754 binary64 (double) and binary32 (float) in integer code: the same
 * bits as hardware that rounds to nearest even, subnormals and infinities
 * included. Operands and results are bit patterns. NaN rule: see reduce.h.
 */
#ifndef COLL_CORE_SOFTFLOAT_H
#define COLL_CORE_SOFTFLOAT_H

#include "base.h"

u64 coll_double_add(u64 left, u64 right);
u64 coll_double_multiply(u64 left, u64 right);
u64 coll_double_min(u64 left, u64 right);
u64 coll_double_max(u64 left, u64 right);
int coll_double_compare(u64 left, u64 right);
bool coll_double_is_nan(u64 x);

u32 coll_float_add(u32 left, u32 right);
u32 coll_float_multiply(u32 left, u32 right);
u32 coll_float_min(u32 left, u32 right);
u32 coll_float_max(u32 left, u32 right);
int coll_float_compare(u32 left, u32 right);
bool coll_float_is_nan(u32 x);

#endif
