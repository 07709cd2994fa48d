// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include <linux/collsock_netlink.h>

#include "groups.h"
#include "look.h"
#include "overdue.h"
#include "sentence.h"

/* Does this process have a rank in that group of the module? */
static bool overdue_has_rank(struct netlink *n, const struct reply *group)
{
	struct replies ranks;
	bool found = false;
	size_t i;

	ranks = netlink_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, groups_handle(group));
	for (i = 0; i < ranks.count; i++)
		found |= reply_number(&ranks.reply[i], COLLSOCK_A_RANK_PID, 0) ==
			 (uint64_t)getpid();
	replies_free(&ranks);
	return found;
}

static struct replies overdue_groups(struct netlink *n)
{
	struct replies all = netlink_dump(n, COLLSOCK_CMD_GROUP_GET, 0, 0), own = { };
	const struct reply *group;
	size_t i;

	for (i = 0; i < all.count; i++) {
		group = &all.reply[i];
		if (group->pid ? group->pid == (uint64_t)getpid() : overdue_has_rank(n, group))
			replies_add(&own, group);
	}
	replies_free(&all);
	return own;
}

char *overdue_sentence(void)
{
	char *sentence = NULL;
	struct report *reports;
	struct replies groups;
	struct netlink n;
	size_t count;

	netlink_connect_lenient(&n);
	groups = overdue_groups(&n);
	reports = look_at(&n, &groups, &count);
	if (count)
		sentence = sentence_of(&reports[0]);
	look_free(reports, count);
	replies_free(&groups);
	netlink_close(&n);
	return sentence;
}
