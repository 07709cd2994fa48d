// SPDX-License-Identifier: GPL-2.0
#ifdef __KERNEL__
#include <linux/socket.h>
#else
#include <sys/socket.h>
#endif

#include "eth_bearer.h"

/* The largest MTU that a device can have */
#define ETH_BYTES	65535

static bool eth_carries(u16 family)
{
	return family == AF_PACKET;
}

static u32 eth_address_bytes(const struct collsock_member *m)
{
	return COLL_ETH_ADDRESS_BYTES;
}

/* Accept neither the null address nor a group address, whose first bit on the wire is set. */
static bool eth_address_valid(const u8 *address)
{
	static const u8 zero[COLL_ETH_ADDRESS_BYTES];

	return !(address[0] & 1) && memcmp(address, zero, sizeof(zero));
}

/* The default type must be the same on all hosts, as the descriptor's hash includes it. */
static bool eth_member_complete(struct collsock_member *m)
{
	static const u8 zero[sizeof(m->address)];

	if (!eth_address_valid(m->address) ||
	    memcmp(m->address + COLL_ETH_ADDRESS_BYTES, zero,
		   sizeof(zero) - COLL_ETH_ADDRESS_BYTES))
		return false;
	if (!m->port)
		m->port = COLLSOCK_ETHERTYPE;
	/* Any other type is that of another protocol, whose receivers would take the packets. */
	return m->port == COLLSOCK_ETHERTYPE || m->port == COLLSOCK_OTHER_ETHERTYPE;
}

/*
 * Accept group addresses, except broadcast and those that bridges do not forward (IEEE 802.1Q,
 * 8.6.3).
 */
static bool eth_multicast_valid(const u8 *address)
{
	static const u8 all[COLL_ETH_ADDRESS_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const u8 kept[] = { 0x01, 0x80, 0xc2, 0x00, 0x00 }, zero[16];

	return address[0] & 1 && memcmp(address, all, sizeof(all)) &&
	       memcmp(address, kept, sizeof(kept)) &&
	       !memcmp(address + COLL_ETH_ADDRESS_BYTES, zero,
		       sizeof(zero) - COLL_ETH_ADDRESS_BYTES);
}

/* All copies of a packet have the same type. */
static bool eth_multicast_reaches(const struct collsock_member *a, const struct collsock_member *b,
				  const u8 address[16])
{
	return a->port == b->port && eth_multicast_valid(address);
}

/*
 * Compare addresses regardless of the type: two members with one address would receive each other's
 * packets.
 */
static bool eth_member_same(const struct collsock_member *a, const struct collsock_member *b)
{
	return !memcmp(a->address, b->address, sizeof(a->address));
}

const struct coll_bearer coll_eth_bearer = {
	.packet_bytes		= ETH_BYTES,
	.carries		= eth_carries,
	.member_complete	= eth_member_complete,
	.member_same		= eth_member_same,
	.address_bytes		= eth_address_bytes,
	.multicast_reaches	= eth_multicast_reaches,
};
