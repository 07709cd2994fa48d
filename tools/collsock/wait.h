/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command "wait": which rank is waited for; with --last, how often each was last */
#ifndef WAIT_H
#define WAIT_H

int wait_command(char **words);

#endif
