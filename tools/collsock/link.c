// SPDX-License-Identifier: GPL-2.0
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "link.h"

#define KIND_BYTES 16

/**
 * struct link - a network device
 * @answered: the kernel has described it
 * @name: its name
 * @kind: of virtual devices, else empty
 * @master: index of the device whose port it is; 0: none
 */
struct link {
	bool		answered;
	char		name[IF_NAMESIZE];
	char		kind[KIND_BYTES];
	unsigned int	master;
};

/* Processes that administer the namespace can send to any socket in it. */
static int link_on_any(struct nl_msg *message, void *context)
{
	(void)context;
	return nlmsg_get_src(message)->nl_pid ? NL_SKIP : NL_OK;
}

static int link_on_reply(struct nl_msg *message, void *context)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	struct nlattr *attributes[IFLA_MAX + 1], *kind;
	struct link *link = context;

	if (head->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse((struct nlmsghdr *)head, sizeof(struct ifinfomsg), attributes, IFLA_MAX,
			NULL))
		return NL_SKIP;
	link->answered = true;
	if (attributes[IFLA_IFNAME])
		nla_strlcpy(link->name, attributes[IFLA_IFNAME], sizeof(link->name));
	if (attributes[IFLA_MASTER])
		link->master = nla_get_u32(attributes[IFLA_MASTER]);
	kind = attributes[IFLA_LINKINFO] ?
	       nla_find(nla_data(attributes[IFLA_LINKINFO]), nla_len(attributes[IFLA_LINKINFO]),
			IFLA_INFO_KIND) : NULL;
	if (kind)
		nla_strlcpy(link->kind, kind, sizeof(link->kind));
	return NL_OK;
}

static bool link_ask(struct nl_sock *socket, unsigned int index, struct link *link)
{
	struct ifinfomsg device = { .ifi_family = AF_UNSPEC, .ifi_index = index };
	int status;

	nl_socket_disable_auto_ack(socket);
	nl_socket_modify_cb(socket, NL_CB_MSG_IN, NL_CB_CUSTOM, link_on_any, NULL);
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, link_on_reply, link);
	status = nl_send_simple(socket, RTM_GETLINK, 0, &device, sizeof(device));
	while (status >= 0 && !link->answered)
		status = nl_recvmsgs_default(socket);
	return link->answered;
}

static bool link_read(unsigned int index, struct link *link)
{
	struct nl_sock *socket = nl_socket_alloc();
	bool known;

	*link = (struct link){ };
	known = socket && !nl_connect(socket, NETLINK_ROUTE) && link_ask(socket, index, link);
	nl_socket_free(socket);
	return known;
}

bool link_find_master(unsigned int index, char name[IF_NAMESIZE])
{
	struct link link, master;

	if (!link_read(index, &link) || !link.master || !link_read(link.master, &master) ||
	    !strcmp(master.kind, "vrf"))
		return false;
	snprintf(name, IF_NAMESIZE, "%s", master.name);
	return true;
}
