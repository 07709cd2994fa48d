// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collsock.h"
#include "launch_environment.h"
#include "launch_find.h"
#include "launch_slurm.h"
#include "pmi.h"
#include "pmix.h"

/* Read the variables that a launcher must set. The first error; -EINVAL if one is missing. */
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

/* Jobs without a name, which torchrun calls "none", differ by the port of torch's own store. */
static int launch_name_torch(struct launch *l, char *text, size_t bytes)
{
	__u32 port;
	int err = launch_number("MASTER_PORT", UINT16_MAX, &port, text, bytes);

	if (!err)
		snprintf(l->job, sizeof(l->job), "none, port %u", port);
	return err == -ENOENT ? 0 : err;
}

/*
 * Other launchers set RANK and WORLD_SIZE, too; only torchrun sets these as well. The meeting is on
 * a port of its own, as MASTER_PORT is in use.
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

/*
 * Of two launchers the inner one counts. Open MPI's mpirun names itself. Programs that MPICH's
 * mpiexec starts in a step of Slurm also have the variables of its proxy, which srun has started
 * by PMIx.
 */
static int launch_by_pmix(struct launch *l, char *text, size_t bytes)
{
	if (launch_variable("MPI_LOCALRANKID") && !launch_variable("OMPI_COMM_WORLD_RANK"))
		return -ENOENT;
	l->by = LAUNCH_BY_PMIX;
	return pmix_find(text, bytes);
}

static int launch_by_pmi(struct launch *l, char *text, size_t bytes)
{
	l->by = LAUNCH_BY_PMI;
	return pmi_find(text, bytes);
}

static int (*const launchers[])(struct launch *l, char *text, size_t bytes) = {
	launch_by_hand, launch_by_torchrun, launch_by_pmix, launch_by_pmi, launch_slurm_find,
};

int launch_find(struct launch *launch, char *text, size_t bytes)
{
	unsigned int i;
	int err;

	snprintf(text, bytes,
		 "no launcher was found: none of COLLSOCK_REQUEST (collsock run), COLLSOCK_RENDEZVOUS with COLLSOCK_RANK and COLLSOCK_RANKS, RANK with WORLD_SIZE, MASTER_ADDR and TORCHELASTIC_RUN_ID or LOCAL_RANK (torchrun), PMIX_RANK with PMIX_NAMESPACE, PMI_FD with PMI_RANK and PMI_SIZE, PMI_PORT with PMI_ID, or SLURM_STEP_NUM_TASKS (srun) is set; start with collsock run --local N on one machine, or on each of several with -H HOST,HOST...");
	for (i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		memset(launch, 0, sizeof(*launch));
		err = launchers[i](launch, text, bytes);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}
