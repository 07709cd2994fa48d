// SPDX-License-Identifier: GPL-2.0
/* Lists of groups, hosts, ranks, peers, operations and users. */
#include <stdio.h>
#include <stdlib.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "process.h"
#include "show.h"
#include "table.h"
#include "text.h"

/* ---- groups ---- */

static void show_print_counters(struct json_object *group)
{
	struct json_object *stats = json_object_object_get(group, "stats");

	printf("group %s (handle %s):\n", text_string(group, "id", "-"),
	       text_string(group, "handle", "-"));
	json_object_object_foreach(stats, key, value)
		printf("  %-18s %s\n", key, json_object_get_string(value));
}

int show_group(char **words)
{
	static const struct table_column columns[] = {
		{ "HANDLE",	"handle",	TABLE_NUMBER },
		{ "ID",		"id",		TABLE_NUMBER },
		{ "STATE",	"state" },
		{ "ERROR",	"error" },
		{ "HOSTS",	"hosts",	TABLE_NUMBER },
		{ "RANKS",	"ranks",	TABLE_NUMBER },
		{ "HOST",	"host",		TABLE_NUMBER },
		{ "HERE",	"local_ranks",	TABLE_NUMBER },
		{ "JOINED",	"joined",	TABLE_NUMBER },
		{ "NEXT",	"next",		TABLE_NUMBER },
		{ "PEERS",	"peers",	TABLE_NUMBER },
		{ "MEMORY",	"memory",	TABLE_BYTES },
		{ "KEY",	"keyed" },
		{ "UID",	"uid",		TABLE_NUMBER },
		{ "AGE",	"age_ms",	TABLE_MS },
		{ "PID",	"pid",		TABLE_NUMBER },
		{ }
	};
	struct json_object *groups;
	struct replies selected;
	struct netlink n;
	size_t i;

	netlink_open_to_look(&n);
	selected = groups_select(&n, words);
	groups = decode_all(decode_group, &selected);
	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i);

		if (!options.statistics)
			json_object_object_del(group, "stats");
		else if (!options.json)
			show_print_counters(group);
	}
	if (options.json || !options.statistics)
		table_show(columns, groups);
	else
		json_object_put(groups);
	replies_free(&selected);
	netlink_close(&n);
	return EXIT_DONE;
}

/* ---- hosts, ranks and peers of groups ---- */

int show_host(char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"group",	TABLE_NUMBER },
		{ "HOST",	"host",		TABLE_NUMBER },
		{ "ADDRESS",	"address" },
		{ "PORT",	"port",		TABLE_NUMBER },
		{ "RANK",	"rank",		TABLE_NUMBER },
		{ "STATE",	"state" },
		{ }
	};
	struct replies groups;
	struct netlink n;

	netlink_open_to_look(&n);
	groups = groups_select(&n, words);
	table_show(columns, groups_list(&n, &groups, COLLSOCK_CMD_HOST_GET, COLLSOCK_A_HOST_GROUP,
					decode_host));
	replies_free(&groups);
	netlink_close(&n);
	return EXIT_DONE;
}

int show_rank(char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"group",	TABLE_NUMBER },
		{ "RANK",	"rank",		TABLE_NUMBER },
		{ "STATE",	"state" },
		{ "NEXT",	"next",		TABLE_NUMBER },
		{ "LAST",	"last",		TABLE_NUMBER },
		{ "PID",	"pid",		TABLE_NUMBER },
		{ "PROCESS",	"process" },
		{ "COMMAND",	"command" },
		{ }
	};
	struct json_object *ranks;
	struct replies groups;
	struct netlink n;
	size_t i;

	netlink_open_to_look(&n);
	groups = groups_select(&n, words);
	ranks = groups_list(&n, &groups, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, decode_rank);
	for (i = 0; i < json_object_array_length(ranks); i++)
		process_describe(json_object_array_get_idx(ranks, i));
	table_show(columns, ranks);
	replies_free(&groups);
	netlink_close(&n);
	return EXIT_DONE;
}

/* Add the peers of a group, with their addresses. */
static void show_add_peers(struct netlink *n, const struct reply *group, struct json_object *all)
{
	struct group_addresses addresses = groups_addresses(n, group);
	struct replies peers;
	size_t i;

	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP,
			     groups_handle(group));
	for (i = 0; i < peers.count; i++) {
		struct json_object *peer = decode(decode_peer, &peers.reply[i]);
		const char *address = groups_address(&addresses, text_number(peer, "host", 0));

		if (address)
			text_put_string(peer, "address", address);
		json_object_array_add(all, peer);
	}
	replies_free(&peers);
	groups_free_addresses(&addresses);
}

int show_peer(char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"group",	TABLE_NUMBER },
		{ "HOST",	"host",		TABLE_NUMBER },
		{ "ADDRESS",	"address" },
		{ "STATE",	"state" },
		{ "RTT",	"srtt_us",	TABLE_US },
		{ "VARIANCE",	"rttvar_us",	TABLE_US },
		{ "TIME-OUT",	"rto_us",	TABLE_US },
		{ "UNACKED",	"unacked",	TABLE_NUMBER },
		{ "HELD",	"held",		TABLE_NUMBER },
		{ "HEARD",	"heard_ms",	TABLE_MS },
		{ "SENT",	"packets",	TABLE_NUMBER },
		{ "AGAIN",	"retransmits",	TABLE_NUMBER },
		{ "LAST",	"last",		TABLE_NUMBER },
		{ }
	};
	struct json_object *peers = json_object_new_array();
	struct replies groups;
	struct netlink n;
	size_t i;

	netlink_open_to_look(&n);
	groups = groups_select(&n, words);
	for (i = 0; i < groups.count; i++)
		show_add_peers(&n, &groups.reply[i], peers);
	table_show(columns, peers);
	replies_free(&groups);
	netlink_close(&n);
	return EXIT_DONE;
}

/* ---- operations ---- */

/* "ranks 0 3, hosts 1 2": the first few that an operation waits for */
static char *show_waits_for(struct json_object *operation)
{
	static const size_t shown = 4;
	struct json_object *ranks = json_object_object_get(operation, "missing_rank");
	struct json_object *hosts = json_object_object_get(operation, "missing");
	char *text = NULL;
	size_t i, bytes;
	FILE *file;

	file = open_memstream(&text, &bytes);
	if (json_object_array_length(ranks))
		fputs("here rank", file);
	for (i = 0; i < json_object_array_length(ranks) && i < shown; i++)
		fprintf(file, " %s", json_object_get_string(json_object_array_get_idx(ranks, i)));
	if (i < text_number(operation, "unposted", i))
		fprintf(file, " and %ju more", text_number(operation, "unposted", i) - i);
	if (i && json_object_array_length(hosts))
		fputs("; ", file);
	if (json_object_array_length(hosts))
		fputs("host", file);
	for (i = 0; i < json_object_array_length(hosts) && i < shown; i++)
		fprintf(file, " %s", text_string(json_object_array_get_idx(hosts, i), "host", "-"));
	if (i < json_object_array_length(hosts))
		fprintf(file, " and %zu more", json_object_array_length(hosts) - i);
	fclose(file);
	return text;
}

int show_operation(char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"group",	TABLE_NUMBER },
		{ "NUMBER",	"number",	TABLE_NUMBER },
		{ "KIND",	"kind" },
		{ "STATE",	"state" },
		{ "TYPE",	"type" },
		{ "OP",		"op" },
		{ "ALGORITHM",	"algorithm" },
		{ "DEGREE",	"degree",	TABLE_NUMBER },
		{ "ROOT",	"root",		TABLE_NUMBER },
		{ "BYTES",	"bytes",	TABLE_NUMBER },
		{ "RUNNING",	"waited_ms",	TABLE_MS },
		{ "UNACKED",	"unacked",	TABLE_NUMBER },
		{ "WAITS FOR",	"waits_for" },
		{ }
	};
	struct json_object *all;
	struct replies groups;
	struct netlink n;
	size_t i;

	netlink_open_to_look(&n);
	groups = groups_select(&n, words);
	all = groups_list(&n, &groups, COLLSOCK_CMD_OPERATION_GET, COLLSOCK_A_OPERATION_GROUP,
			  decode_operation);
	for (i = 0; !options.json && i < json_object_array_length(all); i++) {
		struct json_object *operation = json_object_array_get_idx(all, i);
		char *text = show_waits_for(operation);

		if (text && *text)
			text_put_string(operation, "waits_for", text);
		free(text);
	}
	table_show(columns, all);
	replies_free(&groups);
	netlink_close(&n);
	return EXIT_DONE;
}

/* ---- users ---- */

int show_user(char **words)
{
	static const struct table_column columns[] = {
		{ "UID",	"uid",		TABLE_NUMBER },
		{ "GROUPS",	"groups",	TABLE_NUMBER },
		{ "OF",		"groups_limit",	TABLE_NUMBER },
		{ "MEMORY",	"memory",	TABLE_BYTES },
		{ "OF",		"memory_limit",	TABLE_BYTES },
		{ }
	};
	struct netlink n;

	command_no_more(words);
	netlink_open(&n);
	table_show(columns, netlink_list(&n, COLLSOCK_CMD_USER_GET, 0, 0, decode_user));
	netlink_close(&n);
	return EXIT_DONE;
}
