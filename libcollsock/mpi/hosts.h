/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Where ranks live, and by which addresses their hosts speak to each other. */
#ifndef COLLSOCK_MPI_HOSTS_H
#define COLLSOCK_MPI_HOSTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "settings.h"

#define CM_MOST_ADDRESSES 8

/**
 * struct cm_address - of a host
 * @family: AF_INET or AF_INET6
 * @prefix: bits of its network
 * @bytes: as they stand in a packet, the rest 0
 */
struct cm_address {
	__u16	family;
	__u16	prefix;
	__u8		bytes[16];
};

/**
 * struct cm_host - what a rank tells the others of its host
 * @identity: boot and network namespace: equal for ranks that share a host
 * @addresses: of it
 * @address: they
 */
struct cm_host {
	__u64		identity[4];
	__u32		addresses;
	__u32		reserved;
	struct cm_address	address[CM_MOST_ADDRESSES];
};

/* This host, as yet without addresses. 0, or a negative errno: then the identity is 0. */
int cm_host_identify(struct cm_host *host);

/* Those that others may reach. 0, or a negative errno. */
int cm_host_add_addresses(struct cm_host *host, const struct cm_settings *settings);

static inline bool cm_host_same(const struct cm_host *one, const struct cm_host *other)
{
	return !__builtin_memcmp(one->identity, other->identity, sizeof(one->identity));
}

/*
 * One address for each of @count hosts, all of them different: in a network of the first
 * host in which all are, if there is one. @chosen gets indices. False if there are none.
 * All ranks choose alike.
 */
bool cm_hosts_choose(const struct cm_host *const *hosts, unsigned int count,
		     unsigned int *chosen);

#endif
