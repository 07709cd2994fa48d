/* SPDX-License-Identifier: GPL-2.0 */
/* A wait in words that one can act on. */
#ifndef SENTENCE_H
#define SENTENCE_H

#include "culprit.h"

/**
 * sentence_of() - for whom everybody waits, in words
 * @wait: object with what is known of the wait, as "collsock -j wait" shows it
 *
 * Return: to be freed.
 */
char *sentence_of(struct json_object *wait);

#endif
