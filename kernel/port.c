// SPDX-License-Identifier: GPL-2.0
#include <linux/list.h>
#include <linux/net.h>

#include "netns.h"
#include "port.h"

/* All namespaces, for changes of the module's parameters. Taken before their mutexes. */
static LIST_HEAD(port_nets);
static DEFINE_MUTEX(port_nets_mutex);

/**
 * coll_port_begin() - apply later changes of the module's parameters to the namespace
 * @cn: the namespace
 *
 * Context: process.
 */
void coll_port_begin(struct coll_net *cn)
{
	mutex_lock(&port_nets_mutex);
	list_add(&cn->ports, &port_nets);
	mutex_unlock(&port_nets_mutex);
}

/**
 * coll_port_end() - stop receiving packets at the port and from devices
 * @cn: the namespace; nobody joins any more
 *
 * Does not wait for packets in flight: after a grace period the bearers can be ended.
 *
 * Context: process.
 */
void coll_port_end(struct coll_net *cn)
{
	/* Its mutex may be held for some grace periods. Others begin and end meanwhile. */
	mutex_lock(&port_nets_mutex);
	list_del(&cn->ports);
	mutex_unlock(&port_nets_mutex);
	mutex_lock(&cn->mutex);
	cn->ports_ended = true;
	coll_bearer_stop(&cn->bearers);
	mutex_unlock(&cn->mutex);
}

/*
 * Open the port, unless groups use it already. Groups without ports may have been joined while it
 * could not be opened.
 */
static int port_open(struct coll_net *cn)
{
	if (cn->groups && coll_bearer_is_open(&cn->bearers))
		return 0;
	return coll_bearer_open(&cn->bearers, coll_tunable(&cn->tunables, COLL_TUNABLE_PORT));
}

/**
 * coll_port_open() - open the port, or a device, for a group that is being joined
 * @cn: the namespace; its mutex is held
 * @self: this host
 *
 * Return: 0; -EADDRINUSE if another socket has the port; -EADDRNOTAVAIL if this host cannot
 * be that member, for instance because of its port, which may just have changed.
 * Context: process.
 */
int coll_port_open(struct coll_net *cn, const struct collsock_member *self)
{
	int err;

	lockdep_assert_held(&cn->mutex);
	err = coll_bearer_has_port(self) ? port_open(cn) :
					   coll_bearer_open_device(&cn->bearers, self);
	return err ?: coll_bearer_check_self(&cn->bearers, self);
}

/**
 * coll_port_change() - apply these settings to the port
 * @cn: the namespace; its mutex is held
 * @number: of the port
 * @hold: is it held while no group needs it?
 *
 * Return: 0; -EBUSY if groups use another port, -EADDRINUSE if another socket has it: then
 * all is as before. Context: process.
 */
int coll_port_change(struct coll_net *cn, u16 number, bool hold)
{
	bool open = coll_bearer_is_open(&cn->bearers);

	lockdep_assert_held(&cn->mutex);
	/* The namespace ends: the tidying may still be under way. */
	if (cn->ports_ended)
		return 0;
	/* Groups without ports do not use it. */
	if (cn->groups && open)
		return number == coll_bearer_port(&cn->bearers) ? 0 : -EBUSY;
	if (hold && (open || net_eq(cn->net, &init_net)))
		return coll_bearer_open(&cn->bearers, number);
	/* Time-wait entries answer over the port on which their groups were. */
	if (open && (!cn->timewait.count || number != coll_bearer_port(&cn->bearers)))
		coll_bearer_close(&cn->bearers);
	return 0;
}

/**
 * coll_port_settle() - apply the tunables to the port, and close devices that no group needs
 * @cn: the namespace; its mutex is held
 *
 * A port that is taken is tried again when a group is joined or a tunable is set.
 *
 * Context: process.
 */
void coll_port_settle(struct coll_net *cn)
{
	u16 number = coll_tunable(&cn->tunables, COLL_TUNABLE_PORT);
	int err;

	if (!cn->groups && !cn->timewait.count)
		coll_bearer_close_devices(&cn->bearers);
	err = coll_port_change(cn, number, coll_tunable(&cn->tunables, COLL_TUNABLE_HOLD_PORT));
	if (!err || err == -EBUSY)
		return;
	coll_bearer_close(&cn->bearers);
	/* Users of other namespaces could fill the log at will. */
	if (net_eq(cn->net, &init_net))
		net_warn_ratelimited("collsock: %s %u cannot be opened (%d): no group can be joined. \"collsock doctor\" finds who has it\n",
				     COLL_BEARER_PORT, number, err);
}

/**
 * coll_port_settle_all() - coll_port_settle() in all namespaces
 *
 * Context: process.
 */
void coll_port_settle_all(void)
{
	struct coll_net *cn;

	mutex_lock(&port_nets_mutex);
	list_for_each_entry(cn, &port_nets, ports) {
		mutex_lock(&cn->mutex);
		coll_port_settle(cn);
		mutex_unlock(&cn->mutex);
	}
	mutex_unlock(&port_nets_mutex);
}
