/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the ranks of a communicator exchange before they join */
#ifndef COLLSOCK_MPI_RECORD_H
#define COLLSOCK_MPI_RECORD_H

#include "comm.h"
#include "hosts.h"

/**
 * struct cm_record - record of a rank
 * @id: id of the group; that of rank 0 is used
 * @nonce: nonce of the group, likewise
 * @key: key of the group, likewise
 * @error: 0, or why the rank cannot join: a negative errno
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
 * Called on all ranks. Opens the socket of @c, and returns the records of all ranks, which
 * contain a key and are freed by the caller. NULL if the program is about to be aborted.
 */
struct cm_record *cm_record_exchange(struct cm_comm *c);

void cm_record_free(struct cm_record *records, int ranks);

/*
 * No communicator of this process can join, for this reason: a negative errno. Its later
 * records have this error at once, without waiting again for packets, or for the kernel,
 * which starts a program each time to look for a module.
 */
void cm_record_remember(int error);

#endif
