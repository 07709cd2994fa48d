// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "status.h"

unsigned long long number_parse(const char *what, const char *text, unsigned long long min,
				unsigned long long max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-') || number < min || number > max)
		errx(EXIT_USAGE, "%s: \"%s\" is not a whole number from %llu to %llu", what, text,
		     min, max);
	return number;
}

unsigned int number_parse_list(const char *what, const char *text, unsigned int max,
			       unsigned int *numbers, unsigned int most)
{
	unsigned int count = 0;
	const char *from = text, *to;
	char *word;

	for (; from; from = to ? to + 1 : NULL) {
		to = strchr(from, ',');
		if (count == most)
			errx(EXIT_USAGE, "%s: \"%s\" has more than %u numbers", what, text, most);
		word = strndup(from, to ? (size_t)(to - from) : strlen(from));
		if (!word)
			err(EXIT_FAILED, "%s", what);
		numbers[count++] = number_parse(what, word, 1, max);
		free(word);
	}
	return count;
}
