/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command "wait": who is waited for; with --last, who was last how often. */
#ifndef WAIT_H
#define WAIT_H

int wait_command(char **words);

#endif
