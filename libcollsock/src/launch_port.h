/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The UDP port that the environment names */
#ifndef COLLSOCK_LAUNCH_PORT_H
#define COLLSOCK_LAUNCH_PORT_H

#include "collsock.h"

#define LAUNCH_PORT "COLLSOCK_PORT"

/**
 * launch_port() - use COLLSOCK_PORT, if it is set
 * @o: the options; if they have a port, or an EtherType in its place, that stays
 * @text: receives what is wrong
 * @bytes: room there
 *
 * Return: 0, or -EINVAL if it is no port.
 */
int launch_port(struct collsock_options *o, char *text, size_t bytes);

#endif
