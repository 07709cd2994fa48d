/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Variables of the environment */
#ifndef COLLSOCK_LAUNCH_ENVIRONMENT_H
#define COLLSOCK_LAUNCH_ENVIRONMENT_H

#include <stddef.h>

#include <linux/types.h>

/* The variable; NULL if it is not set, is empty, or is not to be trusted */
const char *launch_variable(const char *name);

/**
 * launch_number() - a variable that is a whole number
 * @name: of the variable
 * @most: the largest number that is valid
 * @number: out; unchanged after an error
 * @text: receives what is wrong
 * @bytes: room there
 *
 * Return: 0; -ENOENT if it is not set, -EINVAL if it is not such a number
 */
int launch_number(const char *name, __u32 most, __u32 *number, char *text, size_t bytes);

/* Copy a variable. Return: as launch_number() */
int launch_word(const char *name, char *word, size_t room, char *text, size_t bytes);

#endif
