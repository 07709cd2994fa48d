/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a network namespace that is collsock's: groups, bearers, early packets,
 * time-wait entries, tunables and counters. It begins, is tidied and ends in pernet.h.
 * Nothing in it holds a reference on the namespace or on the module.
 */
#ifndef COLL_NETNS_H
#define COLL_NETNS_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "bearer.h"
#include "counters.h"
#include "early_packet.h"
#include "timewait_table.h"
#include "tunables.h"

struct coll_instance;

/**
 * struct coll_net - a namespace
 * @net: the namespace
 * @joining: held while a rank joins: the first one of a host makes the instance that the
 *	others find; taken before @mutex
 * @mutex: serialises joining and tidying; taken before any lock of a group
 * @instances: all groups by handle; under @mutex, like the next three
 * @groups: how many
 * @next_handle: where to look for a free one
 * @generation: changes with @instances
 * @members: all tables of members; under @mutex
 * @memory: bytes that all groups have reserved; under @mutex
 * @over_memory: requests to join that would have made it too many; under @mutex
 * @over_user: those that a limit of their user has refused; under @mutex
 * @quiet: groups that the tidying is to replace
 * @tidy: the tidying
 * @bearers: opened and closed under @mutex, by port.h
 * @ports: among all namespaces until this one ends
 * @timewait: the time-wait entries
 * @early_packets: see early_packet.h
 * @tunables: of the namespace
 * @counters: what became of packets
 */
struct coll_net {
	struct net			*net;
	struct mutex			joining; /* making an instance takes long */
	struct mutex			mutex;	/* joining and tidying */
	struct xarray			instances;
	u32				groups;
	u32				next_handle;
	u32				generation;
	struct hlist_head		members;
	u64				memory;
	u64				over_memory;
	u64				over_user;
	struct llist_head		quiet;
	struct delayed_work		tidy;
	struct coll_bearers		bearers;
	struct list_head		ports;
	struct coll_timewait_table	timewait;
	struct coll_early_table		early_packets;
	struct coll_tunables		tunables;
	struct coll_counters __percpu	*counters;
};

/* Of struct coll_net; for net_generic() */
extern unsigned int coll_net_id;

struct coll_net *coll_net_of(const struct net *net);
int coll_net_add(struct coll_net *cn, struct coll_instance *gi, u32 *handle);
void coll_net_remove(struct coll_net *cn, u32 handle);
void coll_net_tidy_soon(struct coll_net *cn);

#endif
