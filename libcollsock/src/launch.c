// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch.h"
#include "launch_environment.h"

#define MS_PER_S	1000
#define EXCHANGE_MS	30000	/* an exchange of ranks that are all here */
#define PATH_ROOM	512
#define KEY_AT_HOME	"/.config/collsock/key"

/* ---- launchers ---- */

/* Variables that this launcher must set: the first error of any, none of which may be missing */
static int launch_read(struct launch *l, const char *rendezvous, const char *rank,
		       const char *ranks, char *text, size_t bytes)
{
	int err = launch_word(rendezvous, l->rendezvous, sizeof(l->rendezvous), text, bytes);

	if (!err)
		err = launch_number(rank, COLLSOCK_MAX_RANKS - 1, &l->rank, text, bytes);
	if (!err)
		err = launch_number(ranks, COLLSOCK_MAX_RANKS, &l->ranks, text, bytes);
	return err == -ENOENT ? -EINVAL : err;
}

/* Variables that it may set */
static int launch_read_job(struct launch *l, const char *job, const char *attempt, char *text,
			   size_t bytes)
{
	int err = launch_word(job, l->job, sizeof(l->job), text, bytes);

	if (!err || err == -ENOENT)
		err = launch_number(attempt, UINT32_MAX, &l->attempt, text, bytes);
	return err == -ENOENT ? 0 : err;
}

/* Set by hand, or by collsock run */
static int launch_by_hand(struct launch *l, char *text, size_t bytes)
{
	int err;

	if (!launch_variable("COLLSOCK_RENDEZVOUS") && !launch_variable("COLLSOCK_RANK") &&
	    !launch_variable("COLLSOCK_RANKS"))
		return -ENOENT;
	err = launch_read(l, "COLLSOCK_RENDEZVOUS", "COLLSOCK_RANK", "COLLSOCK_RANKS", text,
			  bytes);
	return err ? err : launch_read_job(l, "COLLSOCK_JOB", "COLLSOCK_ATTEMPT", text, bytes);
}

/* Jobs that were not named, which torchrun calls "none", differ by the port of torch's own store. */
static int launch_name_torch(struct launch *l, char *text, size_t bytes)
{
	__u32 port;
	int err = launch_number("MASTER_PORT", UINT16_MAX, &port, text, bytes);

	if (!err)
		snprintf(l->job, sizeof(l->job), "none, port %u", port);
	return err == -ENOENT ? 0 : err;
}

/*
 * Others set RANK and WORLD_SIZE, too; torchrun also these. The meeting is on a port of its own, as
 * MASTER_PORT is in use.
 */
static int launch_by_torchrun(struct launch *l, char *text, size_t bytes)
{
	if (!launch_variable("RANK") || !launch_variable("WORLD_SIZE") ||
	    !launch_variable("MASTER_ADDR"))
		return -ENOENT;
	if (!launch_variable("TORCHELASTIC_RUN_ID") && !launch_variable("LOCAL_RANK"))
		return -ENOENT;
	if (launch_read(l, "MASTER_ADDR", "RANK", "WORLD_SIZE", text, bytes) ||
	    launch_read_job(l, "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", text, bytes))
		return -EINVAL;
	return *l->job && strcmp(l->job, "none") ? 0 : launch_name_torch(l, text, bytes);
}

static int (*const launchers[])(struct launch *l, char *text, size_t bytes) = {
	launch_by_hand, launch_by_torchrun,
};

int launch_find(struct launch *launch, char *text, size_t bytes)
{
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		memset(launch, 0, sizeof(*launch));
		err = launchers[i](launch, text, bytes);
		if (err != -ENOENT)
			return err;
	}
	snprintf(text, bytes,
		 "no launcher was found: neither COLLSOCK_REQUEST (of collsock run), nor COLLSOCK_RENDEZVOUS, COLLSOCK_RANK and COLLSOCK_RANKS, nor RANK, WORLD_SIZE and MASTER_ADDR with TORCHELASTIC_RUN_ID or LOCAL_RANK (of torchrun) are set; start the program with collsock run");
	return -ENOENT;
}

/* ---- the secret ---- */

static int launch_find_secret(char path[PATH_ROOM])
{
	const char *named = launch_variable("COLLSOCK_KEY_FILE");
	const char *home = launch_variable("HOME");
	const struct passwd *user;
	int length;

	if (!named && !home) {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : "";
	}
	length = named ? snprintf(path, PATH_ROOM, "%s", named) :
			 snprintf(path, PATH_ROOM, "%s" KEY_AT_HOME, home);
	return length < PATH_ROOM ? 0 : -ENAMETOOLONG;
}

static int launch_read_secret(__u8 secret[COLLSOCK_KEY_BYTES], char *text, size_t bytes)
{
	char path[PATH_ROOM];
	int err = launch_find_secret(path);

	if (!err)
		err = collsock_key_from_file(path, secret);
	if (err == -ENOENT) {
		snprintf(text, bytes,
			 "no secret: %.160s does not exist; make it with: (umask 077; mkdir -p ~/.config/collsock; collsock keygen ~/.config/collsock/key), and copy it to all hosts, or name a file in COLLSOCK_KEY_FILE",
			 path);
		return -ENOKEY;
	}
	if (err == -EPERM)
		snprintf(text, bytes,
			 "%.320s: other users may access it, or it is not yours: chmod 600", path);
	else if (err == -EBADMSG)
		snprintf(text, bytes, "%.320s is not a file of 32 hexadecimal digits, not all zero",
			 path);
	else if (err)
		snprintf(text, bytes, "%.320s: %s", path, strerror(-err));
	return err;
}

/* ---- meet ---- */

static void launch_report(void *file, const char *line)
{
	fprintf(file, "collsock: %s\n", line);
}

int launch_meet(const struct launch *launch, __u32 try_out_ms, struct meeting **meeting, char *text,
		size_t bytes)
{
	struct meeting_options o = {
		.rendezvous = launch->rendezvous, .job = launch->job, .attempt = launch->attempt,
		.rank = launch->rank, .ranks = launch->ranks, .report = launch_report,
		.ctx = stderr, .exchange_ms = try_out_ms + EXCHANGE_MS,
		.ports = launch_variable("COLLSOCK_MEETING_PORTS"),
	};
	__u32 timeout_s = LAUNCH_TIMEOUT_S;
	int err = launch_number("COLLSOCK_MEETING_TIMEOUT", INT32_MAX / MS_PER_S, &timeout_s, text,
				bytes);

	if (err == -EINVAL)
		return err;
	o.timeout_ms = timeout_s * MS_PER_S;
	err = launch_read_secret(o.secret, text, bytes);
	if (!err)
		err = meeting_open(meeting, &o, text, bytes);
	explicit_bzero(o.secret, sizeof(o.secret));
	return err;
}
