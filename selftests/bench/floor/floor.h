/* SPDX-License-Identifier: GPL-2.0 */
/* What the program "floor" writes to /dev/collsock-floor; then each read() is a barrier. */
#ifndef FLOOR_H
#define FLOOR_H

#include <linux/types.h>

#define FLOOR_DEVICE	"collsock-floor"
#define FLOOR_HOSTS	64

/**
 * struct floor_join - the hosts of a barrier; all of them are namespaces of one machine
 * @rank: this host
 * @hosts: number of them
 * @ethernet: do packets follow the Ethernet header, or that of UDP?
 * @spin_us: how long a barrier spins before it sleeps
 * @ipv4: the address of each, in network byte order
 * @mac: the MAC address of each
 */
struct floor_join {
	__u32	rank;
	__u32	hosts;
	__u32	ethernet;
	__u32	spin_us;
	__u32	ipv4[FLOOR_HOSTS];
	__u8	mac[FLOOR_HOSTS][6];
};

#endif
