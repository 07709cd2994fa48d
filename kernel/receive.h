/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What becomes of a packet that a bearer has received. receive.c begins with the whole
 * path.
 */
#ifndef COLL_RECEIVE_H
#define COLL_RECEIVE_H

#include "backlog.h"
#include "bearer.h"

/* For coll_bearer_init(); the owner of a bearer is the namespace, struct coll_net. */
void coll_receive_deferred(struct coll_backlog *backlog, struct sk_buff *skb);

extern const struct coll_bearer_hooks coll_receive_hooks;

#endif
