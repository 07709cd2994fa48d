/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The group descriptor: whatever decides a schedule is in it, so that all
 * hosts decide alike. It is JOIN's request with the defaults filled in.
 * Its hash is in every packet. It covers the number and value of each field that is not 0,
 * so that hosts agree though one knows fields that the other does not; and tables as they
 * are in memory, so hosts of different byte order are never in one group.
 */
#ifndef COLL_CORE_DESCRIPTOR_H
#define COLL_CORE_DESCRIPTOR_H

#include "base.h"

/* What a request can ask for: bits of collsock_join.features. There is none yet. */
#define COLL_FEATURES	0ULL

/* Bytes that follow struct collsock_join. */
static inline u64 coll_descriptor_tables(const struct collsock_join *j)
{
	return (u64)j->hosts * sizeof(struct collsock_member) +
	       (u64)j->ranks * sizeof(u32);
}

/* Check the fixed part and fill in defaults. */
int coll_descriptor_normalise(struct collsock_join *j);

/* The largest packet that the group sends, without the headers of its bearer. */
u32 coll_descriptor_packet_bytes(const struct collsock_join *j);

/* Check the tables and complete the members. The fixed part is normalised. */
int coll_descriptor_check(const struct collsock_join *j,
			  struct collsock_member *members, const u32 *host_of_rank);

/* Hash of all that must be equal on all ranks. */
u32 coll_descriptor_hash(const struct collsock_join *j,
			 const struct collsock_member *members,
			 const u32 *host_of_rank);

/* What this kernel has. */
void coll_descriptor_features(struct collsock_features *f);

#endif
