// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "groups.h"
#include "last.h"
#include "report.h"
#include "sentence.h"
#include "siblings.h"
#include "text.h"
#include "wait.h"

#define DEFAULT_INTERVAL_S 1

static void *wait_array(size_t count, size_t bytes)
{
	void *array = calloc(count ? count : 1, bytes);

	if (!array)
		err(EXIT_ERROR, "what was found");
	return array;
}

/* ---- current operations: findings ---- */

/* Read what is known about a rank of this host. */
static void wait_read_rank(struct report_rank *found, uint64_t number, const struct replies *ranks)
{
	size_t i;

	*found = (struct report_rank){
		.rank = number, .next = NUMBER_UNKNOWN, .last = NUMBER_UNKNOWN
	};
	for (i = 0; i < ranks->count; i++)
		if (reply_number(&ranks->reply[i], COLLSOCK_A_RANK_RANK, NUMBER_UNKNOWN) == number)
			break;
	if (i < ranks->count)
		report_read_rank(found, &ranks->reply[i]);
}

static void wait_read_ranks(struct netlink *n, struct report *report, const struct operation *o)
{
	struct replies ranks;

	report->ranks = wait_array(o->rank_count, sizeof(*report->ranks));
	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, report->handle);
	for (; report->rank_count < o->rank_count; report->rank_count++)
		wait_read_rank(&report->ranks[report->rank_count], o->ranks[report->rank_count],
			       &ranks);
	replies_free(&ranks);
}

/* The end of a chain may be a host that this one has heard from itself. */
static void wait_read_peers(struct netlink *n, struct report *report)
{
	struct culprit *culprit = &report->culprit;
	const struct reply *peer;
	struct replies peers;
	size_t i;

	peers = netlink_dump(n, COLLSOCK_CMD_PEER_GET, COLLSOCK_A_PEER_GROUP, report->handle);
	for (i = 0; i < peers.count; i++) {
		peer = &peers.reply[i];
		if (reply_number(peer, COLLSOCK_A_PEER_HOST, NUMBER_UNKNOWN) == culprit->host &&
		    reply_number(peer, COLLSOCK_A_PEER_STATE, COLLSOCK_HOST_STATE_UNKNOWN) ==
		    COLLSOCK_HOST_STATE_HEARD)
			culprit->heard_ms = reply_number(peer, COLLSOCK_A_PEER_HEARD_MS,
							 NUMBER_UNKNOWN);
	}
	replies_free(&peers);
}

static void wait_read_address(struct netlink *n, struct report *report, const struct reply *group)
{
	struct group_addresses addresses = groups_addresses(n, group);
	const char *address = groups_address(&addresses, report->culprit.host);

	if (address)
		report->address = text_format("%s", address);
	groups_free_addresses(&addresses);
}

static void wait_report(struct netlink *n, struct report *report, const struct reply *group,
			const struct operation *o)
{
	*report = (struct report){
		.handle		= groups_handle(group),
		.id		= reply_number(group, COLLSOCK_A_GROUP_ID, 0),
		.uid		= reply_number(group, COLLSOCK_A_GROUP_UID, NUMBER_UNKNOWN),
		.liveness_ms	= reply_number(group, COLLSOCK_A_GROUP_LIVENESS_MS, 0),
		.operation	= o->number,
		.kind		= text_format("%s", o->kind),
		.running_ms	= o->waited_ms == NUMBER_UNKNOWN ? 0 : o->waited_ms,
	};
	culprit_find(&report->culprit, o,
		     reply_number(group, COLLSOCK_A_GROUP_HOST, NUMBER_UNKNOWN),
		     report->liveness_ms);
	if (report->culprit.reason == CULPRIT_TOLD || report->culprit.reason == CULPRIT_MISSED)
		wait_read_peers(n, report);
	if (report->culprit.reason == CULPRIT_HERE)
		wait_read_ranks(n, report, o);
	wait_read_address(n, report, group);
}

/* Find the oldest operation of a group that waits. Return: whether there is one. */
static bool wait_find_operation(struct netlink *n, uint32_t handle, struct operation *oldest)
{
	struct replies replies;
	struct operation o;
	bool found = false;
	size_t i;

	replies = netlink_dump(n, COLLSOCK_CMD_OPERATION_GET, COLLSOCK_A_OPERATION_GROUP, handle);
	for (i = 0; i < replies.count; i++) {
		operation_read(&o, &replies.reply[i]);
		if (!operation_waits(&o) || (found && !operation_is_older(&o, oldest))) {
			operation_free(&o);
			continue;
		}
		if (found)
			operation_free(oldest);
		*oldest = o;
		found = true;
	}
	replies_free(&replies);
	return found;
}

/* Fill in a report for each group in which an operation waits. Return: their number. */
static size_t wait_look(struct netlink *n, const struct replies *groups, struct report *reports)
{
	struct operation oldest;
	size_t i, count = 0;

	for (i = 0; i < groups->count; i++) {
		const struct reply *group = &groups->reply[i];

		if (!wait_find_operation(n, groups_handle(group), &oldest))
			continue;
		wait_report(n, &reports[count++], group, &oldest);
		operation_free(&oldest);
	}
	return count;
}

/* ---- current operations: output ---- */

static void wait_put_known(struct json_object *object, const char *key, uint64_t value)
{
	if (value != NUMBER_UNKNOWN)
		text_put(object, key, value);
}

static struct json_object *wait_ranks_json(const struct report *report)
{
	struct json_object *ranks = json_object_new_array(), *object;
	const struct report_rank *rank;
	size_t i;

	for (i = 0; i < report->rank_count; i++) {
		rank = &report->ranks[i];
		object = json_object_new_object();
		text_put(object, "rank", rank->rank);
		if (*rank->state)
			text_put_string(object, "state", rank->state);
		json_object_object_add(object, "replies", json_object_new_boolean(!rank->mute));
		wait_put_known(object, "next", rank->next);
		wait_put_known(object, "last", rank->last);
		if (rank->process.pid)
			text_put(object, "pid", rank->process.pid);
		process_put(object, &rank->process);
		json_object_array_add(ranks, object);
	}
	return ranks;
}

static struct json_object *wait_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();
	const struct culprit *culprit = &report->culprit;
	char *words = sentence_of(report);

	text_put(object, "handle", report->handle);
	text_put(object, "id", report->id);
	wait_put_known(object, "uid", report->uid);
	text_put(object, "operation", report->operation);
	text_put_string(object, "kind", report->kind);
	text_put(object, "running_ms", report->running_ms);
	text_put_string(object, "reason", culprit_reason_name(culprit->reason));
	wait_put_known(object, "rank", culprit->rank);
	wait_put_known(object, "host", culprit->host);
	if (report->address)
		text_put_string(object, "address", report->address);
	wait_put_known(object, "via", culprit->via);
	wait_put_known(object, "awaited_operation", culprit->operation);
	wait_put_known(object, "silent_ms", culprit->silent_ms);
	wait_put_known(object, "heard_ms", culprit->heard_ms);
	wait_put_known(object, "reported_ms", culprit->reported_ms);
	text_put(object, "liveness_ms", report->liveness_ms);
	text_put(object, "chains", culprit->chains);
	text_put(object, "of", culprit->of);
	if (culprit->reason == CULPRIT_HERE)
		json_object_object_add(object, "ranks", wait_ranks_json(report));
	text_put_string(object, "sentence", words);
	free(words);
	return object;
}

static void wait_print_json(const struct report *reports, size_t count)
{
	struct json_object *all = json_object_new_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_object_array_add(all, wait_json(&reports[i]));
	text_print(all);
}

static void wait_print(const struct report *reports, size_t count)
{
	char *words;
	size_t i;

	if (!count)
		puts("no operation waits");
	for (i = 0; i < count; i++) {
		words = sentence_of(&reports[i]);
		puts(words);
		free(words);
	}
}

static void wait_pause(double seconds)
{
	struct timespec rest = { .tv_sec = seconds };

	rest.tv_nsec = (seconds - rest.tv_sec) * 1e9;
	nanosleep(&rest, NULL);
}

/* Check once, and print. Return: whether any operation waits. */
static bool wait_once(struct netlink *n, char **words)
{
	struct replies groups = groups_select(n, words);
	struct report *reports;
	size_t i, count;

	reports = wait_array(groups.count, sizeof(*reports));
	count = siblings_merge(n, reports, wait_look(n, &groups, reports));
	if (options.json)
		wait_print_json(reports, count);
	else
		wait_print(reports, count);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_ERROR, "standard output");
	for (i = 0; i < count; i++)
		report_free(&reports[i]);
	free(reports);
	replies_free(&groups);
	return count;
}

static int wait_now(struct netlink *n, char **words)
{
	double interval_s = options.interval_s ? options.interval_s : DEFAULT_INTERVAL_S;
	unsigned long looks = options.count ? options.count : !options.interval_s;
	bool waits;

	for (;;) {
		waits = wait_once(n, words);
		if (looks && !--looks)
			return waits ? EXIT_WAITS : EXIT_DONE;
		wait_pause(interval_s);
	}
}

int wait_command(char **words)
{
	struct netlink n;
	int status;

	if (options.last && (options.interval_s || options.count))
		errx(EXIT_ERROR, "wait: --last and --%s exclude each other",
		     options.interval_s ? "interval" : "count");
	netlink_open_to_look(&n);
	status = options.last ? last_show(&n, words) : wait_now(&n, words);
	netlink_close(&n);
	return status;
}
