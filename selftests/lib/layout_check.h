/* SPDX-License-Identifier: GPL-2.0 */
/* Comparing a table of offsets and sizes in a test */
#ifndef LAYOUT_CHECK_H
#define LAYOUT_CHECK_H

#include "../harness.h"
#include "layout.h"

static void layout_check(struct __test_metadata *_metadata, const struct layout *table,
			 size_t entries)
{
	const struct layout *l;

	for (l = table; l < table + entries; l++) {
		EXPECT_EQ(l->wanted, l->seen)
			TH_LOG("%s %s", l->structure, l->field);
	}
}

#endif
