/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The host on which a rank runs, and its addresses, as the rank sends them to the others. In user
 * space each rank is a host by itself, with its own port.
 */
#ifndef COLLSOCK_JOINING_HOST_H
#define COLLSOCK_JOINING_HOST_H

#include <stdbool.h>

#include "collsock.h"

#define JOINING_MOST_ADDRESSES 8

/*
 * From how far an address can be reached, as a rule; those reached from farther are chosen first.
 * Loopback never connects hosts; an interface without a carrier may have one in a moment.
 */
enum joining_reach {
	JOINING_REACH_NETWORK,
	JOINING_REACH_BRIDGE,	/* of a network inside the host: of containers, virtual machines */
	JOINING_REACH_UNPLUGGED,	/* of an interface without a carrier */
	JOINING_REACH_HOST,	/* loopback */
	JOINING_REACHES,
};

/**
 * struct joining_address - address of a host
 * @family: AF_INET or AF_INET6
 * @prefix: length of its network's prefix
 * @device: index of its interface; meaningful on that host only
 * @mac: MAC address of its interface; zero if it has none
 * @reach: enum joining_reach
 * @open: with COLLSOCK_BEARER_AUTO, whether every user may have groups over its interface
 * @bytes: in network byte order, zero-padded
 */
struct joining_address {
	__u16	family;
	__u16	prefix;
	__u32	device;
	__u8	mac[6];
	__u8	reach;
	__u8	open;
	__u8	bytes[16];
};

/**
 * struct joining_host - a rank's host
 * @identity: boot id, of two words, and network namespace; equal for ranks that share a machine
 * @addresses: number of addresses
 * @port: UDP port of the rank alone; 0: that of the options, which ranks of a machine share
 * @address: its addresses, in the order of their reach
 */
struct joining_host {
	__u64			identity[4];
	__u32			addresses;
	__u32			port;
	struct joining_address	address[JOINING_MOST_ADDRESSES];
};

/*
 * Identify this host, without addresses. Returns 0, or a negative errno with an identity of
 * 0.
 */
int joining_host_identify(struct joining_host *host);

/*
 * Add the addresses by which hosts may communicate according to @options. @devices: those that are
 * open. Returns 0, or a negative errno.
 */
int joining_host_add_addresses(struct joining_host *host, const struct collsock_options *options,
			       const struct collsock_devices *devices);

/* Has it an address whose interface is open? */
bool joining_host_is_open(const struct joining_host *host);

static inline bool joining_host_same_machine(const struct joining_host *one,
					     const struct joining_host *other)
{
	return !__builtin_memcmp(one->identity, other->identity, sizeof(one->identity));
}

/* Do they run on the same processors? Containers with networks of their own may. */
static inline bool joining_host_same_kernel(const struct joining_host *one,
					    const struct joining_host *other)
{
	return one->identity[0] == other->identity[0] && one->identity[1] == other->identity[1];
}

static inline bool joining_host_same(const struct joining_host *one,
				     const struct joining_host *other)
{
	return one->port == other->port && joining_host_same_machine(one, other);
}

/* Are the first @prefix bits of two addresses the same? @prefix is at most 128. */
bool joining_host_same_network(const __u8 *one, const __u8 *other, unsigned int prefix);

/* The address as other sockets have it. @port: 0: that of @options. Returns its length. */
socklen_t joining_host_sockaddr(const struct joining_address *address, __u16 port,
				const struct collsock_options *options,
				struct sockaddr_storage *storage);

/* Is it a host that joining_host_add_addresses() can have made, with these @options? */
bool joining_host_is_valid(const struct joining_host *host,
			   const struct collsock_options *options);

#endif
