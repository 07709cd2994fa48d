/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLL_UNIT_VALIDATE_H
#define COLL_UNIT_VALIDATE_H

#include "schedule.h"

/*
 * Check every rule at the top of schedule.h that concerns one host's schedule alone.
 * Returns 0 or -EINVAL. The order of ranks, and whether the rounds of all hosts match, can
 * only be checked by running all schedules together.
 *
 * Beyond those rules, the lines must be assigned to rounds in order and without gaps, so
 * that each line belongs to one round. @s may hold anything.
 */
int validate_schedule(const struct coll_schedule *s);

#endif
