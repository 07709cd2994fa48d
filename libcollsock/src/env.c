// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Joining as the environment says */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "joining_options.h"
#include "launch_environment.h"
#include "launch_exchange.h"
#include "launch_find.h"
#include "launch_multicast.h"
#include "launch_network.h"
#include "launch_port.h"
#include "launch_request.h"
#include "meeting_self.h"
#include "socket.h"

/* The launcher has chosen a backend; -EINVAL if the program has chosen another one. */
static int env_check_backend(const struct collsock_options *o, enum collsock_backend launched)
{
	static const char *const words[] = {
		[COLLSOCK_BACKEND_KERNEL] = "kernel", [COLLSOCK_BACKEND_USER] = "user",
	};

	if (o->backend == COLLSOCK_BACKEND_AUTO || o->backend == launched)
		return 0;
	snprintf(o->text, o->text_bytes,
		 "this rank is to use the backend %s, but collsock run has prepared %s: set COLLSOCK_BACKEND for collsock run, too",
		 words[o->backend], words[launched]);
	return -EINVAL;
}

static int env_enter(struct collsock **joined, const struct collsock_options *o,
		     enum collsock_backend backend, const char *request, const char *socket)
{
	struct collsock *s;
	int err = socket_open(&s, o->open_flags, backend);

	if (err)
		return err;
	err = launch_request_join(s, o, request, socket);
	if (err) {
		collsock_close(s);
		return err;
	}
	s->spin_us = o->spin_us;
	*joined = s;
	return 0;
}

/* Join without an exchange: others may still have to start, and operations wait for them. */
static int env_join_request(struct collsock **joined, const struct collsock_options *o,
			    const char *request)
{
	const char *socket = launch_variable(LAUNCH_SOCKET);
	enum collsock_backend backend = socket ? COLLSOCK_BACKEND_USER : COLLSOCK_BACKEND_KERNEL;
	int err = env_check_backend(o, backend);

	if (err)
		return err;
	err = env_enter(joined, o, backend, request, socket);
	if (err == -EBADMSG)
		snprintf(o->text, o->text_bytes,
			 "COLLSOCK_REQUEST=%.40s: this file of collsock run is not open here; it is for one rank, which joins once",
			 request);
	else if (err)
		collsock_strerror(err, COLLSOCK_NO_RANK, o->text, o->text_bytes);
	return err;
}

/* Join with an exchange. If it fails, its text is the reason. */
static int env_join_exchange(struct collsock **joined, struct collsock_options *o,
			     const struct launch *launch, struct launch_exchange *exchange)
{
	int err;

	if (exchange->keyed && !joining_options_keyed(o))
		memcpy(o->key, exchange->key, sizeof(o->key));
	err = collsock_join_with(joined, o, launch->rank, launch->ranks, launch_exchange_call,
				 exchange);
	if (err && *launch_exchange_text(exchange))
		snprintf(o->text, o->text_bytes, "%s", launch_exchange_text(exchange));
	return err;
}

static int env_join(struct collsock **joined, struct collsock_options *o)
{
	const char *request = launch_variable(LAUNCH_REQUEST);
	struct launch_exchange exchange;
	struct launch launch;
	int err;

	if (request)
		return env_join_request(joined, o, request);
	err = launch_find(&launch, o->text, o->text_bytes);
	if (!err)
		err = launch_network(o, o->text, o->text_bytes);
	if (!err)
		err = launch_multicast(o, o->text, o->text_bytes);
	if (!err)
		err = launch_port(o, o->text, o->text_bytes);
	if (!err)
		err = launch_exchange_open(&exchange, &launch, o->timeout_ms, o->text,
					   o->text_bytes);
	if (err)
		return err;
	err = env_join_exchange(joined, o, &launch, &exchange);
	launch_exchange_close(&exchange);
	return err;
}

COLLSOCK_PUBLIC int collsock_join_env(struct collsock **joined,
				      const struct collsock_options *options)
{
	struct collsock_options o;
	char text[MEETING_TEXT] = "";
	int err = joining_options_complete(&o, options);

	/* If the program leaves it open, the request of collsock run decides. */
	if (!err && !(options && options->max_bytes))
		o.max_bytes = 0;
	if (o.failed_rank)
		*o.failed_rank = COLLSOCK_NO_RANK;
	if (!o.text || !o.text_bytes) {
		o.text = text;
		o.text_bytes = sizeof(text);
	}
	o.text[0] = '\0';
	if (err)
		collsock_strerror(err, COLLSOCK_NO_RANK, o.text, o.text_bytes);
	else
		err = env_join(joined, &o);
	explicit_bzero(o.key, sizeof(o.key));
	return err;
}
