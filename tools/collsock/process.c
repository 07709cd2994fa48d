// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "process.h"
#include "text.h"

#define LINE_BYTES 512

/* "pid (command) state …": the command may hold anything, parentheses too. */
static void describe(struct json_object *rank, char *line)
{
	char *command = strchr(line, '('), *end = strrchr(line, ')');
	char letter[2] = "";

	if (!command || !end || end < command || end[1] != ' ')
		return;
	*end = '\0';
	*letter = end[2];
	text_put_string(rank, "command", command + 1);
	text_put_string(rank, "process", letter);
}

void process_describe(struct json_object *rank)
{
	uint64_t pid = text_number(rank, "pid", 0);
	char path[TEXT_BYTES], line[LINE_BYTES];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ju/stat", (uintmax_t)pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return;
	/* Not by line: a command may hold a line feed */
	bytes = fread(line, 1, sizeof(line) - 1, file);
	line[bytes] = '\0';
	fclose(file);
	describe(rank, line);
}

const char *process_state(const char *letter)
{
	switch (*letter) {
	case 'R':
		return "runs (R)";
	case 'S':
		return "sleeps (S)";
	case 'D':
		return "sleeps and cannot be interrupted (D): it waits for a disk or a driver";
	case 'T':
		return "is stopped (T)";
	case 't':
		return "is stopped by a debugger (t)";
	case 'Z':
		return "has ended (Z)";
	default:
		return "is in a state of its own";
	}
}
