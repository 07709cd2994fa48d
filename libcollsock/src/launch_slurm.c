// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collsock.h"
#include "launch_environment.h"
#include "launch_slurm.h"

/* Larger numbers are those of a batch script, of a shell of salloc, and others without tasks. */
#define MOST_STEP 0xfffffff0U

/* Only srun sets both, and in a step of its own: a batch script has no tasks to wait for. */
static bool slurm_has_tasks(void)
{
	char text[80];
	__u32 step;

	return launch_variable("SLURM_STEP_NUM_TASKS") &&
	       !launch_number("SLURM_STEP_ID", MOST_STEP, &step, text, sizeof(text));
}

/*
 * The first host of a list such as "rack[0-3,7]-node[08-15],login", with the first number of each
 * bracket. Returns its length, or 0 if @list is not such a list or @room is too small.
 */
static size_t slurm_first_host(const char *list, char *host, size_t room)
{
	bool in_bracket = false;
	size_t bytes = 0;

	for (; list && *list && (in_bracket || *list != ','); list++) {
		if (*list == '[') {
			in_bracket = true;
		} else if (in_bracket && strchr("-,]", *list)) {
			in_bracket = false;
			list = strchr(list, ']');
			if (!list)
				return 0;
		} else if (bytes + 1 < room) {
			host[bytes++] = *list;
		} else {
			return 0;
		}
	}
	host[bytes] = '\0';
	return bytes;
}

/* Task 0 is on the first host unless it was placed by hand (srun --distribution=arbitrary). */
static int slurm_read_host(struct launch *l, char *text, size_t bytes)
{
	if (slurm_first_host(launch_variable("SLURM_STEP_NODELIST"), l->rendezvous, MEETING_HOST))
		return 0;
	snprintf(text, bytes, "SLURM_STEP_NODELIST is not set, or is no list of hosts");
	return -EINVAL;
}

static int slurm_read_step(struct launch *l, const char *job, char *text, size_t bytes)
{
	int err = launch_number("SLURM_PROCID", COLLSOCK_MAX_RANKS - 1, &l->rank, text, bytes);

	if (!err)
		err = launch_number("SLURM_STEP_NUM_TASKS", COLLSOCK_MAX_RANKS, &l->ranks, text,
				    bytes);
	if (err)
		return -EINVAL;
	/* Set only in a job that was started again */
	err = launch_number("SLURM_RESTART_COUNT", UINT32_MAX, &l->attempt, text, bytes);
	snprintf(l->job, sizeof(l->job), "slurm %.64s.%.16s", job,
		 launch_variable("SLURM_STEP_ID"));
	return err == -ENOENT ? 0 : err;
}

int launch_slurm_find(struct launch *l, char *text, size_t bytes)
{
	const char *job = launch_variable("SLURM_JOB_ID");
	int err;

	if (!job)
		return -ENOENT;
	if (!slurm_has_tasks()) {
		snprintf(text, bytes,
			 "this process is in job %.64s of Slurm, but is no task of a step (it is in a batch script, or in a shell of salloc), so there are no other ranks: start the program with srun",
			 job);
		return -ENOENT;
	}
	err = slurm_read_host(l, text, bytes);
	return err ? err : slurm_read_step(l, job, text, bytes);
}
