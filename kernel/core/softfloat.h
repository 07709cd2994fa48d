/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * IEEE 754 binary64 (double), binary32 (float), binary16 (float16), and bfloat16, a float without
 * the lower half of its bits, in integer code: rounded once to nearest even, subnormals and
 * infinities included. These are the bits of hardware that has the format. Operands and results
 * are bit patterns; higher bits are 0. NaN rule: see reduce.h.
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

u64 coll_float_add(u64 left, u64 right);
u64 coll_float_multiply(u64 left, u64 right);
u64 coll_float_min(u64 left, u64 right);
u64 coll_float_max(u64 left, u64 right);
int coll_float_compare(u64 left, u64 right);
bool coll_float_is_nan(u64 x);

u64 coll_float16_add(u64 left, u64 right);
u64 coll_float16_multiply(u64 left, u64 right);
u64 coll_float16_min(u64 left, u64 right);
u64 coll_float16_max(u64 left, u64 right);

u64 coll_bfloat16_add(u64 left, u64 right);
u64 coll_bfloat16_multiply(u64 left, u64 right);
u64 coll_bfloat16_min(u64 left, u64 right);
u64 coll_bfloat16_max(u64 left, u64 right);

#endif
