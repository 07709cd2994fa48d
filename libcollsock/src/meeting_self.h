/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A process at a meeting: its options, its time, and its reports */
#ifndef COLLSOCK_MEETING_SELF_H
#define COLLSOCK_MEETING_SELF_H

#include <stdbool.h>

#include "collsock.h"
#include "meeting_rendezvous.h"
#include "meeting_wire.h"

#define MEETING_TEXT 512

/**
 * struct meeting_options - which meeting, and as whom
 * @rendezvous: where it is: HOST[:PORT]
 * @ports: range of ports of those without a port; NULL: the default
 * @job: name of the job, the same for all its ranks; NULL or "": that without a name
 * @attempt: of the job; a later one replaces those before
 * @rank: of this process
 * @ranks: number of ranks
 * @secret: the same on all ranks
 * @timeout_ms: until all ranks are here
 * @exchange_ms: for each exchange, and what its ranks do before it
 * @report: called with a line, without a newline, about whom the meeting waits for; or NULL
 * @ctx: its argument
 */
struct meeting_options {
	const char	*rendezvous;
	const char	*ports;
	const char	*job;
	__u32		attempt;
	__u32		rank;
	__u32		ranks;
	__u8		secret[COLLSOCK_KEY_BYTES];
	unsigned int	timeout_ms;
	unsigned int	exchange_ms;
	void		(*report)(void *ctx, const char *line);
	void		*ctx;
};

/**
 * struct meeting_self - this process
 * @options: as given; texts are valid while the meeting opens
 * @job: SHA-256 of the job's name
 * @rendezvous: where the meeting is
 * @begin_ms: when it began
 * @end_ms: when it ends
 * @mentions: number of lines about what others caused
 * @was_late: it was reported for whom the meeting waits
 * @text: why it failed
 */
struct meeting_self {
	struct meeting_options	options;
	__u8			job[MEETING_BYTES];
	struct meeting_rendezvous	rendezvous;
	__u64			begin_ms;
	__u64			end_ms;
	unsigned int		mentions;
	bool			was_late;
	char			text[MEETING_TEXT];
};

/* Return: 0, or as meeting_self_fail() */
int meeting_self_init(struct meeting_self *self, const struct meeting_options *options);

void meeting_self_hello(const struct meeting_self *self, struct meeting_hello *hello);

/* Is it time to report for whom the meeting waits? Once. */
bool meeting_self_is_late(struct meeting_self *self);

/* When that is, or when the meeting ends: for poll() */
int meeting_self_left_ms(const struct meeting_self *self);

/* Has the time of the meeting passed? */
bool meeting_self_has_ended(const struct meeting_self *self);

/* All ranks are here: an exchange has time of its own, however long everything before it took. */
void meeting_self_begin_exchange(struct meeting_self *self);

/* Report a line. */
[[gnu::format(printf, 2, 3)]]
void meeting_self_report(struct meeting_self *self, const char *format, ...);

/* The same, unless there were too many: for what others cause, even without the secret. */
[[gnu::format(printf, 2, 3)]]
void meeting_self_mention(struct meeting_self *self, const char *format, ...);

/* Write why the meeting failed. Return: @error, which is negative */
[[gnu::format(printf, 3, 4)]]
int meeting_self_fail(struct meeting_self *self, int error, const char *format, ...);

#endif
