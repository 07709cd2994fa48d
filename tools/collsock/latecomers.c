// SPDX-License-Identifier: GPL-2.0
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/collsock_netlink.h>

#include "absent.h"
#include "group.h"
#include "latecomers.h"
#include "meeting_clock.h"
#include "netlink.h"
#include "text.h"
#include "user_address.h"
#include "user_udp.h"

#define PATIENCE_MS	1500	/* and up to LATECOMERS_EVERY_MS at either end */
#define MOST_PAUSE_MS	60000
#define MOST_EVERY_MS	(16 * LATECOMERS_EVERY_MS)
#define RANKS_TOLD	16
/* Operations that begin when a rank has been there for so long fail at once if others are not. */
#define JOIN_TIMEOUT_MS	300000
/* Others name only those that they wait for themselves, so that not every rank prints a line. */
#define CHAINS_TOLD_BY	2

static bool latecomers_are_all_here(const struct latecomers *l)
{
	return l->ranks.count == l->ranks.group->request.ranks;
}

void latecomers_init(struct latecomers *l, const struct latecomers_ranks *ranks)
{
	*l = (struct latecomers){
		.ranks = *ranks, .missing = calloc(ranks->group->request.ranks, sizeof(bool)),
	};
}

void latecomers_free(struct latecomers *l)
{
	free(l->missing);
}

/* ---- all ranks are here ---- */

static void latecomers_read_group(struct latecomers *l, struct netlink *n, uint32_t handle)
{
	struct replies ranks;
	uint64_t rank, state;
	size_t i;

	ranks = netlink_try_dump(n, COLLSOCK_CMD_RANK_GET, COLLSOCK_A_RANK_GROUP, handle);
	for (i = 0; i < ranks.count; i++) {
		rank = reply_number(&ranks.reply[i], COLLSOCK_A_RANK_RANK, l->ranks.count);
		state = reply_number(&ranks.reply[i], COLLSOCK_A_RANK_STATE, NUMBER_UNKNOWN);
		if (rank < l->ranks.count)
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
		    reply_number(&groups.reply[i], COLLSOCK_A_GROUP_ID, 0) ==
		    l->ranks.group->request.id)
			latecomers_read_group(l, &n, reply_number(&groups.reply[i],
								  COLLSOCK_A_GROUP_HANDLE, 0));
	replies_free(&groups);
	netlink_close(&n);
}

/*
 * This process has joined and left in place of a program that has failed, but those that have
 * joined with another description do not hear that: they say whether they wait for it.
 */
static void latecomers_ask_ranks(struct latecomers *l)
{
	struct absent absent = { .group = l->ranks.group, .rank_is = l->missing };
	uint32_t i;

	for (i = 0; i < l->ranks.count; i++) {
		absent.rank = i;
		absent.socket = l->ranks.socket[i];
		if (!l->ranks.ended[i] && absent.socket >= 0 && user_udp_is_used(absent.socket))
			absent_find(&absent);
	}
}

static void latecomers_find_here(struct latecomers *l)
{
	const int *socket = l->ranks.socket;
	bool declined = false;
	uint32_t i;

	for (i = 0; i < l->ranks.count; i++) {
		l->missing[i] = socket[i] < 0 || !user_udp_has_joined(socket[i]);
		l->awaited |= socket[i] >= 0 && user_udp_is_used(socket[i]);
		declined |= l->ranks.ended[i] && !l->missing[i];
	}
	if (*socket < 0)
		latecomers_ask_kernel(l);
	else if (declined && l->awaited)
		latecomers_ask_ranks(l);
}

/* ---- one rank is here ---- */

static void latecomers_find_elsewhere(struct latecomers *l, uint64_t now)
{
	struct absent absent = {
		.group = l->ranks.group, .rank = l->ranks.first, .socket = *l->ranks.socket,
		.chains = l->ranks.first < CHAINS_TOLD_BY, .rank_is = l->missing,
	};

	absent_find(&absent);
	l->awaited = absent.joined;
	if (!absent.joined || l->joined_ms)
		return;
	l->joined_ms = now;
	l->every_ms = 0;
}

/* ---- output ---- */

static bool latecomers_has_ended(const struct latecomers *l, uint32_t rank)
{
	return latecomers_are_all_here(l) && l->ranks.ended[rank];
}

/* The host of a rank elsewhere, by its name, or else its address */
static void latecomers_print_host(const struct latecomers *l, FILE *file, uint32_t rank)
{
	union user_address address;
	socklen_t bytes;
	char text[NI_MAXHOST];

	if (latecomers_are_all_here(l))
		return;
	if (l->ranks.names) {
		fprintf(file, " (%s)", l->ranks.names[rank]);
		return;
	}
	bytes = user_address_of(&address, &l->ranks.group->host_of_rank[rank]->member);
	if (!getnameinfo(&address.any, bytes, text, sizeof(text), NULL, 0, NI_NUMERICHOST))
		fprintf(file, " (%s)", text);
}

/* Returns how many there are, those beyond RANKS_TOLD among them. */
static uint32_t latecomers_print_ranks(const struct latecomers *l, FILE *file, bool ended)
{
	uint32_t rank, count = 0;

	for (rank = 0; rank < l->ranks.group->request.ranks; rank++) {
		if (!l->missing[rank] || latecomers_has_ended(l, rank) != ended)
			continue;
		if (count++ >= RANKS_TOLD)
			continue;
		fprintf(file, "%s%u", count > 1 ? ", " : "", rank);
		latecomers_print_host(l, file, rank);
	}
	if (count > RANKS_TOLD)
		fprintf(file, " and %u more", count - RANKS_TOLD);
	return count;
}

static const char *latecomers_why(const struct latecomers *l, bool ended, bool several)
{
	if (ended)
		return several ? "their programs have ended without joining" :
				 "its program has ended without joining";
	if (latecomers_are_all_here(l))
		return several ? "they have not joined" : "it has not joined";
	return several ? "they have not joined, or no packets of theirs arrive" :
			 "it has not joined, or no packet of it arrives";
}

static void latecomers_print(const struct latecomers *l, bool ended)
{
	char *list;
	size_t bytes;
	FILE *file = open_memstream(&list, &bytes);
	uint32_t count;

	if (!file)
		return;
	count = latecomers_print_ranks(l, file, ended);
	if (!fclose(file) && count)
		warnx("waiting for rank%s %s: %s", count > 1 ? "s" : "", list,
		      latecomers_why(l, ended, count > 1));
	free(list);
}

/* ---- when ---- */

/* Returns how many there are. */
static uint32_t latecomers_find(struct latecomers *l, uint64_t now)
{
	uint32_t rank, ranks = l->ranks.group->request.ranks, count = 0;

	l->awaited = false;
	memset(l->missing, 0, ranks * sizeof(*l->missing));
	if (latecomers_are_all_here(l))
		latecomers_find_here(l);
	else
		latecomers_find_elsewhere(l, now);
	for (rank = 0; rank < ranks; rank++)
		count += l->missing[rank];
	return count;
}

/* May any be found later, if @count have not joined now? */
static bool latecomers_may_come(const struct latecomers *l, uint32_t count, uint64_t now)
{
	uint32_t i;

	if (!latecomers_are_all_here(l))
		return !l->joined_ms || now - l->joined_ms < JOIN_TIMEOUT_MS;
	/* Others may still wait for one that has ended. */
	for (i = 0; i < l->ranks.count; i++)
		count += l->ranks.ended[i];
	return count;
}

static void latecomers_pause(struct latecomers *l, uint64_t now, uint64_t every_ms)
{
	l->every_ms = every_ms < LATECOMERS_EVERY_MS ? LATECOMERS_EVERY_MS :
		      every_ms > MOST_EVERY_MS ? MOST_EVERY_MS : every_ms;
	l->look_ms = now + l->every_ms;
}

bool latecomers_look(struct latecomers *l)
{
	uint64_t now = meeting_clock_ms();
	uint32_t count;

	if (!l->missing)
		return false;
	if (now < l->look_ms)
		return true;
	count = latecomers_find(l, now);
	if (!count || !l->awaited) {
		/* Perhaps the programs do something else first, or never join. */
		latecomers_pause(l, now, 2 * l->every_ms);
		l->tell_ms = 0;
		return latecomers_may_come(l, count, now);
	}
	latecomers_pause(l, now, LATECOMERS_EVERY_MS);
	if (!l->tell_ms) {
		l->pause_ms = PATIENCE_MS;
		l->tell_ms = now + l->pause_ms;
	}
	if (now < l->tell_ms)
		return true;
	latecomers_print(l, false);
	latecomers_print(l, true);
	l->pause_ms = 4 * l->pause_ms < MOST_PAUSE_MS ? 4 * l->pause_ms : MOST_PAUSE_MS;
	l->tell_ms = now + l->pause_ms;
	return true;
}
