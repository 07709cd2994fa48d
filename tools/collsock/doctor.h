/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks with findings and advice. A check is one function that examines one thing and
 * reports its findings with doctor_say(). The facts are gathered once, in advance.
 */
#ifndef DOCTOR_H
#define DOCTOR_H

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

/* The sub-command "doctor". */
int doctor_command(char **words);

/* Add a finding, with advice or NULL. */
[[gnu::format(printf, 4, 5)]]
void doctor_say(struct doctor *d, enum doctor_result result, const char *advice,
		const char *form, ...);

/* The first number of a file, or -1. */
long doctor_read_number(const char *path);

void doctor_module(struct doctor *d);
void doctor_signatures(struct doctor *d);
void doctor_family(struct doctor *d);
void doctor_version(struct doctor *d);

void doctor_port(struct doctor *d);
void doctor_user_space(struct doctor *d);

void doctor_counters(struct doctor *d);
void doctor_groups(struct doctor *d);
void doctor_early_packets(struct doctor *d);

/*
 * Add the hosts named on the command line, or if there are none, hosts that groups here
 * have never heard from.
 */
void doctor_take_hosts(struct doctor *d, char **names);
bool doctor_has_host(const struct doctor *d, const char *address);
void doctor_firewall(struct doctor *d);
void doctor_route(struct doctor *d);
void doctor_mtu(struct doctor *d);
void doctor_reach(struct doctor *d);
void doctor_coalescing(struct doctor *d);

/* For how long a device delays packets */
void doctor_check_delays(struct doctor *d, const char *device);
void doctor_ethernet(struct doctor *d);

void doctor_multicast(struct doctor *d);

void doctor_timers(struct doctor *d);
void doctor_backlog(struct doctor *d);
void doctor_neighbours(struct doctor *d);
void doctor_idle_states(struct doctor *d);

#endif
