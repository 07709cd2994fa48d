/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How instances (instance.h) begin: a rank joins. The first one of a host makes the
 * instance, with a local member for each, and the others find it.
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
