/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Members of groups carried by UDP: hosts with an IPv4 or IPv6 address and a port. Pure,
 * and the same on every platform.
 */
#ifndef COLL_UDP_BEARER_H
#define COLL_UDP_BEARER_H

#include "core/bearer.h"

/* UDP and IPv6 */
#define COLL_UDP_HEADER_BYTES	48

extern const struct coll_bearer coll_udp_bearer;

#endif
