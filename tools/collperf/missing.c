// SPDX-License-Identifier: GPL-2.0
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/collsock_netlink.h>

#include "../collsock/netlink.h"
#include "../collsock/operation.h"
#include "../collsock/text.h"
#include "missing.h"

#define HOSTS_TOLD 8

/**
 * struct missing - hosts that are waited for
 * @is: for each host, whether it is missing
 * @count: number of missing hosts
 */
struct missing {
	bool		*is;
	unsigned int	count;
};

static void missing_add(struct missing *missing, const struct hosts *hosts, uint64_t host)
{
	if (host >= hosts->count || missing->is[host])
		return;
	missing->is[host] = true;
	missing->count++;
}

/* A host never heard from is missing itself; others have reported which host they wait for. */
static void missing_read_operation(struct missing *missing, const struct hosts *hosts,
				   struct json_object *reply)
{
	struct operation o;
	size_t i;

	operation_read(&o, reply);
	for (i = 0; i < o.host_count; i++)
		missing_add(missing, hosts, o.hosts[i].awaits_host != NUMBER_UNKNOWN ?
			    o.hosts[i].awaits_host : o.hosts[i].host);
	operation_free(&o);
}

/* Is it in user space, in another process? */
static bool missing_is_of_another(struct json_object *group)
{
	uint64_t pid = text_number(group, "pid", 0);

	return pid && pid != (uint64_t)getpid();
}

/* Several groups have the same id if others are still lingering. */
static void missing_read(struct missing *missing, struct netlink *n, uint64_t id,
			 const struct hosts *hosts)
{
	struct json_object *groups, *operations;
	size_t i, j;

	groups = netlink_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0, decode_group);
	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i);

		if (text_number(group, "id", 0) != id || missing_is_of_another(group) ||
		    strcmp(text_string(group, "state", ""), "running"))
			continue;
		operations = netlink_dump(n, COLLSOCK_CMD_OPERATION_GET,
					  COLLSOCK_A_OPERATION_GROUP,
					  text_number(group, "handle", 0), decode_operation);
		for (j = 0; j < json_object_array_length(operations); j++)
			missing_read_operation(missing, hosts,
					       json_object_array_get_idx(operations, j));
		json_object_put(operations);
	}
	json_object_put(groups);
}

static uint64_t missing_join_timeout(struct netlink *n)
{
	struct json_object *reply, *all, *tunable;
	uint64_t timeout_ms = NUMBER_UNKNOWN;
	size_t i;

	reply = netlink_get(n, COLLSOCK_CMD_TUNABLE_GET, decode_tunables);
	all = json_object_object_get(reply, "tunables");
	for (i = 0; i < json_object_array_length(all); i++) {
		tunable = json_object_array_get_idx(all, i);
		if (!strcmp(text_string(tunable, "name", ""), "join_timeout_ms"))
			timeout_ms = text_number(tunable, "value", NUMBER_UNKNOWN);
	}
	json_object_put(reply);
	return timeout_ms;
}

static void missing_print_hosts(const struct missing *missing, const struct hosts *hosts)
{
	const char *before = "";
	unsigned int i, told = 0;
	char text[NI_MAXHOST];

	for (i = 0; i < hosts->count && told < HOSTS_TOLD; i++) {
		if (!missing->is[i] || !hosts_text(hosts, i, text))
			continue;
		fprintf(stderr, "%s%s (rank %u)", before, text, i);
		before = ", ";
		told++;
	}
	if (missing->count > told)
		fprintf(stderr, " and %u more", missing->count - told);
}

void missing_print(uint64_t id, const struct hosts *hosts, uint64_t waited_ms)
{
	struct missing missing = { .is = calloc(hosts->count, sizeof(*missing.is)) };
	uint64_t timeout_ms = NUMBER_UNKNOWN;
	char text[TEXT_BYTES];
	struct netlink n;

	if (missing.is) {
		netlink_connect(&n);
		missing_read(&missing, &n, id, hosts);
		if (netlink_has_module(&n))
			timeout_ms = missing_join_timeout(&n);
		netlink_close(&n);
	}
	fputs("collperf: waiting for ", stderr);
	if (missing.count)
		missing_print_hosts(&missing, hosts);
	else
		fputs("the other hosts", stderr);
	if (timeout_ms != NUMBER_UNKNOWN && timeout_ms > waited_ms)
		fprintf(stderr, " for up to %s more", text_ms(text, timeout_ms - waited_ms));
	fputs("; \"collsock wait\" and \"collsock doctor\" have details\n", stderr);
	free(missing.is);
}
