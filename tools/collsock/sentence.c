// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "process.h"
#include "sentence.h"
#include "text.h"

#define RANKS_TOLD 4

static bool is(struct json_object *wait, const char *reason)
{
	return !strcmp(text_string(wait, "reason", ""), reason);
}

/* "0.4 s", of a member. */
static const char *ms_of(struct json_object *object, const char *key, char text[TEXT_BYTES])
{
	return text_ms(text, text_number(object, key, 0));
}

static void put_host(FILE *file, struct json_object *wait)
{
	fprintf(file, "host %s", text_string(wait, "host", "?"));
	if (text_has(wait, "address"))
		fprintf(file, " (%s)", text_string(wait, "address", ""));
}

/* "it", if that is the operation that was named before. */
static void put_operation(FILE *file, struct json_object *wait)
{
	uint64_t number = text_number(wait, "operation", 0);

	if (text_number(wait, "awaited_operation", number) == number)
		fputs("it", file);
	else
		fprintf(file, "operation %s", text_string(wait, "awaited_operation", ""));
}

/* ---- a rank of this host ---- */

static void put_process(FILE *file, struct json_object *rank)
{
	const char *letter = text_string(rank, "process", NULL);
	const char *pid = text_string(rank, "pid", "0");

	if (!letter) {
		fprintf(file, "process %s is not seen from here", pid);
		return;
	}
	fprintf(file, "process %s (%s) %s", pid, text_string(rank, "command", ""),
		process_state(letter));
	if (*letter == 'T')
		fprintf(file, ": kill -CONT %s lets it go on", pid);
}

static void put_rank(FILE *file, struct json_object *rank)
{
	const char *state = text_string(rank, "state", "");

	if (!strcmp(state, "absent"))
		fputs("it has not joined yet", file);
	else if (!strcmp(state, "left"))
		fputs("it has left", file);
	else
		put_process(file, rank);
}

static void put_here(FILE *file, struct json_object *wait)
{
	struct json_object *ranks = json_object_object_get(wait, "ranks");
	size_t i, count = ranks ? json_object_array_length(ranks) : 0;

	if (count == 1) {
		fprintf(file, "rank %s, which is here and has not posted it: ",
			text_string(wait, "rank", "?"));
		put_rank(file, json_object_array_get_idx(ranks, 0));
		return;
	}
	fprintf(file, "%zu ranks, which are here and have not posted it", count);
	for (i = 0; i < count && i < RANKS_TOLD; i++) {
		struct json_object *rank = json_object_array_get_idx(ranks, i);

		fprintf(file, "; rank %s: ", text_string(rank, "rank", "?"));
		put_rank(file, rank);
	}
	if (count > i)
		fprintf(file, "; and %zu more (collsock rank)", count - i);
}

/* ---- a rank of another one ---- */

/* What this host itself knows of that one. */
static void put_heard(FILE *file, struct json_object *wait)
{
	char text[TEXT_BYTES];

	if (!text_has(wait, "heard_ms"))
		return;
	fprintf(file, "; its kernel %s (%s ago)",
		text_number(wait, "heard_ms", 0) <= text_number(wait, "liveness_ms", 0) ?
		"answers" : "was last heard long since", ms_of(wait, "heard_ms", text));
}

static void put_not_posted(FILE *file, struct json_object *wait)
{
	char text[TEXT_BYTES];

	fprintf(file, "rank %s on ", text_string(wait, "rank", "?"));
	put_host(file, wait);
	if (is(wait, "missed")) {
		fputs(", which says nothing to a host that waits for it", file);
	} else {
		fputs(", which has not posted ", file);
		put_operation(file, wait);
	}
	put_heard(file, wait);
	if (text_has(wait, "via"))
		fprintf(file, "; heard through host %s, %s ago", text_string(wait, "via", ""),
			ms_of(wait, "told_ms", text));
}

static void put_silent(FILE *file, struct json_object *wait)
{
	char text[TEXT_BYTES];

	put_host(file, wait);
	fprintf(file, ", where rank %s lives: it has been silent for %s",
		text_string(wait, "rank", "?"), ms_of(wait, "silent_ms", text));
	fprintf(file, " and counts as dead after %s", ms_of(wait, "liveness_ms", text));
}

static void put_unheard(FILE *file, struct json_object *wait)
{
	fprintf(file, "rank %s on ", text_string(wait, "rank", "?"));
	put_host(file, wait);
	fputs(", which has never been heard: it has not joined yet, or no packet gets through",
	      file);
	if (text_has(wait, "address"))
		fprintf(file, " (collsock doctor %s)", text_string(wait, "address", ""));
}

static void put_quiet(FILE *file, struct json_object *wait)
{
	char text[TEXT_BYTES];

	fprintf(file, "rank %s on ", text_string(wait, "rank", "?"));
	put_host(file, wait);
	if (is(wait, "lost")) {
		fputs(", which waits for this host: messages are under way, or are lost", file);
		return;
	}
	fputs(", or for whom that waits: it has not said yet", file);
	if (text_has(wait, "heard_ms"))
		fprintf(file, "; its kernel was heard %s ago", ms_of(wait, "heard_ms", text));
}

static void put_gone(FILE *file, struct json_object *wait)
{
	fprintf(file, "rank %s on ", text_string(wait, "rank", "?"));
	put_host(file, wait);
	fputs(", which has left or counts as dead: the operation fails", file);
}

static void put_culprit(FILE *file, struct json_object *wait)
{
	static const struct {
		const char	*reason;
		void		(*put)(FILE *file, struct json_object *wait);
	} forms[] = {
		{ "here",	put_here },
		{ "not-posted",	put_not_posted },
		{ "told",	put_not_posted },
		{ "missed",	put_not_posted },
		{ "silent",	put_silent },
		{ "unheard",	put_unheard },
		{ "quiet",	put_quiet },
		{ "lost",	put_quiet },
		{ "gone",	put_gone },
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (is(wait, forms[i].reason))
			forms[i].put(file, wait);
}

char *sentence_of(struct json_object *wait)
{
	uint64_t chains = text_number(wait, "chains", 0), of = text_number(wait, "of", 0);
	char text[TEXT_BYTES], *words;
	size_t bytes;
	FILE *file;

	file = open_memstream(&words, &bytes);
	if (!file)
		err(EXIT_ERROR, "words");
	fprintf(file, "group %s (handle %s), operation %s (%s), running for %s: ",
		text_string(wait, "id", "?"), text_string(wait, "handle", "?"),
		text_string(wait, "operation", "?"), text_string(wait, "kind", "?"),
		ms_of(wait, "running_ms", text));
	fputs("everyone waits for ", file);
	put_culprit(file, wait);
	if (chains < of)
		fprintf(file, "; %ju of %ju chains of waits end there", (uintmax_t)chains,
			(uintmax_t)of);
	fputc('.', file);
	if (fclose(file))
		err(EXIT_ERROR, "words");
	return words;
}
