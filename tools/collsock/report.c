// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "report.h"

void report_free(struct report *report)
{
	free(report->ranks);
	free(report->address);
	free(report->kind);
}
