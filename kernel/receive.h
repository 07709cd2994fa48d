/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving packets from a bearer. The whole path is described at the top of receive.c.
 */
#ifndef COLL_RECEIVE_H
#define COLL_RECEIVE_H

#include "bearer.h"

/* For coll_bearer_init(), with the namespace, struct coll_net, as owner */
extern const struct coll_bearer_hooks coll_receive_hooks;

#endif
