/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A copy: a message for all hosts that came by multicast. It is stored as the message that the
 * parent in the tree would send; nothing else follows from it. It carries neither credit nor
 * acknowledgment, and does not prove that its source is alive. A copy that cannot be used is
 * counted and dropped, without an answer: its payload comes along the tree, too.
 *
 * Everything here is called under the group's lock.
 */
#ifndef COLL_CORE_COPY_H
#define COLL_CORE_COPY_H

#include "multicast.h"
#include "window.h"

/**
 * struct coll_copy - a copy, and where it belongs
 * @body: its contents; the round is that of the edge from the parent
 * @source: host that sent it
 * @known: it names the epoch that its source is known to use
 * @op: its operation, once it is stored
 * @parent: connection to the parent, once it is stored
 */
struct coll_copy {
	struct coll_body	body;
	u32			source;
	bool			known;
	struct coll_op		*op;
	struct coll_peer	*parent;
};

enum coll_refusal coll_copy_read(struct coll_group *g, const u8 *packet, u32 bytes,
				 struct coll_copy *copy);
bool coll_copy_accept(struct coll_group *g, struct coll_copy *copy, u64 now);

#endif
