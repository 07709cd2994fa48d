// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/collsock_netlink.h>

#include "text.h"
#include "user_ask.h"
#include "user_directory.h"
#include "userspace.h"

/**
 * struct search - a search for replies
 * @all: replies that were found
 * @command: of their messages
 * @group: attribute for the handle of their group
 * @handle: of their group, or 0
 */
struct search {
	struct replies	*all;
	uint8_t		command;
	int		group;
	uint32_t	handle;
};

static void userspace_take(const struct search *search, struct nlmsghdr *message, uint64_t pid)
{
	struct genlmsghdr *generic = nlmsg_data(message);
	struct reply reply = reply_message(generic);

	if (generic->cmd != search->command)
		return;
	if (search->command == COLLSOCK_CMD_GROUP_GET)
		reply.pid = pid;
	if (!search->handle || reply_number(&reply, search->group, 0) == search->handle)
		replies_add(search->all, &reply);
}

static void userspace_parse(void *ctx, pid_t pid, void *report, size_t bytes)
{
	struct nlmsghdr *message = report;
	int left = bytes;

	for (; nlmsg_ok(message, left); message = nlmsg_next(message, &left))
		if (nlmsg_datalen(message) >= (int)GENL_HDRLEN)
			userspace_take(ctx, message, pid);
}

bool userspace_is_there(void)
{
	const struct user_ask ask = { .take = NULL };

	return user_ask(&ask);
}

char *userspace_hidden(void)
{
	char path[PATH_MAX];
	uid_t owner;

	if (!user_directory_refused(path, &owner))
		return NULL;
	text_clean(path);
	if (owner == geteuid())
		return text_format("others may use %s, so no rank does", path);
	return text_format("%s belongs to user %u, so no rank uses it", path, owner);
}

bool userspace_has_process(uint64_t pid)
{
	const struct user_ask ask = { .only = pid };

	return user_ask(&ask);
}

bool userspace_has(uint32_t handle)
{
	return handle & USER_HANDLE;
}

void userspace_dump(struct replies *all, uint8_t command, int group, uint32_t handle)
{
	struct search search = {
		.all = all, .command = command, .group = group, .handle = handle
	};
	const struct user_ask ask = {
		.only = (handle & ~USER_HANDLE) >> USER_HANDLE_PID_SHIFT,
		.take = userspace_parse, .ctx = &search,
	};

	user_ask(&ask);
}

void userspace_groups_of(struct replies *all, uint64_t pid)
{
	struct search search = { .all = all, .command = COLLSOCK_CMD_GROUP_GET };
	const struct user_ask ask = { .only = pid, .take = userspace_parse, .ctx = &search };

	user_ask(&ask);
}
