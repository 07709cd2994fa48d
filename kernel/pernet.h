/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lifetime of a namespace (netns.h): set-up, tear-down, and the tidying.
 *
 * Groups outlive their sockets while operations or messages are under way. Neither they nor
 * the bearers hold a reference on the namespace or on the module: tearing down the
 * namespace ends them.
 *
 * A group that has become quiet is put on a list in softirq context. A work item of the
 * namespace, the tidying, replaces it by a time-wait entry, removes expired time-wait
 * entries, and closes the bearers when nothing needs them any more.
 */
#ifndef COLL_PERNET_H
#define COLL_PERNET_H

struct coll_net;
struct collsock_net_stats;

void coll_pernet_stats(struct coll_net *cn, struct collsock_net_stats *stats);

int coll_pernet_init(void);
void coll_pernet_uninit(void);

#endif
