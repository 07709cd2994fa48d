/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Joining an instance (instance.h): the first rank of a host creates the instance, with a
 * local member for each rank, and the others find it.
 */
#ifndef COLL_INSTANCE_JOIN_H
#define COLL_INSTANCE_JOIN_H

struct coll_instance;
struct coll_join;
struct coll_net;
struct coll_sock;

struct coll_instance *coll_instance_join(struct coll_net *cn, struct coll_join *join,
					 struct coll_sock *csk);

#endif
