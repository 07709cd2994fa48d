// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "match.h"

#define LONGEST 64

int match_prefix(const char *word, const char *const *names)
{
	size_t length = strlen(word);
	int i, found = MATCH_NONE;

	for (i = 0; names[i]; i++) {
		if (!strcmp(word, names[i]))
			return i;
		if (!length || strncmp(word, names[i], length))
			continue;
		found = found == MATCH_NONE ? i : MATCH_SEVERAL;
	}
	return found;
}

static unsigned int match_least(unsigned int a, unsigned int b, unsigned int c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/* Levenshtein distance */
static unsigned int match_distance(const char *a, const char *b)
{
	unsigned int row[LONGEST + 1], i, j, diagonal, above;
	size_t width = strlen(b);

	if (width > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (j = 0; j <= width; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (j = 0; j < width; j++) {
			above = row[j + 1];
			row[j + 1] = match_least(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[width];
}

int match_nearest(const char *word, const char *const *names)
{
	/* Up to a third of the letters may be wrong. */
	unsigned int nearest = strlen(word) / 3 + 2, d;
	int i, found = match_prefix(word, names);

	if (found >= 0)
		return found;
	found = MATCH_NONE;
	for (i = 0; names[i]; i++) {
		d = match_distance(word, names[i]);
		if (d < nearest) {
			nearest = d;
			found = i;
		}
	}
	return found;
}
