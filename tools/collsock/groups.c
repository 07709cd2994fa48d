// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdlib.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "match.h"
#include "text.h"

#define HOSTS_MOST 65536

/**
 * struct selection - selected groups
 * @key: name of the attribute that must equal @number, or NULL for all groups
 * @attribute: this attribute
 * @number: handle or id
 */
struct selection {
	const char	*key;
	int		attribute;
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
	selection.attribute = name == 2 ? COLLSOCK_A_GROUP_ID : COLLSOCK_A_GROUP_HANDLE;
	selection.number = command_number(selection.key, *words,
					  name == 2 ? UINT64_MAX : UINT32_MAX);
	command_no_more(words + 1);
	return selection;
}

static struct replies groups_matching(struct netlink *n, const struct selection *selection)
{
	struct replies all, selected = { };
	size_t i;

	all = netlink_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	if (!selection->key)
		return all;
	for (i = 0; i < all.count; i++)
		if (reply_number(&all.reply[i], selection->attribute, 0) == selection->number)
			replies_add(&selected, &all.reply[i]);
	replies_free(&all);
	if (!selected.count)
		errx(EXIT_ERROR, "no group here has the %s %ju: collsock group lists them",
		     selection->key, (uintmax_t)selection->number);
	return selected;
}

struct replies groups_select(struct netlink *n, char **words)
{
	struct selection selection = groups_parse(words);

	return groups_matching(n, &selection);
}

struct replies groups_named(struct netlink *n, char **words)
{
	struct selection selection = groups_parse(words);

	if (!selection.key)
		errx(EXIT_ERROR, "which group? collsock group lists them");
	return groups_matching(n, &selection);
}

bool groups_are_all(char **words)
{
	return !groups_parse(words).key;
}

uint32_t groups_handle(const struct reply *group)
{
	return reply_number(group, COLLSOCK_A_GROUP_HANDLE, 0);
}

struct json_object *groups_list(struct netlink *n, const struct replies *groups, uint8_t command,
				int attribute, const struct decode_field *set)
{
	struct json_object *all = json_object_new_array();
	struct replies part;
	size_t i, j;

	for (i = 0; i < groups->count; i++) {
		part = netlink_dump(n, command, attribute, groups_handle(&groups->reply[i]));
		for (j = 0; j < part.count; j++)
			json_object_array_add(all, decode(set, &part.reply[j]));
		replies_free(&part);
	}
	return all;
}

/* ---- addresses ---- */

static char *groups_read_address(const struct reply *host)
{
	const struct nlattr *address = nla_find(host->head, host->bytes, COLLSOCK_A_HOST_ADDRESS);
	char text[REPLY_ADDRESS_BYTES];

	if (!address)
		return NULL;
	reply_address(text, address);
	if (reply_has(host, COLLSOCK_A_HOST_SCOPE_ID))
		reply_add_scope(text, reply_number(host, COLLSOCK_A_HOST_SCOPE_ID, 0));
	return text_format("%s", text);
}

static void groups_add_address(struct group_addresses *addresses, const struct reply *host)
{
	uint64_t index = reply_number(host, COLLSOCK_A_HOST_HOST, UINT64_MAX);

	if (index >= addresses->count)
		return;
	free(addresses->text[index]);
	addresses->text[index] = groups_read_address(host);
}

struct group_addresses groups_addresses(struct netlink *n, const struct reply *group)
{
	struct group_addresses addresses = { .count = HOSTS_MOST };
	struct replies hosts;
	size_t i;

	addresses.text = calloc(addresses.count, sizeof(*addresses.text));
	if (!addresses.text)
		err(EXIT_ERROR, "addresses");
	hosts = netlink_dump(n, COLLSOCK_CMD_HOST_GET, COLLSOCK_A_HOST_GROUP,
			     groups_handle(group));
	for (i = 0; i < hosts.count; i++)
		groups_add_address(&addresses, &hosts.reply[i]);
	replies_free(&hosts);
	return addresses;
}

void groups_free_addresses(struct group_addresses *addresses)
{
	size_t i;

	for (i = 0; i < addresses->count; i++)
		free(addresses->text[i]);
	free(addresses->text);
}

const char *groups_address(const struct group_addresses *addresses, uint64_t host)
{
	return host < addresses->count ? addresses->text[host] : NULL;
}
