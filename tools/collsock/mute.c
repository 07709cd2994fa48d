// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "mute.h"
#include "text.h"
#include "user_ask.h"

/**
 * struct mute_search - a search for them
 * @found: out
 * @reports: with processes that need not be found
 * @count: number of @reports
 */
struct mute_search {
	struct mute		*found;
	const struct report	*reports;
	size_t			count;
};

static bool mute_is_in_report(const struct report *report, uint64_t pid)
{
	size_t i;

	for (i = 0; i < report->rank_count; i++)
		if (report->ranks[i].process.pid == pid)
			return true;
	return false;
}

static bool mute_is_reported(const struct mute_search *search, uint64_t pid)
{
	size_t i;

	for (i = 0; i < search->count; i++)
		if (mute_is_in_report(&search->reports[i], pid))
			return true;
	return false;
}

static bool mute_has_ended(const struct process *process)
{
	return !process->state || process->state == 'Z';
}

static void mute_add(void *ctx, pid_t pid)
{
	const struct mute_search *search = ctx;
	struct mute *found = search->found;
	struct process process;

	process_read(&process, pid);
	/* Another PID namespace does not show whether it has ended. */
	if (pid && (mute_has_ended(&process) || mute_is_reported(search, pid)))
		return;
	found->process = reallocarray(found->process, found->count + 1, sizeof(*found->process));
	if (!found->process)
		err(EXIT_ERROR, "processes");
	found->process[found->count++] = process;
}

void mute_find(struct mute *mute, const struct report *reports, size_t count)
{
	struct mute_search search = { .found = mute, .reports = reports, .count = count };
	const struct user_ask ask = { .mute = mute_add, .ctx = &search };

	*mute = (struct mute){ };
	user_ask(&ask);
}

void mute_free(struct mute *mute)
{
	free(mute->process);
}

/* ---- what is said of them ---- */

/* Return: text to be freed */
static char *mute_sentence(const struct process *process)
{
	char *words;
	size_t bytes;
	FILE *file;

	if (!process->pid)
		return text_format("%s",
				   "a process in another PID namespace, which has ranks in user space, does not reply.");
	file = open_memstream(&words, &bytes);
	if (!file)
		err(EXIT_ERROR, "words");
	fprintf(file, "process %ju (%s), which has ranks in user space, does not reply: it ",
		(uintmax_t)process->pid, process->command);
	process_write_state(file, process);
	fputc('.', file);
	if (fclose(file))
		err(EXIT_ERROR, "words");
	return words;
}

void mute_print(const struct mute *mute)
{
	char *words;
	size_t i;

	for (i = 0; i < mute->count; i++) {
		words = mute_sentence(&mute->process[i]);
		puts(words);
		free(words);
	}
}

static struct json_object *mute_json(const struct process *process)
{
	struct json_object *object = json_object_new_object();
	char *words = mute_sentence(process);

	text_put_string(object, "reason", "mute");
	if (process->pid)
		text_put(object, "pid", process->pid);
	process_put(object, process);
	text_put_string(object, "sentence", words);
	free(words);
	return object;
}

void mute_put(struct json_object *all, const struct mute *mute)
{
	size_t i;

	for (i = 0; i < mute->count; i++)
		json_object_array_add(all, mute_json(&mute->process[i]));
}
