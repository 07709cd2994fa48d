/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The addresses by which hosts reach each other: one of each, chosen by all ranks alike */
#ifndef COLLSOCK_JOINING_CHOICE_H
#define COLLSOCK_JOINING_CHOICE_H

#include "joining_host.h"

/**
 * joining_choose() - choose one address of each host
 * @hosts: valid ones (joining_host_is_valid())
 * @count: number of hosts
 * @bearer: which hosts are to have; COLLSOCK_BEARER_AUTO: Ethernet, if every user may use it
 * @chosen: out: for each host, the index of its address
 *
 * Addresses are in a network of the first host that all hosts share, if there is one, else, with
 * UDP, in others. Those of bridges inside hosts are chosen only where there are no others, and not
 * by COLLSOCK_BEARER_AUTO; loopback is for hosts of one machine, and then the first choice. Hosts
 * with different ports may have one address. Interfaces have different MAC addresses.
 *
 * Return: 0; -EADDRNOTAVAIL if there are no such addresses, -ENOMEM.
 */
int joining_choose(const struct joining_host *const *hosts, unsigned int count,
		   enum collsock_bearer bearer, unsigned int *chosen);

/* The first host without any address for other hosts; if all have one, 0. */
unsigned int joining_choice_culprit(const struct joining_host *const *hosts, unsigned int count);

#endif
