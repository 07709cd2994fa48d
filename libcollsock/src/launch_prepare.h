/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A launcher exchanges blocks with the launchers of the other ranks, in place of its program, which
 * then joins by itself.
 */
#ifndef COLLSOCK_LAUNCH_PREPARE_H
#define COLLSOCK_LAUNCH_PREPARE_H

#include "launch.h"
#include "launch_request.h"

/**
 * struct launch_values - variables for the program
 * @request: the value of COLLSOCK_REQUEST
 * @socket: the value of COLLSOCK_SOCKET, or ""
 */
struct launch_values {
	char	request[LAUNCH_REQUEST_BYTES];
	char	socket[LAUNCH_REQUEST_BYTES];
};

/**
 * launch_prepare() - meet the launchers of the other ranks, and write the request of this rank
 * @launch: as launch_find() found it; its rank and number of ranks are right afterwards
 * @program_error: 0, or why the program cannot be started, which all ranks are told
 * @values: out
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: 0; the files that the values name stay open across exec. Or a negative errno, as
 * launch_exchange_open() and collsock_join_with().
 */
int launch_prepare(struct launch *launch, int program_error, struct launch_values *values,
		   char *text, size_t bytes);

/*
 * The backend of programs that this process starts: that of COLLSOCK_BACKEND, else one that is
 * available here. Returns 0, or a negative errno.
 */
int launch_choose_backend(enum collsock_backend *backend);

#endif
