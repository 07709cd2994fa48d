// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch_environment.h"

const char *launch_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static int launch_is_missing(const char *name, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s is not set", name);
	return -ENOENT;
}

int launch_number(const char *name, __u32 most, __u32 *number, char *text, size_t bytes)
{
	const char *value = launch_variable(name);
	unsigned long long parsed;
	char *end;

	if (!value)
		return launch_is_missing(name, text, bytes);
	errno = 0;
	parsed = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || parsed > most) {
		snprintf(text, bytes, "%s: \"%.64s\" is not a whole number from 0 to %u", name,
			 value, most);
		return -EINVAL;
	}
	*number = parsed;
	return 0;
}

int launch_word(const char *name, char *word, size_t room, char *text, size_t bytes)
{
	const char *value = launch_variable(name);

	if (!value)
		return launch_is_missing(name, text, bytes);
	if (strlen(value) >= room) {
		snprintf(text, bytes, "%s: longer than %zu characters", name, room - 1);
		return -EINVAL;
	}
	strcpy(word, value);
	return 0;
}
