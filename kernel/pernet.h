/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of a namespace (netns.h): its beginning and end, and the tidying between.
 *
 * Groups outlive their sockets while something of them is under way. Neither they nor
 * the bearers hold a reference on the namespace or on the module: the end of the
 * namespace, which both wait for, ends them.
 *
 * A group that has become quiet is put on a list in softirq context, and one work item
 * of the namespace, the tidying, does the rest: it replaces the group by a time-wait
 * entry, forgets time-wait entries that are old enough, and closes the bearers when
 * nothing needs them any more.
 */
#ifndef COLL_PERNET_H
#define COLL_PERNET_H

struct coll_net;
struct collsock_net_stats;

void coll_pernet_stats(struct coll_net *cn, struct collsock_net_stats *stats);

int coll_pernet_init(void);
void coll_pernet_uninit(void);

#endif
