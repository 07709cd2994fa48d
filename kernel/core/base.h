/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The few kernel types and functions that the core uses. The module takes them from the
 * kernel; user space (simulator, fuzzers, unit tests) from the substitutes in user_base.h.
 * Core files include nothing else of their platform.
 */
#ifndef COLL_CORE_BASE_H
#define COLL_CORE_BASE_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#else
#include "user_base.h"
#endif

#include "../../uapi/linux/collsock.h"

/*
 * A variable of the packet path that some kernels would fill with zeroes first, although it
 * is set before it is read.
 */
#if __has_attribute(uninitialized)
#define COLL_UNINITIALIZED	__attribute__((uninitialized))
#else
#define COLL_UNINITIALIZED
#endif

/* Numbers of operations never wrap, but the one before the first is ~0. */
static inline bool coll_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static inline bool coll_after(u64 a, u64 b)
{
	return coll_before(b, a);
}

#endif
