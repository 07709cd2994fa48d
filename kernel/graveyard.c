// SPDX-License-Identifier: GPL-2.0
#include <linux/rculist.h>
#include <linux/slab.h>

#include "graveyard.h"

/**
 * struct grave - one tombstone of a namespace
 * @link: in coll_graveyard.tombstones
 * @rcu: softirqs may look at it while it is taken out
 * @until_ns: when it is forgotten
 * @tombstone: the tombstone
 */
struct grave {
	struct list_head	link;
	struct rcu_head		rcu;
	u64			until_ns;
	struct coll_tombstone	tombstone;
};

/**
 * coll_graveyard_init() - nobody is remembered
 * @graves: zeroed
 */
void coll_graveyard_init(struct coll_graveyard *graves)
{
	INIT_LIST_HEAD(&graves->tombstones);
}

static void grave_free(struct rcu_head *rcu)
{
	/* It holds a key. */
	kfree_sensitive(container_of(rcu, struct grave, rcu));
}

static void grave_remove(struct coll_graveyard *graves, struct grave *grave)
{
	list_del_rcu(&grave->link);
	WRITE_ONCE(graves->count, graves->count - 1);
	call_rcu(&grave->rcu, grave_free);
}

/**
 * coll_graveyard_bury() - remember a group
 * @graves: of the namespace; its mutex is held
 * @g: quiet; its lock is not needed, for nothing happens in it any more
 * @now: time in ns
 *
 * Without memory the group is forgotten at once: its late packets find nobody.
 *
 * Context: process.
 */
void coll_graveyard_bury(struct coll_graveyard *graves, const struct coll_group *g, u64 now)
{
	struct grave *grave = kmalloc(sizeof(*grave), GFP_KERNEL);

	if (!grave)
		return;
	coll_group_entomb(g, &grave->tombstone);
	grave->until_ns = now + 2 * g->timing.liveness;
	if (graves->count == COLL_TOMBSTONES)
		grave_remove(graves, list_first_entry(&graves->tombstones, struct grave, link));
	list_add_tail_rcu(&grave->link, &graves->tombstones);
	WRITE_ONCE(graves->count, graves->count + 1);
}

/**
 * coll_graveyard_forget() - forget what is old enough
 * @graves: of the namespace; its mutex is held
 * @now: time in ns; U64_MAX forgets everything
 *
 * Groups may differ in their liveness time, so those that are due may stand
 * anywhere.
 *
 * Return: when the next one is due, U64_MAX if there is none. Context: process.
 */
u64 coll_graveyard_forget(struct coll_graveyard *graves, u64 now)
{
	struct grave *grave, *next;
	u64 due = U64_MAX;

	list_for_each_entry_safe(grave, next, &graves->tombstones, link) {
		if (grave->until_ns <= now)
			grave_remove(graves, grave);
		else
			due = min(due, grave->until_ns);
	}
	return due;
}

/**
 * coll_graveyard_find() - the tombstone of a group that was closed
 * @graves: of the namespace
 * @tag: of the group
 * @self: index of this host in it
 *
 * Return: the tombstone or NULL. Context: RCU read side.
 */
const struct coll_tombstone *coll_graveyard_find(const struct coll_graveyard *graves,
						 u64 tag, u32 self)
{
	struct grave *grave;

	list_for_each_entry_rcu(grave, &graves->tombstones, link)
		if (grave->tombstone.secret.tag == tag && grave->tombstone.self == self)
			return &grave->tombstone;
	return NULL;
}
