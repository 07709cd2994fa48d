/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "wait --last": ranks that were last in past operations. Each host counts those of its ranks that
 * posted when everything else was there, and other hosts whose message was the last. Processes of
 * one group that are hosts by themselves, in user space, have one list.
 */
#ifndef LAST_H
#define LAST_H

#include "netlink.h"

/* Print the list of each group that the words name. Return: the exit status */
int last_show(struct netlink *n, char **words);

#endif
