// SPDX-License-Identifier: GPL-2.0
/* What happens, a line for each event, until interrupted. */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>

#include <linux/collsock_netlink.h>

#include "command.h"
#include "monitor.h"
#include "netlink.h"
#include "text.h"

#define BUFFER_BYTES 4194304

/* 2026-11-21T12:00:00.123456+0000, as ip monitor -t has it but for the line. */
static void timestamp(char text[TEXT_BYTES])
{
	char seconds[TEXT_BYTES / 2], zone[TEXT_BYTES / 8];
	struct timespec now;
	struct tm local;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(seconds, sizeof(seconds), "%FT%T", &local);
	strftime(zone, sizeof(zone), "%z", &local);
	snprintf(text, TEXT_BYTES, "%s.%06ld%s", seconds, now.tv_nsec / 1000, zone);
}

static const char *meaning(const char *event)
{
	static const char *const meanings[][2] = {
		{ "group-made",	      "the first rank of this host has joined" },
		{ "group-failed",     "the group has failed" },
		{ "group-ended",      "the group is not there any more" },
		{ "peer-made",	      "a connection came into being" },
		{ "peer-idle",   "a connection was put back: nothing was said over it" },
		{ "peer-lossy",	      "a message was sent several times and is not acknowledged" },
		{ "operation-failed", "a rank of this host was told that its operation failed" },
		{ "disagreement",     "two ranks mean different operations by the same number" },
		{ "rank-left",	      "a rank has left" },
		{ "overrun",	      "events were lost: they came faster than they were read" },
		{ "module-unloaded",  "the module is gone: no events until it is loaded again" },
		{ "module-loaded",    "the module is loaded again" },
		{ }
	};
	size_t i;

	for (i = 0; meanings[i][0]; i++)
		if (!strcmp(meanings[i][0], event))
			return meanings[i][1];
	return event;
}

static void print_line(struct json_object *notice)
{
	const char *event = text_string(notice, "event", "-");

	if (text_has(notice, "time"))
		printf("%s ", text_string(notice, "time", ""));
	if (text_has(notice, "id"))
		printf("group %s (handle %s): ", text_string(notice, "id", "-"),
		       text_string(notice, "group", "-"));
	printf("%s: %s", event, meaning(event));
	if (text_has(notice, "operation"))
		printf(", operation %s", text_string(notice, "operation", ""));
	if (text_has(notice, "host"))
		printf(", host %s", text_string(notice, "host", ""));
	if (text_has(notice, "error"))
		printf(", %s", text_string(notice, "error", ""));
	if (text_has(notice, "rank"))
		printf(", because of rank %s", text_string(notice, "rank", ""));
	putchar('\n');
}

static void tell(struct json_object *notice)
{
	char text[TEXT_BYTES];

	if (options.timestamps) {
		timestamp(text);
		text_put_string(notice, "time", text);
	}
	if (options.json) {
		text_print(notice);
	} else {
		print_line(notice);
		json_object_put(notice);
	}
	if (fflush(stdout))
		err(EXIT_ERROR, "standard output");
}

/* What the module does not tell itself. */
static void tell_own(const char *event)
{
	struct json_object *notice = json_object_new_object();

	text_put_string(notice, "event", event);
	tell(notice);
}

static void listen_to(struct netlink *n, int events)
{
	if (events < 0)
		errx(EXIT_ERROR, "the module has no events: it is older than this command");
	if (nl_socket_add_membership(n->socket, events))
		errx(EXIT_ERROR, "the events cannot be listened to");
}

/* The number of the module's events, in what generic netlink says of the family. */
static int find_events(struct nlattr *groups)
{
	struct nlattr *attributes[CTRL_ATTR_MCAST_GRP_MAX + 1], *group;
	int left;

	if (!groups)
		return -1;
	nla_for_each_nested(group, groups, left) {
		if (nla_parse_nested(attributes, CTRL_ATTR_MCAST_GRP_MAX, group, NULL) ||
		    !attributes[CTRL_ATTR_MCAST_GRP_NAME] || !attributes[CTRL_ATTR_MCAST_GRP_ID])
			continue;
		if (!nla_strcmp(attributes[CTRL_ATTR_MCAST_GRP_NAME], COLLSOCK_MCGRP_EVENTS))
			return nla_get_u32(attributes[CTRL_ATTR_MCAST_GRP_ID]);
	}
	return -1;
}

static void on_unloaded(struct netlink *n)
{
	n->family = 0;
	tell_own("module-unloaded");
}

/* Events of a module that is loaded again have another number. */
static void on_loaded(struct netlink *n, int family, int events)
{
	n->family = family;
	listen_to(n, events);
	tell_own("module-loaded");
}

/* A family comes or goes. It may be known already: see look_again(). */
static void on_family(struct netlink *n, struct nlmsghdr *message)
{
	struct nlattr *attributes[CTRL_ATTR_MAX + 1];
	uint8_t command = ((struct genlmsghdr *)nlmsg_data(message))->cmd;
	int family;

	if (genlmsg_parse(message, 0, attributes, CTRL_ATTR_MAX, NULL) ||
	    !attributes[CTRL_ATTR_FAMILY_NAME] || !attributes[CTRL_ATTR_FAMILY_ID] ||
	    nla_strcmp(attributes[CTRL_ATTR_FAMILY_NAME], COLLSOCK_GENL_NAME))
		return;
	family = nla_get_u16(attributes[CTRL_ATTR_FAMILY_ID]);
	if (command == CTRL_CMD_DELFAMILY && family == n->family)
		on_unloaded(n);
	else if (command == CTRL_CMD_NEWFAMILY && family != n->family)
		on_loaded(n, family, find_events(attributes[CTRL_ATTR_MCAST_GROUPS]));
}

/* That the module went or came was perhaps among what was lost. */
static void look_again(struct netlink *n)
{
	struct netlink now;
	int error = netlink_connect(&now);

	if (!error && now.family != n->family) {
		if (n->family)
			on_unloaded(n);
		on_loaded(n, now.family, genl_ctrl_resolve_grp(now.socket, COLLSOCK_GENL_NAME,
							       COLLSOCK_MCGRP_EVENTS));
	} else if (error == ENOENT && n->family) {
		on_unloaded(n);
	}
	netlink_close(&now);
}

static int on_message(struct nl_msg *message, void *context)
{
	struct nlmsghdr *header = nlmsg_hdr(message);
	struct genlmsghdr *head = nlmsg_data(header);
	struct netlink *n = context;

	if (header->nlmsg_type == GENL_ID_CTRL)
		on_family(n, header);
	else if (header->nlmsg_type == n->family && head->cmd == COLLSOCK_CMD_NOTICE)
		tell(decode(decode_notice, genlmsg_attrdata(head, 0), genlmsg_attrlen(head, 0)));
	return NL_OK;
}

static void subscribe(struct netlink *n)
{
	int events, families;

	netlink_open(n);
	events = genl_ctrl_resolve_grp(n->socket, COLLSOCK_GENL_NAME, COLLSOCK_MCGRP_EVENTS);
	families = genl_ctrl_resolve_grp(n->socket, "nlctrl", "notify");
	nl_socket_disable_seq_check(n->socket);
	nl_socket_set_buffer_size(n->socket, BUFFER_BYTES, 0);
	nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_CUSTOM, on_message, n);
	listen_to(n, families);
	listen_to(n, events);
	nl_socket_set_nonblocking(n->socket);
}

/* False if something was lost. */
static bool receive(struct netlink *n)
{
	int status = nl_recvmsgs_default(n->socket);

	/* What libnl makes of ENOBUFS */
	if (status == -NLE_NOMEM) {
		tell_own("overrun");
		return false;
	}
	if (status < 0 && status != -NLE_AGAIN)
		errx(EXIT_ERROR, "events: %s", nl_geterror(status));
	return true;
}

/* They come by a file: while nothing is half printed, and are never missed. */
static int await_signals(void)
{
	sigset_t ends;
	int fd;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	fd = signalfd(-1, &ends, SFD_CLOEXEC);
	if (fd < 0)
		err(EXIT_ERROR, "signals");
	return fd;
}

int monitor_command(char **words)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	/* It may be another module already than that which was asked. */
	bool uncertain = true;
	struct netlink n;

	command_no_more(words);
	fds[1].fd = await_signals();
	subscribe(&n);
	fds[0].fd = nl_socket_get_fd(n.socket);
	for (;;) {
		if (poll(fds, 2, uncertain ? 0 : -1) < 0 && errno != EINTR)
			err(EXIT_ERROR, "events");
		if (fds[1].revents)
			break;
		/* What came before the loss has its turn before the look. */
		if (fds[0].revents) {
			uncertain |= !receive(&n);
		} else if (uncertain) {
			uncertain = false;
			look_again(&n);
		}
	}
	netlink_close(&n);
	return EXIT_DONE;
}
