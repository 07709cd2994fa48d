// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The operations of a team */
#include <errno.h>
#include <string.h>

#include "internal.h"
#include "team_algorithm.h"
#include "team_failure.h"
#include "team_fold.h"
#include "team_member.h"

/* The next operation begins, unless the team has failed. */
static int operation_enter(struct collsock_team *team)
{
	team->failed_member = COLLSOCK_NO_MEMBER;
	if (team_is_of_parent(team))
		return -ECHILD;
	team->operation++;
	return collsock_team_failure(team);
}

/* Nobody waits for this member in this operation any more. */
static int operation_leave(struct collsock_team *team, int err, __u32 *failed_member)
{
	if (!err)
		atomic_store_explicit(&team->memory.record[team->member].done, team->operation,
				      memory_order_release);
	if (failed_member)
		*failed_member = team->failed_member;
	return err;
}

static int operation_meet(struct collsock_team *team)
{
	int closes = team->algorithm->gather(team);

	if (closes < 0)
		return closes;
	return closes || !team->algorithm->all_know ? team->algorithm->release(team, closes) : 0;
}

COLLSOCK_PUBLIC int collsock_team_barrier(struct collsock_team *team, __u32 *failed_member)
{
	int err = operation_enter(team);

	err = err ? err : operation_meet(team);
	return operation_leave(team, err, failed_member);
}

/* What this member contributes, and that it does */
static void reduce_begin(struct collsock_team *team, const struct team_reduction *r,
			 const void *data)
{
	struct team_record *record = &team->memory.record[team->member];

	memcpy(team->memory.contributions + team->member * team->memory.stride, data, r->bytes);
	atomic_store_explicit(&record->signature, collsock_reduction_signature(r),
			      memory_order_relaxed);
	atomic_store_explicit(&record->reduces, team->operation, memory_order_relaxed);
}

static bool record_agrees(const struct collsock_team *team, const struct team_record *record,
			  __u64 signature)
{
	return atomic_load_explicit(&record->reduces, memory_order_relaxed) == team->operation &&
	       atomic_load_explicit(&record->signature, memory_order_relaxed) == signature;
}

/* The closer folds, if all agree. */
static void reduce_close(struct collsock_team *team, const struct team_reduction *r)
{
	__u64 signature = collsock_reduction_signature(r);
	__u32 i;

	for (i = 0; i < team->members; i++) {
		if (!record_agrees(team, &team->memory.record[i], signature)) {
			collsock_team_fail(team, EPROTO, i);
			return;
		}
	}
	collsock_fold(&team->memory, team->members, r);
	atomic_store_explicit(&team->memory.common->signature, signature, memory_order_relaxed);
	atomic_store_explicit(&team->memory.common->reduced, team->operation,
			      memory_order_relaxed);
}

static int reduce_meet(struct collsock_team *team, const struct team_reduction *r)
{
	int closes = team->algorithm->gather(team);

	if (closes < 0)
		return closes;
	if (closes)
		reduce_close(team, r);
	return team->algorithm->release(team, closes);
}

/* All members take what the closer has folded, unless it has done something else. */
static int reduce_end(struct collsock_team *team, const struct team_reduction *r, void *result)
{
	const struct team_common *common = team->memory.common;
	__u64 signature = atomic_load_explicit(&common->signature, memory_order_relaxed);
	int err;

	if (signature != collsock_reduction_signature(r) ||
	    atomic_load_explicit(&common->reduced, memory_order_relaxed) != team->operation) {
		collsock_team_fail(team, EPROTO, team->member);
		err = collsock_team_failure(team);
		return err ? err : -EPROTO;
	}
	memcpy(result, team->memory.result, r->bytes);
	return 0;
}

COLLSOCK_PUBLIC int collsock_team_allreduce(struct collsock_team *team, const void *data,
					    void *result, __u32 count, enum collsock_type type,
					    enum collsock_operator op, __u32 *failed_member)
{
	struct team_reduction r = { .count = count, .type = type, .op = op };
	int err = collsock_reduction_check(&r, team->max_bytes);

	if (failed_member)
		*failed_member = COLLSOCK_NO_MEMBER;
	if (err)
		return err;
	err = operation_enter(team);
	if (!err) {
		reduce_begin(team, &r, data);
		err = reduce_meet(team, &r);
	}
	err = err ? err : reduce_end(team, &r, result);
	return operation_leave(team, err, failed_member);
}
