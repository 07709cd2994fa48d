// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "last.h"
#include "siblings.h"
#include "table.h"
#include "text.h"

/**
 * struct last - a rank of this machine, or a host
 * @rank: number of the rank; NUMBER_UNKNOWN for a host
 * @host: number of the host, or of that of the rank
 * @times: how often it was last
 * @address: of the host; NULL for a rank
 */
struct last {
	uint64_t	rank;
	uint64_t	host;
	uint64_t	times;
	char		*address;
};

/**
 * struct lasts - all ranks and hosts that were ever last in a group
 * @handle: of the group, or of the first one of several processes
 * @id: of the group
 * @entry: the entries, at last the most frequent ones first
 * @count: number of @entry
 * @times: sum of their times
 */
struct lasts {
	uint64_t	handle;
	uint64_t	id;
	struct last	*entry;
	size_t		count;
	uint64_t	times;
};

/* ---- what one host has counted ---- */

static struct last *last_add(struct lasts *lasts)
{
	struct last *grown = realloc(lasts->entry, (lasts->count + 1) * sizeof(*grown));

	if (!grown)
		err(EXIT_ERROR, "what was found");
	lasts->entry = grown;
	return &grown[lasts->count++];
}

static void last_add_ranks(struct lasts *lasts, struct netlink *n, const struct reply *group)
{
	const struct reply *rank;
	struct replies ranks;
	size_t i;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP,
			     groups_handle(group));
	for (i = 0; i < ranks.count; i++) {
		rank = &ranks.reply[i];
		*last_add(lasts) = (struct last){
			.rank	= reply_number(rank, COLLSOCK_A_RANK_RANK, 0),
			.host	= reply_number(group, COLLSOCK_A_GROUP_HOST, NUMBER_UNKNOWN),
			.times	= reply_number(rank, COLLSOCK_A_RANK_LAST, 0),
		};
	}
	replies_free(&ranks);
}

static bool last_is_host(const struct last *last)
{
	return last->rank == NUMBER_UNKNOWN;
}

/* The host, or its rank if it is here and has only one. NULL if it is not in the list */
static struct last *last_find(const struct lasts *lasts, uint64_t host)
{
	struct last *found = NULL, *rank = NULL;
	size_t i, ranks = 0;

	for (i = 0; i < lasts->count; i++) {
		if (lasts->entry[i].host != host)
			continue;
		if (last_is_host(&lasts->entry[i])) {
			found = &lasts->entry[i];
		} else {
			rank = &lasts->entry[i];
			ranks++;
		}
	}
	return ranks == 1 ? rank : found;
}

static void last_add_peers(struct lasts *lasts, struct netlink *n, const struct reply *group)
{
	struct group_addresses addresses = groups_addresses(n, group);
	struct replies peers;
	const char *address;
	struct last *last;
	uint64_t host;
	size_t i;

	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP,
			     groups_handle(group));
	for (i = 0; i < peers.count; i++) {
		host = reply_number(&peers.reply[i], COLLSOCK_A_PEER_HOST, 0);
		last = last_find(lasts, host);
		if (!last) {
			last = last_add(lasts);
			address = groups_address(&addresses, host);
			*last = (struct last){
				.rank = NUMBER_UNKNOWN, .host = host,
				.address = text_format("%s", address ? address : "?"),
			};
		}
		last->times += reply_number(&peers.reply[i], COLLSOCK_A_PEER_LAST, 0);
	}
	replies_free(&peers);
	groups_free_addresses(&addresses);
}

/* ---- one list for all processes in a group ---- */

static int last_compare(const void *a, const void *b)
{
	const struct last *one = a, *other = b;

	return (one->times < other->times) - (one->times > other->times);
}

/* Read the lists of the first group and of the later ones that are the same group. */
static void last_read(struct netlink *n, struct lasts *lasts, const struct reply *first,
		      size_t count)
{
	size_t i;

	*lasts = (struct lasts){
		.handle = groups_handle(first), .id = reply_number(first, COLLSOCK_A_GROUP_ID, 0)
	};
	for (i = 0; i < count; i++)
		if (siblings_are(&first[i], first))
			last_add_ranks(lasts, n, &first[i]);
	for (i = 0; i < count; i++)
		if (siblings_are(&first[i], first))
			last_add_peers(lasts, n, &first[i]);
	for (i = 0; i < lasts->count; i++)
		lasts->times += lasts->entry[i].times;
	qsort(lasts->entry, lasts->count, sizeof(*lasts->entry), last_compare);
}

static void last_free(struct lasts *lasts)
{
	size_t i;

	for (i = 0; i < lasts->count; i++)
		free(lasts->entry[i].address);
	free(lasts->entry);
}

/* ---- output ---- */

static struct json_object *last_json(const struct lasts *lasts, const struct last *last)
{
	struct json_object *row = json_object_new_object();
	bool is_host = last_is_host(last);
	char text[TEXT_BYTES], *who;

	text_put(row, "handle", lasts->handle);
	text_put(row, "id", lasts->id);
	text_put(row, is_host ? "host" : "rank", is_host ? last->host : last->rank);
	if (is_host)
		text_put_string(row, "address", last->address);
	text_put(row, "last", last->times);
	who = is_host ? text_format("host %ju (%s)", (uintmax_t)last->host, last->address) :
			text_format("rank %ju, here", (uintmax_t)last->rank);
	text_put_string(row, "who", who);
	free(who);
	json_object_object_add(row, "share",
			       json_object_new_double(100. * last->times / lasts->times));
	if (!options.json)
		text_put_string(row, "percent", text_share(text, last->times, lasts->times));
	return row;
}

static void last_add_rows(struct json_object *rows, const struct lasts *lasts)
{
	size_t i;

	for (i = 0; i < lasts->count && lasts->entry[i].times; i++)
		json_object_array_add(rows, last_json(lasts, &lasts->entry[i]));
}

static bool last_is_first(const struct replies *groups, size_t which)
{
	size_t i;

	for (i = 0; i < which; i++)
		if (siblings_are(&groups->reply[i], &groups->reply[which]))
			return false;
	return true;
}

int last_show(struct netlink *n, char **words)
{
	static const struct table_column columns[] = {
		{ "GROUP",	"handle",	TABLE_NUMBER },
		{ "LAST",	"last",		TABLE_NUMBER },
		{ "SHARE",	"percent",	TABLE_NUMBER },
		{ "WHO",	"who" },
		{ }
	};
	struct json_object *rows = json_object_new_array();
	struct replies groups = groups_select(n, words);
	struct lasts lasts;
	size_t i;

	for (i = 0; i < groups.count; i++) {
		if (!last_is_first(&groups, i))
			continue;
		last_read(n, &lasts, &groups.reply[i], groups.count - i);
		last_add_rows(rows, &lasts);
		last_free(&lasts);
	}
	table_show(columns, rows);
	replies_free(&groups);
	return EXIT_DONE;
}
