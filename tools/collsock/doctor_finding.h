/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the checks of doctor share. A check is one function that examines one thing and
 * reports its findings with doctor_say(). The facts are gathered once, in advance.
 */
#ifndef DOCTOR_FINDING_H
#define DOCTOR_FINDING_H

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "netlink.h"

enum doctor_result {
	DOCTOR_OK,
	DOCTOR_NOTE,	/* correct, but could be faster */
	DOCTOR_WARNING,
	DOCTOR_PROBLEM,
};

#define DOCTOR_HOSTS 64
#define DOCTOR_DEVICE_BYTES 64
#define DOCTOR_NUMERIC	(INET6_ADDRSTRLEN + IF_NAMESIZE)

/**
 * struct doctor_host - a host given by name, or one that groups here have not heard from
 * @name: name as given
 * @numeric: its address; a link-local one with its interface
 * @address: the same in binary
 * @bytes: length of @address
 * @source: address of this host on the route to it
 * @device: network device of the route; empty if unknown
 * @mtu: of the route
 * @routed: there is a route
 */
struct doctor_host {
	char			name[NI_MAXHOST];
	char			numeric[DOCTOR_NUMERIC];
	struct sockaddr_storage	address;
	socklen_t		bytes;
	char			source[DOCTOR_NUMERIC];
	char			device[DOCTOR_DEVICE_BYTES];
	int			mtu;
	bool			routed;
};

/**
 * struct doctor - facts for the checks, and their findings
 * @n: connection to the module, if @connected
 * @connected: the netlink family exists
 * @net: the namespace
 * @groups: array
 * @members: array of the hosts of all groups
 * @early_packets: array
 * @hosts: hosts whose routes are checked
 * @host_count: number of @hosts
 * @port: UDP port
 * @findings: array of findings
 * @check: name of the current check
 * @problems: number of problems found
 */
struct doctor {
	struct netlink		n;
	bool			connected;
	struct json_object	*net;
	struct json_object	*groups;
	struct json_object	*members;
	struct json_object	*early_packets;
	struct doctor_host	hosts[DOCTOR_HOSTS];
	unsigned int		host_count;
	unsigned int		port;
	struct json_object	*findings;
	const char		*check;
	unsigned int		problems;
};

/* Add a finding, with advice or NULL. */
[[gnu::format(printf, 4, 5)]]
void doctor_say(struct doctor *d, enum doctor_result result, const char *advice,
		const char *form, ...);

/* Is the route to the host with this address checked? */
bool doctor_has_host(const struct doctor *d, const char *address);

/* The first number of a file, or -1. */
long doctor_read_number(const char *path);

#endif
