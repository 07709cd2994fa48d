/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The group descriptor holds everything that determines a schedule, so that all hosts
 * decide alike. It is JOIN's request with the defaults filled in. Every packet carries its
 * hash. The hash covers the number and value of each field that is not 0, so that hosts
 * agree even if one has more fields than the other; and the tables as they are in memory,
 * so hosts of different byte order are never in one group.
 */
#ifndef COLL_CORE_DESCRIPTOR_H
#define COLL_CORE_DESCRIPTOR_H

#include "base.h"

/* Known bits of collsock_join.features: none yet */
#define COLL_FEATURES	0ULL

/* Bytes that follow struct collsock_join. */
static inline u64 coll_descriptor_tables(const struct collsock_join *j)
{
	return (u64)j->hosts * sizeof(struct collsock_member) +
	       (u64)j->ranks * sizeof(u32);
}

int coll_descriptor_normalise(struct collsock_join *j);
u32 coll_descriptor_packet_bytes(const struct collsock_join *j);
int coll_descriptor_check(const struct collsock_join *j,
			  struct collsock_member *members, const u32 *host_of_rank);
u32 coll_descriptor_hash(const struct collsock_join *j,
			 const struct collsock_member *members,
			 const u32 *host_of_rank);
void coll_descriptor_features(struct collsock_features *f);

#endif
