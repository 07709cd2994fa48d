/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work queues of the module: one for the tidying of namespaces, one for events to
 * listeners, for which the tidying does not wait. How much there is to do depends on users:
 * thousands of groups may end at once. So they are not bound to processors, where they would
 * hold up the work of others, and none is the system's unbound one: the tidying waits for a
 * namespace's mutex, whose holder may wait for the port to be opened there.
 */
#ifndef COLL_WORK_QUEUE_H
#define COLL_WORK_QUEUE_H

#include <linux/workqueue.h>

extern struct workqueue_struct *coll_work_queue, *coll_event_work_queue;

int coll_work_queue_init(void);
void coll_work_queue_uninit(void);

#endif
