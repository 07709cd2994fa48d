// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "match.h"
#include "text.h"

#define INDEX_MOST 65535

/**
 * struct selection - selected groups
 * @key: member that must equal @number, or NULL for all groups
 * @number: handle or id
 */
struct selection {
	const char	*key;
	uint64_t	number;
};

static struct selection groups_parse(char **words)
{
	static const char *const shows[] = { "show", "list", NULL };
	static const char *const names[] = { "group", "handle", "id", NULL };
	struct selection selection = { };
	int name;

	if (*words && match_prefix(*words, shows) >= 0)
		words++;
	if (!*words)
		return selection;
	name = match_prefix(*words, names);
	if (name >= 0 && !*++words)
		errx(EXIT_ERROR, "%s: which group? collsock group lists them", words[-1]);
	if (name == 0 && match_prefix(*words, names) == 2) {
		name = 2;
		if (!*++words)
			errx(EXIT_ERROR, "id: which group? collsock group lists them");
	}
	selection.key = name == 2 ? "id" : "handle";
	selection.number = command_number(selection.key, *words,
					  name == 2 ? UINT64_MAX : UINT32_MAX);
	command_no_more(words + 1);
	return selection;
}

static struct json_object *groups_matching(struct netlink *n, const struct selection *selection)
{
	struct json_object *all, *selected;
	size_t i;

	all = netlink_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0, decode_group);
	if (!selection->key)
		return all;
	selected = json_object_new_array();
	for (i = 0; i < json_object_array_length(all); i++) {
		struct json_object *group = json_object_array_get_idx(all, i);

		if (text_number(group, selection->key, 0) == selection->number)
			json_object_array_add(selected, json_object_get(group));
	}
	json_object_put(all);
	if (!json_object_array_length(selected))
		errx(EXIT_ERROR, "no group here has the %s %ju: collsock group lists them",
		     selection->key, (uintmax_t)selection->number);
	return selected;
}

struct json_object *groups_select(struct netlink *n, char **words)
{
	struct selection selection = groups_parse(words);

	return groups_matching(n, &selection);
}

struct json_object *groups_named(struct netlink *n, char **words)
{
	struct selection selection = groups_parse(words);

	if (!selection.key)
		errx(EXIT_ERROR, "which group? collsock group lists them");
	return groups_matching(n, &selection);
}

struct json_object *groups_dump(struct netlink *n, struct json_object *groups, uint8_t command,
				int attribute, const struct decode_field *set)
{
	struct json_object *all = json_object_new_array();
	size_t i, j;

	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i), *part;

		part = netlink_dump(n, command, attribute, text_number(group, "handle", 0), set);
		for (j = 0; j < json_object_array_length(part); j++)
			json_object_array_add(all,
					      json_object_get(json_object_array_get_idx(part, j)));
		json_object_put(part);
	}
	return all;
}

struct json_object *groups_hosts(struct netlink *n, struct json_object *group)
{
	struct json_object *dump, *hosts = json_object_new_array();
	uint64_t index;
	size_t i;

	dump = netlink_dump(n, COLLSOCK_CMD_HOST_GET, COLLSOCK_A_HOST_GROUP,
			    text_number(group, "handle", 0), decode_host);
	for (i = 0; i < json_object_array_length(dump); i++) {
		struct json_object *host = json_object_array_get_idx(dump, i);

		index = text_number(host, "host", UINT64_MAX);
		if (index <= INDEX_MOST)
			json_object_array_put_idx(hosts, index, json_object_get(host));
	}
	json_object_put(dump);
	return hosts;
}

const char *groups_address(struct json_object *hosts, uint64_t host)
{
	return text_string(json_object_array_get_idx(hosts, host), "address", NULL);
}
