// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "joining_text.h"
#include "launch_prepare.h"

/* Programs that join by themselves exchange more. They are another job, so that neither waits. */
static void launch_set_job(struct launch *launch)
{
	char job[LAUNCH_JOB_BYTES + 4];

	snprintf(job, sizeof(job), "run %s", launch->job);
	snprintf(launch->job, sizeof(launch->job), "%.*s", LAUNCH_JOB_BYTES - 1, job);
}

static int launch_write(const struct joining *j, char value[LAUNCH_REQUEST_BYTES])
{
	struct collsock_group *group;
	int err = joining_make_group(j, &group);

	if (err)
		return err;
	err = launch_request_write(group, j->rank, value);
	collsock_group_free(group);
	return err;
}

static int launch_join(const struct launch *launch, struct meeting *meeting,
		       char value[LAUNCH_REQUEST_BYTES], char *text, size_t bytes)
{
	struct collsock_options o;
	struct joining_outcome outcome;
	struct joining j;
	int fd = 0;

	joining_options_complete(&o, NULL);
	meeting_group_key(meeting, o.key);
	outcome = (struct joining_outcome){
		joining_init(&j, &o, launch->rank, launch->ranks, meeting_exchange, meeting),
		launch->rank
	};
	if (!outcome.error)
		outcome = joining_meet(&j, 0);
	if (!outcome.error)
		outcome = joining_prepare(&j);
	if (!outcome.error) {
		fd = launch_write(&j, value);
		outcome = (struct joining_outcome){ fd < 0 ? fd : 0, launch->rank };
	}
	if (outcome.error && *meeting_text(meeting))
		snprintf(text, bytes, "%s", meeting_text(meeting));
	else if (outcome.error)
		joining_text(&j, outcome, false, text, bytes);
	joining_free(&j);
	explicit_bzero(o.key, sizeof(o.key));
	return outcome.error ? outcome.error : fd;
}

int launch_prepare(const struct launch *launch, char value[LAUNCH_REQUEST_BYTES], char *text,
		   size_t bytes)
{
	struct launch of_launcher = *launch;
	struct meeting *meeting;
	int err;

	launch_set_job(&of_launcher);
	err = launch_meet(&of_launcher, &meeting, text, bytes);
	if (err)
		return err;
	err = launch_join(launch, meeting, value, text, bytes);
	meeting_close(meeting);
	return err;
}
