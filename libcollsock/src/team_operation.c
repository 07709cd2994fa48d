// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The operations of a team. Each has a reduction or, as a barrier, NULL instead. If the team
 * is combined with a socket, the closer runs the operation of the group for all.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "internal.h"
#include "team_algorithm.h"
#include "team_failure.h"
#include "team_fold.h"
#include "team_member.h"

#define GREATEST_ERRNO 4095

static const struct collsock_team_culprit nobody = { COLLSOCK_NO_MEMBER, COLLSOCK_NO_RANK };

/* ---- reduce ---- */

/* Store this member's contribution, and announce it */
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

/* The closer folds, if all agree; otherwise the team has failed. */
static bool reduce_close(struct collsock_team *team, const struct team_reduction *r)
{
	__u64 signature = collsock_reduction_signature(r);
	__u32 i;

	for (i = 0; i < team->members; i++) {
		if (!record_agrees(team, &team->memory.record[i], signature)) {
			collsock_team_fail(team, EPROTO, i);
			return false;
		}
	}
	collsock_fold(&team->memory, team->members, r);
	atomic_store_explicit(&team->memory.common->signature, signature, memory_order_relaxed);
	atomic_store_explicit(&team->memory.common->reduced, team->operation,
			      memory_order_relaxed);
	return true;
}

/* Has the closer run this operation? */
static bool reduce_is_closed(const struct collsock_team *team, const struct team_reduction *r)
{
	const struct team_common *common = team->memory.common;
	__u64 signature = atomic_load_explicit(&common->signature, memory_order_relaxed);

	return signature == collsock_reduction_signature(r) &&
	       atomic_load_explicit(&common->reduced, memory_order_relaxed) == team->operation;
}

/* ---- combine ---- */

/* The closer runs the operation of the group, on what was folded, for all. */
static void combine_close(struct collsock_team *team, const struct team_reduction *r)
{
	struct collsock_completion completion = { .failed_rank = COLLSOCK_NO_RANK };
	struct team_common *common = team->memory.common;
	void *data = team->memory.result;
	int err;

	if (r)
		err = collsock_allreduce(team->socket, data, data, r->count, r->type, r->op,
					 &completion);
	else
		err = collsock_barrier(team->socket, &completion);
	atomic_store_explicit(&common->error, -err, memory_order_relaxed);
	atomic_store_explicit(&common->rank, completion.failed_rank, memory_order_relaxed);
	atomic_store_explicit(&common->combined, team->operation, memory_order_relaxed);
}

static bool combine_is_closed(const struct collsock_team *team)
{
	const struct team_common *common = team->memory.common;

	return atomic_load_explicit(&common->combined, memory_order_relaxed) == team->operation &&
	       atomic_load_explicit(&common->error, memory_order_relaxed) <= GREATEST_ERRNO;
}

/* The error of the group is every member's. */
static int combine_error(struct collsock_team *team)
{
	const struct team_common *common = team->memory.common;
	unsigned int error = atomic_load_explicit(&common->error, memory_order_relaxed);

	if (error)
		team->culprit.rank = atomic_load_explicit(&common->rank, memory_order_relaxed);
	return error > GREATEST_ERRNO ? -EPROTO : -(int)error;
}

/* ---- operations ---- */

/* The next operation begins, unless the team has failed. */
static int operation_enter(struct collsock_team *team)
{
	team->culprit = nobody;
	if (team_is_of_parent(team))
		return -ECHILD;
	team->operation++;
	return collsock_team_failure(team);
}

static void operation_close(struct collsock_team *team, const struct team_reduction *r)
{
	if (r && !reduce_close(team, r))
		return;
	if (team->socket)
		combine_close(team, r);
}

/* Does anything have to be done when all have arrived? */
static bool operation_has_outcome(const struct collsock_team *team,
				  const struct team_reduction *r)
{
	return r || team->socket;
}

/* This member is in another operation than the closer. */
static int operation_disagree(struct collsock_team *team)
{
	int err;

	collsock_team_fail(team, EPROTO, team->member);
	err = collsock_team_failure(team);
	return err ? err : -EPROTO;
}

static int operation_meet(struct collsock_team *team, const struct team_reduction *r)
{
	int closes = team->algorithm->gather(team), err = 0;

	if (closes < 0)
		return closes;
	if (closes)
		operation_close(team, r);
	if (closes || operation_has_outcome(team, r) || !team->algorithm->all_know)
		err = team->algorithm->release(team, closes);
	if (err)
		return err;
	if ((r && !reduce_is_closed(team, r)) || (team->socket && !combine_is_closed(team)))
		return operation_disagree(team);
	return team->socket ? combine_error(team) : 0;
}

/*
 * A team that has failed will never post again: it leaves the group, or other ranks would wait
 * for it.
 */
static void operation_give_up(struct collsock_team *team)
{
	if (team->socket && collsock_team_failure(team))
		shutdown(team->socket->fd, SHUT_RDWR);
}

static int operation_run(struct collsock_team *team, const struct team_reduction *r,
			 const void *data)
{
	struct team_record *record = &team->memory.record[team->member];
	int err = operation_enter(team);

	if (err == -ECHILD)
		return err;
	if (!err && r)
		reduce_begin(team, r, data);
	err = err ? err : operation_meet(team, r);
	/* Nobody waits for this member in this operation any more. */
	if (err != -EOWNERDEAD)
		atomic_store_explicit(&record->done, team->operation, memory_order_release);
	if (err)
		operation_give_up(team);
	return err;
}

COLLSOCK_PUBLIC int collsock_team_barrier(struct collsock_team *team,
					  struct collsock_team_culprit *culprit)
{
	int err = operation_run(team, NULL, NULL);

	if (culprit)
		*culprit = team->culprit;
	return err;
}

COLLSOCK_PUBLIC int collsock_team_allreduce(struct collsock_team *team, const void *data,
					    void *result, __u32 count, enum collsock_type type,
					    enum collsock_operator op,
					    struct collsock_team_culprit *culprit)
{
	struct team_reduction r = { .count = count, .type = type, .op = op };
	int err = collsock_reduction_check(&r, team->max_bytes);

	if (err)
		team->culprit = nobody;
	err = err ? err : operation_run(team, &r, data);
	if (!err)
		memcpy(result, team->memory.result, r.bytes);
	if (culprit)
		*culprit = team->culprit;
	return err;
}
