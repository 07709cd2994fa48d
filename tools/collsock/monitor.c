// SPDX-License-Identifier: GPL-2.0
/* Prints events, one per line, until interrupted. */
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

/* ---- output ---- */

/* 2026-11-21T12:00:00.123456+0000, as in ip monitor -t, but on the same line */
static void monitor_timestamp(char text[TEXT_BYTES])
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

static const char *monitor_meaning(const char *event)
{
	static const char *const meanings[][2] = {
		{ "group-began",      "the first rank of this host has joined" },
		{ "group-failed",     "the group has failed" },
		{ "group-ended",      "the group has ended on this host" },
		{ "peer-opened",      "a connection was opened" },
		{ "peer-idle",	      "an idle connection was released" },
		{ "peer-lossy",	      "a message was sent several times and not acknowledged" },
		{ "operation-failed", "an operation has failed at a rank of this host" },
		{ "disagreement",     "two ranks posted different operations with one number" },
		{ "rank-left",	      "a rank has left" },
		{ "overrun",	      "events were lost: they came faster than they were read" },
		{ "module-unloaded",  "module unloaded: no events until it is loaded again" },
		{ "module-loaded",    "the module is loaded again" },
		{ }
	};
	size_t i;

	for (i = 0; meanings[i][0]; i++)
		if (!strcmp(meanings[i][0], event))
			return meanings[i][1];
	return event;
}

static void monitor_print(struct json_object *notice)
{
	const char *event = text_string(notice, "event", "-");

	if (text_has(notice, "time"))
		printf("%s ", text_string(notice, "time", ""));
	if (text_has(notice, "id"))
		printf("group %s (handle %s): ", text_string(notice, "id", "-"),
		       text_string(notice, "group", "-"));
	printf("%s: %s", event, monitor_meaning(event));
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

static void monitor_tell(struct json_object *notice)
{
	char text[TEXT_BYTES];

	if (options.timestamps) {
		monitor_timestamp(text);
		text_put_string(notice, "time", text);
	}
	if (options.json) {
		text_print(notice);
	} else {
		monitor_print(notice);
		json_object_put(notice);
	}
	if (fflush(stdout))
		err(EXIT_ERROR, "standard output");
}

/* An event of this command, not of the module. */
static void monitor_tell_own(const char *event)
{
	struct json_object *notice = json_object_new_object();

	text_put_string(notice, "event", event);
	monitor_tell(notice);
}

/* ---- loading and unloading ---- */

/**
 * struct registration - how the module is registered with generic netlink
 * @family: number of its family, which changes each time it is loaded; 0 while it is not
 * @events: number of its multicast group; negative if it has none
 */
struct registration {
	int	family;
	int	events;
};

/**
 * struct monitor - what is known about the module
 * @n: the connection that is subscribed to events; @n.family is 0 while the module is not loaded
 * @uncertain: the module may have been unloaded or loaded unnoticed
 * @asked: @answer is valid, and messages queued before it are being read
 * @answer: registration of the module at the time of the query
 * @family_then: @n.family at that time
 */
struct monitor {
	struct netlink		n;
	bool			uncertain;
	bool			asked;
	struct registration	answer;
	int			family_then;
};

static void monitor_join(struct netlink *n, int events)
{
	if (events < 0)
		errx(EXIT_ERROR, "the module has no events: it is older than this command");
	if (nl_socket_add_membership(n->socket, events))
		errx(EXIT_ERROR, "cannot subscribe to the events");
}

/* Find the number of the events' multicast group in the attributes of the family. */
static int monitor_find_events(struct nlattr *groups)
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

/* The module's registration is now @now. Its events must be joined again each time. */
static void monitor_adopt(struct netlink *n, const struct registration *now)
{
	if (now->family == n->family)
		return;
	if (n->family)
		monitor_tell_own("module-unloaded");
	n->family = now->family;
	if (!n->family)
		return;
	monitor_join(n, now->events);
	monitor_tell_own("module-loaded");
}

/* A family was registered or unregistered. This may be known already: see monitor_look(). */
static void monitor_on_family(struct netlink *n, struct nlmsghdr *message)
{
	struct nlattr *attributes[CTRL_ATTR_MAX + 1];
	uint8_t command = ((struct genlmsghdr *)nlmsg_data(message))->cmd;
	struct registration now = { };
	int family;

	if (genlmsg_parse(message, 0, attributes, CTRL_ATTR_MAX, NULL) ||
	    !attributes[CTRL_ATTR_FAMILY_NAME] || !attributes[CTRL_ATTR_FAMILY_ID] ||
	    nla_strcmp(attributes[CTRL_ATTR_FAMILY_NAME], COLLSOCK_GENL_NAME))
		return;
	family = nla_get_u16(attributes[CTRL_ATTR_FAMILY_ID]);
	if (command == CTRL_CMD_NEWFAMILY) {
		now.family = family;
		now.events = monitor_find_events(attributes[CTRL_ATTR_MCAST_GROUPS]);
		monitor_adopt(n, &now);
	} else if (command == CTRL_CMD_DELFAMILY && family == n->family) {
		monitor_adopt(n, &now);
	}
}

/* Query the module's registration. */
static struct registration monitor_ask(void)
{
	struct registration now = { };
	struct netlink n;
	int error = netlink_connect(&n);

	if (error && error != ENOENT)
		errx(EXIT_ERROR, "generic netlink: %s", strerror(error));
	if (!error) {
		now.events = genl_ctrl_resolve_grp(n.socket, COLLSOCK_GENL_NAME,
						   COLLSOCK_MCGRP_EVENTS);
		/* Fails if it was unloaded between the two requests */
		if (genl_ctrl_resolve(n.socket, COLLSOCK_GENL_NAME) == n.family)
			now.family = n.family;
	}
	netlink_close(&n);
	return now;
}

/*
 * Query the module's registration when nothing is left to be read. Messages queued before
 * the answer are older, and belong to the module that was known until then: they are read
 * before the answer is applied. The answer is discarded if the family has changed
 * meanwhile, or events were lost (monitor_receive()).
 */
static void monitor_look(struct monitor *m)
{
	if (!m->asked) {
		m->asked = true;
		m->family_then = m->n.family;
		m->answer = monitor_ask();
		return;
	}
	m->asked = false;
	if (m->n.family != m->family_then)
		return;
	m->uncertain = false;
	monitor_adopt(&m->n, &m->answer);
}

/* ---- events ---- */

static void monitor_on_notice(const struct genlmsghdr *head)
{
	struct reply notice = reply_message(head);

	monitor_tell(decode(decode_notice, &notice));
}

static int monitor_on_message(struct nl_msg *message, void *context)
{
	struct nlmsghdr *header = nlmsg_hdr(message);
	struct genlmsghdr *head = nlmsg_data(header);
	struct netlink *n = context;

	if (header->nlmsg_type == GENL_ID_CTRL)
		monitor_on_family(n, header);
	else if (header->nlmsg_type == n->family && genlmsg_valid_hdr(header, 0) &&
		 head->cmd == COLLSOCK_CMD_NOTICE)
		monitor_on_notice(head);
	return NL_OK;
}

/*
 * The module may be loaded again before its family is watched: @m is uncertain until the
 * next monitor_look().
 */
static void monitor_subscribe(struct monitor *m)
{
	struct netlink *n = &m->n;
	int events, families;

	netlink_open(n);
	events = genl_ctrl_resolve_grp(n->socket, COLLSOCK_GENL_NAME, COLLSOCK_MCGRP_EVENTS);
	families = genl_ctrl_resolve_grp(n->socket, "nlctrl", "notify");
	nl_socket_disable_seq_check(n->socket);
	nl_socket_set_buffer_size(n->socket, BUFFER_BYTES, 0);
	nl_socket_modify_cb(n->socket, NL_CB_VALID, NL_CB_CUSTOM, monitor_on_message, n);
	monitor_join(n, events);
	monitor_join(n, families);
	nl_socket_set_nonblocking(n->socket);
	m->uncertain = true;
}

static void monitor_receive(struct monitor *m)
{
	int status = nl_recvmsgs_default(m->n.socket);

	/* libnl's code for ENOBUFS */
	if (status == -NLE_NOMEM) {
		monitor_tell_own("overrun");
		m->uncertain = true;
		m->asked = false;
	} else if (status < 0 && status != -NLE_AGAIN) {
		errx(EXIT_ERROR, "events: %s", nl_geterror(status));
	}
}

/*
 * Signals are read from a file descriptor: no line is left half printed, and no signal is
 * missed.
 */
static int monitor_block_signals(void)
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
	struct monitor m = { };

	command_no_more(words);
	fds[1].fd = monitor_block_signals();
	monitor_subscribe(&m);
	fds[0].fd = nl_socket_get_fd(m.n.socket);
	for (;;) {
		if (poll(fds, 2, m.uncertain ? 0 : -1) < 0) {
			if (errno == EINTR)
				continue;
			err(EXIT_ERROR, "events");
		}
		if (fds[1].revents)
			break;
		if (fds[0].revents)
			monitor_receive(&m);
		else if (m.uncertain)
			monitor_look(&m);
	}
	netlink_close(&m.n);
	return EXIT_DONE;
}
