/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The port of a namespace: when it is opened, moved and closed; and when devices are opened and
 * closed for groups that have no port. It belongs to the module, so that no user can open it
 * while groups are expected: that user could keep all others from joining, and read what members
 * send to this host.
 *
 * The first namespace holds it once the module is loaded, another one from its first group
 * on, unless the tunable hold_port is 0. Then it is open as long as a group or a time-wait
 * entry needs it, as devices always are.
 */
#ifndef COLL_PORT_H
#define COLL_PORT_H

#include <linux/types.h>

struct coll_net;
struct collsock_member;

void coll_port_begin(struct coll_net *cn);
void coll_port_end(struct coll_net *cn);
int coll_port_open(struct coll_net *cn, const struct collsock_member *self);
int coll_port_change(struct coll_net *cn, u16 number, bool hold);
void coll_port_settle(struct coll_net *cn);
void coll_port_settle_all(void);

#endif
