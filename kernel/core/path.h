/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The size of packets that the path to a host carries. Reports of routers are not trusted,
 * as anyone can forge them. Instead, if long packets get lost and short ones do not, long
 * ones may be fragmented from then on.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_PATH_H
#define COLL_CORE_PATH_H

#include "state.h"

bool coll_path_needs_fragments(const struct coll_message *m);

#endif
