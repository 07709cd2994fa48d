// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "counters.h"
#include "netlink.h"
#include "stat.h"
#include "text.h"
#include "userspace.h"

#define PREFIX "collsock_"

/* ---- as text ---- */

static void stat_print_counters(struct json_object *net)
{
	const struct counter *c;
	uintmax_t value;

	for (c = counters_net; c->key; c++) {
		value = text_number(net, c->key, 0);
		printf("%-16s %s%ju%s", c->key,
		       text_color(value && c->advice ? COLOR_WARNING : COLOR_PLAIN), value,
		       text_color(COLOR_PLAIN));
		if (options.statistics)
			printf("%s%s", "\t", c->help);
		putchar('\n');
		if (options.statistics && value && c->advice)
			printf("%17s%s\n", "-> ", c->advice);
	}
}

static void stat_print_plain(struct json_object *net, struct json_object *in_user_space)
{
	if (net) {
		printf("%-17s%s\n", "version", text_string(net, "version", "-"));
		printf("%-17s%s\n", "socket family", text_string(net, "family", "-"));
		printf("%-17s%s\n", "UDP port", text_string(net, "port", "-"));
		stat_print_counters(net);
	}
	if (in_user_space) {
		printf("%sranks of this user in user space:\n", net ? "\n" : "");
		stat_print_counters(in_user_space);
	}
}

/* ---- in user space ---- */

/* The sums of all processes of this user; NULL if there is none */
static struct json_object *stat_sum_user_space(void)
{
	struct json_object *sum = NULL, *one;
	const struct counter *c;
	struct replies all = { };
	size_t i;

	userspace_dump(&all, COLLSOCK_CMD_NET_GET, 0, 0);
	if (all.count)
		sum = json_object_new_object();
	for (i = 0; i < all.count; i++) {
		one = decode(decode_net, &all.reply[i]);
		for (c = counters_net; c->key; c++)
			text_put(sum, c->key, text_number(sum, c->key, 0) +
					      text_number(one, c->key, 0));
		json_object_put(one);
	}
	replies_free(&all);
	return sum;
}

static void stat_print_json(struct json_object *net, struct json_object *in_user_space)
{
	struct json_object *object = net ? json_object_get(net) : json_object_new_object();

	if (in_user_space)
		json_object_object_add(object, "user_space", json_object_get(in_user_space));
	text_print(object);
}

/* ---- for Prometheus: text exposition format 0.0.4 ---- */

static void stat_describe(const struct counter *c)
{
	printf("# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", c->metric, c->help, c->metric,
	       c->gauge ? "gauge" : "counter");
}

/* Print a label with its value escaped. */
static void stat_print_label(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", stdout);
		else if (*value == '\\' || *value == '"')
			printf("\\%c", *value);
		else
			putchar(*value);
	}
	putchar('"');
}

static void stat_print_labels(struct json_object *group)
{
	putchar('{');
	stat_print_label("handle", text_string(group, "handle", ""));
	putchar(',');
	stat_print_label("id", text_string(group, "id", ""));
	putchar('}');
}

/* All samples of a metric must be consecutive. */
static void stat_print_groups(const struct counter *counters, struct json_object *groups,
			      const char *nest)
{
	size_t i, count = json_object_array_length(groups);
	const struct counter *c;

	for (c = counters; c->key && count; c++) {
		stat_describe(c);
		for (i = 0; i < count; i++) {
			struct json_object *group = json_object_array_get_idx(groups, i), *from;

			from = nest ? json_object_object_get(group, nest) : group;
			printf(PREFIX "%s", c->metric);
			stat_print_labels(group);
			printf(" %ju\n", (uintmax_t)text_number(from, c->key, 0));
		}
	}
}

static void stat_print_prometheus(struct netlink *n, struct json_object *net)
{
	struct json_object *groups;
	const struct counter *c;

	if (net) {
		printf("# HELP " PREFIX "info The loaded module.\n# TYPE " PREFIX "info gauge\n");
		printf(PREFIX "info{");
		stat_print_label("version", text_string(net, "version", ""));
		printf("} 1\n");
	}
	for (c = counters_net; net && c->key; c++) {
		stat_describe(c);
		printf(PREFIX "%s %ju\n", c->metric, (uintmax_t)text_number(net, c->key, 0));
	}
	groups = netlink_list(n, COLLSOCK_CMD_GROUP_GET, 0, 0, decode_group);
	stat_print_groups(counters_group, groups, NULL);
	stat_print_groups(counters_stats, groups, "stats");
	json_object_put(groups);
}

int stat_command(char **words)
{
	struct json_object *net = NULL, *in_user_space;
	struct netlink n;

	command_no_more(words);
	netlink_open_to_look(&n);
	if (netlink_has_module(&n))
		net = netlink_get(&n, COLLSOCK_CMD_NET_GET, decode_net);
	in_user_space = stat_sum_user_space();
	if (options.prometheus)
		stat_print_prometheus(&n, net);
	else if (options.json)
		stat_print_json(net, in_user_space);
	else
		stat_print_plain(net, in_user_space);
	json_object_put(in_user_space);
	json_object_put(net);
	netlink_close(&n);
	return EXIT_DONE;
}
