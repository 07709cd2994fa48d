/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A task of a step of Slurm, which srun has started without PMI: ranks meet on its first host. */
#ifndef COLLSOCK_LAUNCH_SLURM_H
#define COLLSOCK_LAUNCH_SLURM_H

#include "launch.h"

/**
 * launch_slurm_find() - read Slurm's variables
 * @launch: out
 * @text: receives what is missing, or that this is a job of Slurm but not a step with tasks
 * @bytes: room there
 *
 * Return: 0; -ENOENT outside a step with tasks; -EINVAL if a variable is missing or is not valid.
 */
int launch_slurm_find(struct launch *launch, char *text, size_t bytes);

#endif
