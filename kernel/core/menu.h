/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The menu of a group: which algorithms its operations may use, with which degrees. It
 * follows from JOIN, so it is the same on all hosts. Memory is reserved for all of it, and a
 * post or packet that asks for anything else is refused. Pure; any context.
 */
#ifndef COLL_CORE_MENU_H
#define COLL_CORE_MENU_H

#include "registry.h"

/**
 * struct coll_menu - what operations of a group may use
 * @algorithms: algorithms that posts may name, a bit each
 * @degrees: degrees that posts may name, COLLSOCK_DEGREE() each
 * @hosts: of the group
 * @multicast: it has multicast: data for all hosts is sent once
 * @scattered: its ranks are not placed on hosts in their order: it has no prefixes
 * @degree: of algorithms where a post names none; 0: the usual one of each
 * @automatic: what COLLSOCK_AUTO means, by operation; COLLSOCK_AUTO: what the operation
 *	chooses
 * @usual: choice for posts that name no degree, by their operation and their algorithm, which may
 *	be COLLSOCK_AUTO; no algorithm: posts may not name that one
 * @usual_short: choice for posts with a short vector that name neither, by their operation
 * @usual_long: choice for such posts with a long vector, if there are any
 * @short_bytes: the longest vector that is short
 * @medium_bytes: the longest one that is not long, by operation; COLL_NEVER_LONG if the group has
 *	no long ones
 */
struct coll_menu {
	u64			algorithms;
	u64			degrees;
	u32			hosts;
	bool			multicast;
	bool			scattered;
	u8			degree;
	u8			automatic[COLL_MAX_OPERATIONS];
	struct coll_choice	usual[COLL_MAX_OPERATIONS][COLL_MAX_ALGORITHMS];
	struct coll_choice	usual_short[COLL_MAX_OPERATIONS];
	struct coll_choice	usual_long[COLL_MAX_OPERATIONS];
	u32			short_bytes;
	u32			medium_bytes[COLL_MAX_OPERATIONS];
};

/**
 * struct coll_needs - what is reserved when a group is created
 * @room: memory for any operation but these:
 * @moves: memory for those with a block for each rank that are not reduced
 * @hosts: hosts with which this host may exchange messages
 */
struct coll_needs {
	struct coll_room	room;
	struct coll_room	moves;
	u64			*hosts;
};

/* Does the request name a multicast address? */
static inline bool coll_menu_multicasts(const struct collsock_join *j)
{
	static const u8 none[sizeof(j->multicast)];

	return memcmp(j->multicast, none, sizeof(none));
}

void coll_menu_init(struct coll_menu *menu, const struct collsock_join *j);
void coll_menu_scatter(struct coll_menu *menu);
bool coll_menu_valid(const struct coll_menu *menu, const struct collsock_join *j);
bool coll_menu_offers(const struct coll_menu *menu, const struct coll_algorithm *a, u32 degree);
int coll_menu_search(const struct coll_menu *menu, const struct collsock_post *post, u32 bytes,
		     struct coll_choice *choice);
int coll_menu_need(const struct coll_menu *menu, u32 self, struct coll_schedule *scratch,
		   struct coll_needs *needs);

/* The choice for a post that names no algorithm and no degree, with a vector of @bytes */
static inline const struct coll_choice *coll_menu_automatic(const struct coll_menu *menu,
							    u32 operation, u32 bytes)
{
	if (likely(bytes <= menu->short_bytes))
		return &menu->usual_short[operation];
	return likely(bytes <= menu->medium_bytes[operation]) ?
	       &menu->usual[operation][COLLSOCK_AUTO] : &menu->usual_long[operation];
}

/**
 * coll_menu_usual() - how the operation of most posts is carried out, in one look-up
 * @menu: of the group
 * @post: its operation exists, all else may be anything
 * @bytes: of the operation's vector
 *
 * Return: NULL if it takes a search: a post that names a degree, for instance. Context: any.
 */
static inline const struct coll_choice *coll_menu_usual(const struct coll_menu *menu,
							const struct collsock_post *post,
							u32 bytes)
{
	const struct coll_choice *choice;

	if (unlikely(post->degree || post->algorithm >= COLL_MAX_ALGORITHMS))
		return NULL;
	choice = !post->algorithm ? coll_menu_automatic(menu, post->operation, bytes) :
				    &menu->usual[post->operation][post->algorithm];
	return likely(choice->algorithm) ? choice : NULL;
}

#endif
