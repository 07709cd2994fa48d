/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tunables of the protocol, as module parameters: what a group gets when it
 * is joined. Changing them changes nothing in a group that exists. They decide
 * no schedule, so hosts may differ in them.
 */
#ifndef COLL_TUNABLES_H
#define COLL_TUNABLES_H

#include "core/group.h"

void coll_tunables_init(void);
void coll_tunables_timing(struct coll_timing *timing);

#endif
