// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../src/joining.h"
#include "../src/launch_environment.h"
#include "../src/socket.h"
#include "clock.h"
#include "join.h"
#include "outcome.h"
#include "processors.h"
#include "progress.h"
#include "run.h"
#include "settings.h"
#include "underlying.h"
#include "variant.h"
#include "window.h"

#define TRY_OUT_S	10	/* for the first packets to arrive */

#define DESCRIPTORS_LEFT 64	/* left for the program */

/* ---- this rank ---- */

/*
 * Why no communicator of this process can join, or 0: later ones do not wait again for packets,
 * or for the kernel, which starts a program each time to look for a module.
 */
static atomic_int join_known_error;

/* Ethernet was chosen once, and did not work: later communicators do not try it again. */
static atomic_bool join_known_udp;

/*
 * Without the module there is still the underlying MPI: a rank is in user space only if the user
 * asks for it.
 */
static int join_choose_backend(enum collsock_backend *backend)
{
	if (launch_variable("COLLSOCK_BACKEND"))
		return socket_choose_backend(COLLSOCK_BACKEND_AUTO, backend);
	*backend = COLLSOCK_BACKEND_KERNEL;
	return 0;
}

/* Leave enough file descriptors for the program. */
static int join_open_socket(struct cm_comm *c)
{
	enum collsock_backend backend;
	struct rlimit most;
	int err = atomic_load(&join_known_error);

	if (!err)
		err = join_choose_backend(&backend);
	if (err)
		return err;
	err = socket_open(&c->socket, COLLSOCK_OPEN_NONBLOCK, backend);
	if (err == -EAFNOSUPPORT)
		atomic_store(&join_known_error, err);
	if (err || getrlimit(RLIMIT_NOFILE, &most) ||
	    (rlim_t)collsock_fd(c->socket) + DESCRIPTORS_LEFT < most.rlim_cur)
		return err;
	collsock_close(c->socket);
	c->socket = NULL;
	return -EMFILE;
}

static int join_make_options(struct collsock_options *complete)
{
	struct collsock_options o = {
		.size		= sizeof(o),
		.bearer		= cm_settings.bearer,
		.prefix		= cm_settings.network_prefix,
		.family		= cm_settings.network_family,
		.window		= cm_settings.window,
		.degree		= cm_settings.degree,
		.liveness_ms	= cm_settings.liveness_ms,
		.max_bytes	= cm_settings.max_bytes,
	};

	if (o.bearer != COLLSOCK_BEARER_ETHERNET)
		o.port = cm_settings.port;
	memcpy(o.network, cm_settings.network, sizeof(o.network));
	memcpy(o.multicast, cm_settings.multicast, sizeof(o.multicast));
	memcpy(o.algorithm, cm_settings.algorithm, sizeof(o.algorithm));
	return joining_options_complete(complete, &o);
}

static int join_exchange(void *context, const void *mine, void *all, size_t bytes)
{
	const struct cm_comm *c = context;

	if (!cm_underlying_allgather(c, mine, bytes, all))
		return 0;
	cm_comm_abort(c, "addresses could not be exchanged");
	return -EIO;
}

/*
 * Keep only the processors of the ranks with this kernel, in front. Returns the number of ranks.
 * @self: out: the index of this one
 */
static unsigned int join_keep_local(const struct cm_comm *c, const struct joining_plan *plan,
				    struct cm_processors *all, unsigned int *self)
{
	unsigned int ranks = 0;
	int i;

	for (i = 0; i < c->size; i++) {
		if (i == c->rank)
			*self = ranks;
		if (joining_plan_same_kernel(plan, i, c->rank))
			all[ranks++] = all[i];
	}
	return ranks;
}

/* Does this rank share its processors with others? All ranks exchange theirs. */
static bool join_shares_processors(struct cm_comm *c, const struct joining_plan *plan)
{
	struct cm_processors *all = calloc(c->size, sizeof(*all)), own;
	unsigned int ranks, self = 0;
	bool shared = true;

	cm_processors_read(&own);
	if (!all) {
		cm_comm_abort(c, "no memory for joining");
	} else if (!join_exchange(c, &own, all, sizeof(own))) {
		ranks = join_keep_local(c, plan, all, &self);
		shared = cm_processors_are_shared(all, ranks, self);
	}
	free(all);
	return shared;
}

static void join_set_spin(struct cm_comm *c, const struct joining_plan *plan)
{
	unsigned int spin_us = cm_settings.spin_us;

	if (spin_us == CM_SPIN_AUTO)
		spin_us = cm_spin_auto(join_shares_processors(c, plan));
	cm_spin_init(&c->spin, c->socket, spin_us);
}

static void join_make_ready(struct cm_comm *c, const struct joining *j)
{
	c->segment = j->segment;
	c->scattered = !joining_plan_in_order(&j->plan);
	join_set_spin(c, &j->plan);
	/* Without the page, each test of an operation is a system call. */
	if (collsock_map_page(c->socket, &c->window.page))
		c->window.page = NULL;
}

/*
 * Joining does not show whether packets arrive; a first barrier does. If they do not
 * arrive, the program must not see a failure.
 */
static struct joining_outcome join_try_out(struct cm_comm *c, const struct joining *j)
{
	struct cm_op op = { .call = CM_BARRIER, .post.operation = COLLSOCK_BARRIER };
	__u64 end = cm_clock_ns() + TRY_OUT_S * CM_NS_PER_S;
	struct cm_comm *looked = NULL;
	struct cm_pace pace = { };

	cm_op_init(&op, c, NULL, NULL);
	cm_run_start(&op);
	while (!cm_run_test(&op, &looked) && cm_clock_ns() < end) {
		cm_underlying_progress();
		cm_progress_sleep(&pace, NULL, 0);
		looked = NULL;
	}
	if (!cm_op_is_done(&op)) {
		cm_window_abandon(&op);
		return joining_unheard(j, c->socket);
	}
	return (struct joining_outcome){
		-op.error, op.failed_rank == COLLSOCK_NO_RANK ? (__u32)c->rank : op.failed_rank
	};
}

/* ---- all ranks ---- */

/*
 * All ranks take each step, or none does. @error: of the socket; @tried: out: they have taken the
 * last one, too
 */
static struct joining_outcome join_all(struct cm_comm *c, struct joining *j, int error, bool *tried)
{
	struct joining_outcome o = joining_prepare(j);

	if (!o.error)
		o = joining_enter(j, c->socket, error);
	*tried = !o.error;
	if (o.error)
		return o;
	join_make_ready(c, j);
	return joining_agree(j, join_try_out(c, j));
}

static struct joining_outcome join_with_either(struct cm_comm *c, struct joining *j, bool *tried)
{
	struct joining_outcome o = join_all(c, j, 0, tried);

	if (!o.error || !joining_can_fall_back(j))
		return o;
	atomic_store(&join_known_udp, true);
	cm_outcome_fall_back(c, j, o, *tried);
	joining_fall_back(j);
	cm_comm_close(c);
	return join_all(c, j, join_open_socket(c), tried);
}

/* The outcome is the same on all ranks. */
static void join_pass(struct cm_comm *c, const struct joining *j, struct joining_outcome outcome,
		      bool tried)
{
	char text[64];

	cm_comm_pass(c, CM_UNABLE);
	if (outcome.error == -EHOSTUNREACH || outcome.error == -ENETUNREACH)
		atomic_store(&join_known_error, outcome.error);
	cm_outcome_report(c, j, outcome, tried);
	if (!c->rank && cm_settings.mode == CM_REQUIRE) {
		snprintf(text, sizeof(text), "not allowed with %s", cm_variant.require);
		cm_comm_abort(c, text);
	}
}

static void join_tell(const struct cm_comm *c, const struct joining *j)
{
	unsigned int in_user_space = joining_plan_user_ranks(&j->plan);
	bool ethernet = j->options.bearer == COLLSOCK_BEARER_ETHERNET;
	char also[64] = "";

	if (in_user_space)
		snprintf(also, sizeof(also), ", %u of them in user space", in_user_space);
	fprintf(stderr,
		"collsock: a communicator of %d ranks has joined over %s%s, with segments of %u bytes\n",
		c->size, ethernet ? "Ethernet" : "UDP", also, c->segment);
}

/* Within a host their MPI library is faster. */
static void join_pass_local(struct cm_comm *c)
{
	cm_comm_pass(c, CM_ONE_HOST);
	if (cm_settings.verbose && !c->rank)
		fprintf(stderr,
			"collsock: a communicator of %d ranks is left to the MPI library: all are on one host\n",
			c->size);
}

static void join_together(struct cm_comm *c, struct joining *j, struct user_ports *ports, int error)
{
	struct joining_outcome outcome;
	bool tried = false;

	j->ports = c->socket && c->socket->user ? ports : NULL;
	if (c->socket && !atomic_load(&join_known_udp))
		joining_find_devices(j, c->socket);
	outcome = joining_meet(j, error);
	/* The program is about to be aborted. */
	if (j->exchange_error)
		return;
	if (joining_plan_local_ranks(&j->plan, c->rank) == (unsigned int)c->size) {
		join_pass_local(c);
		return;
	}
	if (!outcome.error)
		outcome = join_with_either(c, j, &tried);
	if (outcome.error) {
		join_pass(c, j, outcome, tried);
		return;
	}
	c->state = CM_JOINED;
	if (cm_settings.verbose && !c->rank)
		join_tell(c, j);
}

static int join_prepare_rank(struct cm_comm *c, struct collsock_options *options)
{
	int err = join_make_options(options);

	if (err)
		return err;
	c->window.scratch = malloc(cm_settings.max_bytes);
	return c->window.scratch ? join_open_socket(c) : -ENOMEM;
}

void cm_join(struct cm_comm *c)
{
	static __thread bool entered;
	struct collsock_options options;
	struct user_ports ports;
	struct joining j;
	int err;

	if (entered)
		return;
	entered = true;
	err = join_prepare_rank(c, &options);
	user_ports_init(&ports);
	if (joining_init(&j, &options, c->rank, c->size, join_exchange, c))
		cm_comm_abort(c, "no memory for joining");
	else
		join_together(c, &j, &ports, err);
	/* The program is about to be aborted. */
	if (c->state == CM_COUNTING)
		cm_comm_pass(c, CM_UNABLE);
	joining_free(&j);
	user_ports_free(&ports);
	entered = false;
}
