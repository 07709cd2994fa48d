// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "user_address.h"

#define PACKET_BYTES	(65535 - 20 - 8)	/* of IPv4, without the headers of IP and UDP */
#define IPV4_BYTES	4
#define IPV4_MULTICAST	224	/* from here on there are no addresses of hosts */

/* ---- as sockets have them ---- */

socklen_t user_address_of(union user_address *a, const struct collsock_member *m)
{
	memset(a, 0, sizeof(*a));
	if (m->family == AF_INET) {
		a->ipv4.sin_family = AF_INET;
		a->ipv4.sin_port = htons(m->port);
		memcpy(&a->ipv4.sin_addr, m->address, sizeof(a->ipv4.sin_addr));
		return sizeof(a->ipv4);
	}
	a->ipv6.sin6_family = AF_INET6;
	a->ipv6.sin6_port = htons(m->port);
	a->ipv6.sin6_scope_id = m->scope_id;
	memcpy(&a->ipv6.sin6_addr, m->address, sizeof(a->ipv6.sin6_addr));
	return sizeof(a->ipv6);
}

bool user_address_is(const union user_address *a, const struct collsock_member *m)
{
	if (a->any.sa_family != m->family)
		return false;
	if (m->family == AF_INET)
		return a->ipv4.sin_port == htons(m->port) &&
		       !memcmp(&a->ipv4.sin_addr, m->address, sizeof(a->ipv4.sin_addr));
	return a->ipv6.sin6_port == htons(m->port) &&
	       !memcmp(&a->ipv6.sin6_addr, m->address, sizeof(a->ipv6.sin6_addr));
}

/* ---- as the core asks for them ---- */

static bool address_is_carried(u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

static u32 address_bytes(const struct collsock_member *m)
{
	return m->family == AF_INET ? IPV4_BYTES : sizeof(m->address);
}

/* Mapped addresses name members of IPv4, and compatible ones are abolished. */
static bool address_is_ipv6(const struct in6_addr *a)
{
	return !IN6_IS_ADDR_MULTICAST(a) && !IN6_IS_ADDR_V4MAPPED(a) &&
	       !IN6_IS_ADDR_V4COMPAT(a) && !IN6_IS_ADDR_UNSPECIFIED(a);
}

static bool address_is_host(const struct collsock_member *m)
{
	struct in6_addr ipv6;

	if (m->family == AF_INET)
		return !m->scope_id && m->address[0] && m->address[0] < IPV4_MULTICAST;
	memcpy(&ipv6, m->address, sizeof(ipv6));
	return (!m->scope_id || IN6_IS_ADDR_LINKLOCAL(&ipv6)) && address_is_ipv6(&ipv6);
}

/* The default is the kernel's, as the descriptor's hash includes the port. */
static bool address_complete(struct collsock_member *m)
{
	static const u8 zero[sizeof(m->address)];
	u32 bytes = address_bytes(m);

	if (memcmp(m->address + bytes, zero, sizeof(zero) - bytes) || !address_is_host(m))
		return false;
	if (!m->port)
		m->port = COLLSOCK_PORT;
	return true;
}

static bool address_same(const struct collsock_member *a, const struct collsock_member *b)
{
	return !memcmp(a, b, sizeof(*a));
}

const struct coll_bearer user_bearer = {
	.packet_bytes		= PACKET_BYTES,
	.carries		= address_is_carried,
	.member_complete	= address_complete,
	.member_same		= address_same,
	.address_bytes		= address_bytes,
};
