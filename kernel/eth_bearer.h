/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Members of groups carried by Ethernet: interfaces with a MAC address, and the EtherType of
 * their packets. Pure, and the same on every platform.
 */
#ifndef COLL_ETH_BEARER_H
#define COLL_ETH_BEARER_H

#include "core/bearer.h"

#define COLL_ETH_ADDRESS_BYTES	6

extern const struct coll_bearer coll_eth_bearer;

#endif
