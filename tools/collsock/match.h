/* SPDX-License-Identifier: GPL-2.0 */
/* Interpreting words that a user typed */
#ifndef MATCH_H
#define MATCH_H

#include <stddef.h>

#define MATCH_NONE	(-1)
#define MATCH_SEVERAL	(-2)

/**
 * match_prefix() - the name that equals a word, or the only one that begins with it
 * @word: the word
 * @names: ended by NULL
 *
 * Return: its index, MATCH_NONE, or MATCH_SEVERAL.
 */
int match_prefix(const char *word, const char *const *names);

/**
 * match_nearest() - the name that was probably meant
 * @word: the word
 * @names: ended by NULL
 *
 * Return: its index, or MATCH_NONE if no name is similar.
 */
int match_nearest(const char *word, const char *const *names);

#endif
