// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/net.h>

#include "core/base.h"
#include "netlink.h"
#include "netns.h"
#include "socket.h"
#include "tunables.h"

static int __init coll_init(void)
{
	int err;

	coll_tunables_init();

	err = coll_net_init();
	if (err)
		return err;

	err = coll_netlink_init();
	if (err)
		goto err_netlink;

	err = coll_socket_init();
	if (err)
		goto err_socket;

	return 0;

err_socket:
	coll_netlink_uninit();
err_netlink:
	coll_net_uninit();
	return err;
}

static void __exit coll_exit(void)
{
	coll_socket_uninit();
	coll_netlink_uninit();
	coll_net_uninit();
}

module_init(coll_init);
module_exit(coll_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Collective sockets: barriers and reductions in softirq");
MODULE_VERSION(COLLSOCK_VERSION);
MODULE_ALIAS_NETPROTO(AF_COLLSOCK);
