/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The multicast address that the environment names */
#ifndef COLLSOCK_LAUNCH_MULTICAST_H
#define COLLSOCK_LAUNCH_MULTICAST_H

#include "collsock.h"

/**
 * launch_multicast() - use COLLSOCK_MULTICAST, if it is set
 * @o: the options, complete; if they have a multicast address that stays
 * @text: receives what is wrong
 * @bytes: room there
 *
 * Return: 0, or -EINVAL if it is not a multicast address.
 */
int launch_multicast(struct collsock_options *o, char *text, size_t bytes);

#endif
