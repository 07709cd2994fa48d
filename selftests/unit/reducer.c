// SPDX-License-Identifier: GPL-2.0
/*
 * Reduces elements from its input, for tests that compute in another language.
 *
 * A record of input is type, operator (a byte each), count (a u32), then the
 * left and the right elements; a record of output is a byte that says whether
 * there is such an operator of the type, and if so, the elements of the result.
 */
#include <stdio.h>
#include <stdlib.h>

#include "reduce.h"

static void *must_read(u32 bytes)
{
	void *data = malloc(bytes);

	if (bytes && fread(data, bytes, 1, stdin) != 1)
		exit(1);
	return data;
}

int main(void)
{
	u8 head[6];

	while (fread(head, sizeof(head), 1, stdin) == 1) {
		u8 type = head[0], op = head[1], valid = coll_reduce_valid(type, op);
		u32 count, bytes;
		void *left, *right;

		memcpy(&count, head + 2, sizeof(count));
		bytes = count * coll_type_bytes(type);
		fwrite(&valid, 1, 1, stdout);
		if (!valid) {
			fflush(stdout);
			continue;
		}
		/* Of exact size, so that ASan detects every access beyond them. */
		left = must_read(bytes);
		right = must_read(bytes);
		coll_reduce(left, left, right, count, type, op);
		fwrite(left, 1, bytes, stdout);
		fflush(stdout);
		free(left);
		free(right);
	}
	return 0;
}
