// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "joining_text.h"
#include "launch_exchange.h"
#include "launch_multicast.h"
#include "launch_network.h"
#include "launch_port.h"
#include "launch_prepare.h"
#include "socket.h"

/*
 * Name another job, since programs that join by themselves exchange more: then neither waits for
 * the other.
 */
static void launch_set_job(struct launch *launch)
{
	char job[LAUNCH_JOB_BYTES + 4];

	snprintf(job, sizeof(job), "run %s", launch->job);
	snprintf(launch->job, sizeof(launch->job), "%.*s", LAUNCH_JOB_BYTES - 1, job);
}

int launch_choose_backend(enum collsock_backend *backend)
{
	struct collsock *s;
	int err = socket_choose_backend(COLLSOCK_BACKEND_AUTO, backend);

	if (err || *backend != COLLSOCK_BACKEND_AUTO)
		return err;
	err = socket_open(&s, 0, COLLSOCK_BACKEND_AUTO);
	if (err)
		return err;
	*backend = s->user ? COLLSOCK_BACKEND_USER : COLLSOCK_BACKEND_KERNEL;
	collsock_close(s);
	return 0;
}

static int launch_write_request(const struct joining *j, struct launch_prepared *p)
{
	int err = joining_make_group(j, &p->group);

	if (!err)
		p->file = launch_request_write(p->group, j->rank, p->request);
	return !err && p->file < 0 ? p->file : err;
}

/* Take the steps that all ranks take. @error: why this rank cannot, or 0 */
static struct joining_outcome launch_steps(struct joining *j, int error, struct launch_prepared *p)
{
	struct joining_outcome o = joining_meet(j, error);

	if (!o.error)
		o = joining_prepare(j);
	if (o.error)
		return o;
	p->socket = joining_take_socket(j);
	error = launch_write_request(j, p);
	return joining_agree(j, (struct joining_outcome){ error, j->rank });
}

static int launch_join(const struct launch *launch, int program_error,
		       struct collsock_options *o, struct launch_exchange *exchange,
		       struct launch_prepared *p, char *text, size_t bytes)
{
	enum collsock_backend backend = COLLSOCK_BACKEND_KERNEL;
	int error = program_error ? program_error : launch_choose_backend(&backend);
	struct joining_outcome outcome;
	struct user_ports ports;
	struct joining j;

	user_ports_init(&ports);
	if (exchange->keyed)
		memcpy(o->key, exchange->key, sizeof(o->key));
	outcome = (struct joining_outcome){
		joining_init(&j, o, launch->rank, launch->ranks, launch_exchange_call, exchange),
		launch->rank
	};
	j.no_program = program_error;
	j.ports = backend == COLLSOCK_BACKEND_USER ? &ports : NULL;
	if (!outcome.error)
		outcome = launch_steps(&j, error, p);
	if (outcome.error && *launch_exchange_text(exchange))
		snprintf(text, bytes, "%s", launch_exchange_text(exchange));
	else if (outcome.error)
		joining_text(&j, outcome, false, text, bytes);
	joining_free(&j);
	user_ports_free(&ports);
	explicit_bzero(o->key, sizeof(o->key));
	return outcome.error;
}

/* Complete the options, with what the environment says. */
static int launch_options(struct collsock_options *o, char *text, size_t bytes)
{
	struct collsock_options named = { .size = sizeof(named) };
	int err = launch_port(&named, text, bytes);

	if (!err)
		err = launch_network(&named, text, bytes);
	joining_options_complete(o, &named);
	return err ? err : launch_multicast(o, text, bytes);
}

static void launch_prepare_undo(struct launch_prepared *p)
{
	collsock_group_free(p->group);
	if (p->file >= 0)
		close(p->file);
	if (p->socket >= 0)
		close(p->socket);
}

int launch_prepare(struct launch *launch, int program_error, struct launch_prepared *p,
		   char *text, size_t bytes)
{
	struct launch_exchange exchange;
	struct collsock_options o;
	int err;

	*p = (struct launch_prepared){ .file = -1, .socket = -1 };
	launch_set_job(launch);
	err = launch_options(&o, text, bytes);
	if (!err)
		err = launch_exchange_open(&exchange, launch, 0, text, bytes);
	if (err)
		return err;
	err = launch_join(launch, program_error, &o, &exchange, p, text, bytes);
	launch_exchange_close(&exchange);
	if (err)
		launch_prepare_undo(p);
	return err;
}
