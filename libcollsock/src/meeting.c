// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meeting.h"
#include "meeting_client.h"
#include "meeting_server.h"

/**
 * struct meeting - the meeting of a process
 * @self: the process
 * @begun: there is one of the next two
 * @server: if it is rank 0
 * @client: if it is another rank
 */
struct meeting {
	struct meeting_self	self;
	bool			begun;
	union {
		struct meeting_server	server;
		struct meeting_client	client;
	};
};

static bool meeting_is_server(const struct meeting *meeting)
{
	return !meeting->self.options.rank;
}

static int meeting_start(struct meeting *meeting, const struct meeting_options *options)
{
	int err = meeting_self_init(&meeting->self, options);

	if (err)
		return err;
	meeting->begun = true;
	if (meeting_is_server(meeting)) {
		err = meeting_server_init(&meeting->server, &meeting->self);
		return err ? err : meeting_server_gather(&meeting->server);
	}
	err = meeting_client_init(&meeting->client, &meeting->self);
	return err ? err : meeting_client_attend(&meeting->client);
}

int meeting_open(struct meeting **made, const struct meeting_options *options, char *text,
		 size_t bytes)
{
	struct meeting *meeting = calloc(1, sizeof(*meeting));
	int err;

	if (!meeting) {
		snprintf(text, bytes, "no memory for a meeting");
		return -ENOMEM;
	}
	err = meeting_start(meeting, options);
	if (err) {
		snprintf(text, bytes, "%s", meeting->self.text);
		meeting_close(meeting);
		return err;
	}
	*made = meeting;
	return 0;
}

int meeting_exchange(void *ctx, const void *mine, void *all, size_t bytes)
{
	struct meeting *meeting = ctx;

	meeting_self_begin_exchange(&meeting->self);
	return meeting_is_server(meeting) ?
	       meeting_server_exchange(&meeting->server, mine, all, bytes) :
	       meeting_client_exchange(&meeting->client, mine, all, bytes);
}

void meeting_group_key(const struct meeting *meeting, __u8 key[COLLSOCK_KEY_BYTES])
{
	meeting_keys_group(key, meeting->self.options.secret, meeting->self.job,
			   meeting->self.options.attempt,
			   meeting_is_server(meeting) ? meeting->server.listener.salt :
							meeting->client.salt);
}

const char *meeting_text(const struct meeting *meeting)
{
	return meeting->self.text;
}

void meeting_close(struct meeting *meeting)
{
	if (meeting->begun && meeting_is_server(meeting))
		meeting_server_free(&meeting->server);
	else if (meeting->begun)
		meeting_client_free(&meeting->client);
	explicit_bzero(meeting, sizeof(*meeting));
	free(meeting);
}
