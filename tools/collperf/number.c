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
