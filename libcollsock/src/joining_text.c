// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "joining_text.h"

#define TEXT_BYTES 512

#define TEXT_NO_NETWORK \
	"has no Ethernet interface with an address in a network that all hosts share (see ip address, COLLSOCK_NETWORK, the options network and family), or groups there have another EtherType (collsock get ethertype)"
#define TEXT_NO_PORT \
	"finds no free port among COLLSOCK_USER_PORTS, which ranks in user space have; or joined before, or its group left a moment ago: give each run a new nonce"
#define TEXT_NO_MULTICAST \
	"has no address of an interface with multicast in a network that all hosts share (see ip address, COLLSOCK_NETWORK, the options network and family)"
#define TEXT_ALTERED \
	"did not get back what it gave to the exchange, which must not alter anything"
#define TEXT_NO_PACKETS "receives no packets: "
#define TEXT_FEW_PACKETS "has not received packets of all others: "

static bool text_has_user_ports(const struct joining *j)
{
	unsigned int host;

	for (host = 0; host < j->plan.host_count; host++)
		if (j->plan.hosts[host]->port)
			return true;
	return false;
}

static void text_no_packets(const struct joining *j, bool none, char *text, size_t bytes)
{
	const char *what = none ? TEXT_NO_PACKETS : TEXT_FEW_PACKETS;

	if (j->options.bearer == COLLSOCK_BEARER_ETHERNET)
		snprintf(text, bytes, "%sare all hosts in one Ethernet network?", what);
	else
		snprintf(text, bytes, "%sis UDP port %u%s open %s?", what, j->options.port,
			 text_has_user_ports(j) ? ", and those of COLLSOCK_USER_PORTS," : "",
			 none ? "on its host for all others" : "between all hosts");
}

/* The text of an error that has a special meaning in joining; else NULL */
static const char *text_of_error(const struct joining *j, int error, bool tried, char *text,
				 size_t bytes)
{
	bool ethernet = j->options.bearer == COLLSOCK_BEARER_ETHERNET;

	switch (error) {
	case -EADDRNOTAVAIL:
		if (ethernet)
			return TEXT_NO_NETWORK;
		if (tried && joining_options_multicast(&j->options))
			return TEXT_NO_MULTICAST;
		snprintf(text, bytes,
			 "has no address that others can reach (see ip address, COLLSOCK_NETWORK, the options network and family), or groups there do not use UDP port %u (collsock get port; the option port, or COLLSOCK_PORT)",
			 j->options.port);
		return text;
	case -EADDRINUSE:
		return TEXT_NO_PORT;
	case -EBADMSG:
		return TEXT_ALTERED;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		text_no_packets(j, error == -EHOSTUNREACH, text, bytes);
		return text;
	default:
		return NULL;
	}
}

void joining_text(const struct joining *j, struct joining_outcome o, bool tried, char *text,
		  size_t bytes)
{
	char what[TEXT_BYTES];
	const char *special = text_of_error(j, o.error, tried, what, sizeof(what));

	if (j->exchange_error)
		snprintf(text, bytes, "the exchange of addresses failed: %s", strerror(-o.error));
	else if (j->detail[0])
		snprintf(text, bytes, "%s", j->detail);
	else if (special)
		snprintf(text, bytes, "rank %u %s", o.rank, special);
	else if (tried)
		collsock_strerror(o.error, o.rank, text, bytes);
	else
		snprintf(text, bytes, "rank %u: %s", o.rank,
			 collsock_strerror(o.error, COLLSOCK_NO_RANK, what, sizeof(what)));
}
