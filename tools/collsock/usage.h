/* SPDX-License-Identifier: GPL-2.0 */
/* The help text of all commands */
#ifndef COLLSOCK_TOOL_USAGE_H
#define COLLSOCK_TOOL_USAGE_H

#include <stdio.h>

/* Exits if it cannot be written. */
void usage_print(FILE *to);

#endif
