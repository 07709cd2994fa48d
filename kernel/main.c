// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/net.h>

#include "core/base.h"
#include "env.h"
#include "family.h"
#include "netlink.h"
#include "packet_memory.h"
#include "pace.h"
#include "pernet.h"
#include "port.h"
#include "tunables.h"
#include "turns.h"
#include "work_queue.h"

static int __init main_init(void)
{
	int err;

	coll_tunables_init(coll_port_settle_all);
	coll_turns_init();
	coll_pace_init();

	err = coll_work_queue_init();
	if (err)
		return err;

	err = coll_env_init();
	if (err)
		goto err_env;

	err = coll_pernet_init();
	if (err)
		goto err_pernet;

	err = coll_netlink_init();
	if (err)
		goto err_netlink;

	err = coll_family_init();
	if (err)
		goto err_family;

	/* No error if another socket has the port: that may close later. */
	coll_port_settle_all();
	return 0;

err_family:
	coll_netlink_uninit();
err_netlink:
	coll_pernet_uninit();
err_pernet:
	coll_env_uninit();
err_env:
	coll_work_queue_uninit();
	coll_packet_memory_uninit();
	return err;
}

static void __exit main_exit(void)
{
	coll_family_uninit();
	coll_netlink_uninit();
	coll_pernet_uninit();
	coll_env_uninit();
	coll_turns_uninit();
	coll_work_queue_uninit();
	coll_packet_memory_uninit();
}

module_init(main_init);
module_exit(main_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Collective sockets: barriers and reductions in softirq");
MODULE_VERSION(COLLSOCK_VERSION);
