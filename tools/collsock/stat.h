/* SPDX-License-Identifier: GPL-2.0 */
/* The sub-command "stat": counters as text, as JSON, and for Prometheus */
#ifndef STAT_H
#define STAT_H

int stat_command(char **words);

#endif
