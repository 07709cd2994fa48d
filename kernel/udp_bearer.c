// SPDX-License-Identifier: GPL-2.0 OR MIT
#ifdef __KERNEL__
#include <linux/socket.h>
#else
#include <sys/socket.h>
#endif

#include "udp_bearer.h"

#define IP_BYTES		65535
#define IPV4_HEADER_BYTES	20
#define UDP_HEADER_BYTES	8

static bool udp_carries(u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

static u32 udp_address_bytes(const struct collsock_member *m)
{
	return m->family == AF_INET ? 4 : 16;
}

/*
 * Accept neither 0.0.0.0/8 (this network) nor addresses from 224.0.0.0 on: multicast, reserved,
 * broadcast.
 */
static bool udp_ipv4_valid(const u8 *address)
{
	return address[0] && address[0] < 224;
}

/*
 * Accept neither multicast nor unspecified addresses, nor an IPv4 address inside an IPv6 one:
 * mapped addresses name members with IPv4, compatible ones are deprecated.
 */
static bool udp_ipv6_valid(const u8 *address)
{
	static const u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const u8 zero[12], loopback[4] = { [3] = 1 };

	if (address[0] == 0xff || !memcmp(address, mapped, sizeof(mapped)))
		return false;
	return memcmp(address, zero, sizeof(zero)) ||
	       !memcmp(address + sizeof(zero), loopback, sizeof(loopback));
}

/* fe80::/10: the same address may be on several networks. */
static bool udp_ipv6_has_scope(const u8 *address)
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

static bool udp_address_valid(const struct collsock_member *m)
{
	if (m->family == AF_INET)
		return !m->scope_id && udp_ipv4_valid(m->address);
	return (!m->scope_id || udp_ipv6_has_scope(m->address)) && udp_ipv6_valid(m->address);
}

/* The default port must be the same on all hosts, as the descriptor's hash includes it. */
static bool udp_member_complete(struct collsock_member *m)
{
	static const u8 zero[sizeof(m->address)];
	u32 bytes = udp_address_bytes(m);

	if (memcmp(m->address + bytes, zero, sizeof(zero) - bytes) || !udp_address_valid(m))
		return false;
	if (!m->port)
		m->port = COLLSOCK_PORT;
	return true;
}

/*
 * Accept IPv4 multicast addresses, except 224.0.0.0/24, which is for the network's own protocols.
 */
static bool udp_multicast_valid4(const u8 *address)
{
	static const u8 kept[3] = { 224 }, zero[12];

	return (address[0] & 0xf0) == 0xe0 && memcmp(address, kept, sizeof(kept)) &&
	       !memcmp(address + 4, zero, sizeof(zero));
}

/*
 * Accept IPv6 multicast addresses whose scope is a link or wider, and not reserved (RFC 4291, 2.7).
 * In the scope of a link only transient addresses are valid: others are for the network's own
 * protocols.
 */
static bool udp_multicast_valid6(const u8 *address)
{
	u8 scope = address[1] & 0xf;

	return address[0] == 0xff && address[1] != 0x02 && scope > 1 && scope < 0xf;
}

/* Copies go to one port of all hosts. */
static bool udp_multicast_reaches(const struct collsock_member *a, const struct collsock_member *b,
				  const u8 address[16])
{
	return a->port == b->port && (a->family == AF_INET ? udp_multicast_valid4(address) :
							     udp_multicast_valid6(address));
}

/* Members with different ports are different hosts. */
static bool udp_member_same(const struct collsock_member *a, const struct collsock_member *b)
{
	return !memcmp(a, b, sizeof(*a));
}

const struct coll_bearer coll_udp_bearer = {
	.packet_bytes		= IP_BYTES - IPV4_HEADER_BYTES - UDP_HEADER_BYTES,
	.carries		= udp_carries,
	.member_complete	= udp_member_complete,
	.member_same		= udp_member_same,
	.address_bytes		= udp_address_bytes,
	.multicast_reaches	= udp_multicast_reaches,
};
