// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

struct options options;

void command_no_more(char **words)
{
	if (*words)
		errx(EXIT_ERROR, "too many arguments, from \"%s\" on: collsock --help", *words);
}

uint64_t command_number(const char *what, const char *text, uint64_t most)
{
	uint64_t number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-') || number > most)
		errx(EXIT_ERROR, "%s: \"%s\" is not a whole number from 0 to %ju", what, text,
		     (uintmax_t)most);
	return number;
}
