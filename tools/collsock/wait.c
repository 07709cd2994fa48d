// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "groups.h"
#include "last.h"
#include "look.h"
#include "mute.h"
#include "report.h"
#include "sentence.h"
#include "text.h"
#include "wait.h"

#define DEFAULT_INTERVAL_S 1

/* ---- current operations ---- */

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

static void wait_print_json(const struct report *reports, size_t count, const struct mute *mute)
{
	struct json_object *all = json_object_new_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_object_array_add(all, wait_json(&reports[i]));
	mute_put(all, mute);
	text_print(all);
}

static void wait_print(const struct report *reports, size_t count, const struct mute *mute)
{
	char *words;
	size_t i;

	if (!count && !mute->count)
		puts("no operation waits");
	for (i = 0; i < count; i++) {
		words = sentence_of(&reports[i]);
		puts(words);
		free(words);
	}
	mute_print(mute);
}

static void wait_pause(double seconds)
{
	struct timespec rest = { .tv_sec = seconds };

	rest.tv_nsec = (seconds - rest.tv_sec) * 1e9;
	nanosleep(&rest, NULL);
}

/* Check once, and print. Return: whether anything was found. */
static bool wait_once(struct netlink *n, char **words)
{
	struct replies groups = groups_select(n, words);
	struct mute mute = { };
	struct report *reports;
	size_t count;
	bool found;

	reports = look_at(n, &groups, &count);
	/* The groups of a process that does not reply are not known. */
	if (groups_are_all(words))
		mute_find(&mute, reports, count);
	if (options.json)
		wait_print_json(reports, count, &mute);
	else
		wait_print(reports, count, &mute);
	if (fflush(stdout) || ferror(stdout))
		err(EXIT_ERROR, "standard output");
	found = count || mute.count;
	look_free(reports, count);
	mute_free(&mute);
	replies_free(&groups);
	return found;
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
