/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The network by which hosts communicate, as a text, and as the environment names it */
#ifndef COLLSOCK_LAUNCH_NETWORK_H
#define COLLSOCK_LAUNCH_NETWORK_H

#include "collsock.h"

#define LAUNCH_NETWORK		"COLLSOCK_NETWORK"
#define LAUNCH_NETWORK_FORM	"an address and a prefix length, as in 10.1.0.0/16"

/**
 * launch_network_parse() - read a network
 * @text: ADDRESS/LENGTH, of IPv4 or IPv6; bits of the address after the prefix do not count
 * @o: receives its family, network and prefix; unchanged after an error
 *
 * Return: 0, or -EINVAL if it is no network.
 */
int launch_network_parse(const char *text, struct collsock_options *o);

/**
 * launch_network() - use COLLSOCK_NETWORK, if it is set
 * @o: the options; if they have a network, or another family, that stays
 * @text: receives what is wrong
 * @bytes: room there
 *
 * Return: 0, or -EINVAL if it is no network.
 */
int launch_network(struct collsock_options *o, char *text, size_t bytes);

#endif
