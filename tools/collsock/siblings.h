/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of this machine in one group. A process in user space is a host of its group by itself,
 * and knows only the messages of the others. Their own replies contain more, and without delay:
 * which of their ranks have not posted. A process that does not reply is found by the port of its
 * host; its posts are not known.
 */
#ifndef SIBLINGS_H
#define SIBLINGS_H

#include "netlink.h"
#include "report.h"

/* Are these two replies about one group? */
bool siblings_are(const struct reply *a, const struct reply *b);

/**
 * siblings_merge() - make one report of those of processes in one group
 * @n: the connection
 * @reports: a report for each group of the module or of a process, changed
 * @count: number of @reports
 *
 * The oldest operation counts. If ranks of this machine have not posted it, they are "here".
 *
 * Return: number of reports that are left.
 */
size_t siblings_merge(struct netlink *n, struct report *reports, size_t count);

#endif
