/* SPDX-License-Identifier: GPL-2.0 */
/* A report as a sentence: which rank is waited for, why, and what to do */
#ifndef SENTENCE_H
#define SENTENCE_H

#include "report.h"

/* The caller frees the returned string. */
char *sentence_of(const struct report *report);

#endif
