/* SPDX-License-Identifier: GPL-2.0 */
/*
 * collsock's part of a network namespace: groups, bearers, early packets, time-wait
 * entries, tunables and counters. pernet.h has its beginning, its tidying and its end.
 * Nothing in it holds a reference on the namespace or on the module.
 */
#ifndef COLL_NETNS_H
#define COLL_NETNS_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "backlog.h"
#include "bearer.h"
#include "counters.h"
#include "early_packet.h"
#include "event_queue.h"
#include "lookup.h"
#include "members.h"
#include "timewait_table.h"
#include "tunables.h"

struct coll_instance;
struct coll_user;

/**
 * struct coll_net - collsock's part of a namespace
 * @net: the namespace
 * @lookup: finds the group or time-wait entry of a packet; changed under @mutex
 * @joining: groups that ranks join now (instance_join.c); under @mutex
 * @mutex: serialises the short parts of joining, and tidying; taken before the lock of any
 *	instance (lock order: instance.h)
 * @instances: all groups by handle; changed under @mutex, except to reserve or release a handle;
 *	read also under RCU
 * @groups: number of groups; under @mutex
 * @next_handle: where to search for a free handle; under the lock of @instances
 * @generation: changes with @groups; under @mutex
 * @members: all tables of members; under @mutex
 * @memory: bytes that all groups have reserved, and that time-wait entries keep
 * @over_memory: requests to join that the limit of @memory has refused; under @mutex
 * @over_user: requests to join that a limit of their user has refused; under @mutex
 * @peers: connections of all groups
 * @events: events to be sent
 * @quiet: groups that the tidying is to replace
 * @tidy: work item of the tidying
 * @bearers: opened and closed under @mutex, by port.h; devices that leave are closed without it
 * @ports: in the list of all namespaces, until this one ends
 * @ports_ended: it has ended: ports and devices stay closed; under @mutex
 * @backlog: packets that wait for softirq
 * @timewait: the time-wait entries
 * @early_packets: the early packets
 * @tunables: of the namespace
 * @counters: counters of packets
 */
struct coll_net {
	struct net			*net;
	struct coll_lookup		lookup;
	struct coll_lookup		joining;
	struct mutex			mutex;	/* joining and tidying */
	struct xarray			instances;
	u32				groups;
	u32				next_handle;
	u32				generation;
	struct coll_members_table	members;
	atomic64_t			memory;
	u64				over_memory;
	u64				over_user;
	atomic_t			peers;
	struct coll_event_queue		events;
	struct llist_head		quiet;
	struct delayed_work		tidy;
	struct coll_bearers		bearers;
	struct list_head		ports;
	bool				ports_ended;
	struct coll_backlog		backlog;
	struct coll_timewait_table	timewait;
	struct coll_early_table		early_packets;
	struct coll_tunables		tunables;
	struct coll_counters __percpu	*counters;
};

/* Id of struct coll_net for net_generic() */
extern unsigned int coll_net_id;

struct coll_net *coll_net_of(const struct net *net);
int coll_net_reserve(struct coll_net *cn, u32 *handle);
void coll_net_release(struct coll_net *cn, u32 handle);
int coll_net_add(struct coll_net *cn, struct coll_instance *gi, u32 handle);
void coll_net_remove(struct coll_net *cn, u32 handle);
struct coll_user *coll_net_get_user(struct coll_net *cn);
int coll_net_try_charge(struct coll_net *cn, struct coll_user *user, u64 bytes);
int coll_net_charge(struct coll_net *cn, struct coll_user *user, u64 bytes);
void coll_net_uncharge(struct coll_net *cn, struct coll_user *user, u64 bytes);

/* The memory that all groups of the namespace together may reserve, with time-wait entries. */
static inline u64 coll_net_most_memory(const struct coll_net *cn)
{
	return coll_tunable(&cn->tunables, COLL_TUNABLE_MAX_MEMORY) * 1024ULL;
}

void coll_net_tidy_soon(struct coll_net *cn);

#endif
