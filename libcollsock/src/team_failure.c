// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>

#include "team_failure.h"
#include "team_futex.h"
#include "team_process.h"

#define MEMBER_BITS 12
#define MEMBER_MASK ((1U << MEMBER_BITS) - 1)

/* Number of members that one look checks. Sleepers begin at different members. */
#define LOOK_MEMBERS 16

int collsock_team_failure(struct collsock_team *team)
{
	unsigned int word = atomic_load(&team->memory.common->failure);
	__u32 member = word & MEMBER_MASK;

	if (!word)
		return 0;
	team->culprit.member = member < team->members ? member : COLLSOCK_NO_MEMBER;
	return word >> MEMBER_BITS == EPROTO ? -EPROTO : -EOWNERDEAD;
}

void collsock_team_wake(const struct collsock_team *team, struct team_flag *flag)
{
	if (atomic_fetch_and(&flag->word, ~TEAM_SLEEPS) & TEAM_SLEEPS)
		team_futex_wake(team, flag);
}

void collsock_team_fail(struct collsock_team *team, int error, __u32 member)
{
	unsigned int none = 0;
	__u32 i;

	atomic_compare_exchange_strong(&team->memory.common->failure, &none,
				       (unsigned int)error << MEMBER_BITS | member);
	collsock_team_wake(team, &team->memory.common->release);
	for (i = 0; i < team->memory.flag_count; i++)
		collsock_team_wake(team, &team->memory.up[i]);
}

/* A member that has left this operation may end; it sets this before it does. */
static bool record_is_done(const struct team_record *record, __u32 operation)
{
	return (__s32)(atomic_load(&record->done) - operation) >= 0;
}

static bool record_has_ended(const struct team_record *record, __u32 operation)
{
	const struct team_process process = {
		.pid	= atomic_load(&record->pid),
		.start	= atomic_load(&record->start),
	};

	if (record_is_done(record, operation))
		return false;
	if (process.pid != TEAM_LEFT && !collsock_process_ended(process))
		return false;
	return !record_is_done(record, operation);
}

static void look_at_next(struct collsock_team *team)
{
	team->looked_at = (team->looked_at + 1) % team->members;
	if (team->looked_at == team->member)
		team->looked_at = (team->looked_at + 1) % team->members;
	if (record_has_ended(&team->memory.record[team->looked_at], team->operation))
		collsock_team_fail(team, EOWNERDEAD, team->looked_at);
}

int collsock_team_look(struct collsock_team *team)
{
	__u64 now_us;
	__u32 i;

	if (!team->is_process)
		return collsock_team_failure(team);
	now_us = team_now_us();
	if (now_us >= team->look_us) {
		for (i = 0; i < LOOK_MEMBERS && i + 1 < team->members; i++)
			look_at_next(team);
		team->look_us = now_us + TEAM_LOOK_US;
	}
	return collsock_team_failure(team);
}
