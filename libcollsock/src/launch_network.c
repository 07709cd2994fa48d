// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch_environment.h"
#include "launch_network.h"

#define BITS_PER_BYTE	8
#define IPV4_BITS	32
#define IPV6_BITS	128

/* Ranks that write one network in two ways then have the same. */
static void network_clear_rest(__u8 *network, unsigned int prefix, unsigned int bits)
{
	unsigned int bit;

	for (bit = prefix; bit < bits; bit++)
		network[bit / BITS_PER_BYTE] &= ~(0x80 >> bit % BITS_PER_BYTE);
}

/* The number after the slash; false if it is not one up to @most */
static bool network_read_prefix(const char *text, unsigned int most, unsigned long *prefix)
{
	char *end;

	*prefix = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *prefix <= most;
}

int launch_network_parse(const char *text, struct collsock_options *o)
{
	char address[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	__u8 network[sizeof(o->network)] = { };
	int family = AF_INET, bits = IPV4_BITS;
	unsigned long prefix;

	if (length >= sizeof(address) || !text[length])
		return -EINVAL;
	memcpy(address, text, length);
	address[length] = '\0';
	if (strchr(address, ':')) {
		family = AF_INET6;
		bits = IPV6_BITS;
	}
	if (inet_pton(family, address, network) != 1 ||
	    !network_read_prefix(text + length + 1, bits, &prefix))
		return -EINVAL;
	network_clear_rest(network, prefix, bits);
	o->family = family;
	o->prefix = prefix;
	memcpy(o->network, network, sizeof(network));
	return 0;
}

int launch_network(struct collsock_options *o, char *text, size_t bytes)
{
	const char *value = launch_variable(LAUNCH_NETWORK);
	struct collsock_options named = { };

	if (!value)
		return 0;
	if (launch_network_parse(value, &named)) {
		snprintf(text, bytes, LAUNCH_NETWORK "=%.64s: not " LAUNCH_NETWORK_FORM, value);
		return -EINVAL;
	}
	if (o->prefix || (o->family && o->family != named.family))
		return 0;
	o->family = named.family;
	o->prefix = named.prefix;
	memcpy(o->network, named.network, sizeof(o->network));
	return 0;
}
