/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the ranks of a communicator tell each other before they join. */
#ifndef COLLSOCK_MPI_RECORD_H
#define COLLSOCK_MPI_RECORD_H

#include "comm.h"
#include "hosts.h"

/**
 * struct cm_record - of a rank
 * @id: of the group; that of rank 0 counts
 * @nonce: of it; the same
 * @key: of it; the same
 * @error: 0, or why it cannot join: a negative errno
 * @reserved: 0
 * @host: the rank's host
 */
struct cm_record {
	__u64	id;
	__u64	nonce;
	__u8		key[COLLSOCK_KEY_BYTES];
	__s32		error;
	__u32	reserved;
	struct cm_host	host;
};

/*
 * All ranks call it. Opens the socket of @c, and returns the records of all ranks, which are
 * the caller's to free and contain a key. NULL if the program is about to end.
 */
struct cm_record *cm_record_exchange(struct cm_comm *c);

void cm_record_free(struct cm_record *records, int ranks);

/*
 * No communicator of this process can join, for that reason: a negative errno. Its later
 * records say so at once, instead of waiting again, be it for packets or for the kernel,
 * which starts a program each time to look for a module.
 */
void cm_record_remember(int error);

#endif
