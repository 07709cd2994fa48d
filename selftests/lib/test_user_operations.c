// SPDX-License-Identifier: GPL-2.0
/* Operations in user space: what all ranks contribute gives each what it is to receive */
#include "../../kernel/core/reduce.h"
#include "user_fixture.h"

#define RANKS		5
#define COUNT		7
#define MOST_BYTES	65536
#define LONG_RESULT	(256 << 10)
#define ROOT		(RANKS - 1)

/* The numbers 0 to 3, as float16 and bfloat16 */
static const __u16 halves[2][4] = {
	{ 0x0000, 0x3c00, 0x4000, 0x4200 }, { 0x0000, 0x3f80, 0x4000, 0x4040 },
};

/* The same for an element of a rank, wherever it is known */
static void fill(void *data, __u8 type, __u32 count, __u32 rank)
{
	__u32 size = coll_type_bytes(type), i;
	__u8 *at = data;

	memset(data, 0, (size_t)size * count);
	for (i = 0; i < count; i++, at += size) {
		int number = 1 + (i * 5 + rank * 3) % 3;
		double d = number;
		float f = number;

		if (type == COLLSOCK_DOUBLE || type == COLLSOCK_DOUBLE_INT)
			memcpy(at, &d, sizeof(d));
		else if (type == COLLSOCK_FLOAT || type == COLLSOCK_FLOAT_INT)
			memcpy(at, &f, sizeof(f));
		else if (type == COLLSOCK_FLOAT16 || type == COLLSOCK_BFLOAT16)
			memcpy(at, &halves[type == COLLSOCK_BFLOAT16][number], 2);
		else if (type == COLLSOCK_EXACT)
			collsock_exact_add((struct collsock_exact *)at, d);
		else
			*at = number;
	}
}

/* What the operator makes of ranks from @first to @last */
static void expect(void *result, __u8 type, __u8 op, __u32 count, __u32 first, __u32 last)
{
	__u64 right[MOST_BYTES / 8];
	__u32 rank;

	fill(result, type, count, first);
	for (rank = first + 1; rank <= last; rank++) {
		fill(right, type, count, rank);
		coll_reduce(result, result, right, count, type, op);
	}
}

static bool check(const struct rank *r, const char *what, __u8 type, __u8 op, int err,
		  const void *is, const void *should, size_t bytes)
{
	if (err)
		return wrong(r, "%s of type %u, operator %u: error %d", what, type, op, err);
	if (bytes && memcmp(is, should, bytes))
		return wrong(r, "%s of type %u, operator %u: another result: %02x is %02x", what,
			     type, op, *(const __u8 *)should, *(const __u8 *)is);
	return true;
}

static bool reduce_all(struct rank *r, struct collsock *s, __u8 type, __u8 op)
{
	__u64 own[MOST_BYTES / 8], is[MOST_BYTES / 8], all[MOST_BYTES / 8];
	__u32 size = coll_type_bytes(type), bytes = size * COUNT;

	fill(own, type, COUNT * RANKS, r->rank);
	expect(all, type, op, COUNT * RANKS, 0, RANKS - 1);
	if (!check(r, "allreduce", type, op,
		   collsock_allreduce(s, own, is, COUNT, type, op, NULL), is, all, bytes) ||
	    !check(r, "reduce", type, op,
		   collsock_reduce(s, own, is, COUNT, type, op, ROOT, NULL), is, all,
		   r->rank == ROOT ? bytes : 0) ||
	    !check(r, "reduce_scatter_block", type, op,
		   collsock_reduce_scatter_block(s, own, is, COUNT, type, op, NULL), is,
		   (__u8 *)all + r->rank * bytes, bytes))
		return false;
	expect(all, type, op, COUNT, 0, r->rank);
	if (!check(r, "scan", type, op,
		   collsock_scan(s, own, is, COUNT, type, op, NULL), is, all, bytes))
		return false;
	if (r->rank)
		expect(all, type, op, COUNT, 0, r->rank - 1);
	return check(r, "exscan", type, op, collsock_exscan(s, own, is, COUNT, type, op, NULL), is,
		     all, r->rank ? bytes : 0);
}

static bool move_all(struct rank *r, struct collsock *s, __u8 type)
{
	__u64 own[MOST_BYTES / 8], is[MOST_BYTES / 8], all[MOST_BYTES / 8];
	__u32 size = coll_type_bytes(type), bytes = size * COUNT, rank;

	for (rank = 0; rank < RANKS; rank++)
		fill((__u8 *)all + rank * bytes, type, COUNT, rank);
	fill(own, type, COUNT, r->rank);
	if (!check(r, "allgather", type, 0, collsock_allgather(s, own, is, COUNT, type, NULL), is,
		   all, bytes * RANKS) ||
	    !check(r, "gather", type, 0, collsock_gather(s, own, is, COUNT, type, ROOT, NULL), is,
		   all, r->rank == ROOT ? bytes * RANKS : 0) ||
	    !check(r, "scatter", type, 0, collsock_scatter(s, all, is, COUNT, type, ROOT, NULL), is,
		   own, bytes))
		return false;
	memcpy(is, own, bytes);
	return check(r, "broadcast", type, 0,
		     collsock_broadcast(s, is, COUNT, type, ROOT, NULL), is,
		     (__u8 *)all + ROOT * bytes, bytes);
}

static bool do_everything(struct rank *r, struct collsock *s)
{
	__u32 type, op;

	if (collsock_barrier(s, NULL))
		return wrong(r, "barrier failed");
	for (type = COLLSOCK_INT64; type <= COLLSOCK_BFLOAT16; type++) {
		if (!move_all(r, s, type))
			return false;
		for (op = COLLSOCK_SUM; op <= COLLSOCK_MAXLOC; op++)
			if (coll_reduce_valid(type, op) && !reduce_all(r, s, type, op))
				return false;
	}
	return true;
}

TEST(every_operation_on_every_type_gives_what_is_expected)
{
	const struct collsock_options options = { .max_bytes = MOST_BYTES };

	EXPECT_ALL_WELL(&options, RANKS, do_everything);
}

/* ---- long vectors ---- */

static bool move_long(struct rank *r, struct collsock *s)
{
	__u32 block = LONG_RESULT / RANKS / 8, i, rank;
	__u64 *own = malloc(block * 8), *all = malloc(block * 8 * RANKS);
	struct collsock_completion c;
	bool well = true;
	int err;

	for (i = 0; i < block; i++)
		own[i] = (__u64)r->rank << 32 | i;
	/* In one call, and as a completion that comes through the descriptor */
	for (rank = 0; rank < 2 && well; rank++) {
		memset(all, 0, block * 8 * RANKS);
		if (!rank) {
			err = collsock_allgather(s, own, all, block, COLLSOCK_UINT64, &c);
		} else {
			err = collsock_post_allgather(s, own, block, COLLSOCK_UINT64, 5);
			if (!err)
				err = collsock_complete(s, &c, all, block * 8 * RANKS);
		}
		if (err || c.error)
			well = wrong(r, "allgather of %u bytes: %d, %u", block * 8, err, c.error);
		for (i = 0; i < block * RANKS && well; i++)
			if (all[i] != ((__u64)(i / block) << 32 | i % block))
				well = wrong(r, "element %u is %llx", i, all[i]);
	}
	free(own);
	free(all);
	return well;
}

TEST(results_that_are_longer_than_max_bytes_arrive)
{
	const struct collsock_options options = {
		.max_bytes = MOST_BYTES, .max_result_bytes = LONG_RESULT,
	};

	EXPECT_ALL_WELL(&options, RANKS, move_long);
}

static bool reduce_long(struct rank *r, struct collsock *s)
{
	static double own[MOST_BYTES / 8], is[MOST_BYTES / 8];
	__u32 i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < MOST_BYTES / 8; i++)
			own[i] = i + round + r->rank;
		if (collsock_allreduce(s, own, is, MOST_BYTES / 8, COLLSOCK_DOUBLE, COLLSOCK_SUM,
				       NULL))
			return wrong(r, "allreduce %u failed", round);
		for (i = 0; i < MOST_BYTES / 8; i++)
			if (is[i] != RANKS * (i + round) + RANKS * (RANKS - 1) / 2)
				return wrong(r, "round %u, element %u is %g", round, i, is[i]);
	}
	return true;
}

TEST(vectors_of_many_segments_are_reduced)
{
	const struct collsock_options options = { .max_bytes = MOST_BYTES, .segment_bytes = 1056 };

	EXPECT_ALL_WELL(&options, RANKS, reduce_long);
}

TEST_HARNESS_MAIN
