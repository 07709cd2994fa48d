// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/init.h>

#include "work_queue.h"

struct workqueue_struct *coll_work_queue __ro_after_init;

/**
 * coll_work_queue_init() - make the queue
 *
 * Return: 0 or -ENOMEM. Context: module init.
 */
int __init coll_work_queue_init(void)
{
	coll_work_queue = alloc_workqueue("collsock", WQ_UNBOUND, 0);
	return coll_work_queue ? 0 : -ENOMEM;
}

/**
 * coll_work_queue_uninit() - undo coll_work_queue_init()
 *
 * Context: module exit, or init that fails; nothing is queued.
 */
void coll_work_queue_uninit(void)
{
	destroy_workqueue(coll_work_queue);
}
