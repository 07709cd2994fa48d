// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include <linux/collsock.h>
#include <linux/collsock_netlink.h>

#include "command.h"
#include "doctor.h"
#include "doctor_ethernet.h"
#include "doctor_finding.h"
#include "doctor_machine.h"
#include "doctor_members.h"
#include "doctor_module.h"
#include "doctor_multicast.h"
#include "doctor_network.h"
#include "doctor_port.h"
#include "groups.h"
#include "text.h"

static const struct {
	const char	*name;
	void		(*run)(struct doctor *d);
	bool		needs_module;
} checks[] = {
	{ "module",		doctor_module },
	{ "signatures",		doctor_signatures },
	{ "socket family",	doctor_family,	true },
	{ "version",		doctor_version,	true },
	{ "port",		doctor_port },
	{ "user space",		doctor_user_space },
	{ "firewall",		doctor_firewall },
	{ "groups",		doctor_groups,	true },
	{ "early packets",		doctor_early_packets,	true },
	{ "counters",		doctor_counters, true },
	{ "route",		doctor_route },
	{ "packet size",	doctor_mtu },
	{ "reachability",	doctor_reach },
	{ "interrupts",		doctor_coalescing },
	{ "ethernet",		doctor_ethernet,	true },
	{ "multicast",		doctor_multicast,	true },
	{ "timers",		doctor_timers },
	{ "backlog",		doctor_backlog },
	{ "neighbours",		doctor_neighbours },
	{ "idle states",	doctor_idle_states },
};

static void doctor_gather(struct doctor *d)
{
	struct replies groups;

	d->findings = json_object_new_array();
	d->port = COLLSOCK_PORT;
	d->connected = !netlink_connect(&d->n);
	if (!d->connected)
		return;
	d->net = netlink_get(&d->n, COLLSOCK_CMD_NET_GET, decode_net);
	d->port = text_number(d->net, "port", COLLSOCK_PORT);
	groups = netlink_dump(&d->n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	d->groups = decode_all(decode_group, &groups);
	d->members = groups_list(&d->n, &groups, COLLSOCK_CMD_HOST_GET, COLLSOCK_A_HOST_GROUP,
				 decode_host);
	replies_free(&groups);
	d->early_packets = netlink_list(&d->n, COLLSOCK_CMD_EARLY_PACKET_GET, 0, 0,
					decode_early_packet);
}

static void doctor_release(struct doctor *d)
{
	json_object_put(d->findings);
	json_object_put(d->net);
	json_object_put(d->groups);
	json_object_put(d->members);
	json_object_put(d->early_packets);
	netlink_close(&d->n);
	free(d);
}

int doctor_command(char **words)
{
	struct doctor *d = calloc(1, sizeof(*d));
	int status;
	size_t i;

	if (!d)
		abort();
	doctor_gather(d);
	doctor_take_hosts(d, words);
	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		d->check = checks[i].name;
		if (d->connected || !checks[i].needs_module)
			checks[i].run(d);
	}
	if (options.json)
		text_print(json_object_get(d->findings));
	status = d->problems ? EXIT_PROBLEMS : EXIT_DONE;
	doctor_release(d);
	return status;
}
