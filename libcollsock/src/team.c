// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Members of teams: how they begin and end */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"
#include "team_member.h"
#include "team_algorithm.h"
#include "team_process.h"

#define MAX_PROCESSORS 8192
#define DEFAULT_SPIN_US 50

static const struct team_algorithm *const algorithms[] = {
	[COLLSOCK_TEAM_CENTRAL]		= &collsock_team_central,
	[COLLSOCK_TEAM_MCS]		= &collsock_team_mcs,
	[COLLSOCK_TEAM_DISSEMINATION]	= &collsock_team_dissemination,
};

/* On how many processors this thread may run */
static unsigned int team_processors(void)
{
	unsigned long mask[MAX_PROCESSORS / 8 / sizeof(long)];
	unsigned int i, count = 0;
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	for (i = 0; i < bytes / (long)sizeof(long); i++)
		count += __builtin_popcountl(mask[i]);
	return count;
}

static struct collsock_team *member_new(const struct team_head *head, __u32 member)
{
	struct collsock_team *team = aligned_alloc(__alignof__(*team), sizeof(*team));

	if (!team)
		return NULL;
	*team = (struct collsock_team){
		.algorithm	= algorithms[head->algorithm],
		.members	= head->members,
		.member		= member,
		.max_bytes	= head->max_bytes,
		.looked_at	= member,
		.spin_us	= head->members > team_processors() ? 0 : DEFAULT_SPIN_US,
		.forks		= collsock_forks(),
	};
	return team;
}

COLLSOCK_PUBLIC int collsock_team_new(struct collsock_team *members[], __u32 count,
				      enum collsock_team_algorithm algorithm, __u32 max_bytes)
{
	struct team_memory memory;
	struct team_head head;
	int err = collsock_team_head_init(&head, count, algorithm, max_bytes);
	__u32 i;

	err = err ? err : collsock_team_memory_new(&memory, &head);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		members[i] = member_new(&head, i);
		if (!members[i])
			goto no_memory;
		members[i]->memory = memory;
	}
	atomic_init(&memory.common->handles, count);
	return 0;

no_memory:
	while (i--)
		free(members[i]);
	collsock_team_memory_unmap(&memory);
	return -ENOMEM;
}

COLLSOCK_PUBLIC int collsock_team_memfd(__u32 count, enum collsock_team_algorithm algorithm,
					__u32 max_bytes)
{
	struct team_head head;
	int err = collsock_team_head_init(&head, count, algorithm, max_bytes);

	return err ? err : collsock_team_memory_memfd(&head);
}

/* Only one process can be this member. If the start is not known, others go by the pid. */
static int record_take(struct team_record *record)
{
	struct team_process self = collsock_process_self();
	unsigned int nobody = 0;

	if (!atomic_compare_exchange_strong(&record->pid, &nobody, self.pid))
		return -EBUSY;
	atomic_store(&record->start, self.start);
	return 0;
}

COLLSOCK_PUBLIC int collsock_team_open(struct collsock_team **opened, int memfd, __u32 member)
{
	struct collsock_team *team;
	struct team_memory memory;
	struct team_head head;
	int err = collsock_team_memory_map(&memory, &head, memfd);

	if (err)
		return err;
	err = member < head.members ? record_take(&memory.record[member]) : -EINVAL;
	if (err)
		goto unmap;
	team = member_new(&head, member);
	if (!team) {
		err = -ENOMEM;
		/* The next process must not be seen with our start. */
		atomic_store(&memory.record[member].start, 0);
		atomic_store(&memory.record[member].pid, 0);
		goto unmap;
	}
	team->memory = memory;
	team->is_process = true;
	*opened = team;
	return 0;

unmap:
	collsock_team_memory_unmap(&memory);
	return err;
}

COLLSOCK_PUBLIC void collsock_team_free(struct collsock_team *team)
{
	if (!team)
		return;
	if (team->is_process && !team_is_of_parent(team))
		atomic_store(&team->memory.record[team->member].pid, TEAM_LEFT);
	if (team->is_process || atomic_fetch_sub(&team->memory.common->handles, 1) == 1)
		collsock_team_memory_unmap(&team->memory);
	free(team);
}

COLLSOCK_PUBLIC int collsock_team_set_spin(struct collsock_team *team, unsigned int spin_us)
{
	if (spin_us > COLLSOCK_MAX_SPIN_US)
		return -EINVAL;
	team->spin_us = spin_us;
	return 0;
}

COLLSOCK_PUBLIC int collsock_team_combine(struct collsock_team *team, struct collsock *socket)
{
	int flags;

	/* A rank in user space is that of one process. */
	if (socket->user && team->is_process)
		return -EOPNOTSUPP;
	flags = fcntl(socket->fd, F_GETFL);
	if (flags < 0)
		return -errno;
	if (team->operation || flags & O_NONBLOCK)
		return -EINVAL;
	team->socket = socket;
	return 0;
}
