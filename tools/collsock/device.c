// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <net/if.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "device.h"
#include "netlink.h"
#include "table.h"
#include "text.h"

static void device_describe(struct json_object *device)
{
	char name[IF_NAMESIZE];

	if (if_indextoname(text_number(device, "ifindex", 0), name))
		text_put_string(device, "name", name);
	if (options.json)
		return;
	text_put_string(device, "users", text_number(device, "allowed", 0) ? "all" :
									    "CAP_NET_RAW");
	text_put_string(device, "state", text_flag(device, "open") ? "open" : "closed");
}

static void device_show(void)
{
	static const struct table_column columns[] = {
		{ "INDEX",	"ifindex",	TABLE_NUMBER },
		{ "NAME",	"name" },
		{ "USERS",	"users" },
		{ "STATE",	"state" },
		{ }
	};
	struct json_object *all;
	struct netlink n;
	size_t i;

	netlink_open(&n);
	all = netlink_list(&n, COLLSOCK_CMD_DEVICE_GET, 0, 0, decode_device);
	for (i = 0; i < json_object_array_length(all); i++)
		device_describe(json_object_array_get_idx(all, i));
	table_show(columns, all);
	netlink_close(&n);
}

/* "allow" or "deny"; exits if it is neither. */
static bool device_is_allowed(const char *name, const char *word)
{
	if (!word)
		errx(EXIT_ERROR, "device %s: allow or deny?", name);
	if (strcmp(word, "allow") && strcmp(word, "deny"))
		errx(EXIT_ERROR, "device %s: \"%s\" is not allow or deny", name, word);
	return !strcmp(word, "allow");
}

static void device_set(const char *name, bool allowed)
{
	unsigned int index = if_nametoindex(name);
	struct nl_msg *message;
	struct netlink n;

	if (!index)
		err(EXIT_ERROR, "device %s", name);
	netlink_open(&n);
	message = netlink_message(&n, COLLSOCK_CMD_DEVICE_SET, 0);
	if (nla_put_u32(message, COLLSOCK_A_DEVICE_IFINDEX, index) ||
	    nla_put_u8(message, COLLSOCK_A_DEVICE_ALLOWED, allowed))
		errx(EXIT_ERROR, "no memory for a request");
	netlink_do(&n, message, NULL);
	if (n.error)
		netlink_fail(&n, "nothing was changed");
	netlink_close(&n);
}

int device_command(char **words)
{
	if (!*words) {
		device_show();
		return EXIT_DONE;
	}
	if (words[1])
		command_no_more(words + 2);
	device_set(words[0], device_is_allowed(words[0], words[1]));
	return EXIT_DONE;
}
