// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "latecomers.h"
#include "meeting_clock.h"
#include "netlink.h"
#include "text.h"
#include "user_udp.h"

#define PATIENCE_MS	1500	/* and up to LATECOMERS_EVERY_MS at either end */
#define MOST_PAUSE_MS	60000
#define MOST_EVERY_MS	(16 * LATECOMERS_EVERY_MS)
#define RANKS_TOLD	16

/* ---- who they are ---- */

static void latecomers_read_group(struct latecomers *l, struct netlink *n, uint32_t handle)
{
	struct replies ranks;
	uint64_t rank, state;
	size_t i;

	ranks = netlink_try_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, handle);
	for (i = 0; i < ranks.count; i++) {
		rank = reply_number(&ranks.reply[i], COLLSOCK_A_RANK_RANK, l->ranks);
		state = reply_number(&ranks.reply[i], COLLSOCK_A_RANK_STATE, NUMBER_UNKNOWN);
		if (rank < l->ranks)
			l->missing[rank] = state == COLLSOCK_RANK_STATE_ABSENT;
		l->awaited |= state == COLLSOCK_RANK_STATE_JOINED;
	}
	replies_free(&ranks);
}

/* The kernel has the group once one of them has joined. */
static void latecomers_ask_kernel(struct latecomers *l)
{
	struct replies groups;
	struct netlink n;
	size_t i;

	netlink_connect(&n);
	groups = netlink_try_dump(&n, COLLSOCK_CMD_GROUP_GET, 0, 0);
	for (i = 0; i < groups.count; i++)
		if (!groups.reply[i].pid &&
		    reply_number(&groups.reply[i], COLLSOCK_A_GROUP_ID, 0) == l->id)
			latecomers_read_group(l, &n, reply_number(&groups.reply[i],
								  COLLSOCK_A_GROUP_HANDLE, 0));
	replies_free(&groups);
	netlink_close(&n);
}

/* Returns how many there are. */
static uint32_t latecomers_find(struct latecomers *l, const int *socket)
{
	uint32_t rank, count = 0;

	l->awaited = false;
	for (rank = 0; rank < l->ranks; rank++) {
		l->missing[rank] = socket[rank] < 0 || !user_udp_has_joined(socket[rank]);
		l->awaited |= socket[rank] >= 0 && user_udp_is_used(socket[rank]);
	}
	if (socket[0] < 0)
		latecomers_ask_kernel(l);
	for (rank = 0; rank < l->ranks; rank++)
		count += l->missing[rank];
	return count;
}

/* ---- output ---- */

static void latecomers_print(const struct latecomers *l, uint32_t count)
{
	char list[RANKS_TOLD * sizeof(", 255")] = "", more[24] = "";
	uint32_t rank, told = 0;

	for (rank = 0; rank < l->ranks && told < RANKS_TOLD; rank++)
		if (l->missing[rank])
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u",
				 told++ ? ", " : "", rank);
	if (count > told)
		snprintf(more, sizeof(more), " and %u more", count - told);
	warnx("waiting for rank%s %s%s: %s not joined", count > 1 ? "s" : "", list, more,
	      count > 1 ? "they have" : "it has");
}

static void latecomers_pause(struct latecomers *l, uint64_t now, uint64_t every_ms)
{
	l->every_ms = every_ms < LATECOMERS_EVERY_MS ? LATECOMERS_EVERY_MS :
		      every_ms > MOST_EVERY_MS ? MOST_EVERY_MS : every_ms;
	l->look_ms = now + l->every_ms;
}

bool latecomers_look(struct latecomers *l, const int *socket)
{
	uint64_t now = meeting_clock_ms();
	uint32_t count;

	if (now < l->look_ms)
		return true;
	count = latecomers_find(l, socket);
	if (!count || !l->awaited) {
		/* Perhaps the programs do something else first, or never join. */
		latecomers_pause(l, now, 2 * l->every_ms);
		l->tell_ms = 0;
		return count;
	}
	latecomers_pause(l, now, LATECOMERS_EVERY_MS);
	if (!l->tell_ms) {
		l->pause_ms = PATIENCE_MS;
		l->tell_ms = now + l->pause_ms;
	}
	if (now < l->tell_ms)
		return true;
	latecomers_print(l, count);
	l->pause_ms = 4 * l->pause_ms < MOST_PAUSE_MS ? 4 * l->pause_ms : MOST_PAUSE_MS;
	l->tell_ms = now + l->pause_ms;
	return true;
}
