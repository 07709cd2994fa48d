// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>

#include "../../kernel/core/reduce.h"

#include "team_fold.h"

int collsock_reduction_check(struct team_reduction *r, __u32 max_bytes)
{
	if (!r->count || r->type > UINT8_MAX || r->op > UINT8_MAX ||
	    !coll_reduce_valid(r->type, r->op))
		return -EINVAL;
	if (r->count > max_bytes / coll_type_bytes(r->type))
		return -EMSGSIZE;
	r->bytes = r->count * coll_type_bytes(r->type);
	return 0;
}

__u64 collsock_reduction_signature(const struct team_reduction *r)
{
	return (__u64)r->count << 32 | r->type << 8 | r->op;
}

/*
 * Fold @members contributions, at least two, from @first on into @result. They are split at the
 * largest power of two below @members, and each part is folded first.
 */
static void fold_range(void *result, const struct team_memory *memory, __u32 first, __u32 members,
		       const struct team_reduction *r)
{
	__u32 lower = 1U << (31 - __builtin_clz(members - 1)), upper = members - lower;
	__u8 *left = memory->contributions + first * memory->stride;
	__u8 *right = left + lower * memory->stride;

	if (lower > 1)
		fold_range(left, memory, first, lower, r);
	if (upper > 1)
		fold_range(right, memory, first + lower, upper, r);
	coll_reduce(result, left, right, r->count, r->type, r->op);
}

void collsock_fold(const struct team_memory *memory, __u32 members,
		   const struct team_reduction *r)
{
	if (members > 1)
		fold_range(memory->result, memory, 0, members, r);
	else
		memcpy(memory->result, memory->contributions, r->bytes);
}
