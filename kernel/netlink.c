// SPDX-License-Identifier: GPL-2.0
#include <linux/delay.h>
#include <linux/module.h>
#include <net/genetlink.h>

#include "../uapi/linux/collsock_netlink.h"
#include "event_queue.h"
#include "family.h"
#include "instance.h"
#include "netlink.h"
#include "netlink_dump.h"
#include "netns.h"
#include "pace.h"
#include "pernet.h"
#include "port.h"

static struct genl_family netlink_family;

/* ---- tunables ---- */

/* Changes that a request asks for */
struct netlink_changes {
	DECLARE_BITMAP(set, COLL_TUNABLES);
	DECLARE_BITMAP(reset, COLL_TUNABLES);
	u32	value[COLL_TUNABLES];
};

static bool netlink_tunable_is_gid(enum coll_tunable which)
{
	return which == COLL_TUNABLE_JOIN_GID_LOW || which == COLL_TUNABLE_JOIN_GID_HIGH;
}

/* The value as it is shown: group ids are those of the caller's user namespace. */
static u32 netlink_tunable_shown(enum coll_tunable which, u32 value)
{
	if (!netlink_tunable_is_gid(which))
		return value;
	return from_kgid_munged(current_user_ns(), KGIDT_INIT(value));
}

static int netlink_put_tunable(struct sk_buff *skb, const struct coll_tunables *t,
			       enum coll_tunable which)
{
	const struct coll_tunable_info *info = &coll_tunable_info[which];
	struct nlattr *nest = nla_nest_start(skb, COLLSOCK_A_TUNABLES_TUNABLE);

	if (!nest ||
	    nla_put_string(skb, COLLSOCK_A_TUNABLE_NAME, info->name) ||
	    nla_put_u32(skb, COLLSOCK_A_TUNABLE_VALUE,
			netlink_tunable_shown(which, coll_tunable(t, which))) ||
	    nla_put_u32(skb, COLLSOCK_A_TUNABLE_MINIMUM, info->least) ||
	    nla_put_u32(skb, COLLSOCK_A_TUNABLE_MAXIMUM, info->most) ||
	    nla_put_u32(skb, COLLSOCK_A_TUNABLE_DEFAULT,
			netlink_tunable_shown(which, coll_tunable_default(which))) ||
	    nla_put_string(skb, COLLSOCK_A_TUNABLE_UNIT, info->unit) ||
	    nla_put_string(skb, COLLSOCK_A_TUNABLE_DESCRIPTION, info->description) ||
	    (test_bit(which, t->own) && nla_put_flag(skb, COLLSOCK_A_TUNABLE_OWN)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Bytes that suffice for the answer about one tunable */
#define TUNABLE_ROOM	256

/* How often a request tries to take a mutex, and how long it waits between */
#define LOCK_ATTEMPTS	10
#define LOCK_WAIT_US	1000

static int netlink_get_tunables(struct sk_buff *request, struct genl_info *info)
{
	struct coll_net *cn = coll_net_of(genl_info_net(info));
	struct sk_buff *skb = genlmsg_new(COLL_TUNABLES * TUNABLE_ROOM, GFP_KERNEL);
	enum coll_tunable which;
	void *header;
	int err = 0;

	if (!skb)
		return -ENOMEM;
	header = genlmsg_put_reply(skb, info, &netlink_family, 0, COLLSOCK_CMD_TUNABLE_GET);
	if (!header)
		err = -EMSGSIZE;
	for (which = 0; !err && which < COLL_TUNABLES; which++)
		err = netlink_put_tunable(skb, &cn->tunables, which);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static const struct nla_policy netlink_tunable_policy[COLLSOCK_A_TUNABLE_MAX + 1] = {
	[COLLSOCK_A_TUNABLE_NAME]	= { .type = NLA_NUL_STRING,
					    .len = COLLSOCK_TUNABLE_NAME_LENGTH },
	[COLLSOCK_A_TUNABLE_VALUE]	= { .type = NLA_U32 },
	[COLLSOCK_A_TUNABLE_RESET]	= { .type = NLA_FLAG },
};

static enum coll_tunable netlink_tunable_find(const char *name)
{
	enum coll_tunable which = 0;

	while (which < COLL_TUNABLES && strcmp(name, coll_tunable_info[which].name))
		which++;
	return which;
}

/* Does that value allow more of what all namespaces share? */
static bool netlink_tunable_raises(const struct coll_tunables *t, enum coll_tunable which,
				   u32 value)
{
	u32 now = coll_tunable(t, which);

	if (which == COLL_TUNABLE_USER_MEMORY) {
		now = coll_tunable_user_memory(t, now);
		value = coll_tunable_user_memory(t, value);
	}
	return coll_tunable_is_machines(which) && value > now;
}

/* Would timers of the namespace fire more often than those of the machine? */
static bool netlink_tunable_hastens(const struct coll_tunables *t, enum coll_tunable which,
				    u32 value)
{
	return coll_tunable_is_interval(which) &&
	       value < min(coll_tunable(t, which), coll_tunable_default(which));
}

/*
 * May the caller set this value? Returns -EPERM if that requires CAP_NET_ADMIN in the initial user
 * namespace, which the caller lacks.
 */
static int netlink_tunable_permit(const struct coll_tunables *t, struct sk_buff *request,
				  enum coll_tunable which, struct nlattr *attr, u32 value,
				  struct netlink_ext_ack *extack)
{
	bool raises = netlink_tunable_raises(t, which, value);

	if (!raises && !netlink_tunable_hastens(t, which, value))
		return 0;
	if (netlink_capable(request, CAP_NET_ADMIN))
		return 0;
	if (raises)
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "only root of the initial user namespace may raise it");
	else
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "only root of the initial user namespace may set less than the module's parameter");
	return -EPERM;
}

/* May this caller set the tunable to this value? The namespace's mutex is held. */
static int netlink_tunable_check(const struct coll_net *cn, struct sk_buff *request,
				 enum coll_tunable which, struct nlattr *attr, u32 *value,
				 struct netlink_ext_ack *extack)
{
	const struct coll_tunable_info *info = &coll_tunable_info[which];
	kgid_t gid;

	if (*value < info->least || *value > info->most) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "out of the tunable's range");
		return -ERANGE;
	}
	if (netlink_tunable_is_gid(which)) {
		gid = make_kgid(current_user_ns(), *value);
		if (!gid_valid(gid)) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "no group id of this user namespace");
			return -EINVAL;
		}
		*value = __kgid_val(gid);
	}
	return netlink_tunable_permit(&cn->tunables, request, which, attr, *value, extack);
}

static int netlink_tunable_change(const struct coll_net *cn, struct sk_buff *request,
				  struct nlattr *nest, struct netlink_changes *changes,
				  struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[COLLSOCK_A_TUNABLE_MAX + 1], *attr;
	enum coll_tunable which;
	int err;

	err = nla_parse_nested(attrs, COLLSOCK_A_TUNABLE_MAX, nest, netlink_tunable_policy,
			       extack);
	if (err)
		return err;
	attr = attrs[COLLSOCK_A_TUNABLE_NAME];
	if (!attr || !attrs[COLLSOCK_A_TUNABLE_VALUE] == !attrs[COLLSOCK_A_TUNABLE_RESET]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "needs a name, and either a value or a reset");
		return -EINVAL;
	}
	which = netlink_tunable_find(nla_data(attr));
	if (which == COLL_TUNABLES) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "no such tunable");
		return -ENOENT;
	}
	attr = attrs[COLLSOCK_A_TUNABLE_VALUE];
	changes->value[which] = attr ? nla_get_u32(attr) : coll_tunable_default(which);
	__assign_bit(which, changes->set, attr);
	__assign_bit(which, changes->reset, !attr);
	if (netlink_tunable_is_gid(which) && !attr)
		return 0;
	return netlink_tunable_check(cn, request, which, attr ? attr : nest, &changes->value[which],
				     extack);
}

static void netlink_tunables_apply(struct coll_tunables *t, const struct netlink_changes *changes)
{
	enum coll_tunable which;

	for_each_set_bit(which, changes->set, COLL_TUNABLES)
		coll_tunable_set(t, which, changes->value[which]);
	for_each_set_bit(which, changes->reset, COLL_TUNABLES)
		coll_tunable_reset(t, which);
}

/* The value that the tunable will have in the namespace. */
static u32 netlink_tunable_new(const struct coll_net *cn, const struct netlink_changes *changes,
			       enum coll_tunable which)
{
	if (test_bit(which, changes->set) || test_bit(which, changes->reset))
		return changes->value[which];
	return coll_tunable(&cn->tunables, which);
}

/* A request about the port opens, moves or closes it, or is refused. */
static int netlink_change_port(struct coll_net *cn, const struct netlink_changes *changes,
			       struct netlink_ext_ack *extack)
{
	bool asked = false;
	u32 which;
	int err;

	for (which = 0; which < COLL_TUNABLES; which++)
		asked |= coll_tunable_is_port(which) && (test_bit(which, changes->set) ||
							 test_bit(which, changes->reset));
	if (!asked)
		return 0;
	err = coll_port_change(cn, netlink_tunable_new(cn, changes, COLL_TUNABLE_PORT),
			       netlink_tunable_new(cn, changes, COLL_TUNABLE_HOLD_PORT));
	if (err == -EBUSY)
		NL_SET_ERR_MSG(extack, "groups use the port");
	else if (err)
		NL_SET_ERR_MSG(extack, "the port cannot be opened: collsock doctor knows why");
	return err;
}

/*
 * Take the mutex of the namespace, unless that takes long: its holder may be opening or closing the
 * port. Requests must not wait for each other, since registering a generic netlink family waits for
 * them, and all later requests wait for the registration.
 */
static int netlink_lock_net(struct coll_net *cn, struct netlink_ext_ack *extack)
{
	int attempt;

	for (attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
		if (mutex_trylock(&cn->mutex))
			return 0;
		usleep_range(LOCK_WAIT_US / 2, LOCK_WAIT_US);
	}
	NL_SET_ERR_MSG(extack, "others join or set tunables: try again");
	return -EAGAIN;
}

/* Change all tunables that the request names, or none. */
static int netlink_set_tunables(struct sk_buff *request, struct genl_info *info)
{
	struct coll_net *cn = coll_net_of(genl_info_net(info));
	struct netlink_changes changes = { };
	struct nlattr *nest;
	int rest, err = netlink_lock_net(cn, info->extack);

	if (err)
		return err;
	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rest) {
		err = netlink_tunable_change(cn, request, nest, &changes, info->extack);
		if (err)
			break;
	}
	if (!err)
		err = netlink_change_port(cn, &changes, info->extack);
	if (!err)
		netlink_tunables_apply(&cn->tunables, &changes);
	mutex_unlock(&cn->mutex);
	return err;
}

/* ---- the namespace ---- */

#define NETLINK_COUNTER(name, IDENTIFIER, meaning)	{ COLLSOCK_A_NET_##IDENTIFIER, s->name },

static int netlink_put_net(struct sk_buff *skb, struct coll_net *cn,
			   const struct collsock_net_stats *s)
{
	const struct {
		int	attribute;
		u64	value;
	} counters[] = {
		{ COLLSOCK_A_NET_MEMORY,		s->memory },
		{ COLLSOCK_A_NET_OVER_MEMORY,		s->over_memory },
		{ COLLSOCK_A_NET_OVER_USER,		s->over_user },
		COLLSOCK_NET_COUNTER_LIST(NETLINK_COUNTER)
	};
	u32 i;

	if (nla_put_string(skb, COLLSOCK_A_NET_VERSION, THIS_MODULE->version) ||
	    nla_put_u32(skb, COLLSOCK_A_NET_FAMILY, coll_family_number()) ||
	    nla_put_u16(skb, COLLSOCK_A_NET_PORT, coll_bearer_port(&cn->bearers)) ||
	    (coll_bearer_is_open(&cn->bearers) && nla_put_flag(skb, COLLSOCK_A_NET_PORT_OPEN)) ||
	    nla_put_u32(skb, COLLSOCK_A_NET_GROUPS, s->groups) ||
	    nla_put_u32(skb, COLLSOCK_A_NET_PEERS, s->peers) ||
	    nla_put_u32(skb, COLLSOCK_A_NET_TIMEWAIT_ENTRIES, s->timewait_entries))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (nla_put_u64_64bit(skb, counters[i].attribute, counters[i].value,
				      COLLSOCK_A_NET_PAD))
			return -EMSGSIZE;
	return 0;
}

static int netlink_get_net(struct sk_buff *request, struct genl_info *info)
{
	struct coll_net *cn = coll_net_of(genl_info_net(info));
	struct collsock_net_stats stats;
	struct sk_buff *skb;
	void *header;

	coll_pernet_stats(cn, &stats);
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	header = genlmsg_put_reply(skb, info, &netlink_family, 0, COLLSOCK_CMD_NET_GET);
	if (!header || netlink_put_net(skb, cn, &stats)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* ---- groups ---- */

/* Add the group with that handle, if there is room. */
static int netlink_put_group(struct coll_net *cn, struct sk_buff *skb, u32 handle,
			     struct netlink_ext_ack *extack)
{
	struct coll_instance *gi;
	struct coll_pace pace;
	int err = coll_pace_try(&pace, cn->net);

	if (err) {
		NL_SET_ERR_MSG(extack, COLL_PACE_BUSY);
		return err;
	}
	rcu_read_lock();
	gi = xa_load(&cn->instances, handle);
	if (!gi)
		err = -ENOENT;
	else if (!coll_netlink_dump_put_group(skb, gi))
		err = -EMSGSIZE;
	rcu_read_unlock();
	coll_pace_end(&pace);
	return err;
}

static int netlink_get_group(struct sk_buff *request, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[COLLSOCK_A_GROUP_HANDLE];
	struct sk_buff *skb;
	void *header;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, COLLSOCK_A_GROUP_HANDLE))
		return -EINVAL;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	header = genlmsg_put_reply(skb, info, &netlink_family, 0, COLLSOCK_CMD_GROUP_GET);
	err = header ? netlink_put_group(coll_net_of(genl_info_net(info)), skb, nla_get_u32(attr),
					 info->extack) :
		       -EMSGSIZE;
	if (err) {
		if (err == -ENOENT)
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such group");
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static int netlink_end_group(struct sk_buff *request, struct genl_info *info)
{
	struct coll_net *cn = coll_net_of(genl_info_net(info));
	struct nlattr *attr = info->attrs[COLLSOCK_A_GROUP_HANDLE];
	struct coll_instance *gi;

	if (GENL_REQ_ATTR_CHECK(info, COLLSOCK_A_GROUP_HANDLE))
		return -EINVAL;
	rcu_read_lock();
	gi = xa_load(&cn->instances, nla_get_u32(attr));
	if (gi)
		coll_instance_end(gi);
	rcu_read_unlock();
	if (gi)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "no such group");
	return -ENOENT;
}

/* ---- devices ---- */

static int netlink_set_device(struct sk_buff *request, struct genl_info *info)
{
	struct coll_net *cn = coll_net_of(genl_info_net(info));
	int err;

	if (GENL_REQ_ATTR_CHECK(info, COLLSOCK_A_DEVICE_IFINDEX) ||
	    GENL_REQ_ATTR_CHECK(info, COLLSOCK_A_DEVICE_ALLOWED))
		return -EINVAL;
	err = coll_bearer_allow_device(&cn->bearers,
				       nla_get_u32(info->attrs[COLLSOCK_A_DEVICE_IFINDEX]),
				       nla_get_u8(info->attrs[COLLSOCK_A_DEVICE_ALLOWED]));
	if (err == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[COLLSOCK_A_DEVICE_IFINDEX],
				    "no such device");
	return err;
}

/* ---- the family ---- */

static const struct nla_policy netlink_device_policy[COLLSOCK_A_DEVICE_ALLOWED + 1] = {
	[COLLSOCK_A_DEVICE_IFINDEX]	= NLA_POLICY_MIN(NLA_U32, 1),
	[COLLSOCK_A_DEVICE_ALLOWED]	= NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct nla_policy netlink_tunables_policy[COLLSOCK_A_TUNABLES_MAX + 1] = {
	[COLLSOCK_A_TUNABLES_TUNABLE]	= NLA_POLICY_NESTED(netlink_tunable_policy),
};

static const struct nla_policy netlink_group_policy[COLLSOCK_A_GROUP_HANDLE + 1] = {
	[COLLSOCK_A_GROUP_HANDLE]	= NLA_POLICY_MIN(NLA_U32, 1),
};

/* In all requests about one group or all, the handle is attribute 1. */
static_assert((int)COLLSOCK_A_HOST_GROUP == COLLSOCK_A_GROUP_HANDLE);
static_assert((int)COLLSOCK_A_RANK_GROUP == COLLSOCK_A_GROUP_HANDLE);
static_assert((int)COLLSOCK_A_PEER_GROUP == COLLSOCK_A_GROUP_HANDLE);
static_assert((int)COLLSOCK_A_OPERATION_GROUP == COLLSOCK_A_GROUP_HANDLE);

#define NETLINK_OF_GROUP				\
	.policy = netlink_group_policy,			\
	.maxattr = COLLSOCK_A_GROUP_HANDLE

static const struct genl_ops netlink_operations[] = {
	{
		.cmd	= COLLSOCK_CMD_TUNABLE_GET,
		.doit	= netlink_get_tunables,
	},
	{
		.cmd	= COLLSOCK_CMD_TUNABLE_SET,
		.doit	= netlink_set_tunables,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= netlink_tunables_policy,
		.maxattr = COLLSOCK_A_TUNABLES_MAX,
	},
	{
		.cmd	= COLLSOCK_CMD_NET_GET,
		.doit	= netlink_get_net,
	},
	{
		.cmd	= COLLSOCK_CMD_GROUP_GET,
		.doit	= netlink_get_group,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_groups,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_GROUP_END,
		.doit	= netlink_end_group,
		.flags	= GENL_UNS_ADMIN_PERM,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_HOST_GET,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_hosts,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_RANK_GET,
		.start	= coll_netlink_dump_start_ranks,
		.dumpit	= coll_netlink_dump_ranks,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_PEER_GET,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_peers,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_OPERATION_GET,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_operations,
		NETLINK_OF_GROUP,
	},
	{
		.cmd	= COLLSOCK_CMD_EARLY_PACKET_GET,
		.dumpit	= coll_netlink_dump_early_packets,
	},
	{
		.cmd	= COLLSOCK_CMD_USER_GET,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_users,
	},
	{
		.cmd	= COLLSOCK_CMD_DEVICE_GET,
		.start	= coll_netlink_dump_start,
		.dumpit	= coll_netlink_dump_devices,
	},
	{
		.cmd	= COLLSOCK_CMD_DEVICE_SET,
		.doit	= netlink_set_device,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= netlink_device_policy,
		.maxattr = COLLSOCK_A_DEVICE_ALLOWED,
	},
};

static const struct genl_multicast_group netlink_multicast[] = {
	{ .name = COLLSOCK_MCGRP_EVENTS },
};

static struct genl_family netlink_family __ro_after_init = {
	.name		= COLLSOCK_GENL_NAME,
	.version	= COLLSOCK_GENL_VERSION,
	.module		= THIS_MODULE,
	.netnsok	= true,
	.ops		= netlink_operations,
	.n_ops		= ARRAY_SIZE(netlink_operations),
	.parallel_ops	= true,
	.mcgrps		= netlink_multicast,
	.n_mcgrps	= ARRAY_SIZE(netlink_multicast),
};

/**
 * coll_netlink_init() - register the family
 *
 * Return: 0 or -errno. Context: process.
 */
int __init coll_netlink_init(void)
{
	int err = genl_register_family(&netlink_family);

	if (!err)
		coll_event_queue_allow(&netlink_family);
	return err;
}

/**
 * coll_netlink_uninit() - undo coll_netlink_init()
 *
 * Context: process.
 */
void coll_netlink_uninit(void)
{
	coll_event_queue_allow(NULL);
	genl_unregister_family(&netlink_family);
}
