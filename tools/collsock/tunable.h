/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-commands "get" and "set": tunables. */
#ifndef TUNABLE_H
#define TUNABLE_H

int tunable_get(char **words);
int tunable_set(char **words);

#endif
