/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The start of a group: a socket, JOIN and the first barrier, which opens the connections that it
 * uses; beside it a later barrier. As in the paper on connections on demand (Wu, Liu, Wyckoff,
 * Panda; §5.6). The hosts meet in a barrier of another group before each of the three.
 */
#ifndef COLLPERF_STARTUP_H
#define COLLPERF_STARTUP_H

#include <collsock.h>

#include "measure.h"

/**
 * struct startup - who starts groups
 * @open: a socket that has joined another group, the number-th from 1; exits if it fails
 * @context: argument of @open
 * @forget_neighbours: look the hosts up again, by ARP, in the first barrier
 */
struct startup {
	struct collsock	*(*open)(void *context, unsigned long number);
	void		*context;
	bool		forget_neighbours;
};

/* Start as many groups as @options say, and print the figures as measure_print() does. */
void startup_measure(const struct options *options, const struct work *work,
		     const struct startup *startup, const char *program);

#endif
