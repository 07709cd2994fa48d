// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "join.h"
#include "outcome.h"
#include "path.h"
#include "plan.h"
#include "progress.h"
#include "record.h"
#include "run.h"
#include "settings.h"
#include "underlying.h"
#include "variant.h"
#include "window.h"

#define SPIN_US		100	/* of a wait, if each rank has a processor of its own */
#define SPIN_ONCE_US	50	/* then it progresses the underlying MPI */

#define TRY_OUT_S	10	/* for the first packets to arrive */

/* ---- the group ---- */

/* The interface means something to the host that has it. */
static int join_add_device(struct collsock_group *group, const struct cm_address *a)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET, .sll_ifindex = a->device, .sll_halen = sizeof(a->mac),
	};

	memcpy(ll.sll_addr, a->mac, sizeof(a->mac));
	return collsock_group_add_sockaddr(group, (struct sockaddr *)&ll, sizeof(ll));
}

static int join_add_rank(struct collsock_group *group, const struct cm_address *a)
{
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(cm_settings.port),
	};
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons(cm_settings.port),
	};

	if (cm_settings.ethernet)
		return join_add_device(group, a);
	if (a->family == AF_INET) {
		memcpy(&in.sin_addr, a->bytes, sizeof(in.sin_addr));
		return collsock_group_add_sockaddr(group, (struct sockaddr *)&in, sizeof(in));
	}
	memcpy(&in6.sin6_addr, a->bytes, sizeof(in6.sin6_addr));
	return collsock_group_add_sockaddr(group, (struct sockaddr *)&in6, sizeof(in6));
}

static void join_set_request(struct collsock_join *join, unsigned int segment)
{
	join->segment_bytes = segment;
	join->max_bytes = cm_settings.max_bytes;
	join->window = cm_settings.window;
	join->liveness_ms = cm_settings.liveness_ms;
	memcpy(join->algorithm, cm_settings.algorithm, sizeof(join->algorithm));
	join->degree = cm_settings.degree;
}

static int join_group(struct cm_comm *c, const struct cm_plan *plan,
		      const struct cm_record *first)
{
	struct collsock_group *group;
	int err, rank;

	err = collsock_group_new(&group, first->id, first->nonce, first->key);
	if (err)
		return err;
	for (rank = 0; !err && rank < c->size; rank++)
		err = join_add_rank(group, cm_plan_address(plan, rank));
	if (!err) {
		join_set_request(collsock_group_request(group), c->segment);
		err = collsock_join(c->socket, group, c->rank);
	}
	collsock_group_free(group);
	return err;
}

/* If ranks share processors, one that spins takes time from those it waits for. */
static void join_set_spin(struct cm_comm *c, const struct cm_plan *plan)
{
	unsigned int spin_us = cm_settings.spin_us;

	if (spin_us == CM_SPIN_AUTO)
		spin_us = cm_plan_local_ranks(plan, c->rank) <= sysconf(_SC_NPROCESSORS_ONLN) ?
			  SPIN_US : 0;
	collsock_set_spin(c->socket, spin_us < SPIN_ONCE_US ? spin_us : SPIN_ONCE_US);
	c->spins = spin_us / SPIN_ONCE_US;
}

static int join_this_rank(struct cm_comm *c, struct cm_plan *plan,
			  const struct cm_record *records)
{
	int err;

	c->window.scratch = malloc(cm_settings.max_bytes);
	if (!c->window.scratch)
		return -ENOMEM;
	err = join_group(c, plan, &records[0]);
	if (err)
		return err;
	join_set_spin(c, plan);
	/* Without it, each test of an operation is a call. */
	if (collsock_map_page(c->socket, &c->window.page))
		c->window.page = NULL;
	return 0;
}

/*
 * Joining does not show whether packets arrive; a first barrier does. If they do not
 * arrive, the program must not see a failure.
 */
static struct cm_outcome join_try_out(struct cm_comm *c)
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
		return (struct cm_outcome){ -EHOSTUNREACH, c->rank };
	}
	return (struct cm_outcome){
		-op.error, op.failed_rank == COLLSOCK_NO_RANK ? c->rank : (int)op.failed_rank
	};
}

/* ---- all ranks ---- */

static struct cm_outcome join_records_outcome(const struct cm_record *records, int ranks)
{
	int rank;

	for (rank = 0; rank < ranks; rank++)
		if (records[rank].error)
			return (struct cm_outcome){ records[rank].error, rank };
	return (struct cm_outcome){ };
}

/* Segments fit the smallest MTU that any rank knows of. */
static unsigned int join_agree_segment(const struct cm_comm *c, const struct cm_plan *plan)
{
	const struct cm_outcome own = { (int)cm_path_segment(plan, c->rank), c->rank };
	int least = cm_outcome_agree(c, own).error;

	return least > 0 ? least : COLLSOCK_DEFAULT_SEGMENT;
}

/* All ranks take each step, or none does. @tried: out: the last one, too */
static struct cm_outcome join_all(struct cm_comm *c, struct cm_plan *plan,
				  const struct cm_record *records, bool *tried)
{
	struct cm_outcome outcome = join_records_outcome(records, c->size);

	*tried = false;
	if (outcome.error)
		return outcome;
	/* The choice is the same on all ranks. */
	if (!cm_plan_choose_addresses(plan))
		return (struct cm_outcome){ -EADDRNOTAVAIL, 0 };
	c->segment = join_agree_segment(c, plan);
	outcome = (struct cm_outcome){ join_this_rank(c, plan, records), c->rank };
	outcome = cm_outcome_agree(c, outcome);
	*tried = !outcome.error;
	return *tried ? cm_outcome_agree(c, join_try_out(c)) : outcome;
}

/* The outcome is the same on all ranks. */
static void join_pass(struct cm_comm *c, const struct cm_outcome *outcome, bool tried)
{
	char text[64];

	cm_comm_pass(c, CM_UNABLE);
	if (outcome->error == -EHOSTUNREACH)
		cm_record_remember(outcome->error);
	cm_outcome_report(c, outcome, tried);
	if (!c->rank && cm_settings.mode == CM_REQUIRE) {
		snprintf(text, sizeof(text), "not allowed with %s", cm_variant.require);
		cm_comm_abort(c, text);
	}
}

static void join_planned(struct cm_comm *c, struct cm_plan *plan,
			 const struct cm_record *records)
{
	struct cm_outcome outcome;
	bool tried;

	if (plan->host_count == 1) {
		cm_comm_pass(c, CM_ONE_HOST);
		return;
	}
	outcome = join_all(c, plan, records, &tried);
	if (outcome.error) {
		join_pass(c, &outcome, tried);
		return;
	}
	c->scattered = !cm_plan_in_order(plan);
	c->state = CM_JOINED;
	if (cm_settings.verbose && !c->rank)
		fprintf(stderr,
			"collsock: a communicator of %d ranks has joined, with segments of %u bytes\n",
			c->size, c->segment);
}

static void join_recorded(struct cm_comm *c, const struct cm_record *records)
{
	struct cm_plan plan;

	if (cm_plan_init(&plan, records, c->size))
		join_planned(c, &plan, records);
	else
		cm_comm_abort(c, "no memory for joining");
	cm_plan_free(&plan);
}

void cm_join(struct cm_comm *c)
{
	static __thread bool joining;
	struct cm_record *records;

	if (joining)
		return;
	joining = true;
	records = cm_record_exchange(c);
	if (records)
		join_recorded(c, records);
	/* The program is about to be aborted. */
	if (c->state == CM_COUNTING)
		cm_comm_pass(c, CM_UNABLE);
	cm_record_free(records, c->size);
	joining = false;
}
