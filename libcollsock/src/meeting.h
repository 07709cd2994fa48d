/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The TCP meeting: an exchange of blocks of bytes between ranks that know only a secret, their
 * rank, and the host of rank 0. Rank 0 is the server; the others connect to it.
 *
 *	meeting_open()		returns when all ranks are here
 *	meeting_exchange()	an allgather, a collsock_exchange, any number of times
 *	meeting_group_key()	a key that all have, and that was never sent
 *	meeting_close()
 *
 * Calls block, until the time of the meeting has passed. There are no threads and no signals; all
 * files are closed on exec. One thread at a time may use a meeting.
 *
 * An attacker without the secret can at most cause delay: it cannot learn the key, alter a block,
 * be a rank, or end the meeting, except by cutting connections. Blocks are authenticated, but not
 * encrypted.
 */
#ifndef COLLSOCK_MEETING_H
#define COLLSOCK_MEETING_H

#include "meeting_self.h"

struct meeting;

/**
 * meeting_open() - meet the other ranks
 * @made: out: the meeting
 * @options: which, and as whom; texts need not outlive the call
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: 0; -ETIMEDOUT if some rank has not come, which @text names; -ESTALE if a later attempt
 * has replaced this one; -EEXIST if another process is this rank; -EPROTO if ranks count ranks
 * differently; -EINVAL if an option is invalid; -EMFILE if rank 0 may not open a file for each
 * rank; or another negative errno.
 */
int meeting_open(struct meeting **made, const struct meeting_options *options, char *text,
		 size_t bytes);

/**
 * meeting_exchange() - give a block, receive those of all ranks
 * @meeting: a struct meeting
 * @mine: @bytes, from 1
 * @all: out: as many of each rank, in the order of ranks
 * @bytes: the same on all ranks
 *
 * Return: 0; -ECONNRESET if a rank has left; -ETIMEDOUT if it does not answer; -EPROTO if its block
 * is of another size; -EBADMSG if a message was altered in transit. After an error the meeting can
 * only be closed.
 */
int meeting_exchange(void *meeting, const void *mine, void *all, size_t bytes);

/* The key of the group that meets: another one at each meeting */
void meeting_group_key(const struct meeting *meeting, __u8 key[COLLSOCK_KEY_BYTES]);

/* Why the last exchange failed */
const char *meeting_text(const struct meeting *meeting);

void meeting_close(struct meeting *meeting);

#endif
