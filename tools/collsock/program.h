/* SPDX-License-Identifier: GPL-2.0 */
/* The program that a rank is to become */
#ifndef PROGRAM_H
#define PROGRAM_H

/*
 * Can it be started? It is looked up as by execvp(3). Problems that only starting it shows, such as
 * a missing interpreter, are not found. Return: 0, or a negative errno.
 */
int program_find(const char *name);

#endif
