// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/init.h>

#include "work_queue.h"

struct workqueue_struct *coll_work_queue __ro_after_init;
struct workqueue_struct *coll_event_work_queue __ro_after_init;

/**
 * coll_work_queue_init() - make the queues
 *
 * Return: 0 or -ENOMEM. Context: module init.
 */
int __init coll_work_queue_init(void)
{
	coll_work_queue = alloc_workqueue("collsock", WQ_UNBOUND, 0);
	coll_event_work_queue = alloc_workqueue("collsock_events", WQ_UNBOUND, 0);
	if (coll_work_queue && coll_event_work_queue)
		return 0;
	coll_work_queue_uninit();
	return -ENOMEM;
}

/**
 * coll_work_queue_uninit() - undo coll_work_queue_init()
 *
 * Context: module exit, or init that fails; nothing is queued.
 */
void coll_work_queue_uninit(void)
{
	if (coll_event_work_queue)
		destroy_workqueue(coll_event_work_queue);
	if (coll_work_queue)
		destroy_workqueue(coll_work_queue);
}
