// SPDX-License-Identifier: GPL-2.0
/*
 * Parameter "fold" of the module: writing "TYPE OPERATOR COUNT PERMITTED" folds two vectors,
 * as an event would; reading tells how many ns it took. Unless PERMITTED is 1, the fold finds
 * that a section with vector instructions has been interrupted.
 */
#include <linux/bottom_half.h>
#include <linux/module.h>
#include <linux/sched/clock.h>

#include "../../kernel/core/env.h"
#include "../../kernel/core/reduce.h"

#define FOLDS_ROOM	8192	/* bytes of a vector */

static u8 folds_left[FOLDS_ROOM], folds_right[FOLDS_ROOM], folds_result[FOLDS_ROOM];
static u64 folds_ns;

/* Numbers as floats, as pairs of them and as doubles, as their sums and products are, too */
static void folds_fill(void)
{
	u64 left, right;
	u32 at;

	for (at = 0; at < FOLDS_ROOM; at += sizeof(u64)) {
		left = 0x3ff0000040490fdbULL + at * 0x10001ULL;
		right = 0xbfe80000c0000000ULL + at * 0x7001ULL;
		memcpy(folds_left + at, &left, sizeof(left));
		memcpy(folds_right + at, &right, sizeof(right));
	}
}

static void folds_measure(u32 count, u8 type, u8 op, bool permitted)
{
	u64 before, begin, end;
	bool interrupted;

	folds_fill();
	local_bh_disable();
	interrupted = !permitted && coll_env_vector_begin();
	/* The clock takes time itself. */
	before = local_clock();
	begin = local_clock();
	coll_reduce(folds_result, folds_left, folds_right, count, type, op);
	end = local_clock();
	if (interrupted)
		coll_env_vector_end();
	local_bh_enable();
	folds_ns = end - begin - (begin - before);
}

static int folds_set(const char *value, const struct kernel_param *parameter)
{
	u32 count, type, op, permitted;

	if (sscanf(value, "%u %u %u %u", &type, &op, &count, &permitted) != 4 ||
	    !coll_reduce_valid(type, op) || count > FOLDS_ROOM / coll_type_bytes(type))
		return -EINVAL;
	folds_measure(count, type, op, permitted);
	return 0;
}

static int folds_get(char *buffer, const struct kernel_param *parameter)
{
	return sysfs_emit(buffer, "%llu\n", folds_ns);
}

static const struct kernel_param_ops folds_ops = {
	.set	= folds_set,
	.get	= folds_get,
};
module_param_cb(fold, &folds_ops, NULL, 0600);
MODULE_PARM_DESC(fold, "Fold two vectors; time of it in ns");
