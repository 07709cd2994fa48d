/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A launcher meets those of the other ranks in place of its program, which then joins by itself. */
#ifndef COLLSOCK_LAUNCH_PREPARE_H
#define COLLSOCK_LAUNCH_PREPARE_H

#include "launch.h"
#include "launch_request.h"

/**
 * launch_prepare() - meet the launchers of the other ranks, and write the request of this rank
 * @launch: as launch_find() found it
 * @value: out: the value of COLLSOCK_REQUEST
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: the file of the request, which stays open across exec; or a negative errno, as
 * launch_meet() and collsock_join_with().
 */
int launch_prepare(const struct launch *launch, char value[LAUNCH_REQUEST_BYTES], char *text,
		   size_t bytes);

#endif
