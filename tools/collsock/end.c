// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "end.h"
#include "groups.h"
#include "process.h"
#include "text.h"

static void end_group(struct netlink *n, struct json_object *group)
{
	struct nl_msg *message;

	if (text_number(group, "pid", 0))
		errx(EXIT_ERROR, "group %s is in user space: end its process, %s",
		     text_string(group, "handle", ""), text_string(group, "pid", ""));
	message = netlink_message(n, COLLSOCK_CMD_GROUP_END, 0);
	if (nla_put_u32(message, COLLSOCK_A_GROUP_HANDLE, text_number(group, "handle", 0)))
		errx(EXIT_ERROR, "no memory for a request");
	netlink_do(n, message, NULL);
	/* It may have ended by itself meanwhile. */
	if (n->error && n->error != ENOENT)
		netlink_fail(n, "the group was not ended");
}

/* The ranks that have joined, with their processes */
static struct json_object *end_holders(struct netlink *n, struct json_object *group)
{
	struct json_object *ranks, *there = json_object_new_array();
	size_t i;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP,
			     text_number(group, "handle", 0), decode_rank);
	for (i = 0; i < json_object_array_length(ranks); i++) {
		struct json_object *rank = json_object_array_get_idx(ranks, i);

		if (strcmp(text_string(rank, "state", ""), "joined"))
			continue;
		process_describe(rank);
		json_object_array_add(there, json_object_get(rank));
	}
	json_object_put(ranks);
	return there;
}

static void end_print(struct json_object *ended)
{
	struct json_object *ranks = json_object_object_get(ended, "holders");
	size_t i;

	printf("group %s (handle %s) has ended on this host\n", text_string(ended, "id", ""),
	       text_string(ended, "handle", ""));
	for (i = 0; i < json_object_array_length(ranks); i++) {
		struct json_object *rank = json_object_array_get_idx(ranks, i);

		printf("rank %s: process %s (%s) still holds its socket\n",
		       text_string(rank, "rank", ""), text_string(rank, "pid", "unknown"),
		       text_string(rank, "command", "not visible here"));
	}
}

int end_command(char **words)
{
	struct json_object *groups, *ended = json_object_new_array();
	struct netlink n;
	size_t i;

	netlink_open_to_look(&n);
	groups = groups_named(&n, words);
	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i), *one;

		one = json_object_new_object();
		text_put(one, "handle", text_number(group, "handle", 0));
		text_put(one, "id", text_number(group, "id", 0));
		json_object_object_add(one, "holders", end_holders(&n, group));
		end_group(&n, group);
		json_object_array_add(ended, one);
		if (!options.json)
			end_print(one);
	}
	if (options.json)
		text_print(json_object_get(ended));
	json_object_put(ended);
	json_object_put(groups);
	netlink_close(&n);
	return EXIT_DONE;
}
