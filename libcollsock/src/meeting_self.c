// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <endian.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "meeting_clock.h"
#include "meeting_keys.h"
#include "meeting_self.h"

#define LATE_MS		2000
#define MOST_MENTIONS	16

int meeting_self_init(struct meeting_self *self, const struct meeting_options *options)
{
	const char *job = options->job ? options->job : "";
	int err;

	memset(self, 0, sizeof(*self));
	self->options = *options;
	self->begin_ms = meeting_clock_ms();
	self->end_ms = self->begin_ms + options->timeout_ms;
	meeting_keys_digest(self->job, job, strlen(job));
	if (options->rank >= options->ranks || options->ranks > COLLSOCK_MAX_RANKS)
		return meeting_self_fail(self, -EINVAL,
					 "rank %u of %u: ranks are numbered from 0 to one less than their number, which is at most %u",
					 options->rank, options->ranks, COLLSOCK_MAX_RANKS);
	err = meeting_rendezvous_parse(&self->rendezvous, options->rendezvous, options->ports,
				       self->job);
	if (err == -ERANGE)
		return meeting_self_fail(self, -EINVAL,
					 "COLLSOCK_MEETING_PORTS: \"%s\" is not FIRST-LAST, of ports from 1 to 65535",
					 options->ports);
	if (err)
		return meeting_self_fail(self, err,
					 "rendezvous \"%s\" is not HOST, HOST:PORT or [ADDRESS]:PORT",
					 options->rendezvous);
	return 0;
}

void meeting_self_hello(const struct meeting_self *self, struct meeting_hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	memcpy(hello->magic, MEETING_MAGIC, sizeof(hello->magic));
	hello->version = htobe32(MEETING_VERSION);
	hello->attempt = htobe32(self->options.attempt);
	hello->ranks = htobe32(self->options.ranks);
	hello->rank = htobe32(self->options.rank);
	memcpy(hello->job, self->job, sizeof(hello->job));
}

bool meeting_self_is_late(struct meeting_self *self)
{
	if (self->was_late || meeting_clock_ms() < self->begin_ms + LATE_MS)
		return false;
	self->was_late = true;
	return true;
}

int meeting_self_left_ms(const struct meeting_self *self)
{
	int left = meeting_clock_left(self->end_ms), late;

	if (self->was_late)
		return left;
	late = meeting_clock_left(self->begin_ms + LATE_MS);
	return late < left ? late : left;
}

bool meeting_self_has_ended(const struct meeting_self *self)
{
	return !meeting_clock_left(self->end_ms);
}

void meeting_self_begin_exchange(struct meeting_self *self)
{
	__u64 end = meeting_clock_ms() + self->options.exchange_ms;

	self->was_late = true;
	if (self->end_ms < end)
		self->end_ms = end;
}

static void self_report(const struct meeting_self *self, const char *format, va_list arguments)
{
	char line[MEETING_TEXT];

	if (!self->options.report)
		return;
	vsnprintf(line, sizeof(line), format, arguments);
	self->options.report(self->options.ctx, line);
}

void meeting_self_report(struct meeting_self *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	self_report(self, format, arguments);
	va_end(arguments);
}

void meeting_self_mention(struct meeting_self *self, const char *format, ...)
{
	va_list arguments;

	if (self->mentions == MOST_MENTIONS)
		return;
	self->mentions++;
	va_start(arguments, format);
	self_report(self, format, arguments);
	va_end(arguments);
}

int meeting_self_fail(struct meeting_self *self, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(self->text, sizeof(self->text), format, arguments);
	va_end(arguments);
	return error;
}
