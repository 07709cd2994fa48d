/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COLL_UNIT_VALIDATE_H
#define COLL_UNIT_VALIDATE_H

#include "schedule.h"

/*
 * Is every rule at the top of schedule.h kept that one host's schedule alone can
 * keep? 0 or -EINVAL. Which rank is left of which, and whether the rounds of all
 * hosts fit each other, shows only when all schedules run together.
 *
 * Beyond those rules: the rounds divide the lines among themselves in order and
 * without gaps, so that each line belongs to one round. @s may hold anything.
 */
int validate_schedule(const struct coll_schedule *s);

#endif
