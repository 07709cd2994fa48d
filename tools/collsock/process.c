// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "text.h"

#define LINE_BYTES 512

/* "pid (command) state …", where the command may contain anything, even parentheses */
static void process_parse(struct process *process, char *line)
{
	char *command = strchr(line, '('), *end = strrchr(line, ')');

	if (!command || !end || end < command || end[1] != ' ')
		return;
	*end = '\0';
	snprintf(process->command, sizeof(process->command), "%s", command + 1);
	text_clean(process->command);
	process->state = end[2];
}

void process_read(struct process *process, uint64_t pid)
{
	char path[TEXT_BYTES], line[LINE_BYTES];
	size_t bytes;
	FILE *file;

	*process = (struct process){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%ju/stat", (uintmax_t)pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return;
	/* Not by line, as a command may contain a newline */
	bytes = fread(line, 1, sizeof(line) - 1, file);
	line[bytes] = '\0';
	fclose(file);
	process_parse(process, line);
}

void process_put(struct json_object *object, const struct process *process)
{
	const char letter[] = { process->state, '\0' };

	if (!process->state)
		return;
	text_put_string(object, "command", process->command);
	text_put_string(object, "process", letter);
}

void process_describe(struct json_object *rank)
{
	struct process process;

	process_read(&process, text_number(rank, "pid", 0));
	process_put(rank, &process);
}

static const char *process_state(char letter)
{
	switch (letter) {
	case 'R':
		return "runs (R)";
	case 'S':
		return "sleeps (S)";
	case 'D':
		return "is in uninterruptible sleep (D): it waits for a disk or a driver";
	case 'T':
		return "is stopped (T)";
	case 't':
		return "is stopped by a debugger (t)";
	case 'Z':
		return "has ended (Z)";
	default:
		return "is in an unknown state";
	}
}

void process_write_state(FILE *file, const struct process *process)
{
	fputs(process_state(process->state), file);
	if (process->state == 'T')
		fprintf(file, ": kill -CONT %ju continues it", (uintmax_t)process->pid);
}
