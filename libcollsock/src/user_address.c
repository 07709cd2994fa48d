// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <string.h>

#include "user_address.h"

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
