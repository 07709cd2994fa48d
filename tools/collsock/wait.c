// SPDX-License-Identifier: GPL-2.0
/* For which rank everybody waits; and who was last in the past. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "culprit.h"
#include "groups.h"
#include "process.h"
#include "sentence.h"
#include "table.h"
#include "text.h"

#define DEFAULT_INTERVAL_S 1

/* ---- now ---- */

static void put_known(struct json_object *wait, const char *key, uint64_t value)
{
	if (value != CULPRIT_UNKNOWN)
		text_put(wait, key, value);
}

/* What is known of a rank of this host. */
static struct json_object *describe_rank(struct json_object *ranks, uint64_t number)
{
	struct json_object *rank;
	size_t i;

	for (i = 0; i < json_object_array_length(ranks); i++) {
		rank = json_object_array_get_idx(ranks, i);
		if (text_number(rank, "rank", CULPRIT_UNKNOWN) == number) {
			process_describe(rank);
			return json_object_get(rank);
		}
	}
	rank = json_object_new_object();
	text_put(rank, "rank", number);
	return rank;
}

static struct json_object *describe_ranks(struct netlink *n, struct json_object *group,
					  struct json_object *operation)
{
	struct json_object *missing = culprit_ranks(operation), *ranks, *found;
	size_t i;

	found = json_object_new_array();
	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP,
			     text_number(group, "handle", 0), decode_rank);
	for (i = 0; i < json_object_array_length(missing); i++) {
		struct json_object *number = json_object_array_get_idx(missing, i);

		json_object_array_add(found, describe_rank(ranks, json_object_get_uint64(number)));
	}
	json_object_put(ranks);
	json_object_put(missing);
	return found;
}

/* The end of a chain may be a host that this one speaks to as well. */
static void ask_peers(struct netlink *n, struct json_object *group, struct culprit *culprit)
{
	struct json_object *peers;
	size_t i;

	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP,
			     text_number(group, "handle", 0), decode_peer);
	for (i = 0; i < json_object_array_length(peers); i++) {
		struct json_object *peer = json_object_array_get_idx(peers, i);

		if (text_number(peer, "host", CULPRIT_UNKNOWN) == culprit->host &&
		    !strcmp(text_string(peer, "state", ""), "heard"))
			culprit->heard_ms = text_number(peer, "heard_ms", CULPRIT_UNKNOWN);
	}
	json_object_put(peers);
}

static struct json_object *describe(struct netlink *n, struct json_object *group,
				    struct json_object *operation)
{
	struct json_object *wait = json_object_new_object(), *hosts;
	struct culprit culprit;
	const char *address;
	char *words;

	culprit_find(&culprit, group, operation);
	if (culprit.reason == CULPRIT_TOLD || culprit.reason == CULPRIT_MISSED)
		ask_peers(n, group, &culprit);
	hosts = groups_hosts(n, group);
	address = groups_address(hosts, culprit.host);

	text_put(wait, "handle", text_number(group, "handle", 0));
	text_put(wait, "id", text_number(group, "id", 0));
	text_put(wait, "operation", text_number(operation, "number", 0));
	text_put_string(wait, "kind", text_string(operation, "operation", "?"));
	text_put(wait, "running_ms", text_number(operation, "waited_ms", 0));
	text_put_string(wait, "reason", culprit_reason_name(culprit.reason));
	put_known(wait, "rank", culprit.rank);
	put_known(wait, "host", culprit.host);
	if (address)
		text_put_string(wait, "address", address);
	put_known(wait, "via", culprit.via);
	put_known(wait, "awaited_operation", culprit.operation);
	put_known(wait, "silent_ms", culprit.silent_ms);
	put_known(wait, "heard_ms", culprit.heard_ms);
	put_known(wait, "told_ms", culprit.told_ms);
	text_put(wait, "liveness_ms", text_number(group, "liveness_ms", 0));
	text_put(wait, "chains", culprit.chains);
	text_put(wait, "of", culprit.of);
	if (culprit.reason == CULPRIT_HERE)
		json_object_object_add(wait, "ranks", describe_ranks(n, group, operation));
	words = sentence_of(wait);
	text_put_string(wait, "sentence", words);
	free(words);
	json_object_put(hosts);
	return wait;
}

/* One object for each group in which somebody waits. */
static struct json_object *look(struct netlink *n, struct json_object *groups)
{
	struct json_object *waits = json_object_new_array();
	size_t i;

	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *group = json_object_array_get_idx(groups, i);
		struct json_object *operations, *oldest;

		operations = netlink_dump(n, COLLSOCK_CMD_OPERATION_GET,
					  COLLSOCK_A_OPERATION_GROUP,
					  text_number(group, "handle", 0), decode_operation);
		oldest = culprit_operation(operations);
		if (oldest)
			json_object_array_add(waits, describe(n, group, oldest));
		json_object_put(operations);
	}
	return waits;
}

static void tell(struct json_object *waits)
{
	size_t i;

	if (options.json) {
		text_print(json_object_get(waits));
		fflush(stdout);
		return;
	}
	if (!json_object_array_length(waits))
		puts("nobody waits");
	for (i = 0; i < json_object_array_length(waits); i++)
		puts(text_string(json_object_array_get_idx(waits, i), "sentence", ""));
	fflush(stdout);
}

static void pause_for(double seconds)
{
	struct timespec rest = { .tv_sec = seconds };

	rest.tv_nsec = (seconds - rest.tv_sec) * 1e9;
	nanosleep(&rest, NULL);
}

static int look_on(struct netlink *n, char **words)
{
	double interval_s = options.interval_s ? options.interval_s : DEFAULT_INTERVAL_S;
	unsigned long looks = options.count ? options.count : !options.interval_s;
	struct json_object *groups, *waits;
	int status;

	for (;;) {
		groups = groups_select(n, words);
		waits = look(n, groups);
		tell(waits);
		status = json_object_array_length(waits) ? EXIT_WAITS : EXIT_DONE;
		json_object_put(waits);
		json_object_put(groups);
		if (looks && !--looks)
			return status;
		pause_for(interval_s);
	}
}

/* ---- in the past ---- */

static void add_last(struct json_object *all, struct json_object *group,
		     struct json_object *one, const char *what, const char *address)
{
	struct json_object *entry;
	char *who;

	if (!text_number(one, "last", 0))
		return;
	entry = json_object_new_object();
	text_put(entry, "handle", text_number(group, "handle", 0));
	text_put(entry, "id", text_number(group, "id", 0));
	text_put(entry, what, text_number(one, what, 0));
	if (address)
		text_put_string(entry, "address", address);
	text_put(entry, "last", text_number(one, "last", 0));
	who = address ? text_format("%s %s (%s)", what, text_string(one, what, ""), address) :
			text_format("%s %s, here", what, text_string(one, what, ""));
	text_put_string(entry, "who", who);
	free(who);
	json_object_array_add(all, entry);
}

/* Of one group: ranks of this host, and other hosts. */
static struct json_object *last_of(struct netlink *n, struct json_object *group)
{
	uint64_t handle = text_number(group, "handle", 0);
	struct json_object *all = json_object_new_array(), *ranks, *peers, *hosts;
	size_t i;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, handle, decode_rank);
	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP, handle, decode_peer);
	hosts = groups_hosts(n, group);
	for (i = 0; i < json_object_array_length(ranks); i++)
		add_last(all, group, json_object_array_get_idx(ranks, i), "rank", NULL);
	for (i = 0; i < json_object_array_length(peers); i++) {
		struct json_object *peer = json_object_array_get_idx(peers, i);
		const char *address = groups_address(hosts, text_number(peer, "host", 0));

		add_last(all, group, peer, "host", address ? address : "?");
	}
	json_object_put(hosts);
	json_object_put(peers);
	json_object_put(ranks);
	return all;
}

static int by_last(const void *a, const void *b)
{
	uint64_t last_a = text_number(*(struct json_object *const *)a, "last", 0);
	uint64_t last_b = text_number(*(struct json_object *const *)b, "last", 0);

	return (last_a < last_b) - (last_a > last_b);
}

static void add_shares(struct json_object *entries)
{
	size_t i, count = json_object_array_length(entries);
	uint64_t sum = 0, last;
	char text[TEXT_BYTES];

	for (i = 0; i < count; i++)
		sum += text_number(json_object_array_get_idx(entries, i), "last", 0);
	for (i = 0; i < count; i++) {
		struct json_object *entry = json_object_array_get_idx(entries, i);

		last = text_number(entry, "last", 0);
		json_object_object_add(entry, "share", json_object_new_double(100. * last / sum));
		if (!options.json)
			text_put_string(entry, "percent", text_share(text, last, sum));
	}
}

/* An entry, for another array. */
static struct json_object *take(struct json_object *entries, size_t i)
{
	return json_object_get(json_object_array_get_idx(entries, i));
}

static int tell_last(struct netlink *n, char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"handle",	TABLE_NUMBER },
		{ "LAST",	"last",		TABLE_NUMBER },
		{ "SHARE",	"percent",	TABLE_NUMBER },
		{ "WHO",	"who" },
		{ }
	};
	struct json_object *groups = groups_select(n, words), *all = json_object_new_array();
	size_t i, j;

	for (i = 0; i < json_object_array_length(groups); i++) {
		struct json_object *entries = last_of(n, json_object_array_get_idx(groups, i));

		json_object_array_sort(entries, by_last);
		add_shares(entries);
		for (j = 0; j < json_object_array_length(entries); j++)
			json_object_array_add(all, take(entries, j));
		json_object_put(entries);
	}
	table_show(columns, all);
	json_object_put(groups);
	return EXIT_DONE;
}

int command_wait(char **words)
{
	struct netlink n;
	int status;

	netlink_open(&n);
	status = options.last ? tell_last(&n, words) : look_on(&n, words);
	netlink_close(&n);
	return status;
}
