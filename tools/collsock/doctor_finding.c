// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "doctor_finding.h"
#include "text.h"

static const char *doctor_result_name(enum doctor_result result)
{
	static const char *const names[] = { "ok", "note", "warning", "problem" };

	return names[result];
}

static void doctor_print(enum doctor_result result, struct json_object *finding)
{
	static const enum text_color colors[] = {
		COLOR_GOOD, COLOR_NAME, COLOR_WARNING, COLOR_BAD
	};

	printf("%s%-8s%s %-14s %s\n", text_color(colors[result]), doctor_result_name(result),
	       text_color(COLOR_PLAIN), text_string(finding, "check", ""),
	       text_string(finding, "finding", ""));
	if (text_has(finding, "advice"))
		printf("%23s -> %s\n", "", text_string(finding, "advice", ""));
	fflush(stdout);
}

void doctor_say(struct doctor *d, enum doctor_result result, const char *advice,
		const char *form, ...)
{
	struct json_object *finding = json_object_new_object();
	va_list arguments;
	char *text;

	va_start(arguments, form);
	if (vasprintf(&text, form, arguments) < 0)
		abort();
	va_end(arguments);
	text_put_string(finding, "check", d->check);
	text_put_string(finding, "result", doctor_result_name(result));
	text_put_string(finding, "finding", text);
	if (advice)
		text_put_string(finding, "advice", advice);
	free(text);
	d->problems += result == DOCTOR_PROBLEM;
	if (!options.json)
		doctor_print(result, finding);
	json_object_array_add(d->findings, finding);
}

bool doctor_has_host(const struct doctor *d, const char *address)
{
	unsigned int i;

	for (i = 0; i < d->host_count; i++)
		if (!strcmp(d->hosts[i].numeric, address))
			return true;
	return false;
}

long doctor_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}
