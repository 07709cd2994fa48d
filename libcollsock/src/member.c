// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Members: hosts by their addresses, of IPv4, of IPv6, or of Ethernet. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "member.h"

#define MAC_TEXT_LENGTH	17

/* ---- of numbers ---- */

static int member_from_ipv4(struct collsock_member *m, const struct in_addr *address, __u16 port)
{
	if (address->s_addr == htonl(INADDR_ANY) || IN_MULTICAST(ntohl(address->s_addr)) ||
	    address->s_addr == htonl(INADDR_BROADCAST))
		return -EADDRNOTAVAIL;
	m->family = AF_INET;
	m->port = port ? port : COLLSOCK_PORT;
	memcpy(m->address, address, sizeof(*address));
	return 0;
}

static int member_from_ipv6(struct collsock_member *m, const struct in6_addr *address, __u16 port,
			    __u32 scope_id)
{
	if (IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_MULTICAST(address) ||
	    IN6_IS_ADDR_V4MAPPED(address))
		return -EADDRNOTAVAIL;
	if (IN6_IS_ADDR_LINKLOCAL(address)) {
		if (!scope_id)
			return -EADDRNOTAVAIL;
		m->scope_id = scope_id;
	}
	m->family = AF_INET6;
	m->port = port ? port : COLLSOCK_PORT;
	memcpy(m->address, address, sizeof(*address));
	return 0;
}

static int member_from_mac(struct collsock_member *m, const __u8 address[ETH_ALEN],
			   __u16 ethertype, __u32 scope_id)
{
	static const __u8 none[ETH_ALEN];

	/* The first bit marks group addresses. */
	if (address[0] & 1 || !memcmp(address, none, sizeof(none)))
		return -EADDRNOTAVAIL;
	m->family = AF_PACKET;
	m->port = ethertype ? ethertype : COLLSOCK_ETHERTYPE;
	m->scope_id = scope_id;
	memcpy(m->address, address, ETH_ALEN);
	return 0;
}

/* ---- of text ---- */

/* ether_aton(3) would also accept single digits, and anything after the address. */
int member_parse_mac(__u8 mac[ETH_ALEN], const char *text)
{
	int length = 0;

	return strspn(text, "0123456789abcdefABCDEF:") == MAC_TEXT_LENGTH &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &length) == ETH_ALEN &&
	       length == MAC_TEXT_LENGTH && !text[length];
}

/* An interface of this host may follow a percent sign: fe80::1%eth0 */
int member_from_text(struct collsock_member *m, const char *text, __u16 port)
{
	const char *percent = strchr(text, '%');
	size_t bytes = percent ? (size_t)(percent - text) : strlen(text);
	char address[INET6_ADDRSTRLEN];
	__u32 scope_id = 0;
	struct in6_addr ipv6;
	struct in_addr ipv4;
	__u8 mac[ETH_ALEN];

	memset(m, 0, sizeof(*m));
	if (inet_pton(AF_INET, text, &ipv4) == 1)
		return member_from_ipv4(m, &ipv4, port);
	if (bytes >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, bytes);
	address[bytes] = '\0';
	if (percent)
		scope_id = if_nametoindex(percent + 1);
	/* Other hosts may have interfaces of other names. */
	if (member_parse_mac(mac, address))
		return member_from_mac(m, mac, port, scope_id);
	if (percent && !scope_id)
		return -ENODEV;
	if (inet_pton(AF_INET6, address, &ipv6) == 1)
		return member_from_ipv6(m, &ipv6, port, scope_id);
	return -EINVAL;
}

/* ---- of addresses as other sockets have them ---- */

static int member_from_sockaddr_ll(struct collsock_member *m, const struct sockaddr *address,
				   socklen_t bytes)
{
	struct sockaddr_ll ll = { .sll_halen = 0 };

	if (bytes < offsetof(struct sockaddr_ll, sll_addr) + ETH_ALEN)
		return -EINVAL;
	memcpy(&ll, address, bytes < sizeof(ll) ? bytes : sizeof(ll));
	if (ll.sll_halen != ETH_ALEN)
		return -EADDRNOTAVAIL;
	return member_from_mac(m, ll.sll_addr, ntohs(ll.sll_protocol), ll.sll_ifindex);
}

int member_from_sockaddr(struct collsock_member *m, const struct sockaddr *address,
			 socklen_t bytes)
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	memset(m, 0, sizeof(*m));
	if (bytes < sizeof(address->sa_family))
		return -EINVAL;
	switch (address->sa_family) {
	case AF_INET:
		if (bytes < sizeof(ipv4))
			return -EINVAL;
		memcpy(&ipv4, address, sizeof(ipv4));
		return member_from_ipv4(m, &ipv4.sin_addr, ntohs(ipv4.sin_port));
	case AF_INET6:
		if (bytes < sizeof(ipv6))
			return -EINVAL;
		memcpy(&ipv6, address, sizeof(ipv6));
		return member_from_ipv6(m, &ipv6.sin6_addr, ntohs(ipv6.sin6_port),
					ipv6.sin6_scope_id);
	case AF_PACKET:
		return member_from_sockaddr_ll(m, address, bytes);
	default:
		return -EPFNOSUPPORT;
	}
}

/* ---- of this host ---- */

static int member_is_device(const struct collsock_member *m, const struct sockaddr *address)
{
	struct sockaddr_ll ll;

	memcpy(&ll, address, sizeof(ll));
	return ll.sll_halen == ETH_ALEN && !memcmp(m->address, ll.sll_addr, ETH_ALEN) &&
	       (!m->scope_id || m->scope_id == (__u32)ll.sll_ifindex);
}

int member_is(const struct collsock_member *m, const struct sockaddr *address)
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	if (m->family != address->sa_family)
		return 0;
	if (m->family == AF_PACKET)
		return member_is_device(m, address);
	if (m->family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		return !memcmp(m->address, &ipv4.sin_addr, sizeof(ipv4.sin_addr));
	}
	memcpy(&ipv6, address, sizeof(ipv6));
	if (m->scope_id && m->scope_id != ipv6.sin6_scope_id)
		return 0;
	return !memcmp(m->address, &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
}
