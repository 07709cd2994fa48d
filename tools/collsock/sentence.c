// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "sentence.h"
#include "text.h"

#define RANKS_TOLD 4

static void sentence_host(FILE *file, const struct report *r)
{
	fprintf(file, "host %ju", (uintmax_t)r->culprit.host);
	if (r->address)
		fprintf(file, " (%s)", r->address);
}

static void sentence_rank_on_host(FILE *file, const struct report *r)
{
	fprintf(file, "rank %ju on ", (uintmax_t)r->culprit.rank);
	sentence_host(file, r);
}

/* "it" for the operation that was named before */
static void sentence_operation(FILE *file, const struct report *r)
{
	uint64_t number = r->culprit.operation;

	if (number == NUMBER_UNKNOWN || number == r->operation)
		fputs("it", file);
	else
		fprintf(file, "operation %ju", (uintmax_t)number);
}

/* ---- a rank of this host ---- */

static void sentence_process(FILE *file, const struct report *r, const struct process *process)
{
	uintmax_t pid = process->pid;

	/* The kernel does not report processes of other users. */
	if (!pid && r->uid != NUMBER_UNKNOWN) {
		fprintf(file, "its process, of user %ju, is not visible here", (uintmax_t)r->uid);
		return;
	}
	if (!process->state) {
		fprintf(file, "process %ju is not visible here", pid);
		return;
	}
	fprintf(file, "process %ju (%s) ", pid, process->command);
	process_write_state(file, process);
}

static void sentence_rank(FILE *file, const struct report *r, const struct report_rank *rank)
{
	if (!strcmp(rank->state, "absent"))
		fputs("it has not joined yet", file);
	else if (!strcmp(rank->state, "left"))
		fputs("it has left", file);
	else
		sentence_process(file, r, &rank->process);
}

static bool sentence_any_mute(const struct report *r)
{
	bool any = false;
	size_t i;

	for (i = 0; i < r->rank_count; i++)
		any |= r->ranks[i].mute;
	return any;
}

static void sentence_here(FILE *file, const struct report *r)
{
	bool any_mute = sentence_any_mute(r);
	size_t i;

	if (r->rank_count == 1) {
		fprintf(file, "rank %ju, which is here and %s: ", (uintmax_t)r->culprit.rank,
			any_mute ? "does not reply" : "has not posted it");
		sentence_rank(file, r, &r->ranks[0]);
		return;
	}
	fprintf(file, "%zu ranks, which are here and %s", r->rank_count,
		any_mute ? "do not reply, or have not posted it" : "have not posted it");
	for (i = 0; i < r->rank_count && i < RANKS_TOLD; i++) {
		fprintf(file, "; rank %ju: ", (uintmax_t)r->ranks[i].rank);
		sentence_rank(file, r, &r->ranks[i]);
	}
	if (r->rank_count > i)
		fprintf(file, "; and %zu more (collsock rank)", r->rank_count - i);
}

/* ---- a rank of another host ---- */

/* What this host itself knows about that host */
static void sentence_heard(FILE *file, const struct report *r)
{
	uint64_t heard_ms = r->culprit.heard_ms;
	char text[TEXT_BYTES];

	if (heard_ms != NUMBER_UNKNOWN)
		fprintf(file, "; its host %s (%s ago)",
			heard_ms <= r->liveness_ms ? "answers" : "has not been heard from recently",
			text_ms(text, heard_ms));
}

static void sentence_via(FILE *file, const struct report *r)
{
	char text[TEXT_BYTES];

	if (r->culprit.via != NUMBER_UNKNOWN)
		fprintf(file, "; reported by host %ju, %s ago", (uintmax_t)r->culprit.via,
			text_ms(text, r->culprit.reported_ms));
}

static void sentence_not_posted(FILE *file, const struct report *r)
{
	sentence_rank_on_host(file, r);
	fputs(", which has not posted ", file);
	sentence_operation(file, r);
	sentence_heard(file, r);
	sentence_via(file, r);
}

static void sentence_missed(FILE *file, const struct report *r)
{
	sentence_rank_on_host(file, r);
	fputs(", which has not reported to a host that waits for it", file);
	sentence_heard(file, r);
	sentence_via(file, r);
}

static void sentence_silent(FILE *file, const struct report *r)
{
	char text[TEXT_BYTES];

	sentence_host(file, r);
	fprintf(file, ", where rank %ju runs: it has been silent for %s",
		(uintmax_t)r->culprit.rank, text_ms(text, r->culprit.silent_ms));
	fprintf(file, " and counts as dead after %s", text_ms(text, r->liveness_ms));
}

static void sentence_unheard(FILE *file, const struct report *r)
{
	sentence_rank_on_host(file, r);
	fputs(", which has never been heard from: it has not joined yet, or no packet gets through",
	      file);
	if (r->address)
		fprintf(file, " (collsock doctor %s)", r->address);
}

static void sentence_quiet(FILE *file, const struct report *r)
{
	char text[TEXT_BYTES];

	sentence_rank_on_host(file, r);
	fputs(", or the rank that this one waits for, which it has not reported yet", file);
	if (r->culprit.heard_ms != NUMBER_UNKNOWN)
		fprintf(file, "; its host was heard from %s ago",
			text_ms(text, r->culprit.heard_ms));
}

static void sentence_lost(FILE *file, const struct report *r)
{
	sentence_rank_on_host(file, r);
	fputs(", which waits for this host: messages are in flight, or lost", file);
}

static void sentence_gone(FILE *file, const struct report *r)
{
	sentence_rank_on_host(file, r);
	fputs(", which has left or counts as dead: the operation fails", file);
}

char *sentence_of(const struct report *r)
{
	static void (*const forms[])(FILE *file, const struct report *r) = {
		[CULPRIT_HERE]		= sentence_here,
		[CULPRIT_NOT_POSTED]	= sentence_not_posted,
		[CULPRIT_TOLD]		= sentence_not_posted,
		[CULPRIT_MISSED]	= sentence_missed,
		[CULPRIT_SILENT]	= sentence_silent,
		[CULPRIT_UNHEARD]	= sentence_unheard,
		[CULPRIT_GONE]		= sentence_gone,
		[CULPRIT_QUIET]		= sentence_quiet,
		[CULPRIT_LOST]		= sentence_lost,
	};
	char text[TEXT_BYTES], *words;
	size_t bytes;
	FILE *file;

	file = open_memstream(&words, &bytes);
	if (!file)
		err(EXIT_ERROR, "words");
	fprintf(file, "group %ju (handle %ju), operation %ju (%s), running for %s: ",
		(uintmax_t)r->id, (uintmax_t)r->handle, (uintmax_t)r->operation, r->kind,
		text_ms(text, r->running_ms));
	fputs("everyone waits for ", file);
	if (r->culprit.reason == CULPRIT_NOBODY)
		fputs("acknowledgments", file);
	else
		forms[r->culprit.reason](file, r);
	if (r->culprit.chains < r->culprit.of)
		fprintf(file, "; %u of %u chains of waits end there", r->culprit.chains,
			r->culprit.of);
	fputc('.', file);
	if (fclose(file))
		err(EXIT_ERROR, "words");
	return words;
}
