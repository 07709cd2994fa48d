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
 * struct launch_prepared - what the launcher of a rank has then
 * @group: complete, to be freed
 * @request: the value of COLLSOCK_REQUEST
 * @file: the file that it names, which stays open across exec
 * @socket: of the rank in user space, which does not; -1 with the kernel
 */
struct launch_prepared {
	struct collsock_group	*group;
	char	request[LAUNCH_REQUEST_BYTES];
	int	file;
	int	socket;
};

/**
 * launch_prepare() - meet the launchers of the other ranks, and write the request of this rank
 * @launch: as launch_find() found it; its rank and number of ranks are right afterwards
 * @program_error: 0, or why the program cannot be started, which all ranks are told
 * @prepared: out
 * @text: receives why it failed, and what to do
 * @bytes: room there; MEETING_TEXT is enough
 *
 * Return: 0, or a negative errno, as launch_exchange_open() and collsock_join_with().
 */
int launch_prepare(struct launch *launch, int program_error, struct launch_prepared *prepared,
		   char *text, size_t bytes);

/*
 * The backend of programs that this process starts: that of COLLSOCK_BACKEND, else one that is
 * available here. Returns 0, or a negative errno.
 */
int launch_choose_backend(enum collsock_backend *backend);

#endif
