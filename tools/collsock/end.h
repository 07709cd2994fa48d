/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command "end": end a group on this host. */
#ifndef END_H
#define END_H

int end_command(char **words);

#endif
