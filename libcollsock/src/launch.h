/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the launcher of this process says in its environment: which ranks there are, and where they
 * meet. Launchers are tried in the order of a list, the innermost first. Variables of a program
 * with more rights than its user (setuid) are ignored.
 */
#ifndef COLLSOCK_LAUNCH_H
#define COLLSOCK_LAUNCH_H

#include "meeting.h"

#define LAUNCH_JOB_BYTES 256
#define LAUNCH_TIMEOUT_S 300	/* unless COLLSOCK_MEETING_TIMEOUT says another */

/**
 * struct launch - a process as its launcher describes it
 * @rendezvous: where ranks meet: HOST[:PORT]
 * @job: name of the job
 * @attempt: of the job
 * @rank: of the process
 * @ranks: number of ranks
 */
struct launch {
	char	rendezvous[MEETING_HOST + 8];
	char	job[LAUNCH_JOB_BYTES];
	__u32	attempt;
	__u32	rank;
	__u32	ranks;
};

/**
 * launch_find() - what the environment says
 * @launch: out
 * @text: receives why that is not enough, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: 0; -ENOENT if there is no launcher: @text lists what was looked for; -EINVAL if a
 * variable is missing beside others, or is not valid: @text names it.
 */
int launch_find(struct launch *launch, char *text, size_t bytes);

/**
 * launch_meet() - meet the other ranks, with the secret of this user
 * @launch: as launch_find() found it
 * @try_out_ms: how long ranks may take between two exchanges
 * @meeting: out
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * What the meeting waits for is printed on standard error. The secret is in the file
 * COLLSOCK_KEY_FILE, else ~/.config/collsock/key. Return: as meeting_open(); -ENOKEY if there is no
 * secret, and what collsock_key_from_file() returns if it cannot be used.
 */
int launch_meet(const struct launch *launch, __u32 try_out_ms, struct meeting **meeting, char *text,
		size_t bytes);

#endif
