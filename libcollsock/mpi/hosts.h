/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The hosts on which ranks run, and the addresses by which they reach each other */
#ifndef COLLSOCK_MPI_HOSTS_H
#define COLLSOCK_MPI_HOSTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "settings.h"

#define CM_MOST_ADDRESSES 8

/**
 * struct cm_address - address of a host
 * @family: AF_INET or AF_INET6
 * @prefix: length of its network's prefix
 * @device: index of its interface, which means something on that host only
 * @mac: MAC address of its interface; zero if it has none
 * @reserved: 0
 * @bytes: in network byte order, zero-padded
 */
struct cm_address {
	__u16	family;
	__u16	prefix;
	__u32	device;
	__u8		mac[6];
	__u8		reserved[2];
	__u8		bytes[16];
};

/**
 * struct cm_host - a rank's host, as sent to the other ranks
 * @identity: boot id and network namespace; equal for ranks that share a host
 * @addresses: number of addresses
 * @reserved: 0
 * @address: its addresses
 */
struct cm_host {
	__u64		identity[4];
	__u32		addresses;
	__u32		reserved;
	struct cm_address	address[CM_MOST_ADDRESSES];
};

/*
 * Identify this host, without addresses. Returns 0, or a negative errno with an identity of
 * 0.
 */
int cm_host_identify(struct cm_host *host);

/* Add the addresses that others may reach. Returns 0, or a negative errno. */
int cm_host_add_addresses(struct cm_host *host, const struct cm_settings *settings);

static inline bool cm_host_same(const struct cm_host *one, const struct cm_host *other)
{
	return !__builtin_memcmp(one->identity, other->identity, sizeof(one->identity));
}

/*
 * Choose one address of each of @count hosts, all of them different: in a network of the
 * first host that all hosts share, if there is one, or, unless @direct, in others. @chosen
 * receives indices. False if there are no such addresses. All ranks choose alike.
 */
bool cm_hosts_choose(const struct cm_host *const *hosts, unsigned int count, bool direct,
		     unsigned int *chosen);

#endif
