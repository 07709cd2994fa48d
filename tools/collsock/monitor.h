/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command "monitor": events, one per line, until interrupted */
#ifndef MONITOR_H
#define MONITOR_H

int monitor_command(char **words);

#endif
