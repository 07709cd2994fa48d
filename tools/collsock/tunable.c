// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "match.h"
#include "netlink.h"
#include "table.h"
#include "text.h"
#include "tunable.h"

/* Query the kernel's list of tunables; this command has no list of its own. */
static struct json_object *tunable_all(struct netlink *n)
{
	struct json_object *reply, *all;

	reply = netlink_get(n, COLLSOCK_CMD_TUNABLE_GET, decode_tunables);
	all = json_object_get(json_object_object_get(reply, "tunables"));
	json_object_put(reply);
	return all;
}

/* Their names, ended by NULL, valid as long as @all */
static const char **tunable_names(struct json_object *all)
{
	size_t i, count = json_object_array_length(all);
	const char **names = calloc(count + 1, sizeof(*names));

	if (!names)
		err(EXIT_ERROR, "the tunables");
	for (i = 0; i < count; i++)
		names[i] = text_string(json_object_array_get_idx(all, i), "name", "");
	return names;
}

/* The tunable with this name; exits if there is none. */
static struct json_object *tunable_find(struct json_object *all, const char *name)
{
	const char **names = tunable_names(all);
	struct json_object *found;
	int i, nearest;

	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			break;
	nearest = match_nearest(name, names);
	if (!names[i] && nearest != MATCH_NONE)
		errx(EXIT_ERROR, "\"%s\" is not a tunable; is it %s? collsock get lists all", name,
		     names[nearest]);
	if (!names[i])
		errx(EXIT_ERROR, "\"%s\" is not a tunable: collsock get lists them", name);
	found = json_object_array_get_idx(all, i);
	free(names);
	return found;
}

static void tunable_add_range(struct json_object *tunable)
{
	char *range = text_format("%s to %s", text_string(tunable, "minimum", "-"),
				  text_string(tunable, "maximum", "-"));

	text_put_string(tunable, "range", range);
	text_put_string(tunable, "set", text_flag(tunable, "own") ? "here" : "-");
	free(range);
}

int tunable_get(char **words)
{
	static const struct table_column columns[] = {
		{ "NAME",	 "name" },
		{ "VALUE",	 "value",	TABLE_NUMBER },
		{ "UNIT",	 "unit" },
		{ "RANGE",	 "range" },
		{ "DEFAULT",	 "default",	TABLE_NUMBER },
		{ "SET",	 "set" },
		{ "DESCRIPTION", "description" },
		{ }
	};
	struct json_object *all, *chosen;
	struct netlink n;
	size_t i;

	netlink_open(&n);
	all = tunable_all(&n);
	chosen = *words ? json_object_new_array() : json_object_get(all);
	for (; *words; words++)
		json_object_array_add(chosen, json_object_get(tunable_find(all, *words)));
	for (i = 0; !options.json && i < json_object_array_length(chosen); i++)
		tunable_add_range(json_object_array_get_idx(chosen, i));
	table_show(columns, chosen);
	json_object_put(all);
	netlink_close(&n);
	return EXIT_DONE;
}

static void tunable_put(struct nl_msg *message, const char *name, const char *value)
{
	struct nlattr *nest = nla_nest_start(message, COLLSOCK_A_TUNABLES_TUNABLE);
	int status;

	status = nest ? nla_put_string(message, COLLSOCK_A_TUNABLE_NAME, name) : -1;
	if (!status && !strcmp(value, "default"))
		status = nla_put_flag(message, COLLSOCK_A_TUNABLE_RESET);
	else if (!status)
		status = nla_put_u32(message, COLLSOCK_A_TUNABLE_VALUE,
				     command_number(name, value, UINT32_MAX));
	if (status)
		errx(EXIT_ERROR, "too many tunables at once");
	nla_nest_end(message, nest);
}

int tunable_set(char **words)
{
	struct json_object *all;
	struct nl_msg *message;
	struct netlink n;

	if (!*words)
		errx(EXIT_ERROR, "set: which tunable? collsock get lists them");
	netlink_open(&n);
	all = tunable_all(&n);
	message = netlink_message(&n, COLLSOCK_CMD_TUNABLE_SET, 0);
	for (; *words; words += 2) {
		tunable_find(all, *words);
		if (!words[1])
			errx(EXIT_ERROR, "%s: which value? \"default\" is one, too", *words);
		tunable_put(message, words[0], words[1]);
	}
	netlink_do(&n, message, NULL);
	if (n.error)
		netlink_fail(&n, "nothing was set");
	json_object_put(all);
	netlink_close(&n);
	return EXIT_DONE;
}
