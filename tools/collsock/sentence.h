/* SPDX-License-Identifier: GPL-2.0 */
/* A report as a sentence: who is waited for, why, and what to do. */
#ifndef SENTENCE_H
#define SENTENCE_H

#include "report.h"

/* In memory that the caller frees. */
char *sentence_of(const struct report *report);

#endif
