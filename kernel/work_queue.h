/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work queue of the module: for the tidying of namespaces and for events to listeners.
 * How much there is to do depends on users: thousands of groups may end at once. So it is not
 * bound to processors, where it would hold up the work of others, and it is not the system's
 * unbound one either: the tidying waits for a namespace's mutex, whose holder may wait for the
 * port to be opened there.
 */
#ifndef COLL_WORK_QUEUE_H
#define COLL_WORK_QUEUE_H

#include <linux/workqueue.h>

extern struct workqueue_struct *coll_work_queue;

int coll_work_queue_init(void);
void coll_work_queue_uninit(void);

#endif
