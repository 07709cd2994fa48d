/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The group descriptor: whatever decides a schedule is in it, so that all
 * hosts decide alike. It is what JOIN brought, with the defaults filled in.
 * Its hash is in every packet. The hash covers the bytes as they stand in
 * memory, so hosts of different byte order never form a group.
 */
#ifndef COLL_CORE_DESCRIPTOR_H
#define COLL_CORE_DESCRIPTOR_H

#include "base.h"

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

#endif
