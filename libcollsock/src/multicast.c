// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Multicast addresses as text. The platform checks whether a group can have them. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <string.h>

#include "internal.h"
#include "member.h"

COLLSOCK_PUBLIC int collsock_multicast_from_text(const char *text, __u8 address[16])
{
	__u8 parsed[16] = { };
	struct in6_addr ipv6;
	struct in_addr ipv4;
	int multicast;

	if (inet_pton(AF_INET, text, &ipv4) == 1) {
		memcpy(parsed, &ipv4, sizeof(ipv4));
		multicast = IN_MULTICAST(ntohl(ipv4.s_addr));
	} else if (inet_pton(AF_INET6, text, &ipv6) == 1) {
		memcpy(parsed, &ipv6, sizeof(ipv6));
		multicast = IN6_IS_ADDR_MULTICAST(&ipv6);
	} else if (member_parse_mac(parsed, text)) {
		multicast = parsed[0] & 1;
	} else {
		return -EINVAL;
	}
	if (!multicast)
		return -EADDRNOTAVAIL;
	memcpy(address, parsed, sizeof(parsed));
	return 0;
}
