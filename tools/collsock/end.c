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

/* Before any is ended */
static void end_check(const struct replies *groups)
{
	const struct reply *group;

	for (group = groups->reply; group < groups->reply + groups->count; group++)
		if (group->pid)
			errx(EXIT_ERROR, "group %u is in user space: end its process, %ju",
			     groups_handle(group), (uintmax_t)group->pid);
}

/* Return: is it ended? The error is in @n. */
static bool end_group(struct netlink *n, const struct reply *group)
{
	struct nl_msg *message = netlink_message(n, COLLSOCK_CMD_GROUP_END, 0);

	if (nla_put_u32(message, COLLSOCK_A_GROUP_HANDLE, groups_handle(group)))
		errx(EXIT_ERROR, "no memory for a request");
	netlink_do(n, message, NULL);
	/* It may have ended by itself meanwhile. */
	return !n->error || n->error == ENOENT;
}

/* The ranks that have joined, with their processes */
static struct json_object *end_holders(struct netlink *n, const struct reply *group)
{
	struct json_object *there = json_object_new_array(), *rank;
	const struct reply *reply;
	struct replies ranks;
	size_t i;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP,
			     groups_handle(group));
	for (i = 0; i < ranks.count; i++) {
		reply = &ranks.reply[i];
		if (reply_number(reply, COLLSOCK_A_RANK_STATE, COLLSOCK_RANK_STATE_ABSENT) !=
		    COLLSOCK_RANK_STATE_JOINED)
			continue;
		rank = decode(decode_rank, reply);
		process_describe(rank);
		json_object_array_add(there, rank);
	}
	replies_free(&ranks);
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

static struct json_object *end_describe(struct netlink *n, const struct reply *group)
{
	struct json_object *one = json_object_new_object();

	text_put(one, "handle", groups_handle(group));
	text_put(one, "id", reply_number(group, COLLSOCK_A_GROUP_ID, 0));
	json_object_object_add(one, "holders", end_holders(n, group));
	return one;
}

/* Groups that have ended are in @ended. Return: were all? The error is in @n. */
static bool end_all(struct netlink *n, const struct replies *groups, struct json_object *ended)
{
	struct json_object *one;
	size_t i;

	for (i = 0; i < groups->count; i++) {
		one = end_describe(n, &groups->reply[i]);
		if (!end_group(n, &groups->reply[i])) {
			json_object_put(one);
			return false;
		}
		json_object_array_add(ended, one);
		if (!options.json)
			end_print(one);
	}
	return true;
}

int end_command(char **words)
{
	struct json_object *ended = json_object_new_array();
	struct replies groups;
	struct netlink n;
	bool all;

	netlink_open_to_look(&n);
	groups = groups_named(&n, words);
	end_check(&groups);
	all = end_all(&n, &groups, ended);
	if (options.json && (all || json_object_array_length(ended)))
		text_print(json_object_get(ended));
	if (!all)
		netlink_fail(&n, "the group was not ended");
	json_object_put(ended);
	replies_free(&groups);
	netlink_close(&n);
	return EXIT_DONE;
}
