/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "wait --last": who was last in past operations. Each host has counted what it has seen: its ranks
 * that posted when everything else was there, and the other hosts whose message was the last.
 * Processes of one group that are hosts by themselves, in user space, are one list.
 */
#ifndef LAST_H
#define LAST_H

#include "netlink.h"

/* Print the list of each group that the words name. Return: the exit status */
int last_show(struct netlink *n, char **words);

#endif
