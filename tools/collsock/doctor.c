// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock.h>
#include <linux/collsock_netlink.h>

#include "command.h"
#include "doctor.h"
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

static const char *doctor_result_name(enum doctor_result result)
{
	static const char *const names[] = { "ok", "note", "warning", "problem" };

	return names[result];
}

static void doctor_print(enum doctor_result result, struct json_object *finding)
{
	static const enum text_color colors[] = {
		COLOR_GOOD, COLOR_NAME, COLOR_WARNING, COLOR_BAD
	};

	printf("%s%-8s%s %-14s %s\n", text_color(colors[result]), doctor_result_name(result),
	       text_color(COLOR_PLAIN), text_string(finding, "check", ""),
	       text_string(finding, "finding", ""));
	if (text_has(finding, "advice"))
		printf("%23s -> %s\n", "", text_string(finding, "advice", ""));
	fflush(stdout);
}

void doctor_say(struct doctor *d, enum doctor_result result, const char *advice,
		const char *form, ...)
{
	struct json_object *finding = json_object_new_object();
	va_list arguments;
	char *text;

	va_start(arguments, form);
	if (vasprintf(&text, form, arguments) < 0)
		abort();
	va_end(arguments);
	text_put_string(finding, "check", d->check);
	text_put_string(finding, "result", doctor_result_name(result));
	text_put_string(finding, "finding", text);
	if (advice)
		text_put_string(finding, "advice", advice);
	free(text);
	d->problems += result == DOCTOR_PROBLEM;
	if (!options.json)
		doctor_print(result, finding);
	json_object_array_add(d->findings, finding);
}

long doctor_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

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
