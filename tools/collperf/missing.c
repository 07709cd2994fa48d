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
				   const struct reply *reply)
{
	struct operation o;
	size_t i;

	operation_read(&o, reply);
	for (i = 0; i < o.host_count; i++)
		missing_add(missing, hosts, o.hosts[i].awaits_host != NUMBER_UNKNOWN ?
			    o.hosts[i].awaits_host : o.hosts[i].host);
	operation_free(&o);
}

/* Does it run, and is it of the module or of this process? */
static bool missing_is_ours(const struct reply *group, uint64_t id)
{
	return reply_number(group, COLLSOCK_A_GROUP_ID, 0) == id &&
	       reply_number(group, COLLSOCK_A_GROUP_STATE, COLLSOCK_GROUP_STATE_FAILED) ==
	       COLLSOCK_GROUP_STATE_RUNNING &&
	       (!group->pid || group->pid == (uint64_t)getpid());
}

static void missing_read_group(struct missing *missing, struct netlink *n,
			       const struct hosts *hosts, const struct reply *group)
{
	struct replies operations;
	size_t i;

	operations = netlink_try_dump(n, COLLSOCK_CMD_OPERATION_GET, COLLSOCK_A_OPERATION_GROUP,
				      reply_number(group, COLLSOCK_A_GROUP_HANDLE, 0));
	for (i = 0; i < operations.count; i++)
		missing_read_operation(missing, hosts, &operations.reply[i]);
	replies_free(&operations);
}

/*
 * Several groups have the same id if others are still lingering. If a request fails, no host is
 * named.
 */
static void missing_read(struct missing *missing, struct netlink *n, uint64_t id,
			 const struct hosts *hosts)
{
	struct replies groups = netlink_try_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	size_t i;

	for (i = 0; i < groups.count && !n->error; i++)
		if (missing_is_ours(&groups.reply[i], id))
			missing_read_group(missing, n, hosts, &groups.reply[i]);
	replies_free(&groups);
	if (n->error)
		missing->count = 0;
}

static uint64_t missing_join_timeout(struct netlink *n)
{
	struct json_object *reply, *all, *tunable;
	uint64_t timeout_ms = NUMBER_UNKNOWN;
	size_t i;

	reply = netlink_try_get(n, COLLSOCK_CMD_TUNABLE_GET, decode_tunables);
	if (!reply)
		return timeout_ms;
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
